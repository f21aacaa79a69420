/* cli/model/model.h - the graph of a model as a document and as a drawing, each with the graphs inside of it. */
#pragma once

#include "cli.h"

#include <sherd/model.h>

/* One graph: the model's, or one inside of it. */
typedef struct cli_graph_view {
	const sherd_model *model;
	const sherd_model_graph *graph;
	const sherd_bundle *bundle;           /* of the model */
	const sherd_model_variable **by_name; /* its variables, sorted */
} cli_graph_view;

/* graph is NULL for the model's own. */
int cli_graph_view_open(cli_graph_view *out, const sherd_model *model, const sherd_model_graph *graph,
                        const sherd_bundle *bundle, sherd_error *err);
void cli_graph_view_close(cli_graph_view *view);
#define CLI_AUTO_GRAPH_VIEW __attribute__((cleanup(cli_graph_view_close))) cli_graph_view

/* The variable that the output of an operation is, or SHERD_NO_VARIABLE: by its name, else by its index. */
size_t cli_graph_outputs(const sherd_model_operation *op);
size_t cli_graph_output(const cli_graph_view *view, const sherd_model_operation *op, size_t index);

int cli_graph_json(cli_state *cli, const cli_graph_view *view, sherd_error *err);
int cli_graph_dot(cli_out *out, const cli_graph_view *view, sherd_error *err);
