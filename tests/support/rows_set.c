#include "support/rows_set.h"

#include "base/buf.h"
#include "base/rng.h"
#include "format/rows_shard.h"
#include "support/test.h"

#include <inttypes.h>
#include <stdio.h>

uint32_t rows_set_bits(uint64_t id, uint64_t column)
{
	return (uint32_t)sherd_splitmix64(id * 1048583 + column);
}

void rows_set_put(sherd_store *store, const char *key, uint64_t first, uint64_t rows, uint64_t width, size_t extra)
{
	SHERD_AUTO_BUF out = {0};
	uint8_t head[SHERD_ROWS_HEAD_SIZE];
	sherd_rows_head_encode(rows, width, head);
	sherd_buf_append(&out, head, sizeof(head));
	for (uint64_t i = 0; i < rows; i++)
		for (uint64_t c = 0; c < width; c++)
			sherd_buf_u32(&out, rows_set_bits(first + i, c));
	sherd_buf_zero(&out, extra);
	assert_false(out.failed);
	assert_ok(sherd_store_put(store, key, SHERD_WRITE_REPLACE, out.data, out.len, err));
}

void rows_set_put_head(sherd_store *store, const char *key, uint64_t rows, uint64_t width, uint32_t dtype,
                       uint32_t reserved, size_t payload)
{
	SHERD_AUTO_BUF out = {0};
	sherd_buf_append(&out, "GAMSAE01", 8);
	sherd_buf_u64(&out, rows);
	sherd_buf_u64(&out, width);
	sherd_buf_u32(&out, dtype);
	sherd_buf_u32(&out, reserved);
	sherd_buf_zero(&out, payload);
	assert_false(out.failed);
	assert_ok(sherd_store_put(store, key, SHERD_WRITE_REPLACE, out.data, out.len, err));
}

void rows_set_make(sherd_store *store, const char *folder, const uint64_t *rows, size_t shards, uint64_t width)
{
	uint64_t first = 0;
	for (size_t i = 0; i < shards; i++) {
		char key[256];
		(void)snprintf(key, sizeof(key), "%s%spart-%05zu.shard", folder, *folder ? "/" : "", i);
		rows_set_put(store, key, first, rows[i], width, 0);
		first += rows[i];
	}
}

uint64_t rows_batch_id(const sherd_rows_batch *b, size_t i)
{
	return b->ids ? b->ids[i] : b->first_id + i;
}

bool rows_set_is_row(const sherd_rows_batch *b, size_t i, uint64_t id)
{
	for (uint64_t c = 0; c < b->width; c++) {
		size_t at = i * (size_t)b->width + (size_t)c;
		uint32_t bits = rows_set_bits(id, c);
		float value;
		memcpy(&value, &bits, sizeof(value));
		/* At run time, as a program would: signalling NaNs become quiet ones. */
		volatile float stored = value;
		double wide = (double)stored;
		if (b->dtype == SHERD_F32 ? memcmp((const float *)b->data + at, &bits, sizeof(bits)) != 0
		                          : memcmp((const double *)b->data + at, &wide, sizeof(wide)) != 0)
			return false;
	}
	return true;
}

void assert_rows(const sherd_rows_batch *b, const uint64_t *ids, uint64_t first, size_t count)
{
	assert_int_equal(b->rows, count);
	for (size_t i = 0; i < count; i++) {
		uint64_t id = ids ? ids[i] : first + i;
		if (rows_batch_id(b, i) != id)
			fail_msg("row %zu of batch %" PRIu64 " is %" PRIu64 ", not %" PRIu64, i, b->number,
			         rows_batch_id(b, i), id);
		if (!rows_set_is_row(b, i, id))
			fail_msg("row %" PRIu64 " of batch %" PRIu64 " has other values", id, b->number);
	}
}
