#include "format/samediff/graph.h"

#include "base/map.h"

#include <stdlib.h>

static int resolve_check_names(const sherd_model_graph *g, sherd_error *err)
{
	shd_map names = {0};
	int rc = SHERD_OK;
	for (size_t i = 0; rc == SHERD_OK && i < g->variable_count; i++) {
		bool ok;
		const char *name = g->variables[i].name;
		if (shd_map_add(&names, shd_str_of(name), i, &ok) != SHD_MAP_NONE)
			rc = shd_fail(err, SHERD_ECORRUPT, "duplicate-name", "%.128s is there twice", name);
		else if (!ok)
			rc = shd_fail_nomem(err);
	}
	shd_map_done(&names);
	return rc;
}

/* A variable and what it is known by, to be found by operations. */
typedef struct known {
	sherd_model_id id;
	size_t variable;
} known;

static int resolve_compare(const void *a, const void *b)
{
	const known *x = a, *y = b;
	if (x->id.node != y->id.node)
		return x->id.node < y->id.node ? -1 : 1;
	if (x->id.output != y->id.output)
		return x->id.output < y->id.output ? -1 : 1;
	return 0;
}

static int resolve(const known *list, size_t count, shd_arena *arena, sherd_model_operation *op, sherd_error *err)
{
	size_t *found = shd_arena_alloc(arena, op->input_ids.count + 1, sizeof(*found));
	if (!found)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < op->input_ids.count; i++) {
		const known wanted = {.id = op->input_ids.at[i]};
		const known *k = count ? bsearch(&wanted, list, count, sizeof(*list), resolve_compare) : NULL;
		found[i] = k ? k->variable : SHERD_NO_VARIABLE;
	}
	op->input_variables = found;
	return SHERD_OK;
}

int shd_samediff_resolve(const sherd_model_graph *g, sherd_model_operation *operations, shd_arena *arena,
                         sherd_error *err)
{
	size_t count = 0;
	int rc = SHERD_OK;
	TRY(resolve_check_names(g, err));
	known *list = malloc((g->variable_count + 1) * sizeof(*list));
	if (!list)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < g->variable_count; i++)
		if (g->variables[i].has_id)
			list[count++] = (known){g->variables[i].id, i};
	if (count)
		qsort(list, count, sizeof(*list), resolve_compare);
	for (size_t i = 0; rc == SHERD_OK && i < g->operation_count; i++)
		rc = resolve(list, count, arena, &operations[i], err);
	free(list);
	return rc;
}
