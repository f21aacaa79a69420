#include "format/rfdb/segment.h"

#include "codec/json.h"

#include <inttypes.h>

enum { NODE_BYTES = 44, EDGE_BYTES = 40 };

/* ---- opening */

typedef struct footer {
	uint64_t bloom, dst_bloom, zone, strings, data_end;
} footer;

static int check_version(uint16_t version, sherd_error *err)
{
	if (version == 2)
		return SHERD_OK;
	return shd_fail_at(err, version > 3 ? SHERD_EVERSION : SHERD_EUNSUPPORTED, "bad-version", 4,
	                   "version %" PRIu16 " of a segment, only 2 is known", version);
}

static int rfdb_segment_take_head(shd_cursor *c, shd_rfdb_segment *s, uint64_t *footer_at, sherd_error *err)
{
	if (s->size < SHD_RFDB_HEAD + SHD_RFDB_FOOTER)
		return shd_fail_at(err, SHERD_ECORRUPT, "truncated", s->size, "%zu bytes, a segment has at least %d",
		                   s->size, SHD_RFDB_HEAD + SHD_RFDB_FOOTER);
	if (memcmp(shd_cursor_bytes(c, 4), "SGV2", 4) != 0)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-magic", 0, "does not begin as a segment does");
	TRY(check_version(shd_cursor_u16(c), err));
	uint8_t kind = shd_cursor_u8(c);
	if (kind > SHD_RFDB_EDGES)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-type", 6, "neither nodes nor edges: %d", kind);
	s->kind = kind;
	(void)shd_cursor_u8(c);
	s->rows = shd_cursor_u64(c);
	*footer_at = shd_cursor_u64(c);
	if (*footer_at > s->size - SHD_RFDB_FOOTER)
		return shd_fail_at(err, SHERD_ECORRUPT, "truncated", 16,
		                   "the footer begins at %" PRIu64 ", the file has %zu bytes", *footer_at, s->size);
	if (*footer_at < s->size - SHD_RFDB_FOOTER)
		return shd_fail_at(err, SHERD_ECORRUPT, "trailing-bytes", 16,
		                   "the footer begins at %" PRIu64 ", not %d bytes before the end", *footer_at,
		                   SHD_RFDB_FOOTER);
	return SHERD_OK;
}

static int take_footer(const shd_rfdb_segment *s, uint64_t at, footer *f, sherd_error *err)
{
	shd_cursor c = shd_cursor_over(s->data + at, SHD_RFDB_FOOTER);
	f->bloom = shd_cursor_u64(&c);
	f->dst_bloom = shd_cursor_u64(&c);
	f->zone = shd_cursor_u64(&c);
	f->strings = shd_cursor_u64(&c);
	f->data_end = shd_cursor_u64(&c);
	uint32_t size = shd_cursor_u32(&c), magic = shd_cursor_u32(&c);
	if (magic != SHD_RFDB_FOOTER_MAGIC)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-magic", at + 44, "does not end as a segment does");
	if (size != SHD_RFDB_FOOTER)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-length", at + 40, "a footer of %" PRIu32 " bytes, not %d",
		                   size, SHD_RFDB_FOOTER);
	return SHERD_OK;
}

/* Places the columns; where they end. The rows fit into the file, so that nothing here can overflow. */
static uint64_t place_columns(shd_rfdb_segment *s)
{
	const uint8_t *base = s->data;
	uint64_t n = s->rows, at = SHD_RFDB_HEAD;
	if (s->kind == SHD_RFDB_EDGES) {
		s->ids = base + at;
		s->dst = base + at + 16 * n;
		s->text[SHD_RFDB_EDGE_TYPE] = base + at + 32 * n;
		s->text[SHD_RFDB_EDGE_METADATA] = base + at + 36 * n;
		return at + EDGE_BYTES * n;
	}
	for (int c = 0; c < SHD_RFDB_COLUMNS; c++, at += 4 * n)
		s->text[c] = base + at;
	at = (at + 15) & ~(uint64_t)15;
	s->ids = base + at;
	s->hashes = base + at + 16 * n;
	return at + 24 * n;
}

static int expect_at(uint64_t want, uint64_t have, uint64_t field, const char *what, sherd_error *err)
{
	if (want != have)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-offsets", field,
		                   "%s at %" PRIu64 ", the footer says %" PRIu64, what, want, have);
	return SHERD_OK;
}

static int place_blocks(shd_rfdb_segment *s, const footer *f, uint64_t footer_at, sherd_error *err)
{
	shd_cursor c = shd_cursor_over(s->data, footer_at);
	c.pos = f->data_end;
	TRY(expect_at(c.pos, f->bloom, footer_at, "the Bloom filter begins", err));
	TRY(shd_rfdb_bloom_decode(&c, &s->bloom, err));
	bool edges = s->kind == SHD_RFDB_EDGES;
	TRY(expect_at(edges ? c.pos : 0, f->dst_bloom, footer_at + 8, "the second Bloom filter begins", err));
	if (edges)
		TRY(shd_rfdb_bloom_decode(&c, &s->dst_bloom, err));
	TRY(expect_at(c.pos, f->zone, footer_at + 16, "the zone map begins", err));
	if (f->strings < f->zone || f->strings > footer_at)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-offsets", footer_at + 24,
		                   "the string table begins at %" PRIu64, f->strings);
	s->zone = (shd_rfdb_zone){s->data + f->zone, f->strings - f->zone};
	int rc = shd_rfdb_strings_decode(s->data + f->strings, footer_at - f->strings, &s->strings, err);
	return shd_shift_offset(err, rc, f->strings);
}

int shd_rfdb_segment_open(const void *data, size_t size, shd_rfdb_segment *out, sherd_error *err)
{
	shd_rfdb_segment s = {.data = data, .size = size};
	shd_cursor c = shd_cursor_over(data, size);
	uint64_t footer_at = 0;
	footer f;
	TRY(rfdb_segment_take_head(&c, &s, &footer_at, err));
	TRY(take_footer(&s, footer_at, &f, err));
	if (s.rows > size / (s.kind == SHD_RFDB_NODES ? NODE_BYTES : EDGE_BYTES))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-count", 8, "%" PRIu64 " rows in %zu bytes", s.rows, size);
	uint64_t end = place_columns(&s);
	TRY(expect_at(end, f.data_end, footer_at + 32, "the columns end", err));
	if (end > footer_at)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-count", 8, "%" PRIu64 " rows in %zu bytes", s.rows, size);
	TRY(place_blocks(&s, &f, footer_at, err));
	*out = s;
	return SHERD_OK;
}

/* ---- rows */

/* The strings of a row, in the order of its columns. All numbers first, then all places, then all texts: so the memory
 * that they lie in is waited for together. */
static int take_texts(const shd_rfdb_segment *s, int columns, uint64_t row, shd_str *out, sherd_error *err)
{
	uint32_t index[SHD_RFDB_COLUMNS];
	for (int c = 0; c < columns; c++)
		index[c] = shd_rfdb_segment_string(s, (shd_rfdb_column)c, row);
	for (int c = 0; c < columns; c++)
		if (!shd_rfdb_strings_get(&s->strings, index[c], &out[c]))
			return shd_fail_at(err, SHERD_ECORRUPT, "bad-index", (uint64_t)(s->text[c] - s->data) + 4 * row,
			                   "row %" PRIu64 " has string %" PRIu32 ", which is not there", row, index[c]);
	return SHERD_OK;
}

static int rfdb_segment_check_texts(const shd_rfdb_segment *s, int columns, uint64_t row, const shd_str *texts,
                                    sherd_error *err)
{
	size_t bad;
	for (int c = 0; c < columns; c++)
		if (!shd_utf8_valid(texts[c].ptr, texts[c].len, &bad))
			return shd_fail_at(err, SHERD_ECORRUPT, "bad-utf8",
			                   (uint64_t)((const uint8_t *)texts[c].ptr - s->data) + bad,
			                   "a string of row %" PRIu64 " is not UTF-8", row);
	return SHERD_OK;
}

static int check_row(const shd_rfdb_segment *s, uint64_t row, sherd_error *err)
{
	if (row >= s->rows)
		return shd_fail(err, SHERD_ECORRUPT, "out-of-range", "row %" PRIu64 " of %" PRIu64, row, s->rows);
	return SHERD_OK;
}

int shd_rfdb_segment_peek_node(const shd_rfdb_segment *s, uint64_t row, shd_rfdb_node *out, sherd_error *err)
{
	shd_str text[SHD_RFDB_COLUMNS];
	TRY(check_row(s, row, err));
	TRY(take_texts(s, SHD_RFDB_COLUMNS, row, text, err));
	*out = (shd_rfdb_node){.id = shd_rfdb_segment_id(s, row),
	                       .content_hash = shd_get_u64(s->hashes + 8 * row),
	                       .semantic_id = text[SHD_RFDB_SEMANTIC_ID],
	                       .type = text[SHD_RFDB_NODE_TYPE],
	                       .name = text[SHD_RFDB_NAME],
	                       .file = text[SHD_RFDB_FILE],
	                       .metadata = text[SHD_RFDB_NODE_METADATA]};
	return SHERD_OK;
}

int shd_rfdb_segment_peek_edge(const shd_rfdb_segment *s, uint64_t row, shd_rfdb_edge *out, sherd_error *err)
{
	shd_str text[SHD_RFDB_COLUMNS];
	TRY(check_row(s, row, err));
	TRY(take_texts(s, SHD_RFDB_EDGE_METADATA + 1, row, text, err));
	*out = (shd_rfdb_edge){.src = shd_rfdb_segment_id(s, row),
	                       .dst = shd_rfdb_segment_dst(s, row),
	                       .type = text[SHD_RFDB_EDGE_TYPE],
	                       .metadata = text[SHD_RFDB_EDGE_METADATA]};
	return SHERD_OK;
}

int shd_rfdb_segment_node(const shd_rfdb_segment *s, uint64_t row, shd_rfdb_node *out, sherd_error *err)
{
	shd_rfdb_node n;
	TRY(shd_rfdb_segment_peek_node(s, row, &n, err));
	const shd_str texts[] = {n.semantic_id, n.type, n.name, n.file, n.metadata};
	TRY(rfdb_segment_check_texts(s, SHD_RFDB_COLUMNS, row, texts, err));
	*out = n;
	return SHERD_OK;
}

int shd_rfdb_segment_edge(const shd_rfdb_segment *s, uint64_t row, shd_rfdb_edge *out, sherd_error *err)
{
	shd_rfdb_edge e;
	TRY(shd_rfdb_segment_peek_edge(s, row, &e, err));
	const shd_str texts[] = {e.type, e.metadata};
	TRY(rfdb_segment_check_texts(s, SHD_RFDB_EDGE_METADATA + 1, row, texts, err));
	*out = e;
	return SHERD_OK;
}

/* ---- order */

static bool edge_ascends(const shd_rfdb_segment *s, uint64_t row)
{
	shd_u128 src = shd_rfdb_segment_id(s, row), before = shd_rfdb_segment_id(s, row - 1);
	shd_str type, last;
	if (src != before)
		return src > before;
	shd_u128 dst = shd_rfdb_segment_dst(s, row);
	before = shd_rfdb_segment_dst(s, row - 1);
	if (dst != before)
		return dst > before;
	if (!shd_rfdb_segment_text(s, SHD_RFDB_EDGE_TYPE, row, &type) ||
	    !shd_rfdb_segment_text(s, SHD_RFDB_EDGE_TYPE, row - 1, &last))
		return false;
	return shd_str_compare(last, type) < 0;
}

bool shd_rfdb_segment_sorted(const shd_rfdb_segment *s)
{
	bool nodes = s->kind == SHD_RFDB_NODES;
	for (uint64_t row = 1; row < s->rows; row++)
		if (nodes ? shd_rfdb_segment_id(s, row - 1) >= shd_rfdb_segment_id(s, row) : !edge_ascends(s, row))
			return false;
	return true;
}

/* Where an id that is a hash should be: as far between the two rows as it is between their ids. */
static uint64_t guess(uint64_t key, uint64_t low, uint64_t high, uint64_t low_key, uint64_t high_key)
{
	double part = ((double)(key - low_key) + 0.5) / ((double)(high_key - low_key) + 1.0);
	uint64_t skip = (uint64_t)(part * (double)(high - low));
	return low + (skip < high - low ? skip : high - low - 1);
}

/* After so many guesses a hash is not far from the last one, and rows beside each other are cheap to look at. What is
 * no hash is not helped by more guesses, and found by halving. */
enum { GUESSES = 3, NEAR = 32 };

/* Looks on from the last guess; true when *low is the answer. */
static bool look_near(const shd_rfdb_segment *s, shd_u128 id, bool upwards, uint64_t *low, uint64_t *high)
{
	for (int i = 0; i < NEAR && *low < *high; i++) {
		uint64_t at = upwards ? *low : *high - 1;
		bool below = shd_rfdb_segment_id(s, at) < id;
		if (below)
			*low = at + 1;
		else
			*high = at;
		if (below != upwards)
			return true;
	}
	return *low >= *high;
}

uint64_t shd_rfdb_segment_seek(const shd_rfdb_segment *s, shd_u128 id)
{
	uint64_t low = 0, high = s->rows, low_key = 0, high_key = UINT64_MAX, key = (uint64_t)(id >> 64);
	for (int step = 0; low < high; step++) {
		bool hashed = step < GUESSES && low_key <= key && key <= high_key;
		uint64_t at = hashed ? guess(key, low, high, low_key, high_key) : low + (high - low) / 2;
		shd_u128 found = shd_rfdb_segment_id(s, at);
		if (found < id) {
			low = at + 1;
			low_key = (uint64_t)(found >> 64);
		} else {
			high = at;
			high_key = (uint64_t)(found >> 64);
		}
		if (step == GUESSES - 1 && look_near(s, id, found < id, &low, &high))
			break;
	}
	return low;
}
