#include "model/model.h"

#include <stdlib.h>
#include <string.h>

static int model_view_by_name(const void *left, const void *right)
{
	const sherd_model_variable *const *a = left, *const *b = right;
	return strcmp((*a)->name, (*b)->name);
}

int cli_graph_view_open(cli_graph_view *out, const sherd_model *model, const sherd_model_graph *graph,
                        const sherd_bundle *bundle, sherd_error *err)
{
	const sherd_model_graph *g = graph ? graph : sherd_model_describe(model);
	const sherd_model_variable **sorted = malloc((g->variable_count + 1) * sizeof(*sorted));
	if (!sorted)
		return cli_no_memory(err);
	for (size_t i = 0; i < g->variable_count; i++)
		sorted[i] = &g->variables[i];
	qsort(sorted, g->variable_count, sizeof(*sorted), model_view_by_name);
	*out = (cli_graph_view){model, g, bundle, sorted};
	return SHERD_OK;
}

void cli_graph_view_close(cli_graph_view *view)
{
	free(view->by_name);
}

static size_t model_view_find(const cli_graph_view *view, const char *name)
{
	const sherd_model_variable wanted = {.name = name}, *key = &wanted;
	const sherd_model_variable **found =
		bsearch(&key, view->by_name, view->graph->variable_count, sizeof(*view->by_name), model_view_by_name);
	return found ? (size_t)(*found - view->graph->variables) : SHERD_NO_VARIABLE;
}

size_t cli_graph_outputs(const sherd_model_operation *op)
{
	return op->output_names.count ? op->output_names.count : op->outputs.count;
}

size_t cli_graph_output(const cli_graph_view *view, const sherd_model_operation *op, size_t index)
{
	if (op->output_names.count)
		return model_view_find(view, op->output_names.at[index]);
	int32_t v = op->outputs.at[index];
	return v >= 0 && (size_t)v < view->graph->variable_count ? (size_t)v : SHERD_NO_VARIABLE;
}
