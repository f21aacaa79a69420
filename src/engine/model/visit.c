#include "engine/model/model.h"

/* Whoever changes an index owns the graph, and made it. */
static int visit_one(const size_t *array, shd_model_visit_fn *visit, void *arg, sherd_error *err)
{
	return *array == SHERD_NO_ARRAY ? SHERD_OK : visit((size_t *)array, arg, err);
}

static int visit_list(const sherd_model_arrays *list, shd_model_visit_fn *visit, void *arg, sherd_error *err)
{
	for (size_t i = 0; i < list->count; i++)
		TRY(visit_one(&list->at[i], visit, arg, err));
	return SHERD_OK;
}

int shd_model_visit_arrays(const sherd_model_graph *g, shd_model_visit_fn *visit, void *arg, sherd_error *err)
{
	for (size_t i = 0; i < g->variable_count; i++)
		TRY(visit_one(&g->variables[i].array, visit, arg, err));
	for (size_t i = 0; i < g->updater_count; i++)
		TRY(visit_list(&g->updaters[i].arrays, visit, arg, err));
	for (size_t i = 0; i < g->operation_count; i++) {
		const sherd_model_operation *op = &g->operations[i];
		TRY(visit_one(&op->scalar, visit, arg, err));
		for (size_t p = 0; p < op->property_count; p++)
			TRY(visit_list(&op->properties[p].arrays, visit, arg, err));
	}
	for (size_t i = 0; i < g->sequence_count; i++)
		TRY(visit_list(&g->sequences[i].arrays, visit, arg, err));
	for (size_t i = 0; i < g->subgraph_count; i++)
		TRY(shd_model_visit_arrays(g->subgraphs[i].graph, visit, arg, err));
	return SHERD_OK;
}
