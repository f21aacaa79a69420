#include "engine/model/sdnb.h"

#include "engine/tensors/blame.h"
#include "engine/model/nd4j.h"

#include <stdio.h>
#include <stdlib.h>

static int sdnb_open_read_array(const sherd_model *model, size_t array, uint64_t offset, void *buf, size_t len,
                                sherd_error *err)
{
	const shd_sdnb_model *m = (const shd_sdnb_model *)model;
	return shd_nd4j_read(m->readers[m->files[array]], &m->arrays[array], offset, buf, len, err);
}

static int read_fortran(const sherd_model *model, size_t array, uint64_t offset, void *buf, size_t len,
                        sherd_error *err)
{
	const shd_sdnb_model *m = (const shd_sdnb_model *)model;
	const shd_nd4j_array *a = &m->arrays[array];
	if (!a->fortran)
		return SHERD_EUNSUPPORTED;
	return shd_nd4j_read_fortran(m->readers[m->files[array]], a, offset, buf, len, err);
}

static int sdnb_open_map_array(const void **out, const sherd_model *model, size_t array, sherd_error *err)
{
	const shd_sdnb_model *m = (const shd_sdnb_model *)model;
	return shd_nd4j_map(out, m->readers[m->files[array]], &m->arrays[array], err);
}

static void sdnb_open_done(sherd_model *model)
{
	shd_sdnb_model *m = (shd_sdnb_model *)model;
	for (size_t i = 0; i < m->reader_count; i++)
		sherd_reader_close(m->readers[i]);
	free(m->readers);
	sherd_store_close(m->archive);
}

static const shd_model_ops ops = {.read = sdnb_open_read_array,
                                  .read_fortran = read_fortran,
                                  .map = sdnb_open_map_array,
                                  .close = sdnb_open_done};

const shd_sdnb_model *shd_sdnb_of(const sherd_model *model)
{
	return model->ops == &ops ? (const shd_sdnb_model *)model : NULL;
}

/* Arrays being gathered from the files. */
typedef struct gathering {
	shd_sdnb_model *m;
	const shd_sdnb_part *parts;
	sherd_model_variable *variables; /* of the model */
	shd_map names;                   /* of those */
	shd_nd4j_array *arrays;
	uint32_t *files;
	size_t count;
	sherd_error *err;
} gathering;

static size_t add_array(gathering *g, const shd_nd4j_array *a, size_t file)
{
	g->arrays[g->count] = *a;
	g->files[g->count] = (uint32_t)file;
	return g->count++;
}

/* The variable of the model that a file speaks of. */
static int find_variable(gathering *g, const char *name, sherd_model_variable **out)
{
	size_t index = shd_map_find(&g->names, shd_str_of(name));
	if (index == SHD_MAP_NONE)
		return shd_fail(g->err, SHERD_ECORRUPT, "unknown-variable", "%.128s is no variable of the graph", name);
	*out = &g->variables[index];
	return SHERD_OK;
}

/* Gives a variable its array, the first one. */
static int give(gathering *g, const char *name, sherd_dtype dtype, const shd_nd4j_array *a, size_t file)
{
	sherd_model_variable *v;
	TRY(find_variable(g, name, &v));
	if (v->array != SHERD_NO_ARRAY)
		return shd_fail(g->err, SHERD_ECORRUPT, "duplicate-name", "the array of %.128s is there twice", name);
	if (v->dtype != dtype)
		return shd_fail(g->err, SHERD_ECORRUPT, "dtype-mismatch",
		                "%.128s has another type in the file of the graph", name);
	v->array = add_array(g, a, file);
	return SHERD_OK;
}

/* Arrays after the graph are described by their variable alone. */
static int sdnb_open_describe(gathering *g, const sherd_model_variable *v, const shd_java_manifest_entry *e,
                              shd_nd4j_array *out)
{
	uint64_t shape[SHERD_MAX_DIMS];
	uint64_t bytes = 0;
	bool known = v->dtype && v->dtype != SHERD_UTF8 && v->shape.count <= SHERD_MAX_DIMS;
	for (size_t i = 0; known && i < v->shape.count; i++) {
		known = v->shape.at[i] >= 0;
		shape[i] = (uint64_t)v->shape.at[i];
	}
	if (!known)
		return shd_fail_at(g->err, SHERD_ECORRUPT, "bad-shape", e->offset,
		                   "type and shape of the array of %.128s are not told", v->name);
	uint32_t ndim = (uint32_t)v->shape.count;
	if (!sherd_tensor_bytes(&bytes, v->dtype, ndim, shape) || bytes != e->length)
		return shd_fail_at(g->err, SHERD_ECORRUPT, "size-mismatch", e->offset,
		                   "the array of %.128s has %llu bytes, its shape asks for %llu", v->name,
		                   (unsigned long long)e->length, (unsigned long long)bytes);
	*out = (shd_nd4j_array){.dtype = v->dtype, .ndim = ndim, .bytes = bytes, .data = e->offset, .stored = bytes};
	out->shape = shd_arena_copy(&g->m->base.arena, shape, ndim * sizeof(shape[0]));
	return out->shape || !ndim ? SHERD_OK : shd_fail_nomem(g->err);
}

/* The variables of one file, to be found by name. */
static int index_names(shd_map *names, const shd_samediff_graph *graph, sherd_error *err)
{
	for (size_t i = 0; i < graph->graph.variable_count; i++) {
		bool ok;
		(void)shd_map_add(names, shd_str_of(graph->variables[i].name), i, &ok);
		if (!ok)
			return shd_fail_nomem(err);
	}
	return SHERD_OK;
}

static int gather_manifest(gathering *g, size_t file, const shd_map *names)
{
	const shd_sdnb_part *p = &g->parts[file];
	for (size_t i = 0; i < p->entry_count; i++) {
		const shd_java_manifest_entry *e = &p->entries[i];
		size_t index = shd_map_find(names, shd_str_of(e->name));
		shd_nd4j_array a;
		if (index == SHD_MAP_NONE)
			return shd_fail_at(g->err, SHERD_ECORRUPT, "unknown-variable", e->offset,
			                   "%.128s is no variable of the graph", e->name);
		const sherd_model_variable *v = &p->graph.variables[index];
		TRY(sdnb_open_describe(g, v, e, &a));
		TRY(give(g, v->name, v->dtype, &a, file));
	}
	return SHERD_OK;
}

static int gather_updater(gathering *g, size_t file, const sherd_model_updater *u, sherd_model_updater *out)
{
	sherd_model_variable *v;
	size_t *at = shd_arena_alloc(&g->m->base.arena, u->arrays.count + 1, sizeof(*at));
	if (!at)
		return shd_fail_nomem(g->err);
	TRY(find_variable(g, u->parameter, &v));
	for (size_t i = 0; i < u->arrays.count; i++)
		at[i] = add_array(g, &g->parts[file].graph.arrays[u->arrays.at[i]], file);
	*out = *u;
	out->arrays.at = at;
	return SHERD_OK;
}

/* What a file of weights adds: arrays of variables, inside of its graph and after it, and states of updaters. */
static int gather_weights(gathering *g, size_t file, sherd_model_updater *updaters, size_t *updater_count)
{
	const shd_samediff_graph *graph = &g->parts[file].graph;
	SHD_DONE(shd_map_done) shd_map names = {0};
	TRY(index_names(&names, graph, g->err));
	for (size_t i = 0; i < graph->graph.variable_count; i++) {
		const sherd_model_variable *v = &graph->variables[i];
		if (v->array != SHERD_NO_ARRAY)
			TRY(give(g, v->name, v->dtype, &graph->arrays[v->array], file));
	}
	TRY(gather_manifest(g, file, &names));
	for (size_t i = 0; i < graph->graph.updater_count; i++)
		TRY(gather_updater(g, file, &graph->graph.updaters[i], &updaters[(*updater_count)++]));
	return SHERD_OK;
}

static int gather_first(gathering *g)
{
	const shd_samediff_graph *graph = &g->parts[0].graph;
	for (size_t i = 0; i < graph->array_count; i++)
		(void)add_array(g, &graph->arrays[i], 0);
	TRY(index_names(&g->names, graph, g->err));
	return shd_in_reader(g->err, gather_manifest(g, 0, &g->names), g->m->readers[0]);
}

static int gather_all(gathering *g, size_t count)
{
	sherd_model_graph *graph = &g->m->base.graph;
	size_t updaters = 0, most = 0;
	for (size_t i = 0; i < count; i++)
		most += g->parts[i].graph.graph.updater_count;
	sherd_model_updater *all = shd_arena_alloc(&g->m->base.arena, most + 1, sizeof(*all));
	if (!all)
		return shd_fail_nomem(g->err);
	TRY(gather_first(g));
	for (; updaters < graph->updater_count; updaters++)
		all[updaters] = graph->updaters[updaters];
	for (size_t i = 1; i < count; i++)
		TRY(shd_in_reader(g->err, gather_weights(g, i, all, &updaters), g->m->readers[i]));
	if (updaters) {
		graph->updaters = all;
		graph->updater_count = updaters;
	}
	return SHERD_OK;
}

static int sdnb_open_gather(shd_sdnb_model *m, const shd_sdnb_part *parts, size_t count, sherd_error *err)
{
	gathering g = {.m = m, .parts = parts, .variables = parts[0].graph.variables, .err = err};
	size_t most = 1;
	for (size_t i = 0; i < count; i++)
		most += parts[i].graph.array_count + parts[i].entry_count;
	g.arrays = shd_arena_alloc(&m->base.arena, most, sizeof(*g.arrays));
	g.files = shd_arena_alloc(&m->base.arena, most, sizeof(*g.files));
	m->base.graph = parts[0].graph.graph;
	int rc = g.arrays && g.files ? gather_all(&g, count) : shd_fail_nomem(err);
	shd_map_done(&g.names);
	m->arrays = g.arrays;
	m->files = g.files;
	m->base.array_count = g.count;
	return rc;
}

/* Bytes of the files, less those of the elements. */
static uint64_t count_checked(const shd_sdnb_model *m)
{
	uint64_t checked = 0, elements = 0;
	for (size_t i = 0; i < m->reader_count; i++)
		checked += sherd_reader_size(m->readers[i]);
	for (size_t i = 0; i < m->base.array_count; i++)
		elements += m->arrays[i].stored;
	return checked > elements ? checked - elements : 0;
}

static int sdnb_open_describe_arrays(shd_sdnb_model *m, sherd_error *err)
{
	sherd_model *b = &m->base;
	sherd_tensor *tensors = shd_arena_alloc(&b->arena, b->array_count + 1, sizeof(*tensors));
	if (!tensors)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < b->array_count; i++) {
		const shd_nd4j_array *a = &m->arrays[i];
		tensors[i] = (sherd_tensor){
			.dtype = a->dtype, .ndim = a->ndim, .shape = a->shape, .bytes = a->bytes, .name = ""};
	}
	b->arrays = tensors;
	b->checked = count_checked(m);
	TRY(shd_samediff_mark(&b->graph, m->arrays, b->array_count, &b->arena, err));
	return shd_model_name_arrays(&b->graph, tensors, b->array_count, 0, &b->arena, err);
}

static const char *pair_of(const shd_samediff_graph *g, const char *key)
{
	for (size_t i = 0; i < g->pair_count; i++)
		if (strcmp(g->pairs[i].key, key) == 0)
			return g->pairs[i].value;
	return NULL;
}

/* What a shard says of itself must be what its name says. */
static int sdnb_open_check_shard(const shd_sdnb_part *p, size_t index, sherd_error *err)
{
	char number[24];
	const char *told = pair_of(&p->graph, "shard.index"), *type = pair_of(&p->graph, "shard.type");
	(void)snprintf(number, sizeof(number), "%zu", index);
	if (told && strcmp(told, number) != 0)
		return shd_fail(err, SHERD_ECORRUPT, "bad-piece", "shard %zu says that it is shard %.64s", index, told);
	if (type && strcmp(type, index ? "weights" : "graph") != 0)
		return shd_fail(err, SHERD_ECORRUPT, "bad-piece", "shard %zu says that it holds %.64s", index, type);
	return SHERD_OK;
}

/* Pairs of the first file; of a set without those that are about the file alone. */
static int sdnb_open_take_pairs(sherd_model *b, const shd_samediff_graph *g, bool sharded, sherd_error *err)
{
	sherd_pair *pairs = shd_arena_alloc(&b->arena, g->pair_count + 1, sizeof(*pairs));
	if (!pairs)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < g->pair_count; i++)
		if (!sharded ||
		    (strcmp(g->pairs[i].key, "shard.index") != 0 && strcmp(g->pairs[i].key, "shard.type") != 0))
			pairs[b->pair_count++] = g->pairs[i];
	b->pairs = pairs;
	return SHERD_OK;
}

static int open_parts(shd_sdnb_model *m, sherd_store *store, const shd_sdnb_files *files, const sherd_limits *limits,
                      shd_sdnb_part *parts, sherd_error *err)
{
	for (size_t i = 0; i < files->count; i++) {
		TRY(sherd_store_read(&m->readers[i], store, files->keys[i], err));
		m->reader_count++;
		TRY(shd_sdnb_part_open(m->readers[i], limits, &m->base.arena, &parts[i], err));
		m->trailing += parts[i].trailing;
		if (files->sharded)
			TRY(shd_in_object(err, sdnb_open_check_shard(&parts[i], i, err), files->keys[i]));
	}
	return SHERD_OK;
}

static int open_files(shd_sdnb_model *m, sherd_store *store, const shd_sdnb_files *files, const sherd_limits *limits,
                      sherd_error *err)
{
	SHD_AUTO_FREE shd_sdnb_part *parts = calloc(files->count, sizeof(*parts));
	m->readers = calloc(files->count, sizeof(sherd_reader *));
	if (!parts || !m->readers)
		return shd_fail_nomem(err);
	TRY(open_parts(m, store, files, limits, parts, err));
	TRY(sdnb_open_gather(m, parts, files->count, err));
	m->base.files = (uint32_t)files->count;
	return sdnb_open_take_pairs(&m->base, &parts[0].graph, files->sharded, err);
}

int shd_sdnb_open(sherd_model **out, sherd_store *store, const char *key, const sherd_limits *limits,
                  sherd_store *archive, sherd_error *err)
{
	SHD_AUTO(sherd_model, sherd_model_close) b = NULL;
	shd_sdnb_files files;
	sherd_format format = archive ? SHERD_FORMAT_SDZ : SHERD_FORMAT_SDNB;
	int rc = shd_model_new(&b, sizeof(shd_sdnb_model), &ops, format, err);
	if (rc < 0) {
		sherd_store_close(archive);
		return rc;
	}
	shd_sdnb_model *m = (shd_sdnb_model *)b;
	m->archive = archive;
	TRY(shd_sdnb_find(store, key, limits, &b->arena, &files, err));
	TRY(open_files(m, store, &files, limits, err));
	TRY(sdnb_open_describe_arrays(m, err));
	TRY(shd_model_finish(b, err));
	*out = TAKE(b);
	return SHERD_OK;
}

int shd_model_open_sdnb(sherd_model **out, shd_evidence *e, const sherd_limits *limits, sherd_error *err)
{
	return shd_sdnb_open(out, e->store, e->key, limits, NULL, err);
}
