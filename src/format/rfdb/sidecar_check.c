#include "codec/crc32.h"
#include "format/rfdb/sidecar_layout.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- checksums */

static int check_crc(const shd_rfdb_sidecar *x, int index, sherd_error *err)
{
	const uint8_t *p = x->data + sidecar_entry(index);
	uint64_t at = shd_get_u64(p), len = shd_get_u64(p + 8);
	if (shd_crc32(0, x->data + at, len) != shd_get_u32(p + 16))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-crc", at, "section %d is damaged", index);
	return SHERD_OK;
}

int shd_rfdb_sidecar_check_rows(const shd_rfdb_sidecar *x, const shd_rfdb_rows *rows, sherd_error *err)
{
	for (int i = 0; i < SIDECAR_SECTIONS; i++) {
		const uint8_t *p = x->data + sidecar_entry(i);
		uint64_t at = shd_get_u64(p), len = shd_get_u64(p + 8);
		if (rows->list >= x->data + at && rows->list < x->data + at + len)
			return check_crc(x, i, err);
	}
	return SHERD_OK;
}

/* Sections follow one another, with zeros up to the next multiple of 8, and nothing after them. */
static int check_places(const shd_rfdb_sidecar *x, sherd_error *err)
{
	uint64_t next = SHD_RFDB_SIDECAR_HEAD;
	for (int i = 0; i < SIDECAR_SECTIONS; i++) {
		const uint8_t *p = x->data + sidecar_entry(i);
		uint64_t at = shd_get_u64(p), len = shd_get_u64(p + 8), end = at + len;
		uint64_t place = len ? next : SHD_RFDB_SIDECAR_HEAD;
		if (at != place || shd_get_u32(p + 20))
			return shd_fail_at(err, SHERD_ECORRUPT, "bad-offsets", sidecar_entry(i),
			                   "section %d is not at %" PRIu64, i, place);
		if (!len)
			continue;
		for (next = (end + 7) & ~(uint64_t)7; end < next; end++)
			if (end >= x->size || x->data[end])
				return shd_fail_at(err, SHERD_ECORRUPT, "bad-offsets", end, "padding that is not 0");
	}
	if (next != x->size)
		return shd_fail_at(err, SHERD_ECORRUPT, "trailing-bytes", next, "bytes after the last section");
	return SHERD_OK;
}

/* ---- against the segment */

/* Marks a row; false when it is not there, or was marked before. */
static bool sidecar_check_mark(uint8_t *seen, uint64_t rows, uint32_t row)
{
	if (row >= rows || (seen[row / 8] & 1u << row % 8))
		return false;
	seen[row / 8] |= (uint8_t)(1u << row % 8);
	return true;
}

static int fail_order(const shd_rfdb_sidecar *x, const uint8_t *at, sherd_error *err)
{
	return shd_fail_at(err, SHERD_ECORRUPT, "bad-index", (uint64_t)(at - x->data),
	                   "rows are not as the segment has them");
}

static int check_order(const shd_rfdb_sidecar *x, shd_rfdb_rows order, const uint8_t *ids, uint8_t *seen,
                       sherd_error *err)
{
	for (uint64_t i = 0; i < order.count; i++) {
		uint32_t row = shd_rfdb_rows_at(order, i), last = i ? shd_rfdb_rows_at(order, i - 1) : 0;
		bool good = sidecar_check_mark(seen, order.count, row);
		if (good && i) {
			shd_u128 id = shd_get_u128(ids + 16 * (uint64_t)row),
				 before = shd_get_u128(ids + 16 * (uint64_t)last);
			good = before < id || (before == id && last < row);
		}
		if (!good)
			return fail_order(x, order.list + 4 * i, err);
	}
	return SHERD_OK;
}

static int check_group(const shd_rfdb_sidecar *x, const shd_rfdb_segment *s, const shd_rfdb_groups *g, shd_str key,
                       shd_rfdb_rows rows, uint8_t *seen, sherd_error *err)
{
	for (uint64_t i = 0; i < rows.count; i++) {
		uint32_t row = shd_rfdb_rows_at(rows, i);
		shd_str text;
		if (!sidecar_check_mark(seen, g->rows.count, row) || !shd_rfdb_segment_text(s, g->column, row, &text) ||
		    shd_str_compare(text, key) != 0 || (i && shd_rfdb_rows_at(rows, i - 1) > row))
			return fail_order(x, rows.list + 4 * i, err);
	}
	return SHERD_OK;
}

static int check_groups(const shd_rfdb_sidecar *x, const shd_rfdb_segment *s, const shd_rfdb_groups *g, uint8_t *seen,
                        sherd_error *err)
{
	shd_str before = {0};
	uint64_t rows = 0;
	for (uint32_t i = 0; i < g->count; i++) {
		shd_rfdb_rows list;
		shd_str key;
		if (!shd_rfdb_groups_at(g, s, i, &key, &list) || !list.count || list.list != g->rows.list + 4 * rows ||
		    (i && shd_str_compare(before, key) >= 0))
			return fail_order(x, g->keys + 4 * (size_t)i, err);
		TRY(check_group(x, s, g, key, list, seen, err));
		rows += list.count;
		before = key;
	}
	/* The second word of the head is reserved. */
	if (rows != g->rows.count || shd_get_u32(g->keys - 4))
		return fail_order(x, g->keys - SIDECAR_GROUPS_HEAD, err);
	return SHERD_OK;
}

typedef struct checking {
	const shd_rfdb_sidecar *x;
	const shd_rfdb_segment *s;
	uint8_t *seen; /* a bit for each row */
	size_t seen_len;
} checking;

static uint8_t *unmarked(const checking *c)
{
	memset(c->seen, 0, c->seen_len);
	return c->seen;
}

static int check_all(const checking *c, sherd_error *err)
{
	const shd_rfdb_sidecar *x = c->x;
	const shd_rfdb_segment *s = c->s;
	if (x->sorted != shd_rfdb_segment_sorted(s))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-index", 11, "wrong about whether the segment is sorted");
	if (!x->sorted)
		TRY(check_order(x, x->by_id, s->ids, unmarked(c), err));
	TRY(check_groups(x, s, &x->by_type, unmarked(c), err));
	if (x->kind == SHD_RFDB_EDGES)
		return check_order(x, x->by_dst, s->dst, unmarked(c), err);
	TRY(check_groups(x, s, &x->by_file, unmarked(c), err));
	return check_groups(x, s, &x->by_name, unmarked(c), err);
}

int shd_rfdb_sidecar_check(const shd_rfdb_sidecar *x, const shd_rfdb_segment *s, const uint8_t *sha256,
                           sherd_error *err)
{
	uint8_t made[SHD_SHA256_BYTES];
	TRY(check_places(x, err));
	for (int i = 0; i < SIDECAR_SECTIONS; i++)
		TRY(check_crc(x, i, err));
	if (!shd_rfdb_sidecar_fits(x, s))
		return shd_fail_at(err, SHERD_ECORRUPT, "size-mismatch", 12, "belongs to another segment");
	if (!sha256) {
		shd_sha256_of(s->data, s->size, made);
		sha256 = made;
	}
	if (memcmp(sha256, x->segment_sha256, SHD_SHA256_BYTES) != 0)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-checksum", 32, "the segment has another SHA-256");
	checking c = {.x = x, .s = s, .seen_len = (size_t)(x->rows / 8) + 1};
	c.seen = malloc(c.seen_len);
	int rc = c.seen ? check_all(&c, err) : shd_fail_nomem(err);
	free(c.seen);
	return rc;
}
