#include "codec/crc32.h"
#include "format/rfdb/sidecar_layout.h"
#include "format/rfdb/sort.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct builder {
	const shd_rfdb_segment *s;
	shd_buf *out;
} builder;

/* Ends the section that began at from, and notes it in the table. */
static void end_section(builder *b, int index, size_t from)
{
	size_t len = b->out->len - from;
	shd_buf_zero(b->out, -len & 7);
	if (b->out->failed)
		return;
	uint8_t *p = b->out->data + sidecar_entry(index);
	shd_put_u64(p, from);
	shd_put_u64(p + 8, len);
	shd_put_u32(p + 16, shd_crc32(0, b->out->data + from, len));
}

/* Room for so many bytes at the end, or NULL. */
static uint8_t *extend(builder *b, size_t len)
{
	if (!shd_buf_reserve(b->out, len))
		return NULL;
	uint8_t *p = b->out->data + b->out->len;
	b->out->len += len;
	return p;
}

/* ---- by number */

static int put_order(builder *b, int index, const uint8_t *ids, sherd_error *err)
{
	size_t rows = (size_t)b->s->rows, from = b->out->len;
	uint8_t *p = extend(b, 4 * rows);
	int rc = p ? shd_rfdb_order(ids, (uint32_t)rows, p, err) : shd_fail_nomem(err);
	end_section(b, index, from);
	return rc;
}

/* ---- by text */

typedef struct used {
	uint64_t first; /* the first bytes of the text as a number: it decides most comparisons */
	shd_str text;
	uint32_t string;
} used;

static uint64_t first_bytes(shd_str s)
{
	uint64_t v = 0;
	for (size_t i = 0; i < 8; i++)
		v = v << 8 | (i < s.len ? (uint8_t)s.ptr[i] : 0);
	return v;
}

static int sidecar_build_compare(const void *a, const void *b)
{
	const used *x = a, *y = b;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	int order = shd_str_compare(x->text, y->text);
	return order ? order : (x->string > y->string) - (x->string < y->string);
}

/* For each string of the table the number of rows that have it, then its group. */
typedef struct grouping {
	uint32_t *of; /* by string */
	used *keys;   /* strings that a row has, ascending; then the first of each group */
	uint32_t *starts;
	uint32_t groups;
} grouping;

static void grouping_done(grouping *g)
{
	free(g->of);
	free(g->keys);
	free(g->starts);
}

static int count_strings(const shd_rfdb_segment *s, shd_rfdb_column column, grouping *g, size_t *distinct,
                         sherd_error *err)
{
	g->of = calloc((size_t)s->strings.count + 1, sizeof(*g->of));
	if (!g->of)
		return shd_fail_nomem(err);
	for (uint64_t row = 0; row < s->rows; row++) {
		uint32_t string = shd_rfdb_segment_string(s, column, row);
		if (string >= s->strings.count)
			return shd_fail_at(err, SHERD_ECORRUPT, "bad-index",
			                   (uint64_t)(s->text[column] - s->data) + 4 * row,
			                   "row %" PRIu64 " has string %" PRIu32 ", which is not there", row, string);
		*distinct += g->of[string]++ == 0;
	}
	return SHERD_OK;
}

static int sidecar_build_collect(const shd_rfdb_segment *s, grouping *g, size_t distinct, sherd_error *err)
{
	size_t n = 0;
	g->keys = malloc((distinct + 1) * sizeof(*g->keys));
	g->starts = malloc((distinct + 1) * sizeof(*g->starts));
	if (!g->keys || !g->starts)
		return shd_fail_nomem(err);
	for (uint32_t i = 0; i < s->strings.count; i++) {
		if (!g->of[i])
			continue;
		used *key = &g->keys[n++];
		key->string = i;
		if (!shd_rfdb_strings_get(&s->strings, i, &key->text))
			return shd_fail_at(err, SHERD_ECORRUPT, "bad-index",
			                   (uint64_t)(s->strings.entries - s->data) + 8 * (uint64_t)i,
			                   "string %" PRIu32 " is not within the text", i);
		key->first = first_bytes(key->text);
	}
	qsort(g->keys, distinct, sizeof(*g->keys), sidecar_build_compare);
	return SHERD_OK;
}

/* One group for each text, even where the table has it twice. */
static void number_groups(grouping *g, size_t distinct)
{
	uint32_t rows = 0;
	for (size_t i = 0; i < distinct; i++) {
		used key = g->keys[i];
		if (!g->groups || shd_str_compare(g->keys[g->groups - 1].text, key.text) != 0) {
			g->starts[g->groups] = rows;
			g->keys[g->groups++] = key;
		}
		rows += g->of[key.string];
		g->of[key.string] = g->groups - 1;
	}
	g->starts[g->groups] = rows;
}

static void put_grouping(builder *b, shd_rfdb_column column, grouping *g)
{
	const shd_rfdb_segment *s = b->s;
	shd_buf_u32(b->out, g->groups);
	shd_buf_u32(b->out, 0);
	uint8_t *p = extend(b, 4 * ((size_t)g->groups * 2 + 1) + 4 * (size_t)s->rows);
	if (!p)
		return;
	uint8_t *starts = p + 4 * (size_t)g->groups, *rows = starts + 4 * ((size_t)g->groups + 1);
	for (uint32_t i = 0; i < g->groups; i++)
		shd_put_u32(p + 4 * (size_t)i, g->keys[i].string);
	for (uint32_t i = 0; i <= g->groups; i++)
		shd_put_u32(starts + 4 * (size_t)i, g->starts[i]);
	for (uint64_t row = 0; row < s->rows; row++) {
		uint32_t group = g->of[shd_rfdb_segment_string(s, column, row)];
		shd_put_u32(rows + 4 * (size_t)g->starts[group]++, (uint32_t)row);
	}
}

static int put_groups(builder *b, int index, shd_rfdb_column column, sherd_error *err)
{
	grouping g = {0};
	size_t distinct = 0, from = b->out->len;
	int rc = count_strings(b->s, column, &g, &distinct, err);
	if (rc >= 0)
		rc = sidecar_build_collect(b->s, &g, distinct, err);
	if (rc >= 0) {
		number_groups(&g, distinct);
		put_grouping(b, column, &g);
		end_section(b, index, from);
	}
	grouping_done(&g);
	return rc;
}

/* ---- all of it */

static void sidecar_build_put_head(builder *b, const uint8_t *sha256, bool sorted)
{
	const shd_rfdb_segment *s = b->s;
	shd_buf_zero(b->out, SHD_RFDB_SIDECAR_HEAD);
	if (b->out->failed)
		return;
	uint8_t *p = b->out->data;
	shd_put_u64(p, SIDECAR_MAGIC);
	p[8] = 1;
	p[10] = (uint8_t)s->kind;
	p[11] = sorted;
	shd_put_u32(p + 12, shd_rfdb_sidecar_quick(s));
	shd_put_u64(p + 16, s->rows);
	shd_put_u64(p + 24, s->size);
	if (sha256)
		memcpy(p + 32, sha256, SHD_SHA256_BYTES);
	else
		shd_sha256_of(s->data, s->size, p + 32);
	for (int i = 0; i < SIDECAR_SECTIONS; i++)
		shd_put_u64(p + sidecar_entry(i), SHD_RFDB_SIDECAR_HEAD);
}

static int put_sections(builder *b, bool sorted, sherd_error *err)
{
	const shd_rfdb_segment *s = b->s;
	if (!sorted)
		TRY(put_order(b, SIDECAR_BY_ID, s->ids, err));
	if (s->kind == SHD_RFDB_EDGES) {
		TRY(put_order(b, SIDECAR_BY_DST, s->dst, err));
		return put_groups(b, SIDECAR_EDGES_BY_TYPE, SHD_RFDB_EDGE_TYPE, err);
	}
	TRY(put_groups(b, SIDECAR_NODES_BY_TYPE, SHD_RFDB_NODE_TYPE, err));
	TRY(put_groups(b, SIDECAR_BY_FILE, SHD_RFDB_FILE, err));
	return put_groups(b, SIDECAR_BY_NAME, SHD_RFDB_NAME, err);
}

int shd_rfdb_sidecar_build(const shd_rfdb_segment *s, const uint8_t *sha256, shd_buf *out, sherd_error *err)
{
	builder b = {.s = s, .out = out};
	if (s->rows > UINT32_MAX)
		return shd_fail(err, SHERD_ELIMIT, "too-many-rows", "%" PRIu64 " rows are too many for a sidecar",
		                s->rows);
	bool sorted = shd_rfdb_segment_sorted(s);
	sidecar_build_put_head(&b, sha256, sorted);
	TRY(shd_buf_check(out, err));
	TRY(put_sections(&b, sorted, err));
	TRY(shd_buf_check(out, err));
	shd_put_u32(out->data + SIDECAR_CRC, shd_crc32(0, out->data, SIDECAR_CRC));
	return SHERD_OK;
}
