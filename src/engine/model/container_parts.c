#include "engine/model/container_parts.h"

#include "format/samediff/encode.h"
#include "format/samediff/graph.h"

/* Arrays being collected, in the order of the graph. */
typedef struct collection {
	const sherd_model *from;
	bool without_updater;
	SHD_VEC(container_part) list;
} collection;

static void container_parts_add(collection *c, size_t array, shd_container_role role, const char *key)
{
	container_part part = {.array = array, .a = {.role = role, .key = key}};
	if (array == SHERD_NO_ARRAY)
		return;
	part.a.tensor = c->from->arrays[array];
	shd_vec_push(&c->list, part);
}

static void add_list(collection *c, const sherd_model_arrays *arrays, shd_container_role role,
                     const sherd_model_texts *keys)
{
	for (size_t i = 0; i < arrays->count; i++)
		container_parts_add(c, arrays->at[i], role, keys ? keys->at[i] : "");
}

static void container_parts_collect(collection *c, const sherd_model_graph *g)
{
	for (size_t i = 0; i < g->variable_count; i++)
		container_parts_add(c, g->variables[i].array, SHD_ROLE_VARIABLE, "");
	for (size_t i = 0; i < g->updater_count && !c->without_updater; i++)
		add_list(c, &g->updaters[i].arrays, SHD_ROLE_UPDATER, &g->updaters[i].keys);
	for (size_t i = 0; i < g->operation_count; i++) {
		const sherd_model_operation *op = &g->operations[i];
		container_parts_add(c, op->scalar, SHD_ROLE_OPERATION, "");
		for (size_t p = 0; p < op->property_count; p++)
			add_list(c, &op->properties[p].arrays, SHD_ROLE_OPERATION, NULL);
	}
	for (size_t i = 0; i < g->sequence_count; i++)
		add_list(c, &g->sequences[i].arrays, SHD_ROLE_SEQUENCE, NULL);
	for (size_t i = 0; i < g->subgraph_count; i++)
		container_parts_collect(c, g->subgraphs[i].graph);
}

/* Which arrays of the caller are written, and which are left out with the updaters. */
static int number(const sherd_model *from, shd_arena *arena, container_parts *p, sherd_error *err)
{
	p->array_count = from->array_count;
	p->part_of = shd_arena_alloc(arena, from->array_count + 1, sizeof(*p->part_of));
	if (!p->part_of)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < from->array_count; i++)
		p->part_of[i] = SHERD_NO_ARRAY;
	for (size_t i = 0; i < p->count; i++)
		p->part_of[p->list[i].array] = i;
	return SHERD_OK;
}

static int encode(const sherd_model *from, bool without_updater, shd_arena *arena, container_parts *p, sherd_error *err)
{
	shd_samediff_encoding encoding;
	const shd_samediff_source source = {.graph = &from->graph,
	                                    .arrays = from->arrays,
	                                    .array_count = from->array_count,
	                                    .without_updater = without_updater};
	TRY(shd_samediff_encode(&source, SHD_SAMEDIFF_CONTAINER, arena, &encoding, err));
	p->graph = encoding.pieces[0].bytes;
	p->graph_len = encoding.pieces[0].len;
	return SHERD_OK;
}

/* Takes names and shapes from the graph as it will be read, so that nothing is left of the model's. */
static int read_back(container_parts *p, shd_arena *arena, sherd_error *err)
{
	SHD_DONE(shd_flatbuf_done) shd_flatbuf fb = {0};
	shd_samediff_graph graph;
	sherd_tensor *tensors = shd_arena_alloc(arena, p->count + 1, sizeof(*tensors));
	if (!tensors)
		return shd_fail_nomem(err);
	memset(tensors, 0, (p->count + 1) * sizeof(*tensors));
	shd_flatbuf_over(&fb, p->graph, p->graph_len);
	/* Which gives as many arrays as were encoded, in this order. */
	TRY(shd_samediff_decode(&fb, SHD_SAMEDIFF_CONTAINER, NULL, arena, &graph, err));
	TRY(shd_model_name_arrays(&graph.graph, tensors, p->count, 0, arena, err));
	for (size_t i = 0; i < p->count; i++) {
		sherd_tensor *t = &p->list[i].a.tensor;
		const char *key = shd_arena_str(arena, shd_str_of(p->list[i].a.key));
		if (!key)
			return shd_fail_nomem(err);
		p->list[i].a.key = key;
		t->name = tensors[i].name;
		t->ndim = graph.arrays[i].ndim;
		t->shape = graph.arrays[i].shape;
		p->list[i].a.chunk_bytes = SHD_CONTAINER_CHUNK;
	}
	return SHERD_OK;
}

int shd_container_parts_make(const sherd_model *from, bool without_updater, shd_arena *arena, container_parts *out,
                             sherd_error *err)
{
	collection c = {.from = from, .without_updater = without_updater};
	container_parts p = {0};
	container_parts_collect(&c, &from->graph);
	int rc = shd_vec_check(&c.list, err);
	if (rc == SHERD_OK) {
		p.count = c.list.count;
		p.list = shd_arena_alloc(arena, p.count + 1, sizeof(*p.list));
		rc = p.list ? SHERD_OK : shd_fail_nomem(err);
	}
	if (rc == SHERD_OK && p.count)
		memcpy(p.list, c.list.items, p.count * sizeof(*p.list));
	shd_vec_done(&c.list);
	TRY(rc);
	TRY(number(from, arena, &p, err));
	TRY(encode(from, without_updater, arena, &p, err));
	TRY(read_back(&p, arena, err));
	*out = p;
	return SHERD_OK;
}

void shd_container_parts_done(container_parts *parts)
{
	for (size_t i = 0; i < parts->count; i++) {
		shd_vec_done(&parts->list[i].chunks);
		shd_vec_done(&parts->list[i].values);
	}
}
