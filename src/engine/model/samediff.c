#include "engine/model/samediff.h"

#include "engine/tensors/blame.h"
#include "engine/model/nd4j.h"

#include <stdlib.h>

static const sherd_reader *reader_of(const shd_samediff_model *m, size_t array)
{
	return array < m->inside ? m->reader : m->outside[array - m->inside];
}

static int samediff_read_array(const sherd_model *model, size_t array, uint64_t offset, void *buf, size_t len,
                               sherd_error *err)
{
	const shd_samediff_model *m = (const shd_samediff_model *)model;
	return shd_nd4j_read(reader_of(m, array), &m->arrays[array], offset, buf, len, err);
}

static int read_fortran(const sherd_model *model, size_t array, uint64_t offset, void *buf, size_t len,
                        sherd_error *err)
{
	const shd_samediff_model *m = (const shd_samediff_model *)model;
	const shd_nd4j_array *a = &m->arrays[array];
	return a->fortran ? shd_nd4j_read_fortran(reader_of(m, array), a, offset, buf, len, err) : SHERD_EUNSUPPORTED;
}

static int samediff_map_array(const void **out, const sherd_model *model, size_t array, sherd_error *err)
{
	const shd_samediff_model *m = (const shd_samediff_model *)model;
	return shd_nd4j_map(out, reader_of(m, array), &m->arrays[array], err);
}

static void samediff_done(sherd_model *model)
{
	shd_samediff_model *m = (shd_samediff_model *)model;
	sherd_reader_close(m->reader);
	for (size_t i = 0; i < m->outside_count; i++)
		sherd_reader_close(m->outside[i]);
	free(m->outside);
}

static const shd_model_ops ops = {
	.read = samediff_read_array, .read_fortran = read_fortran, .map = samediff_map_array, .close = samediff_done};

int shd_samediff_fetch(void *arg, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	return sherd_reader_at(arg, offset, buf, len, err);
}

static int samediff_decode(sherd_reader *reader, const sherd_limits *limits, shd_arena *arena, shd_samediff_graph *out,
                           sherd_error *err)
{
	SHD_DONE(shd_flatbuf_done) shd_flatbuf fb = {0};
	TRY(shd_flatbuf_open(&fb, shd_samediff_fetch, reader, sherd_reader_size(reader), err));
	return shd_in_reader(err, shd_samediff_decode(&fb, SHD_SAMEDIFF_LEGACY, limits, arena, out, err), reader);
}

static int samediff_describe_arrays(shd_samediff_model *m, size_t count, sherd_error *err)
{
	sherd_model *b = &m->base;
	sherd_tensor *tensors = shd_arena_alloc(&b->arena, count + 1, sizeof(*tensors));
	if (!tensors)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < count; i++) {
		const shd_nd4j_array *a = &m->arrays[i];
		tensors[i] = (sherd_tensor){
			.dtype = a->dtype, .ndim = a->ndim, .shape = a->shape, .bytes = a->bytes, .name = ""};
	}
	TRY(shd_model_name_arrays(&b->graph, tensors, count, 0, &b->arena, err));
	b->checked = sherd_reader_size(m->reader);
	for (size_t i = 0; i < count; i++) {
		b->checked += i < m->inside ? 0 : sherd_reader_size(m->outside[i - m->inside]);
		b->checked -= m->arrays[i].stored < b->checked ? m->arrays[i].stored : 0;
	}
	b->arrays = tensors;
	b->array_count = count;
	return SHERD_OK;
}

int shd_model_open_samediff(sherd_model **out, shd_evidence *e, const sherd_limits *limits, sherd_error *err)
{
	SHD_AUTO(sherd_model, sherd_model_close) b = NULL;
	shd_samediff_graph graph;
	TRY(shd_model_new(&b, sizeof(shd_samediff_model), &ops, SHERD_FORMAT_SAMEDIFF_FLATBUFFERS, err));
	shd_samediff_model *m = (shd_samediff_model *)b;
	TRY(shd_evidence_take_reader(e, &m->reader, err));
	TRY(samediff_decode(m->reader, limits, &b->arena, &graph, err));
	m->inside = graph.array_count;
	m->arrays = graph.arrays;
	TRY(shd_samediff_find_outside(m, e->store, e->key, limits, &graph, err));
	b->graph = graph.graph;
	b->pairs = graph.pairs;
	b->pair_count = graph.pair_count;
	TRY(shd_samediff_mark(&b->graph, m->arrays, m->inside + m->outside_count, &b->arena, err));
	TRY(samediff_describe_arrays(m, m->inside + m->outside_count, err));
	TRY(shd_model_finish(b, err));
	*out = TAKE(b);
	return SHERD_OK;
}
