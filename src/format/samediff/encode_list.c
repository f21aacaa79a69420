#include "format/samediff/encoder.h"

static size_t encode_list_field_of(const shd_samediff_encoder *e, size_t table, unsigned field)
{
	return shd_flatbuf_build_field(&e->build, table, field);
}

void shd_samediff_put_u8(shd_samediff_encoder *e, size_t table, unsigned field, uint8_t v)
{
	if (v)
		shd_flatbuf_build_u8(&e->build, table, field, v);
}

void shd_samediff_put_i32(shd_samediff_encoder *e, size_t table, unsigned field, int32_t v)
{
	if (v)
		shd_flatbuf_build_i32(&e->build, table, field, v);
}

void shd_samediff_put_i64(shd_samediff_encoder *e, size_t table, unsigned field, int64_t v)
{
	if (v)
		shd_flatbuf_build_i64(&e->build, table, field, v);
}

void shd_samediff_put_text(shd_samediff_encoder *e, size_t table, unsigned field, const char *text)
{
	if (text)
		shd_flatbuf_build_text(&e->build, encode_list_field_of(e, table, field), text);
}

void shd_samediff_put_texts(shd_samediff_encoder *e, size_t table, unsigned field, sherd_model_texts list)
{
	if (!list.at)
		return;
	size_t at = shd_flatbuf_build_offsets(&e->build, encode_list_field_of(e, table, field), list.count);
	for (size_t i = 0; i < list.count; i++)
		if (list.at[i])
			shd_flatbuf_build_text(&e->build, at + 4 * i, list.at[i]);
		else if (e->rc >= 0)
			e->rc = shd_fail(&e->error, SHERD_EINVAL, "bad-argument", "text %zu of a list is absent", i);
}

void shd_samediff_put_bytes(shd_samediff_encoder *e, size_t table, unsigned field, sherd_model_bytes list)
{
	if (list.at)
		shd_flatbuf_build_bytes(&e->build, encode_list_field_of(e, table, field), list.at, list.count);
}

void shd_samediff_put_ints(shd_samediff_encoder *e, size_t table, unsigned field, sherd_model_ints list)
{
	if (list.at)
		shd_flatbuf_build_i32s(&e->build, encode_list_field_of(e, table, field), list.at, list.count);
}

void shd_samediff_put_longs(shd_samediff_encoder *e, size_t table, unsigned field, sherd_model_longs list)
{
	if (list.at)
		shd_flatbuf_build_i64s(&e->build, encode_list_field_of(e, table, field), list.at, list.count);
}

void shd_samediff_put_reals(shd_samediff_encoder *e, size_t table, unsigned field, sherd_model_reals list)
{
	if (list.at)
		shd_flatbuf_build_f64s(&e->build, encode_list_field_of(e, table, field), list.at, list.count);
}

void shd_samediff_put_id(shd_samediff_encoder *e, size_t from, sherd_model_id id)
{
	const char widths[SHD_FLAT_PAIR_FIELDS + 1] = {
		[SHD_FLAT_PAIR_FIRST] = shd_samediff_width(id.node != 0, '4'),
		[SHD_FLAT_PAIR_SECOND] = shd_samediff_width(id.output != 0, '4'),
	};
	size_t t = shd_flatbuf_build_table(&e->build, from, widths);
	shd_samediff_put_i32(e, t, SHD_FLAT_PAIR_FIRST, id.node);
	shd_samediff_put_i32(e, t, SHD_FLAT_PAIR_SECOND, id.output);
}

void shd_samediff_put_ids(shd_samediff_encoder *e, size_t table, unsigned field, sherd_model_ids list)
{
	if (!list.at)
		return;
	size_t at = shd_flatbuf_build_offsets(&e->build, encode_list_field_of(e, table, field), list.count);
	for (size_t i = 0; i < list.count; i++)
		shd_samediff_put_id(e, at + 4 * i, list.at[i]);
}

void shd_samediff_put_arrays(shd_samediff_encoder *e, size_t table, unsigned field, sherd_model_arrays list)
{
	if (!list.at)
		return;
	size_t at = shd_flatbuf_build_offsets(&e->build, encode_list_field_of(e, table, field), list.count);
	for (size_t i = 0; i < list.count; i++)
		shd_samediff_put_array(e, at + 4 * i, list.at[i]);
}
