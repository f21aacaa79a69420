#include "engine/model/nd4j.h"

#include "engine/tensors/reorder.h"

#include <string.h>

SHD_AUTO_DEFINE(sherd_reader, sherd_reader_close)

int shd_nd4j_open(sherd_reader **out, sherd_store *store, const char *key, const sherd_limits *limits, shd_arena *arena,
                  shd_nd4j_array *array, sherd_error *err)
{
	SHD_AUTO(sherd_reader, sherd_reader_close) reader = NULL;
	uint8_t head[SHD_ND4J_HEAD];
	TRY(sherd_store_read(&reader, store, key, err));
	uint64_t size = sherd_reader_size(reader);
	size_t have = size < sizeof(head) ? (size_t)size : sizeof(head);
	TRY(sherd_reader_at(reader, 0, head, have, err));
	TRY(shd_in_object(err, shd_nd4j_array_decode(head, have, size, limits, arena, array, err), key));
	*out = TAKE(reader);
	return SHERD_OK;
}

/* The offsets stand after a count that we do not have, and are byte-swapped; the text follows as it is. */
static int read_counted(const sherd_reader *reader, const shd_nd4j_array *a, uint64_t offset, uint8_t *buf, size_t len,
                        sherd_error *err)
{
	uint64_t texts = 0;
	(void)sherd_tensor_bytes(&texts, SHERD_U8, a->ndim, a->shape);
	uint64_t table = 8 * (texts + 1);
	const shd_reorder order = {.reader = reader, .data = a->data + 8, .bytes = table, .element = 8, .swap = 8};
	if (offset < table) {
		size_t n = table - offset < len ? (size_t)(table - offset) : len;
		TRY(shd_reorder_bytes(&order, offset, buf, n, err));
		offset += n;
		buf += n;
		len -= n;
	}
	return len ? sherd_reader_at(reader, a->data + 8 + offset, buf, len, err) : SHERD_OK;
}

static shd_reorder order_of(const sherd_reader *reader, const shd_nd4j_array *a)
{
	uint32_t element = sherd_dtype_element_bytes(a->dtype);
	return (shd_reorder){
		.reader = reader,
		.data = a->data,
		.bytes = a->bytes,
		.element = element,
		.swap = a->swap ? element : 1,
		.ndim = a->ndim,
		.shape = a->shape,
		.strides = a->strides,
	};
}

int shd_nd4j_read_fortran(const sherd_reader *reader, const shd_nd4j_array *a, uint64_t offset, void *buf, size_t len,
                          sherd_error *err)
{
	const shd_reorder order = order_of(reader, a);
	return shd_reorder_bytes(&order, offset, buf, len, err);
}

int shd_nd4j_read(const sherd_reader *reader, const shd_nd4j_array *a, uint64_t offset, void *buf, size_t len,
                  sherd_error *err)
{
	if (!a->stored) { /* the one offset of no texts */
		memset(buf, 0, len);
		return SHERD_OK;
	}
	if (a->dtype == SHERD_UTF8)
		return a->text == SHD_ND4J_TEXT_COUNTED ? read_counted(reader, a, offset, buf, len, err)
		                                        : sherd_reader_at(reader, a->data + offset, buf, len, err);
	const shd_reorder order = order_of(reader, a);
	if (a->fortran || a->strides)
		return shd_reorder_gather(&order, offset, buf, len, err);
	return shd_reorder_bytes(&order, offset, buf, len, err);
}

int shd_nd4j_map(const void **out, const sherd_reader *reader, const shd_nd4j_array *a, sherd_error *err)
{
	if (a->swap || a->fortran || a->strides || a->text != SHD_ND4J_TEXT_PLAIN || !a->stored)
		return shd_fail(err, SHERD_EUNSUPPORTED, "no-map", "the array is stored in another order");
	return sherd_reader_map(out, reader, a->data, (size_t)a->bytes, err);
}
