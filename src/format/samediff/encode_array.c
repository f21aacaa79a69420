#include "format/samediff/encoder.h"

#include "format/samediff/nd4j_array.h"

enum {
	BIG_ENDIAN_BYTES = 1,
	FORTRAN_ORDER = 1,
	SPAN_ALIGN = 8 /* so that elements of any width are aligned */
};

static bool is_marked(sherd_model_bytes marks, size_t array)
{
	return array < marks.count && marks.at[array];
}

/* Only where the order can be told. */
bool sherd_samediff_is_fortran(const sherd_samediff_encoder *e, size_t array)
{
	const sherd_tensor *t = &e->source->arrays[array];
	return is_marked(e->source->graph->fortran, array) && t->ndim > 1 && t->dtype != SHERD_UTF8 &&
	       !sherd_nd4j_is_empty(t);
}

bool sherd_samediff_is_hollow(const sherd_samediff_encoder *e, size_t array)
{
	return is_marked(e->source->graph->hollow, array) && sherd_nd4j_is_empty(&e->source->arrays[array]);
}

static void put_shape(sherd_samediff_encoder *e, size_t from, size_t array)
{
	const sherd_tensor *t = &e->source->arrays[array];
	int64_t info[SHERD_ND4J_INFO_MOST];
	size_t count = sherd_nd4j_shape_encode(t, sherd_samediff_is_fortran(e, array),
	                                       sherd_samediff_is_hollow(e, array), info);
	if (e->style == SHERD_SAMEDIFF_SDNB)
		sherd_flatbuf_build_i64s(&e->build, from, info + 1, (size_t)info[0]);
	else
		sherd_flatbuf_build_i64s(&e->build, from, info, count);
}

static bool is_storable(sherd_samediff_encoder *e, const sherd_tensor *t)
{
	bool fits = t->ndim <= SHERD_MAX_DIMS;
	for (uint32_t i = 0; fits && i < t->ndim; i++)
		fits = t->shape[i] <= INT64_MAX;
	if (!fits)
		sherd_samediff_refuse(e, "the shape of %.128s does not fit", t->name);
	return fits;
}

void sherd_samediff_put_array(sherd_samediff_encoder *e, size_t from, size_t array)
{
	const sherd_tensor *t = &e->source->arrays[array];
	bool buffer = e->style != SHERD_SAMEDIFF_CONTAINER && !sherd_nd4j_is_empty(t);
	uint8_t order = e->style == SHERD_SAMEDIFF_SDNB ? (sherd_samediff_is_fortran(e, array) ? FORTRAN_ORDER : 0)
	                                                : BIG_ENDIAN_BYTES;
	uint8_t number = sherd_samediff_number(e, t->dtype, t->name);
	if (e->rc < 0 || !is_storable(e, t))
		return;
	const char widths[SHERD_FLAT_ARRAY_FIELDS + 1] = {
		[SHERD_FLAT_ARRAY_SHAPE] = '4',
		[SHERD_FLAT_ARRAY_BUFFER] = sherd_samediff_width(buffer, '4'),
		[SHERD_FLAT_ARRAY_DTYPE] = '1',
		[SHERD_FLAT_ARRAY_ORDER] = sherd_samediff_width(order != 0, '1'),
	};
	size_t table = sherd_flatbuf_build_table(&e->build, from, widths);
	sherd_samediff_put_u8(e, table, SHERD_FLAT_ARRAY_DTYPE, number);
	sherd_samediff_put_u8(e, table, SHERD_FLAT_ARRAY_ORDER, order);
	put_shape(e, sherd_flatbuf_build_field(&e->build, table, SHERD_FLAT_ARRAY_SHAPE), array);
	if (!buffer)
		return;
	const sherd_samediff_payload payload = {.array = array};
	sherd_flatbuf_build_span(&e->build, sherd_flatbuf_build_field(&e->build, table, SHERD_FLAT_ARRAY_BUFFER),
	                         t->bytes, SPAN_ALIGN);
	sherd_buf_append(&e->payloads, &payload, sizeof(payload));
}
