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
bool shd_samediff_is_fortran(const shd_samediff_encoder *e, size_t array)
{
	const sherd_tensor *t = &e->source->arrays[array];
	return is_marked(e->source->graph->fortran, array) && t->ndim > 1 && sherd_dtype_element_bytes(t->dtype) &&
	       !shd_nd4j_is_empty(t);
}

bool shd_samediff_is_hollow(const shd_samediff_encoder *e, size_t array)
{
	return is_marked(e->source->graph->hollow, array) && shd_nd4j_is_empty(&e->source->arrays[array]);
}

static void put_shape(shd_samediff_encoder *e, size_t from, size_t array)
{
	const sherd_tensor *t = &e->source->arrays[array];
	int64_t info[SHD_ND4J_INFO_MOST];
	size_t count =
		shd_nd4j_shape_encode(t, shd_samediff_is_fortran(e, array), shd_samediff_is_hollow(e, array), info);
	if (e->style == SHD_SAMEDIFF_SDNB)
		shd_flatbuf_build_i64s(&e->build, from, info + 1, (size_t)info[0]);
	else
		shd_flatbuf_build_i64s(&e->build, from, info, count);
}

static bool is_storable(shd_samediff_encoder *e, const sherd_tensor *t)
{
	bool fits = t->ndim <= SHERD_MAX_DIMS;
	for (uint32_t i = 0; fits && i < t->ndim; i++)
		fits = t->shape[i] <= INT64_MAX;
	if (!fits)
		shd_samediff_refuse(e, "the shape of %.128s", t->name);
	return fits;
}

void shd_samediff_put_array(shd_samediff_encoder *e, size_t from, size_t array)
{
	const sherd_tensor *t = &e->source->arrays[array];
	bool buffer = e->style != SHD_SAMEDIFF_CONTAINER && !shd_nd4j_is_empty(t);
	uint8_t order = e->style == SHD_SAMEDIFF_SDNB ? (shd_samediff_is_fortran(e, array) ? FORTRAN_ORDER : 0)
	                                              : BIG_ENDIAN_BYTES;
	uint8_t number = shd_samediff_number(e, t->dtype, t->name);
	if (e->rc < 0 || !is_storable(e, t))
		return;
	const char widths[SHD_FLAT_ARRAY_FIELDS + 1] = {
		[SHD_FLAT_ARRAY_SHAPE] = '4',
		[SHD_FLAT_ARRAY_BUFFER] = shd_samediff_width(buffer, '4'),
		[SHD_FLAT_ARRAY_DTYPE] = '1',
		[SHD_FLAT_ARRAY_ORDER] = shd_samediff_width(order != 0, '1'),
	};
	size_t table = shd_flatbuf_build_table(&e->build, from, widths);
	shd_samediff_put_u8(e, table, SHD_FLAT_ARRAY_DTYPE, number);
	shd_samediff_put_u8(e, table, SHD_FLAT_ARRAY_ORDER, order);
	put_shape(e, shd_flatbuf_build_field(&e->build, table, SHD_FLAT_ARRAY_SHAPE), array);
	if (!buffer)
		return;
	const shd_samediff_payload payload = {.array = array};
	shd_flatbuf_build_span(&e->build, shd_flatbuf_build_field(&e->build, table, SHD_FLAT_ARRAY_BUFFER), t->bytes,
	                       SPAN_ALIGN);
	shd_vec_push(&e->payloads, payload);
}
