#include "engine/model/model.h"

#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>

/* Part of the format: whoever reads and whoever writes must give the same names, whatever their limits. */
enum { MOST_NAME = 64 << 10, NUMBER = 21 /* the longest #<index> */, FOR_ARRAY = 256, TIMES = 16 };

/* Names being given: those taken so far, and the mark that no name of a variable begins with. */
typedef struct naming {
	sherd_tensor *arrays;
	size_t count;
	shd_arena *arena;
	shd_map taken;
	size_t marks;
	uint64_t room;  /* bytes that may still be given */
	shd_buf prefix; /* of names in a graph inside of another: "graph/<name>/", as often as they are deep */
	sherd_error *err;
} naming;

static int model_name_take(naming *n, const char *name)
{
	bool ok;
	if (shd_map_add(&n->taken, shd_str_of(name), 0, &ok) != SHD_MAP_NONE)
		return SHERD_EEXIST;
	return ok ? SHERD_OK : shd_fail_nomem(n->err);
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
		TRY(model_name_take(n, v->name));
	}
	if (n->marks > MOST_NAME - NUMBER)
		return shd_fail(n->err, SHERD_ELIMIT, "name-too-long", "the name of a variable begins with %zu '@'",
		                n->marks - 1);
	return SHERD_OK;
}

/* What the caller wants after the marks; owners and graphs may have names of any length. */
static int model_name_put(naming *n, const char *fmt, va_list args, shd_buf *text)
{
	char *rest;
	if (vasprintf(&rest, fmt, args) < 0)
		return shd_fail_nomem(n->err);
	for (size_t i = 0; i < n->marks; i++)
		shd_buf_u8(text, '@');
	shd_buf_append(text, n->prefix.data, n->prefix.len);
	shd_buf_str(text, rest);
	free(rest);
	return shd_buf_check(text, n->err);
}

/* Ends the name with the number of the array; one that would be too long is the number alone. */
static int model_name_put_number(naming *n, size_t array, shd_buf *text)
{
	if (text->len + NUMBER > MOST_NAME)
		text->len = n->marks;
	shd_buf_printf(text, "#%zu", array);
	return shd_buf_check(text, n->err);
}

/* A name that is kept; SHERD_EEXIST, without an error, when it is taken. */
static int try_name(naming *n, size_t array, const shd_buf *text)
{
	if (text->len > n->room)
		return shd_fail(n->err, SHERD_ELIMIT, "too-large",
		                "the names of %zu arrays take more bytes than the graph justifies", n->count);
	char *name = shd_arena_str(n->arena, (shd_str){(const char *)text->data, text->len});
	if (!name)
		return shd_fail_nomem(n->err);
	n->room -= text->len;
	TRY(model_name_take(n, name));
	n->arrays[array].name = name;
	return SHERD_OK;
}

/* <marks><prefix><rest>, and #<index> after it when that is taken, or instead of it when it is too long. */
__attribute__((format(printf, 3, 4))) static int give(naming *n, size_t array, const char *fmt, ...)
{
	SHD_AUTO_BUF text = {0};
	va_list args;
	if (array >= n->count)
		return SHERD_OK;
	va_start(args, fmt);
	int rc = model_name_put(n, fmt, args, &text);
	va_end(args);
	TRY(rc);
	if (text.len > MOST_NAME)
		TRY(model_name_put_number(n, array, &text));
	rc = try_name(n, array, &text);
	if (rc != SHERD_EEXIST)
		return rc;
	TRY(model_name_put_number(n, array, &text));
	rc = try_name(n, array, &text);
	if (rc == SHERD_EEXIST)
		return shd_fail(n->err, SHERD_ECORRUPT, "duplicate-name", "%.*s is there twice",
		                (int)(text.len < 128 ? text.len : 128), (const char *)text.data);
	return rc;
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
		shd_buf_printf(&n->prefix, "graph/%s/", g->subgraphs[i].name);
		TRY(shd_buf_check(&n->prefix, n->err));
		for (size_t v = 0; v < inner->variable_count; v++)
			TRY(give(n, inner->variables[v].array, "variable/%s", inner->variables[v].name));
		TRY(name_others(n, inner));
		TRY(name_subgraphs(n, inner));
		n->prefix.len = before;
	}
	return SHERD_OK;
}

/* What arrays are named after, in a graph and those inside of it: a name comes once in the file, and in the names of
 * all arrays that it has. */
static uint64_t count_owners(const sherd_model_graph *g)
{
	uint64_t bytes = 0;
	for (size_t i = 0; i < g->variable_count; i++)
		bytes += strlen(g->variables[i].name);
	for (size_t i = 0; i < g->updater_count; i++)
		bytes += strlen(g->updaters[i].parameter);
	for (size_t i = 0; i < g->operation_count; i++) {
		const sherd_model_operation *op = &g->operations[i];
		bytes += op->name ? strlen(op->name) : 0;
		for (size_t p = 0; p < op->property_count; p++)
			bytes += op->properties[p].name ? strlen(op->properties[p].name) : 0;
	}
	for (size_t i = 0; i < g->sequence_count; i++)
		bytes += strlen(g->sequences[i].name);
	for (size_t i = 0; i < g->subgraph_count; i++)
		bytes += strlen(g->subgraphs[i].name) + count_owners(g->subgraphs[i].graph);
	return bytes;
}

static int name_all(naming *n, const sherd_model_graph *g)
{
	TRY(take_variables(n, g));
	TRY(name_others(n, g));
	return name_subgraphs(n, g);
}

int shd_model_name_arrays(const sherd_model_graph *graph, sherd_tensor *arrays, size_t count, uint64_t most,
                          shd_arena *arena, sherd_error *err)
{
	naming n = {.arrays = arrays, .count = count, .arena = arena, .err = err};
	n.room = most ? most : MOST_NAME + FOR_ARRAY * (uint64_t)count + TIMES * count_owners(graph);
	int rc = name_all(&n, graph);
	shd_map_done(&n.taken);
	shd_buf_done(&n.prefix);
	return rc;
}
