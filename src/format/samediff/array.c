#include "format/samediff/decoder.h"

#include "base/cursor.h"

enum { BIG_ENDIAN_BYTES = 1, FORTRAN_ORDER = 1 };

/* How many texts there are; false when that does not fit 64 bits. */
static bool count_texts(const shd_nd4j_array *a, uint64_t *out)
{
	return sherd_tensor_bytes(out, SHERD_U8, a->ndim, a->shape);
}

static uint64_t read_u64(shd_flatbuf *fb, uint64_t pos, bool big)
{
	uint8_t raw[8] = {0};
	(void)shd_flatbuf_copy(fb, pos, raw, sizeof(raw));
	return big ? shd_nd4j_get_u64(raw) : shd_get_u64(raw);
}

/* Finds out how the offsets are stored, by the first and the last of them. */
static void measure_texts(shd_samediff_decoder *d, shd_nd4j_array *a)
{
	uint64_t n, words = a->stored / 8, last;
	bool countable = count_texts(a, &n);
	if (countable && !n && !a->stored) { /* the one offset that we have of no texts is not in the file */
		a->bytes = 8;
		return;
	}
	if (!countable || n >= words) {
		shd_flatbuf_fail(d->fb, SHERD_ECORRUPT, "size-mismatch", a->data,
		                 "%llu bytes are too few for the texts", (unsigned long long)a->stored);
		return;
	}
	if (a->fortran || a->strides) {
		shd_flatbuf_fail(d->fb, SHERD_EUNSUPPORTED, "bad-strides", a->data, "texts in another order than C");
		return;
	}
	last = read_u64(d->fb, a->data + 8 * n, false);
	if (read_u64(d->fb, a->data, false) == 0 && last <= a->stored - 8 * (n + 1)) {
		a->bytes = 8 * (n + 1) + last;
		return;
	}
	if (n + 1 < words && read_u64(d->fb, a->data, true) == n && read_u64(d->fb, a->data + 8, true) == 0) {
		last = read_u64(d->fb, a->data + 8 * (n + 1), true);
		a->text = SHD_ND4J_TEXT_COUNTED;
		a->bytes = 8 * (n + 1) + last;
		if (last <= a->stored - 8 * (n + 2))
			return;
	}
	shd_flatbuf_fail(d->fb, SHERD_ECORRUPT, "bad-offsets", a->data, "the offsets of texts fit no known layout");
}

static void take_buffer(shd_samediff_decoder *d, const shd_flat_table *t, shd_nd4j_array *a)
{
	shd_flat_vector buffer = shd_flat_span(d->fb, t, SHD_FLAT_ARRAY_BUFFER);
	a->data = buffer.at;
	a->stored = buffer.count;
	if (d->fb->rc < 0)
		return;
	if (d->style == SHD_SAMEDIFF_CONTAINER) {
		if (buffer.at)
			shd_flatbuf_fail(d->fb, SHERD_ECORRUPT, "size-mismatch", buffer.at - 4,
			                 "an array with its elements inside of the graph");
		if ((a->fortran && !sherd_dtype_element_bytes(a->dtype)) || a->strides)
			shd_flatbuf_fail(d->fb, SHERD_EUNSUPPORTED, "bad-strides", t->pos,
			                 "an array in an order that containers do not have");
		return;
	}
	if (a->dtype == SHERD_UTF8)
		measure_texts(d, a);
	else
		d->fb->rc = shd_nd4j_size_check(a, buffer.at ? buffer.at - 4 : t->pos, &d->fb->error);
}

static void take_shape(shd_samediff_decoder *d, const shd_flat_table *t, uint8_t order, shd_nd4j_array *a)
{
	shd_flatbuf *fb = d->fb;
	shd_flat_vector v = shd_flat_list(fb, t, SHD_FLAT_ARRAY_SHAPE, 8);
	int64_t info[SHD_ND4J_INFO_MOST];
	if (v.count > COUNT_OF(info))
		shd_flatbuf_fail(fb, SHERD_ELIMIT, "too-many-dims", v.at, "%lu numbers for one shape",
		                 (unsigned long)v.count);
	for (uint32_t i = 0; fb->rc >= 0 && i < v.count; i++)
		info[i] = shd_flat_element_i64(fb, &v, i);
	if (fb->rc < 0)
		return;
	if (d->style == SHD_SAMEDIFF_SDNB) /* a scalar has an element: without one it is a scalar of nothing */
		a->empty = !v.count && !shd_flat_has(fb, t, SHD_FLAT_ARRAY_BUFFER);
	if (d->style == SHD_SAMEDIFF_SDNB)
		fb->rc = shd_nd4j_dims_decode(info, v.count, order == FORTRAN_ORDER, v.at ? v.at : t->pos, d->limits,
		                              d->arena, a, &fb->error);
	else if (!v.count)
		shd_flatbuf_fail(fb, SHERD_ECORRUPT, "bad-shape", t->pos, "an array without a shape");
	else
		fb->rc = shd_nd4j_shape_decode(info, v.count, v.at, d->limits, d->arena, a, &fb->error);
}

static void array_take(shd_samediff_decoder *d, const shd_flat_table *t, shd_nd4j_array *a)
{
	shd_flatbuf *fb = d->fb;
	uint8_t number = shd_flat_u8(fb, t, SHD_FLAT_ARRAY_DTYPE, 0);
	uint8_t order = shd_flat_u8(fb, t, SHD_FLAT_ARRAY_ORDER, 0);
	a->dtype = shd_samediff_dtype(number, d->style);
	if (a->dtype == SHERD_DTYPE_NONE)
		shd_flatbuf_fail(fb, SHERD_EUNSUPPORTED, "bad-dtype", t->pos, "an array of type number %u", number);
	if (order > 1)
		shd_flatbuf_fail(fb, SHERD_ECORRUPT, "bad-type", t->pos, "order of bytes %u", order);
	if (shd_flat_has(fb, t, SHD_FLAT_ARRAY_CHUNKS) || shd_flat_u8(fb, t, SHD_FLAT_ARRAY_EXTERNAL, 0))
		shd_flatbuf_fail(fb, SHERD_EUNSUPPORTED, "bad-version", t->pos,
		                 "an array in chunks or outside of the file, which no release wrote");
	take_shape(d, t, order, a);
	take_buffer(d, t, a);
	a->swap = d->style == SHD_SAMEDIFF_LEGACY && order == BIG_ENDIAN_BYTES && fb->rc >= 0 &&
	          sherd_dtype_element_bytes(a->dtype) > 1;
}

bool shd_samediff_knows_type(const shd_samediff_decoder *d, uint8_t number)
{
	return d->style == SHD_SAMEDIFF_CONTAINER || number <= SHD_SAMEDIFF_LAST_NUMBER ||
	       (number >= SHD_SAMEDIFF_FIRST_TEXT && number <= SHD_SAMEDIFF_LAST_TEXT);
}

void shd_samediff_check_type(shd_samediff_decoder *d, uint8_t number, uint64_t at, const char *what, const char *owner)
{
	if (shd_samediff_knows_type(d, number))
		return;
	shd_flatbuf_fail(d->fb, SHERD_EUNSUPPORTED, "bad-dtype", at,
	                 "%s %.128s is of type number %u, which SameDiff "
	                 "does not have",
	                 what, owner ? owner : "without a name", number);
}

sherd_dtype shd_samediff_dtype(uint8_t number, shd_samediff_style style)
{
	sherd_dtype dtype = shd_nd4j_dtype(number);
	if (dtype != SHERD_DTYPE_NONE || style != SHD_SAMEDIFF_CONTAINER || number < SHD_SAMEDIFF_OUR_TYPES)
		return dtype;
	dtype = (sherd_dtype)(number - SHD_SAMEDIFF_OUR_TYPES);
	return sherd_dtype_describe(dtype) && !shd_nd4j_number(dtype) ? dtype : SHERD_DTYPE_NONE;
}

size_t shd_samediff_array(shd_samediff_decoder *d, const shd_flat_table *t)
{
	shd_nd4j_array a = {0};
	if (!t->pos || d->fb->rc < 0)
		return SHERD_NO_ARRAY;
	array_take(d, t, &a);
	shd_vec_push(&d->arrays, a);
	return d->arrays.count - 1;
}

sherd_model_arrays shd_samediff_arrays(shd_samediff_decoder *d, const shd_flat_table *t, unsigned field)
{
	shd_flat_vector v = shd_flat_list(d->fb, t, field, 4);
	size_t *at = v.at ? shd_samediff_room(d, v.count, sizeof(*at)) : NULL;
	for (uint32_t i = 0; at && i < v.count && d->fb->rc >= 0; i++) {
		shd_flat_table array = shd_flat_element(d->fb, &v, i);
		at[i] = shd_samediff_array(d, &array);
	}
	return (sherd_model_arrays){at ? v.count : 0, at};
}
