#include "format/rfdb/sidecar.h"

#include "codec/crc32.h"
#include "format/rfdb/sidecar_layout.h"

#include <inttypes.h>

/* ---- opening */

typedef struct section {
	uint64_t at, len;
	uint32_t crc;
} section;

static section section_of(const uint8_t *head, int index)
{
	const uint8_t *p = head + sidecar_entry(index);
	return (section){shd_get_u64(p), shd_get_u64(p + 8), shd_get_u32(p + 16)};
}

static int sidecar_check_head(const uint8_t *p, size_t size, sherd_error *err)
{
	if (size < SHD_RFDB_SIDECAR_HEAD)
		return shd_fail_at(err, SHERD_ECORRUPT, "truncated", size, "%zu bytes, a sidecar has at least %d", size,
		                   SHD_RFDB_SIDECAR_HEAD);
	if (shd_get_u64(p) != SIDECAR_MAGIC)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-magic", 0, "does not begin as a sidecar does");
	if (shd_crc32(0, p, SIDECAR_CRC) != shd_get_u32(p + SIDECAR_CRC) || shd_get_u32(p + SIDECAR_CRC + 4))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-crc", SIDECAR_CRC, "the head is damaged");
	uint16_t version = (uint16_t)(p[8] | p[9] << 8);
	if (version != 1)
		return shd_fail_at(err, SHERD_EVERSION, "bad-version", 8, "version %" PRIu16 ", only 1 is known",
		                   version);
	if (p[10] > SHD_RFDB_EDGES || p[11] > 1)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-type", 10, "neither nodes nor edges");
	if (shd_get_u64(p + 16) > UINT32_MAX)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-count", 16, "more than 2^32-1 rows");
	return SHERD_OK;
}

static int check_section(const shd_rfdb_sidecar *x, int index, bool wanted, section *out, sherd_error *err)
{
	uint64_t field = sidecar_entry(index);
	section s = section_of(x->data, index);
	if (s.at % 8 || s.at > x->size || s.len > x->size - s.at || s.at < SHD_RFDB_SIDECAR_HEAD)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-offsets", field,
		                   "a section of %" PRIu64 " bytes at %" PRIu64 " in %zu", s.len, s.at, x->size);
	if (!wanted && s.len)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-offsets", field, "a section that should not be there");
	*out = s;
	return SHERD_OK;
}

static int open_order(shd_rfdb_sidecar *x, int index, bool wanted, shd_rfdb_rows *out, sherd_error *err)
{
	section s;
	TRY(check_section(x, index, wanted, &s, err));
	if (!wanted)
		return SHERD_OK;
	if (s.len != 4 * x->rows)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-offsets", sidecar_entry(index) + 8,
		                   "an order of %" PRIu64 " rows in %" PRIu64 " bytes", x->rows, s.len);
	*out = (shd_rfdb_rows){x->data + s.at, x->rows};
	return SHERD_OK;
}

static int open_groups(shd_rfdb_sidecar *x, int index, shd_rfdb_column column, shd_rfdb_groups *out, sherd_error *err)
{
	section s;
	TRY(check_section(x, index, true, &s, err));
	uint64_t count = s.len < SIDECAR_GROUPS_HEAD ? 0 : shd_get_u32(x->data + s.at);
	if (s.len != sidecar_groups_size(count, x->rows))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-offsets", sidecar_entry(index) + 8,
		                   "%" PRIu64 " groups of %" PRIu64 " rows in %" PRIu64 " bytes", count, x->rows,
		                   s.len);
	out->keys = x->data + s.at + SIDECAR_GROUPS_HEAD;
	out->starts = out->keys + 4 * count;
	out->rows = (shd_rfdb_rows){out->starts + 4 * (count + 1), x->rows};
	out->count = (uint32_t)count;
	out->column = column;
	return SHERD_OK;
}

int shd_rfdb_sidecar_open(const void *data, size_t size, shd_rfdb_sidecar *out, sherd_error *err)
{
	const uint8_t *p = data;
	section none;
	TRY(sidecar_check_head(p, size, err));
	shd_rfdb_sidecar x = {.data = p, .size = size, .kind = p[10], .sorted = p[11]};
	x.quick = shd_get_u32(p + 12);
	x.rows = shd_get_u64(p + 16);
	x.segment_size = shd_get_u64(p + 24);
	memcpy(x.segment_sha256, p + 32, sizeof(x.segment_sha256));
	TRY(open_order(&x, SIDECAR_BY_ID, !x.sorted, &x.by_id, err));
	if (x.kind == SHD_RFDB_EDGES) {
		TRY(open_order(&x, SIDECAR_BY_DST, true, &x.by_dst, err));
		TRY(open_groups(&x, SIDECAR_EDGES_BY_TYPE, SHD_RFDB_EDGE_TYPE, &x.by_type, err));
		TRY(check_section(&x, SIDECAR_SECTIONS - 1, false, &none, err));
	} else {
		TRY(open_groups(&x, SIDECAR_NODES_BY_TYPE, SHD_RFDB_NODE_TYPE, &x.by_type, err));
		TRY(open_groups(&x, SIDECAR_BY_FILE, SHD_RFDB_FILE, &x.by_file, err));
		TRY(open_groups(&x, SIDECAR_BY_NAME, SHD_RFDB_NAME, &x.by_name, err));
	}
	*out = x;
	return SHERD_OK;
}

/* ---- to which segment? */

uint32_t shd_rfdb_sidecar_quick(const shd_rfdb_segment *s)
{
	enum { PART = 4096 };
	size_t n = s->size < PART ? s->size : PART, bloom = (size_t)(s->bloom.words - s->data);
	uint32_t crc = shd_crc32(0, s->data, n);
	crc = shd_crc32(crc, s->data + s->size - n, n);
	return shd_crc32(crc, s->data + bloom, s->size - bloom < PART ? s->size - bloom : PART);
}

bool shd_rfdb_sidecar_fits(const shd_rfdb_sidecar *x, const shd_rfdb_segment *s)
{
	return x->kind == s->kind && x->rows == s->rows && x->segment_size == s->size &&
	       x->quick == shd_rfdb_sidecar_quick(s);
}

/* ---- looking up */

bool shd_rfdb_groups_at(const shd_rfdb_groups *g, const shd_rfdb_segment *s, uint32_t group, shd_str *key,
                        shd_rfdb_rows *rows)
{
	if (group >= g->count)
		return false;
	uint32_t from = shd_get_u32(g->starts + 4 * (size_t)group);
	uint32_t to = shd_get_u32(g->starts + 4 * (size_t)group + 4);
	if (from > to || to > g->rows.count ||
	    !shd_rfdb_strings_get(&s->strings, shd_get_u32(g->keys + 4 * (size_t)group), key))
		return false;
	*rows = (shd_rfdb_rows){g->rows.list + 4 * (size_t)from, to - from};
	return true;
}

uint32_t shd_rfdb_groups_seek(const shd_rfdb_groups *g, const shd_rfdb_segment *s, shd_str key)
{
	uint32_t low = 0, high = g->count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		shd_str found;
		bool below = shd_rfdb_strings_get(&s->strings, shd_get_u32(g->keys + 4 * (size_t)middle), &found) &&
		             shd_str_compare(found, key) < 0;
		low = below ? middle + 1 : low;
		high = below ? high : middle;
	}
	return low;
}

shd_rfdb_rows shd_rfdb_groups_find(const shd_rfdb_groups *g, const shd_rfdb_segment *s, shd_str key)
{
	shd_rfdb_rows rows;
	shd_str found;
	uint32_t at = shd_rfdb_groups_seek(g, s, key);
	if (!shd_rfdb_groups_at(g, s, at, &found, &rows) || shd_str_compare(found, key) != 0)
		return (shd_rfdb_rows){0};
	return rows;
}

/* The id, or destination, of a row that comes from outside; one that is not there sorts last. */
static shd_u128 id_at(const uint8_t *ids, uint64_t rows, uint32_t row)
{
	return row < rows ? shd_get_u128(ids + 16 * (uint64_t)row) : ~(shd_u128)0;
}

/* The first place in the order whose id is not below, or, with above, is greater. Ids are mostly hashes: a few guesses,
 * each as far between the two ends as the id is between their ids, then by halves around the last one. */
static uint64_t seek_order(shd_rfdb_rows order, const uint8_t *ids, shd_u128 id, bool above)
{
	enum { GUESSES = 3 };
	uint64_t low = 0, high = order.count, reach = 4;
	double low_key = 0, high_key = 0x1p64, key = (double)(uint64_t)(id >> 64);
	bool below = false;
	for (int step = 0; low < high; step++) {
		uint64_t at = low + (high - low) / 2;
		if (step < GUESSES && low_key <= key && key < high_key) {
			double part = (key - low_key) / (high_key - low_key) * (double)(high - low);
			at = low + (part < (double)(high - low - 1) ? (uint64_t)part : high - low - 1);
		} else if (reach < high - low) {
			at = below ? low + reach : high - 1 - reach;
			reach *= 4;
		}
		shd_u128 found = id_at(ids, order.count, shd_rfdb_rows_at(order, at));
		bool lower = found < id || (above && found == id);
		if (step >= GUESSES && lower != below)
			reach = UINT64_MAX; /* it lies in between: halves from now on */
		below = lower;
		low = below ? at + 1 : low;
		high = below ? high : at;
		*(below ? &low_key : &high_key) = (double)(uint64_t)(found >> 64);
	}
	return low;
}

static shd_rfdb_rows run_of(shd_rfdb_rows order, const uint8_t *ids, shd_u128 id)
{
	uint64_t from = seek_order(order, ids, id, false);
	/* Runs are mostly short: a few steps, then by halves. */
	uint64_t to = from;
	while (to < order.count && to < from + 8 && id_at(ids, order.count, shd_rfdb_rows_at(order, to)) == id)
		to++;
	if (to == from + 8)
		to = seek_order(order, ids, id, true);
	return (shd_rfdb_rows){order.list + 4 * from, to > from ? to - from : 0};
}

shd_rfdb_rows shd_rfdb_sidecar_dst(const shd_rfdb_sidecar *x, const shd_rfdb_segment *s, shd_u128 dst)
{
	return run_of(x->by_dst, s->dst, dst);
}

shd_rfdb_run shd_rfdb_sidecar_id(const shd_rfdb_sidecar *x, const shd_rfdb_segment *s, shd_u128 id)
{
	if (!x->sorted) {
		shd_rfdb_rows rows = run_of(x->by_id, s->ids, id);
		return (shd_rfdb_run){.listed = rows, .count = rows.count};
	}
	uint64_t first = shd_rfdb_segment_seek(s, id), last = first;
	while (last < s->rows && last < first + 16 && shd_rfdb_segment_id(s, last) == id)
		last++;
	if (last == first + 16)
		last = ~id ? shd_rfdb_segment_seek(s, id + 1) : s->rows;
	return (shd_rfdb_run){.first = first, .count = last - first};
}
