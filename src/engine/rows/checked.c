#include "engine/rows/checked.h"

#include "codec/crc32.h"
#include "codec/sha256.h"

#include <sherd/guard.h>

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Read, or taken from a map and let go, at a time. */
enum { STEP = 256 << 10 };

struct rows_checked {
	const sherd_rows *rows;
	uint64_t *begins; /* of each shard: the number of its first part */
	_Atomic bool *done;
};

static uint64_t payload_of(const sherd_rows *rows, size_t shard)
{
	return rows->shards[shard].rows * rows->row_bytes;
}

static uint64_t parts_of(const sherd_rows *rows, size_t shard)
{
	return rows->entries[shard].crcs ? rows->entries[shard].crc_count : 1;
}

int shd_rows_checked_open(rows_checked **out, const sherd_rows *rows, sherd_error *err)
{
	uint64_t parts = 0;
	if (!rows->entries)
		return shd_fail(err, SHERD_EUNSUPPORTED, "no-checksum",
		                "no manifest has checksums of these rows, so they cannot be verified");
	rows_checked *c = calloc(1, sizeof(*c));
	if (c)
		c->begins = malloc((rows->count + 1) * sizeof(*c->begins));
	for (size_t i = 0; c && c->begins && i < rows->count; i++) {
		c->begins[i] = parts;
		parts += parts_of(rows, i);
	}
	if (c)
		c->done = calloc(parts + 1, sizeof(*c->done));
	if (!c || !c->begins || !c->done) {
		shd_rows_checked_close(c);
		return shd_fail_nomem(err);
	}
	c->rows = rows;
	*out = c;
	return SHERD_OK;
}

void shd_rows_checked_close(rows_checked *c)
{
	if (!c)
		return;
	free(c->begins);
	free((void *)c->done);
	free(c);
}

/* Bytes of the file on their way into a sum. */
typedef void sum_fn(void *sum, const void *data, size_t len);

static void add_crc(void *sum, const void *data, size_t len)
{
	uint32_t *crc = sum;
	*crc = shd_crc32(*crc, data, len);
}

static void add_sha(void *sum, const void *data, size_t len)
{
	shd_sha256_add(sum, data, len);
}

static int sum_read(const sherd_reader *reader, uint64_t from, uint64_t to, sum_fn *add, void *sum, sherd_error *err)
{
	SHD_AUTO_FREE uint8_t *buf = malloc(STEP);
	if (!buf)
		return shd_fail_nomem(err);
	for (uint64_t at = from; at < to; at += STEP) {
		size_t n = to - at < STEP ? (size_t)(to - at) : STEP;
		TRY(sherd_reader_at(reader, at, buf, n, err));
		add(sum, buf, n);
	}
	return SHERD_OK;
}

static int sum_map(const sherd_reader *reader, const uint8_t *map, uint64_t head, uint64_t from, uint64_t to,
                   sum_fn *add, void *sum, sherd_error *err)
{
	for (uint64_t at = from; at < to; at += STEP) {
		size_t n = to - at < STEP ? (size_t)(to - at) : STEP;
		add(sum, map + at, n);
		sherd_reader_advise(reader, head + at, n, SHERD_ADVICE_DONE);
	}
	return sherd_guard_check(map + from, (size_t)(to - from), err);
}

static int check_block(const sherd_rows *rows, const rows_open_shard *s, uint64_t block, sherd_error *err)
{
	uint64_t from = block * SHD_ROWS_BLOCK, payload = payload_of(rows, s->shard), head = rows->head_bytes;
	uint64_t to = payload - from < SHD_ROWS_BLOCK ? payload : from + SHD_ROWS_BLOCK;
	uint32_t crc = 0, want = rows->entries[s->shard].crcs[block];
	TRY(s->map ? sum_map(s->reader, s->map, head, from, to, add_crc, &crc, err)
	           : sum_read(s->reader, head + from, head + to, add_crc, &crc, err));
	if (crc != want)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-crc", head + from,
		                   "%" PRIu64 " bytes have CRC-32 %08" PRIx32 ", not %08" PRIx32, to - from, crc, want);
	return SHERD_OK;
}

static int checked_check_file(const sherd_rows *rows, const rows_open_shard *s, sherd_error *err)
{
	uint8_t hash[SHD_SHA256_BYTES];
	shd_sha256 sha;
	shd_sha256_init(&sha);
	TRY(sum_read(s->reader, 0, rows->shards[s->shard].bytes, add_sha, &sha, err));
	shd_sha256_finish(&sha, hash);
	if (memcmp(hash, rows->entries[s->shard].sha256, sizeof(hash)) != 0)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-checksum", 0,
		                   "the file is not the one of the manifest: its SHA-256 differs");
	return SHERD_OK;
}

int shd_rows_checked_range(rows_checked *c, const rows_open_shard *s, uint64_t from, uint64_t to, sherd_error *err)
{
	const sherd_rows *rows = c->rows;
	bool blocks = rows->entries[s->shard].crcs;
	uint64_t first = blocks ? from / SHD_ROWS_BLOCK : 0, last = blocks ? (to - 1) / SHD_ROWS_BLOCK : 0;
	for (uint64_t i = first; from < to && i <= last; i++) {
		_Atomic bool *done = &c->done[c->begins[s->shard] + i];
		if (atomic_load_explicit(done, memory_order_acquire))
			continue;
		int rc = blocks ? check_block(rows, s, i, err) : checked_check_file(rows, s, err);
		TRY(shd_in_object(err, rc, rows->shards[s->shard].key));
		atomic_store_explicit(done, true, memory_order_release);
	}
	return SHERD_OK;
}
