#include "engine/model/model.h"

#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>

/* Names being given: those taken so far, and the mark that no name of a variable begins with. */
typedef struct naming {
	sherd_tensor *arrays;
	size_t count;
	sherd_arena *arena;
	sherd_map taken;
	size_t marks;
	sherd_buf prefix; /* of names in a graph inside of another: "graph/<name>/", as often as they are deep */
	sherd_error *err;
} naming;

static int take(naming *n, const char *name)
{
	bool ok;
	if (sherd_map_add(&n->taken, sherd_str_of(name), 0, &ok) != SHERD_MAP_NONE)
		return SHERD_EEXIST;
	return ok ? SHERD_OK : sherd_fail_nomem(n->err);
}

/* One '@' more than any variable begins with. */
static int take_variables(naming *n, const sherd_model_graph *g)
{
	n->marks = 1;
	for (size_t i = 0; i < g->variable_count; i++) {
		const sherd_model_variable *v = &g->variables[i];
		size_t marks = strspn(v->name, "@");
		if (v->array >= n->count)
			continue;
		n->marks = marks >= n->marks ? marks + 1 : n->marks;
		n->arrays[v->array].name = v->name;
		TRY(take(n, v->name));
	}
	return SHERD_OK;
}

/* <marks><prefix><rest>, and #<index> behind it when that is taken. */
__attribute__((format(printf, 3, 4))) static int give(naming *n, size_t array, const char *fmt, ...)
{
	SHERD_AUTO_BUF text = {0};
	char *rest;
	va_list args;
	if (array >= n->count)
		return SHERD_OK;
	va_start(args, fmt);
	int made = vasprintf(&rest, fmt, args);
	va_end(args);
	if (made < 0)
		return sherd_fail_nomem(n->err);
	for (size_t i = 0; i < n->marks; i++)
		sherd_buf_u8(&text, '@');
	sherd_buf_append(&text, n->prefix.data, n->prefix.len);
	sherd_buf_str(&text, rest);
	free(rest);
	TRY(sherd_buf_check(&text, n->err));
	char *name = sherd_arena_str(n->arena, (sherd_str){(const char *)text.data, text.len});
	if (!name)
		return sherd_fail_nomem(n->err);
	int rc = take(n, name);
	if (rc == SHERD_EEXIST) {
		sherd_buf_printf(&text, "#%zu", array);
		TRY(sherd_buf_check(&text, n->err));
		name = sherd_arena_str(n->arena, (sherd_str){(const char *)text.data, text.len});
		rc = name ? take(n, name) : sherd_fail_nomem(n->err);
		if (rc == SHERD_EEXIST)
			return sherd_fail(n->err, SHERD_ECORRUPT, "duplicate-name", "%.128s is there twice", name);
	}
	TRY(rc);
	n->arrays[array].name = name;
	return SHERD_OK;
}

static int name_operation(naming *n, const sherd_model_operation *op, size_t index)
{
	char number[24];
	const char *owner = op->name;
	if (!owner) {
		(void)snprintf(number, sizeof(number), "#%zu", index);
		owner = number;
	}
	TRY(give(n, op->scalar, "op/%s/scalar", owner));
	for (size_t p = 0; p < op->property_count; p++) {
		const sherd_model_property *property = &op->properties[p];
		const sherd_model_arrays *arrays = &property->arrays;
		const char *name = property->name ? property->name : "";
		for (size_t k = 0; k < arrays->count; k++)
			TRY(arrays->count > 1 ? give(n, arrays->at[k], "op/%s/%s/%zu", owner, name, k)
			                      : give(n, arrays->at[k], "op/%s/%s", owner, name));
	}
	return SHERD_OK;
}

/* All but the arrays of variables. */
static int name_others(naming *n, const sherd_model_graph *g)
{
	for (size_t i = 0; i < g->updater_count; i++) {
		const sherd_model_updater *u = &g->updaters[i];
		for (size_t k = 0; k < u->arrays.count; k++)
			TRY(give(n, u->arrays.at[k], "updater/%s/%s", u->parameter, u->keys.at[k]));
	}
	for (size_t i = 0; i < g->operation_count; i++)
		TRY(name_operation(n, &g->operations[i], i));
	for (size_t i = 0; i < g->sequence_count; i++)
		for (size_t k = 0; k < g->sequences[i].arrays.count; k++)
			TRY(give(n, g->sequences[i].arrays.at[k], "sequence/%s/%zu", g->sequences[i].name, k));
	return SHERD_OK;
}

static int name_subgraphs(naming *n, const sherd_model_graph *g)
{
	size_t before = n->prefix.len;
	for (size_t i = 0; i < g->subgraph_count; i++) {
		const sherd_model_graph *inner = g->subgraphs[i].graph;
		sherd_buf_printf(&n->prefix, "graph/%s/", g->subgraphs[i].name);
		TRY(sherd_buf_check(&n->prefix, n->err));
		for (size_t v = 0; v < inner->variable_count; v++)
			TRY(give(n, inner->variables[v].array, "variable/%s", inner->variables[v].name));
		TRY(name_others(n, inner));
		TRY(name_subgraphs(n, inner));
		n->prefix.len = before;
	}
	return SHERD_OK;
}

static int name_all(naming *n, const sherd_model_graph *g)
{
	TRY(take_variables(n, g));
	TRY(name_others(n, g));
	return name_subgraphs(n, g);
}

int sherd_model_name_arrays(const sherd_model_graph *graph, sherd_tensor *arrays, size_t count, sherd_arena *arena,
                            sherd_error *err)
{
	naming n = {.arrays = arrays, .count = count, .arena = arena, .err = err};
	int rc = name_all(&n, graph);
	sherd_map_done(&n.taken);
	sherd_buf_done(&n.prefix);
	return rc;
}
