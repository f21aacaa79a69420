#include "support/rows_set.h"

#include "base/buf.h"
#include "base/rng.h"
#include "codec/crc32.h"
#include "format/rows/manifest.h"
#include "format/rows/shard.h"
#include "support/test.h"

#include <inttypes.h>
#include <stdio.h>

uint32_t rows_set_bits(uint64_t id, uint64_t column)
{
	return (uint32_t)shd_splitmix64(id * 1048583 + column);
}

void rows_set_put(sherd_store *store, const char *key, uint64_t first, uint64_t rows, uint64_t width, size_t extra)
{
	SHD_AUTO_BUF out = {0};
	uint8_t head[SHD_ROWS_HEAD_SIZE];
	shd_rows_head_encode(rows, width, head);
	shd_buf_append(&out, head, sizeof(head));
	for (uint64_t i = 0; i < rows; i++)
		for (uint64_t c = 0; c < width; c++)
			shd_buf_u32(&out, rows_set_bits(first + i, c));
	shd_buf_zero(&out, extra);
	assert_false(out.failed);
	assert_ok(sherd_store_put(store, key, SHERD_WRITE_REPLACE, out.data, out.len, err));
}

void rows_set_put_head(sherd_store *store, const char *key, uint64_t rows, uint64_t width, uint32_t dtype,
                       uint32_t reserved, size_t payload)
{
	SHD_AUTO_BUF out = {0};
	shd_buf_append(&out, "GAMSAE01", 8);
	shd_buf_u64(&out, rows);
	shd_buf_u64(&out, width);
	shd_buf_u32(&out, dtype);
	shd_buf_u32(&out, reserved);
	shd_buf_zero(&out, payload);
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

/* A shard of rows first, first + 1, ..., and what a manifest says of it. */
static shd_rows_entry put_listed(sherd_store *store, const char *folder, const shd_rows_manifest *m, size_t number,
                                 uint64_t first, uint64_t rows, shd_arena *arena)
{
	SHD_AUTO_BUF out = {0};
	const shd_rows_kind *kind = shd_rows_kind_of(m->dtype);
	uint8_t head[SHD_ROWS_HEAD_SIZE];
	char name[64], key[256];
	shd_rows_head_encode(rows, m->width, head);
	shd_buf_append(&out, head, (size_t)kind->head);
	for (uint64_t i = 0; i < rows; i++)
		for (uint64_t c = 0; c < m->width; c++) {
			uint32_t bits = rows_set_bits(first + i, c);
			shd_buf_append(&out, &bits, (size_t)kind->element);
		}
	assert_false(out.failed);
	(void)snprintf(name, sizeof(name), "part-%05zu%s", number, kind->suffix);
	(void)snprintf(key, sizeof(key), "%s%s%s", folder, *folder ? "/" : "", name);
	assert_ok(sherd_store_put(store, key, SHERD_WRITE_REPLACE, out.data, out.len, err));
	shd_rows_entry e = {.file = shd_arena_str(arena, shd_str_of(name)), .rows = rows, .bytes = out.len};
	shd_sha256_of(out.data, out.len, e.sha256);
	uint64_t payload = out.len - kind->head;
	if (m->version == 1)
		return e;
	e.crc_count = (size_t)shd_rows_blocks(payload);
	uint32_t *crcs = shd_arena_alloc(arena, e.crc_count + 1, sizeof(*crcs));
	for (size_t i = 0; i < e.crc_count; i++) {
		uint64_t at = (uint64_t)i * SHD_ROWS_BLOCK, left = payload - at;
		crcs[i] = shd_crc32(0, out.data + kind->head + at,
		                    (size_t)(left < SHD_ROWS_BLOCK ? left : SHD_ROWS_BLOCK));
	}
	e.crcs = crcs;
	return e;
}

void rows_set_make_listed(sherd_store *store, const char *folder, sherd_dtype dtype, unsigned version,
                          const uint64_t *rows, size_t shards, uint64_t width)
{
	SHD_AUTO_BUF out = {0};
	shd_arena arena = {0};
	char key[256];
	shd_rows_manifest m = {.version = version, .dtype = dtype, .width = width, .count = shards};
	shd_rows_entry *list = shd_arena_alloc(&arena, shards + 1, sizeof(*list));
	assert_non_null(list);
	for (size_t i = 0; i < shards; i++) {
		list[i] = put_listed(store, folder, &m, i, m.rows, rows[i], &arena);
		m.rows += rows[i];
	}
	m.shards = list;
	shd_rows_manifest_encode(&m, &out);
	assert_false(out.failed);
	(void)snprintf(key, sizeof(key), "%s%s%s", folder, *folder ? "/" : "", SHD_ROWS_MANIFEST);
	assert_ok(sherd_store_put(store, key, SHERD_WRITE_REPLACE, out.data, out.len, err));
	shd_arena_done(&arena);
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
