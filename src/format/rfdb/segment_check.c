#include "format/rfdb/segment.h"

#include <inttypes.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
	return sherd_str_compare(*(const sherd_str *)a, *(const sherd_str *)b);
}

static int check_reserved(const sherd_rfdb_segment *s, sherd_error *err)
{
	if (s->data[7] || sherd_get_u64(s->data + 24))
		return sherd_fail_at(err, SHERD_ECORRUPT, "bad-head", s->data[7] ? 7 : 24, "a reserved field is not 0");
	if (s->kind == SHERD_RFDB_EDGES)
		return SHERD_OK;
	for (const uint8_t *p = s->text[SHERD_RFDB_NODE_METADATA] + 4 * s->rows; p < s->ids; p++)
		if (*p)
			return sherd_fail_at(err, SHERD_ECORRUPT, "bad-head", (uint64_t)(p - s->data),
			                     "the padding in front of the ids is not 0");
	return SHERD_OK;
}

static int check_column(const sherd_rfdb_segment *s, int column, sherd_error *err)
{
	for (uint64_t row = 0; row < s->rows; row++) {
		uint32_t index = sherd_rfdb_segment_string(s, (sherd_rfdb_column)column, row);
		if (index >= s->strings.count)
			return sherd_fail_at(
				err, SHERD_ECORRUPT, "bad-index", (uint64_t)(s->text[column] - s->data) + 4 * row,
				"row %" PRIu64 " has string %" PRIu32 " of %" PRIu32, row, index, s->strings.count);
	}
	return SHERD_OK;
}

static int check_bloom(const sherd_rfdb_segment *s, const sherd_rfdb_bloom *bloom, const uint8_t *ids, sherd_error *err)
{
	uint64_t at = (uint64_t)(bloom->words - s->data) - SHERD_RFDB_BLOOM_HEAD;
	if (sherd_get_u32(s->data + at + 12))
		return sherd_fail_at(err, SHERD_ECORRUPT, "bad-head", at + 12, "a reserved field is not 0");
	for (uint64_t row = 0; row < s->rows; row++)
		if (!sherd_rfdb_bloom_has(bloom, sherd_get_u128(ids + 16 * row)))
			return sherd_fail_at(err, SHERD_ECORRUPT, "bad-index", at,
			                     "the Bloom filter does not have the id of row %" PRIu64, row);
	return SHERD_OK;
}

/* The values of a field against the strings that the rows have: each must have the other. */
static int compare_zone(const sherd_rfdb_segment *s, const sherd_buf *values, uint8_t *seen, sherd_rfdb_column column,
                        sherd_error *err)
{
	size_t count = values->len / sizeof(sherd_str), found = 0;
	uint64_t at = (uint64_t)(s->zone.data - s->data);
	for (uint64_t row = 0; row < s->rows; row++) {
		uint32_t index = sherd_rfdb_segment_string(s, column, row);
		sherd_str text;
		if (seen[index] || !sherd_rfdb_strings_get(&s->strings, index, &text))
			continue;
		seen[index] = 1;
		found++;
		if (!count || !bsearch(&text, values->data, count, sizeof(text), compare))
			return sherd_fail_at(err, SHERD_ECORRUPT, "bad-index", at,
			                     "the zone map does not have a value of row %" PRIu64, row);
	}
	/* A string may be in the table twice; a value that no row has leaves fewer than there are values. */
	if (found < count)
		return sherd_fail_at(err, SHERD_ECORRUPT, "bad-index", at, "the zone map has a value that no row has");
	return SHERD_OK;
}

static int check_zone(const sherd_rfdb_segment *s, const char *field, sherd_rfdb_column column, sherd_error *err)
{
	SHERD_AUTO_BUF values = {0};
	sherd_rfdb_zone_walk walk = {0};
	sherd_str value;
	if (sherd_rfdb_zone_has(&s->zone, field, (sherd_str){"", 0}) == SHERD_RFDB_UNKNOWN)
		return SHERD_OK;
	while (sherd_rfdb_zone_next(&s->zone, field, &walk, &value))
		sherd_buf_append(&values, &value, sizeof(value));
	TRY(sherd_buf_check(&values, err));
	uint8_t *seen = calloc((size_t)s->strings.count + 1, 1);
	if (!seen)
		return sherd_fail_nomem(err);
	int rc = compare_zone(s, &values, seen, column, err);
	free(seen);
	return rc;
}

int sherd_rfdb_segment_check(const sherd_rfdb_segment *s, sherd_error *err)
{
	bool nodes = s->kind == SHERD_RFDB_NODES;
	TRY(check_reserved(s, err));
	for (int c = 0; c <= (nodes ? SHERD_RFDB_NODE_METADATA : SHERD_RFDB_EDGE_METADATA); c++)
		TRY(check_column(s, c, err));
	TRY(check_bloom(s, &s->bloom, s->ids, err));
	if (!nodes)
		TRY(check_bloom(s, &s->dst_bloom, s->dst, err));
	int rc = sherd_rfdb_zone_check(&s->zone, err);
	TRY(sherd_shift_offset(err, rc, (uint64_t)(s->zone.data - s->data)));
	rc = sherd_rfdb_strings_check(&s->strings, err);
	TRY(sherd_shift_offset(err, rc, (uint64_t)(s->strings.entries - s->data) - SHERD_RFDB_STRINGS_HEAD));
	if (!nodes)
		return check_zone(s, "edge_type", SHERD_RFDB_EDGE_TYPE, err);
	TRY(check_zone(s, "file", SHERD_RFDB_FILE, err));
	return check_zone(s, "node_type", SHERD_RFDB_NODE_TYPE, err);
}
