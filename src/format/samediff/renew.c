#include "base/limits.h"
#include "base/map.h"
#include "format/samediff/decoder.h"

#include <stdlib.h>
#include <string.h>

/* A variable that was known by another id than its operation's. */
typedef struct renamed {
	sherd_model_id was, now;
} renamed;

typedef struct renewal {
	shd_samediff_decoder *d;
	shd_samediff_graph *g;
	sherd_model_operation *operations;
	shd_map names;        /* of variables to their indices */
	shd_map makers;       /* names of operations that tell no outputs, to their indices */
	renamed *list;        /* by what they were */
	size_t renamed_count; /* at most one for each variable */
} renewal;

static bool keep_name(shd_map *map, shd_samediff_decoder *d, const char *name, size_t index)
{
	bool ok;
	(void)shd_map_add(map, shd_str_of(name), index, &ok);
	if (!ok && d->fb->rc >= 0)
		d->fb->rc = shd_fail_nomem(&d->fb->error);
	return ok;
}

static int by_former_id(const void *a, const void *b)
{
	const renamed *x = a, *y = b;
	if (x->was.node != y->was.node)
		return x->was.node < y->was.node ? -1 : 1;
	return (x->was.output > y->was.output) - (x->was.output < y->was.output);
}

/* It is made by an operation, and is known by that from now on. */
static void make_result(renewal *r, size_t variable, sherd_model_id id)
{
	sherd_model_variable *v = &r->g->variables[variable];
	if (v->kind == SHERD_VARIABLE_ARRAY)
		return;
	if (v->has_id && (v->id.node != id.node || v->id.output != id.output))
		r->list[r->renamed_count++] = (renamed){v->id, id};
	v->kind = SHERD_VARIABLE_ARRAY;
	v->has_id = true;
	v->id = id;
}

/* A variable for a result that the file has none for, as it does when the graph was not run. */
static size_t add_variable(renewal *r, const char *name)
{
	shd_samediff_graph *g = r->g;
	size_t most = shd_limits_or_default(r->d->limits).name_bytes, index = g->graph.variable_count;
	if (strlen(name) > most)
		shd_flatbuf_fail(r->d->fb, SHERD_ELIMIT, "name-too-long", 0, "a name of %zu bytes", strlen(name));
	g->variables[index] = (sherd_model_variable){.name = name, .array = SHERD_NO_ARRAY};
	if (keep_name(&r->names, r->d, name, index))
		g->graph.variable_count++;
	return index;
}

/* beta2 tells no names of outputs: an operation is called like its first one, and others have `:1`, `:2` after it. */
static void name_outputs(renewal *r, size_t index)
{
	sherd_model_operation *op = &r->operations[index];
	if (op->output_names.count || !op->name || !*op->name)
		return;
	const char **names = shd_samediff_room(r->d, 1, sizeof(*names));
	if (!names || !keep_name(&r->makers, r->d, op->name, index))
		return;
	names[0] = op->name;
	op->output_names = (sherd_model_texts){1, names};
}

static void take_outputs(renewal *r, sherd_model_operation *op)
{
	size_t count = op->output_names.count;
	int32_t *outputs = shd_samediff_room(r->d, count, sizeof(*outputs));
	for (size_t i = 0; outputs && i < count && r->d->fb->rc >= 0; i++) {
		const char *name = op->output_names.at[i];
		size_t found = *name ? shd_map_find(&r->names, shd_str_of(name)) : SHD_MAP_NONE;
		if (found == SHD_MAP_NONE && *name)
			found = add_variable(r, name);
		outputs[i] = *name ? (int32_t)found : -1;
		if (*name && r->d->fb->rc >= 0)
			make_result(r, found, (sherd_model_id){op->id, (int32_t)i});
	}
	op->outputs = (sherd_model_ints){outputs ? count : 0, outputs};
}

/* `<operation>:<k>` is the operation's output k. */
static void take_further_output(renewal *r, size_t variable)
{
	const char *name = r->g->variables[variable].name, *colon = strrchr(name, ':');
	size_t digits = colon ? strspn(colon + 1, "0123456789") : 0;
	if (!digits || digits > 6 || colon[1 + digits])
		return;
	size_t maker = shd_map_find(&r->makers, (shd_str){name, (size_t)(colon - name)});
	if (maker != SHD_MAP_NONE)
		make_result(r, variable,
		            (sherd_model_id){r->operations[maker].id, (int32_t)strtol(colon + 1, NULL, 10)});
}

/* What no operation makes has an array, or is asked for. Types are those of arrays. */
static void finish_variable(renewal *r, sherd_model_variable *v)
{
	if (v->kind != SHERD_VARIABLE_ARRAY && v->array == SHERD_NO_ARRAY)
		v->kind = SHERD_VARIABLE_PLACEHOLDER;
	if (v->array == SHERD_NO_ARRAY)
		return;
	v->dtype = r->d->arrays.items[v->array].dtype;
	v->type = shd_nd4j_number(v->dtype);
}

static void rename_inputs(const renewal *r, sherd_model_operation *op)
{
	for (size_t i = 0; i < op->input_ids.count; i++) {
		sherd_model_id *id = (sherd_model_id *)&op->input_ids.at[i]; /* ours, in the arena */
		const renamed wanted = {.was = *id};
		const renamed *found = bsearch(&wanted, r->list, r->renamed_count, sizeof(*r->list), by_former_id);
		if (found)
			*id = found->now;
	}
}

static void renew(renewal *r)
{
	sherd_model_graph *g = &r->g->graph;
	size_t told = g->variable_count, results = 0;
	for (size_t i = 0; i < told && r->d->fb->rc >= 0; i++)
		(void)keep_name(&r->names, r->d, r->g->variables[i].name, i);
	for (size_t i = 0; i < g->operation_count && r->d->fb->rc >= 0; i++) {
		name_outputs(r, i);
		results += r->operations[i].output_names.count;
	}
	sherd_model_variable *all = shd_samediff_room(r->d, told + results, sizeof(*all));
	r->list = shd_samediff_room(r->d, told, sizeof(*r->list));
	if (!all || !r->list)
		return;
	memcpy(all, r->g->variables, told * sizeof(*all));
	r->g->variables = all;
	g->variables = all;
	for (size_t i = 0; i < g->operation_count && r->d->fb->rc >= 0; i++)
		take_outputs(r, &r->operations[i]);
	for (size_t i = 0; i < told && r->d->fb->rc >= 0; i++)
		take_further_output(r, i);
	for (size_t i = 0; i < g->variable_count && r->d->fb->rc >= 0; i++)
		finish_variable(r, &all[i]);
	qsort(r->list, r->renamed_count, sizeof(*r->list), by_former_id);
	for (size_t i = 0; i < g->operation_count && r->renamed_count; i++)
		rename_inputs(r, &r->operations[i]);
}

void shd_samediff_renew(shd_samediff_decoder *d, shd_samediff_graph *g, sherd_model_operation *operations)
{
	renewal r = {.d = d, .g = g, .operations = operations};
	if (d->fb->rc >= 0)
		renew(&r);
	shd_map_done(&r.names);
	shd_map_done(&r.makers);
}
