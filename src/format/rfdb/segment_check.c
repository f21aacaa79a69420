#include "format/rfdb/segment.h"

#include <inttypes.h>
#include <stdlib.h>

static int segment_check_compare(const void *a, const void *b)
{
	return shd_str_compare(*(const shd_str *)a, *(const shd_str *)b);
}

static int check_reserved(const shd_rfdb_segment *s, sherd_error *err)
{
	if (s->data[7] || shd_get_u64(s->data + 24))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-head", s->data[7] ? 7 : 24, "a reserved field is not 0");
	if (s->kind == SHD_RFDB_EDGES)
		return SHERD_OK;
	for (const uint8_t *p = s->text[SHD_RFDB_NODE_METADATA] + 4 * s->rows; p < s->ids; p++)
		if (*p)
			return shd_fail_at(err, SHERD_ECORRUPT, "bad-head", (uint64_t)(p - s->data),
			                   "the padding in front of the ids is not 0");
	return SHERD_OK;
}

static int check_column(const shd_rfdb_segment *s, int column, sherd_error *err)
{
	for (uint64_t row = 0; row < s->rows; row++) {
		uint32_t index = shd_rfdb_segment_string(s, (shd_rfdb_column)column, row);
		if (index >= s->strings.count)
			return shd_fail_at(
				err, SHERD_ECORRUPT, "bad-index", (uint64_t)(s->text[column] - s->data) + 4 * row,
				"row %" PRIu64 " has string %" PRIu32 " of %" PRIu32, row, index, s->strings.count);
	}
	return SHERD_OK;
}

static int check_bloom(const shd_rfdb_segment *s, const shd_rfdb_bloom *bloom, const uint8_t *ids, sherd_error *err)
{
	uint64_t at = (uint64_t)(bloom->words - s->data) - SHD_RFDB_BLOOM_HEAD;
	if (shd_get_u32(s->data + at + 12))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-head", at + 12, "a reserved field is not 0");
	for (uint64_t row = 0; row < s->rows; row++)
		if (!shd_rfdb_bloom_has(bloom, shd_get_u128(ids + 16 * row)))
			return shd_fail_at(err, SHERD_ECORRUPT, "bad-index", at,
			                   "the Bloom filter does not have the id of row %" PRIu64, row);
	return SHERD_OK;
}

typedef SHD_VEC(shd_str) value_vec;

/* The values of a field against the strings that the rows have: each must have the other. */
static int compare_zone(const shd_rfdb_segment *s, const value_vec *values, uint8_t *seen, shd_rfdb_column column,
                        sherd_error *err)
{
	size_t count = values->count, found = 0;
	uint64_t at = (uint64_t)(s->zone.data - s->data);
	for (uint64_t row = 0; row < s->rows; row++) {
		uint32_t index = shd_rfdb_segment_string(s, column, row);
		shd_str text;
		if (seen[index] || !shd_rfdb_strings_get(&s->strings, index, &text))
			continue;
		seen[index] = 1;
		found++;
		if (!count || !bsearch(&text, values->items, count, sizeof(text), segment_check_compare))
			return shd_fail_at(err, SHERD_ECORRUPT, "bad-index", at,
			                   "the zone map does not have a value of row %" PRIu64, row);
	}
	/* A string may be in the table twice; a value that no row has leaves fewer than there are values. */
	if (found < count)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-index", at, "the zone map has a value that no row has");
	return SHERD_OK;
}

static int check_zone(const shd_rfdb_segment *s, const char *field, shd_rfdb_column column, sherd_error *err)
{
	SHD_AUTO_VEC value_vec values = {0};
	shd_rfdb_zone_walk walk = {0};
	shd_str value;
	if (shd_rfdb_zone_has(&s->zone, field, (shd_str){"", 0}) == SHD_RFDB_UNKNOWN)
		return SHERD_OK;
	while (shd_rfdb_zone_next(&s->zone, field, &walk, &value))
		shd_vec_push(&values, value);
	TRY(shd_vec_check(&values, err));
	SHD_AUTO_FREE uint8_t *seen = calloc((size_t)s->strings.count + 1, 1);
	if (!seen)
		return shd_fail_nomem(err);
	return compare_zone(s, &values, seen, column, err);
}

int shd_rfdb_segment_check(const shd_rfdb_segment *s, sherd_error *err)
{
	bool nodes = s->kind == SHD_RFDB_NODES;
	TRY(check_reserved(s, err));
	for (int c = 0; c <= (nodes ? SHD_RFDB_NODE_METADATA : SHD_RFDB_EDGE_METADATA); c++)
		TRY(check_column(s, c, err));
	TRY(check_bloom(s, &s->bloom, s->ids, err));
	if (!nodes)
		TRY(check_bloom(s, &s->dst_bloom, s->dst, err));
	int rc = shd_rfdb_zone_check(&s->zone, err);
	TRY(shd_shift_offset(err, rc, (uint64_t)(s->zone.data - s->data)));
	rc = shd_rfdb_strings_check(&s->strings, err);
	TRY(shd_shift_offset(err, rc, (uint64_t)(s->strings.entries - s->data) - SHD_RFDB_STRINGS_HEAD));
	if (!nodes)
		return check_zone(s, "edge_type", SHD_RFDB_EDGE_TYPE, err);
	TRY(check_zone(s, "file", SHD_RFDB_FILE, err));
	return check_zone(s, "node_type", SHD_RFDB_NODE_TYPE, err);
}
