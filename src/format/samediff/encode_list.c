#include "format/samediff/encoder.h"

static size_t field_of(const sherd_samediff_encoder *e, size_t table, unsigned field)
{
	return sherd_flatbuf_build_field(&e->build, table, field);
}

void sherd_samediff_put_u8(sherd_samediff_encoder *e, size_t table, unsigned field, uint8_t v)
{
	if (v)
		sherd_flatbuf_build_u8(&e->build, table, field, v);
}

void sherd_samediff_put_i32(sherd_samediff_encoder *e, size_t table, unsigned field, int32_t v)
{
	if (v)
		sherd_flatbuf_build_i32(&e->build, table, field, v);
}

void sherd_samediff_put_i64(sherd_samediff_encoder *e, size_t table, unsigned field, int64_t v)
{
	if (v)
		sherd_flatbuf_build_i64(&e->build, table, field, v);
}

void sherd_samediff_put_text(sherd_samediff_encoder *e, size_t table, unsigned field, const char *text)
{
	if (text)
		sherd_flatbuf_build_text(&e->build, field_of(e, table, field), text);
}

void sherd_samediff_put_texts(sherd_samediff_encoder *e, size_t table, unsigned field, sherd_model_texts list)
{
	if (!list.at)
		return;
	size_t at = sherd_flatbuf_build_offsets(&e->build, field_of(e, table, field), list.count);
	for (size_t i = 0; i < list.count; i++)
		if (list.at[i])
			sherd_flatbuf_build_text(&e->build, at + 4 * i, list.at[i]);
		else if (e->rc >= 0)
			e->rc = sherd_fail(&e->error, SHERD_EINVAL, "bad-argument", "text %zu of a list is absent", i);
}

void sherd_samediff_put_bytes(sherd_samediff_encoder *e, size_t table, unsigned field, sherd_model_bytes list)
{
	if (list.at)
		sherd_flatbuf_build_bytes(&e->build, field_of(e, table, field), list.at, list.count);
}

void sherd_samediff_put_ints(sherd_samediff_encoder *e, size_t table, unsigned field, sherd_model_ints list)
{
	if (list.at)
		sherd_flatbuf_build_i32s(&e->build, field_of(e, table, field), list.at, list.count);
}

void sherd_samediff_put_longs(sherd_samediff_encoder *e, size_t table, unsigned field, sherd_model_longs list)
{
	if (list.at)
		sherd_flatbuf_build_i64s(&e->build, field_of(e, table, field), list.at, list.count);
}

void sherd_samediff_put_reals(sherd_samediff_encoder *e, size_t table, unsigned field, sherd_model_reals list)
{
	if (list.at)
		sherd_flatbuf_build_f64s(&e->build, field_of(e, table, field), list.at, list.count);
}

void sherd_samediff_put_id(sherd_samediff_encoder *e, size_t from, sherd_model_id id)
{
	const char widths[SHERD_FLAT_PAIR_FIELDS + 1] = {
		[SHERD_FLAT_PAIR_FIRST] = sherd_samediff_width(id.node != 0, '4'),
		[SHERD_FLAT_PAIR_SECOND] = sherd_samediff_width(id.output != 0, '4'),
	};
	size_t t = sherd_flatbuf_build_table(&e->build, from, widths);
	sherd_samediff_put_i32(e, t, SHERD_FLAT_PAIR_FIRST, id.node);
	sherd_samediff_put_i32(e, t, SHERD_FLAT_PAIR_SECOND, id.output);
}

void sherd_samediff_put_ids(sherd_samediff_encoder *e, size_t table, unsigned field, sherd_model_ids list)
{
	if (!list.at)
		return;
	size_t at = sherd_flatbuf_build_offsets(&e->build, field_of(e, table, field), list.count);
	for (size_t i = 0; i < list.count; i++)
		sherd_samediff_put_id(e, at + 4 * i, list.at[i]);
}

void sherd_samediff_put_arrays(sherd_samediff_encoder *e, size_t table, unsigned field, sherd_model_arrays list)
{
	if (!list.at)
		return;
	size_t at = sherd_flatbuf_build_offsets(&e->build, field_of(e, table, field), list.count);
	for (size_t i = 0; i < list.count; i++)
		sherd_samediff_put_array(e, at + 4 * i, list.at[i]);
}
