#include "engine/model/model.h"

#include "base/dtype.h"
#include "codec/json.h"
#include "format/samediff/encode.h"
#include "format/samediff/graph.h"
#include "format/samediff/hash.h"

#include <stdlib.h>

/* A model whose elements the caller keeps. */
typedef struct made_model {
	sherd_model base;
	sherd_model_read_fn *read;
	void *arg;
} made_model;

static int make_read_array(const sherd_model *model, size_t array, uint64_t offset, void *buf, size_t len,
                           sherd_error *err)
{
	const made_model *m = (const made_model *)model;
	if (!m->read)
		return shd_fail(err, SHERD_EINVAL, "bad-argument", "the model was made without its elements");
	return m->read(m->arg, array, offset, buf, len, err);
}

static int make_map_array(const void **out, const sherd_model *model, size_t array, sherd_error *err)
{
	(void)model;
	(void)out;
	return shd_fail(err, SHERD_EUNSUPPORTED, "no-map", "array %zu is handed over in pieces", array);
}

static const shd_model_ops ops = {.read = make_read_array, .map = make_map_array};

static int mistake(sherd_error *err, const char *what, size_t index)
{
	return shd_fail(err, SHERD_EINVAL, "bad-argument", "%s %zu", what, index);
}

static int check_operation(const sherd_model_operation *op, size_t index, sherd_error *err)
{
	if (op->property_count && !op->properties)
		return mistake(err, "no properties of operation", index);
	return SHERD_OK;
}

/* What the encoder takes for granted. */
static int check_graph(const sherd_model_graph *g, uint32_t depth, sherd_error *err)
{
	if ((g->variable_count && !g->variables) || (g->operation_count && !g->operations) ||
	    (g->updater_count && !g->updaters) || (g->sequence_count && !g->sequences) ||
	    (g->subgraph_count && !g->subgraphs))
		return shd_fail(err, SHERD_EINVAL, "bad-argument", "a list of the graph has a count and no address");
	for (size_t i = 0; i < g->variable_count; i++)
		if (!g->variables[i].name)
			return mistake(err, "no name for variable", i);
	for (size_t i = 0; i < g->operation_count; i++)
		TRY(check_operation(&g->operations[i], i, err));
	for (size_t i = 0; i < g->updater_count; i++)
		if (!g->updaters[i].parameter || g->updaters[i].keys.count != g->updaters[i].arrays.count)
			return mistake(err, "no parameter, or not as many keys as arrays, of updater state", i);
	for (size_t i = 0; i < g->sequence_count; i++)
		if (!g->sequences[i].name)
			return mistake(err, "no name for sequence", i);
	if (g->subgraph_count && depth == SHD_SAMEDIFF_DEPTH)
		return shd_fail(err, SHERD_EINVAL, "too-deep", "graphs inside of graphs");
	for (size_t i = 0; i < g->subgraph_count; i++) {
		if (!g->subgraphs[i].name || !g->subgraphs[i].graph)
			return mistake(err, "no name or no graph of sub-graph", i);
		TRY(check_graph(g->subgraphs[i].graph, depth + 1, err));
	}
	return SHERD_OK;
}

/* The arrays in the order in which the graph names them. */
typedef struct order {
	size_t *at;
	bool *seen;
	size_t count, most;
} order;

static int make_note(size_t *array, void *arg, sherd_error *err) // NOLINT(readability-non-const-parameter)
{
	order *o = arg;
	if (*array >= o->most)
		return mistake(err, "there is no array", *array);
	if (o->seen[*array])
		return mistake(err, "the graph has two places for array", *array);
	o->seen[*array] = true;
	o->at[o->count++] = *array;
	return SHERD_OK;
}

/* From the place in that order back to the caller's index. */
static int rename_array(size_t *array, void *arg, sherd_error *err)
{
	(void)err;
	const order *o = arg;
	*array = o->at[*array];
	return SHERD_OK;
}

/* As a container's reader takes it: strings have their offsets, and the name of a type is text. */
static bool array_bytes(const sherd_tensor *t, uint64_t *bytes)
{
	uint64_t texts;
	size_t bad;
	*bytes = t->bytes;
	if (t->dtype == SHERD_OPAQUE)
		return shd_utf8_valid(t->type_name, strlen(t->type_name), &bad);
	if (t->dtype == SHERD_UTF8)
		return sherd_tensor_bytes(&texts, SHERD_U8, t->ndim, t->shape) && texts < t->bytes / 8;
	return sherd_tensor_bytes(bytes, t->dtype, t->ndim, t->shape);
}

static int copy_arrays(sherd_model *m, const sherd_model_parts *parts, sherd_error *err)
{
	sherd_tensor *arrays = shd_arena_alloc(&m->arena, parts->array_count + 1, sizeof(*arrays));
	if (!arrays)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < parts->array_count; i++) {
		const sherd_tensor *t = &parts->arrays[i];
		uint64_t bytes;
		if (!shd_tensor_is_typed(t) || t->ndim > SHERD_MAX_DIMS || (t->ndim && !t->shape))
			return mistake(err, "no type or no shape of array", i);
		bool opaque = t->dtype == SHERD_OPAQUE;
		if (!array_bytes(t, &bytes))
			return mistake(err, opaque ? "no text names the type of array" : "no size of array", i);
		uint64_t *shape = shd_arena_alloc(&m->arena, (size_t)t->ndim + 1, sizeof(*shape));
		const char *type = opaque ? shd_arena_str(&m->arena, shd_str_of(t->type_name)) : NULL;
		if (!shape || (opaque && !type))
			return shd_fail_nomem(err);
		for (uint32_t d = 0; d < t->ndim; d++)
			shape[d] = t->shape[d];
		arrays[i] = (sherd_tensor){"", t->dtype, t->ndim, shape, bytes, type};
	}
	m->arrays = arrays;
	m->array_count = parts->array_count;
	return SHERD_OK;
}

static int copy_pairs(sherd_model *m, const sherd_model_parts *parts, sherd_error *err)
{
	sherd_pair *pairs = shd_arena_alloc(&m->arena, parts->pair_count + 1, sizeof(*pairs));
	if (!pairs)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < parts->pair_count; i++) {
		const sherd_pair *p = &parts->pairs[i];
		if (!p->key || !p->value)
			return mistake(err, "no key or no value of pair", i);
		pairs[i].key = shd_arena_str(&m->arena, shd_str_of(p->key));
		pairs[i].value = shd_arena_str(&m->arena, shd_str_of(p->value));
		if (!pairs[i].key || !pairs[i].value)
			return shd_fail_nomem(err);
	}
	m->pairs = pairs;
	m->pair_count = parts->pair_count;
	return SHERD_OK;
}

static int copy_marks(shd_arena *arena, sherd_model_bytes from, size_t most, sherd_model_bytes *out, sherd_error *err)
{
	*out = (sherd_model_bytes){0};
	if (!from.at)
		return SHERD_OK;
	if (from.count > most)
		return mistake(err, "marks for more arrays than", most);
	out->at = shd_arena_copy(arena, from.at, from.count + !from.count);
	out->count = from.count;
	return out->at ? SHERD_OK : shd_fail_nomem(err);
}

static int make_by_id(const void *a, const void *b)
{
	const sherd_model_id *x = a, *y = b;
	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return (x->output > y->output) - (x->output < y->output);
}

/* Operations find variables by their ids, so that no two may have the same. */
static int check_ids(const sherd_model_graph *g, sherd_error *err)
{
	size_t count = 0;
	SHD_AUTO_FREE sherd_model_id *ids = malloc((g->variable_count + 1) * sizeof(*ids));
	if (!ids)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < g->variable_count; i++)
		if (g->variables[i].has_id)
			ids[count++] = g->variables[i].id;
	qsort(ids, count, sizeof(*ids), make_by_id);
	for (size_t i = 1; i < count; i++)
		if (make_by_id(&ids[i - 1], &ids[i]) == 0)
			return shd_fail(err, SHERD_EINVAL, "duplicate-id", "two variables are output %d of node %d",
			                ids[i].output, ids[i].node);
	for (size_t i = 0; i < g->subgraph_count; i++)
		TRY(check_ids(g->subgraphs[i].graph, err));
	return SHERD_OK;
}

/* Operations of the copy, which is ours, get the numbers of their names. */
static void number_operations(const sherd_model_graph *g, const shd_samediff_hasher *hasher)
{
	for (size_t i = 0; i < g->operation_count; i++) {
		sherd_model_operation *op = (sherd_model_operation *)&g->operations[i];
		if (op->type == SHERD_OP_CUSTOM && !op->number && op->op)
			op->number =
				(int64_t)shd_samediff_hash(hasher, shd_str_of(shd_samediff_registered_name(op->op)));
	}
	for (size_t i = 0; i < g->subgraph_count; i++)
		number_operations(g->subgraphs[i].graph, hasher);
}

/* A graph is copied by writing and reading it, which checks it in every respect that a file is checked in. */
static int copy_graph(sherd_model *m, const sherd_model_graph *graph, order *o, sherd_error *err)
{
	const shd_samediff_source source = {.graph = graph, .arrays = m->arrays, .array_count = m->array_count};
	shd_samediff_encoding made;
	shd_samediff_graph copy;
	shd_arena arena = {0};
	shd_flatbuf fb;
	int rc = shd_samediff_encode(&source, SHD_SAMEDIFF_CONTAINER, &arena, &made, err);
	if (rc == SHERD_OK) {
		shd_flatbuf_over(&fb, made.pieces[0].bytes, made.pieces[0].len);
		rc = shd_samediff_decode(&fb, SHD_SAMEDIFF_CONTAINER, NULL, &m->arena, &copy, err);
	}
	shd_arena_done(&arena);
	if (rc == SHERD_ECORRUPT && err)
		err->code = SHERD_EINVAL;
	if (rc < 0)
		return rc == SHERD_ECORRUPT ? SHERD_EINVAL : rc;
	m->graph = copy.graph;
	shd_samediff_hasher hasher;
	shd_samediff_hasher_init(&hasher);
	number_operations(&m->graph, &hasher);
	TRY(shd_model_visit_arrays(&m->graph, rename_array, o, err));
	TRY(copy_marks(&m->arena, graph->fortran, m->array_count, &m->graph.fortran, err));
	return copy_marks(&m->arena, graph->hollow, m->array_count, &m->graph.hollow, err);
}

static int make_copy_all(sherd_model *m, const sherd_model_parts *parts, order *o, sherd_error *err)
{
	if (!o->at || !o->seen)
		return shd_fail_nomem(err);
	TRY(check_graph(parts->graph, 0, err));
	TRY(check_ids(parts->graph, err));
	TRY(shd_model_visit_arrays(parts->graph, make_note, o, err));
	for (size_t i = 0; i < parts->array_count; i++)
		if (!o->seen[i])
			return mistake(err, "the graph has no place for array", i);
	TRY(copy_arrays(m, parts, err));
	TRY(copy_pairs(m, parts, err));
	TRY(copy_graph(m, parts->graph, o, err));
	TRY(shd_model_name_arrays(&m->graph, (sherd_tensor *)m->arrays, m->array_count, 0, &m->arena, err));
	return shd_model_finish(m, err);
}

int sherd_model_make(sherd_model **out, const sherd_model_parts *parts, sherd_error *err)
{
	SHD_AUTO(sherd_model, sherd_model_close) m = NULL;
	if (!parts || !parts->graph || (parts->array_count && !parts->arrays) || (parts->pair_count && !parts->pairs))
		return shd_fail(err, SHERD_EINVAL, "bad-argument", "a graph, its arrays and its pairs are needed");
	TRY(shd_model_new(&m, sizeof(made_model), &ops, SHERD_FORMAT_UNKNOWN, err));
	((made_model *)m)->read = parts->read;
	((made_model *)m)->arg = parts->arg;
	order o = {.most = parts->array_count};
	o.at = malloc((o.most + 1) * sizeof(*o.at));
	o.seen = calloc(o.most + 1, sizeof(*o.seen));
	int rc = make_copy_all(m, parts, &o, err);
	free(o.at);
	free(o.seen);
	TRY(rc);
	*out = TAKE(m);
	return SHERD_OK;
}
