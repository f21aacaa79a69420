/* cli/model/model.h - the graph of a model in its three forms, each with the graphs inside of it. */
#ifndef SHERD_CLI_MODEL_MODEL_H
#define SHERD_CLI_MODEL_MODEL_H

#include "cli.h"

#include <sherd/model.h>

/* One graph: the model's, or one inside of it. */
typedef struct sherd_graph_view {
	const sherd_model *model;
	const sherd_model_graph *graph;
	const sherd_bundle *bundle;           /* of the model */
	const sherd_model_variable **by_name; /* its variables, sorted */
} sherd_graph_view;

/* graph is NULL for the model's own. */
int sherd_graph_view_open(sherd_graph_view *out, const sherd_model *model, const sherd_model_graph *graph,
                          const sherd_bundle *bundle, sherd_error *err);
void sherd_graph_view_close(sherd_graph_view *view);

/* The variable that the output of an operation is, or SHERD_NO_VARIABLE: by its name, else by its index. */
size_t sherd_graph_outputs(const sherd_model_operation *op);
size_t sherd_graph_output(const sherd_graph_view *view, const sherd_model_operation *op, size_t index);

int sherd_graph_text(sherd_cli *cli, const sherd_graph_view *view, sherd_error *err);
int sherd_graph_json(sherd_cli *cli, const sherd_graph_view *view, sherd_error *err);
int sherd_graph_dot(sherd_out *out, const sherd_graph_view *view, sherd_error *err);

#endif
