#include "engine/graph/disk/want.h"

static bool is_there(const graph_segment *s, const void *at, size_t len)
{
	return sherd_reader_cached(s->reader, (uint64_t)((const uint8_t *)at - s->rows.data), len);
}

static void want(const graph_segment *s, const void *at, size_t len)
{
	sherd_reader_advise(s->reader, (uint64_t)((const uint8_t *)at - s->rows.data), len, SHERD_ADVICE_SOON);
}

static int columns_of(const graph_segment *s)
{
	return s->rows.kind == SHD_RFDB_NODES ? SHD_RFDB_COLUMNS : SHD_RFDB_EDGE_METADATA + 1;
}

void shd_graph_segment_want(const graph_segment *s, uint64_t row)
{
	const shd_rfdb_segment *r = &s->rows;
	if (!s->wide || row >= r->rows || is_there(s, r->ids + 16 * row, 16))
		return;
	want(s, r->ids + 16 * row, 16);
	if (r->kind == SHD_RFDB_NODES)
		want(s, r->hashes + 8 * row, 8);
	else
		want(s, r->dst + 16 * row, 16);
	for (int c = 0; c < columns_of(s); c++)
		want(s, r->text[c] + 4 * row, 4);
}

void shd_graph_segment_want_texts(const graph_segment *s, uint64_t row)
{
	const shd_rfdb_strings *strings = &s->rows.strings;
	const uint8_t *entries[SHD_RFDB_COLUMNS];
	shd_str texts[SHD_RFDB_COLUMNS];
	size_t count = 0;
	if (!s->wide || row >= s->rows.rows)
		return;
	for (int c = 0; c < columns_of(s); c++) {
		uint32_t string = shd_rfdb_segment_string(&s->rows, (shd_rfdb_column)c, row);
		if (string < strings->count)
			entries[count++] = strings->entries + 8 * (size_t)string;
	}
	/* The strings of a row that are its own stand together: one tells of all. */
	if (!count || is_there(s, entries[0], 8))
		return;
	for (size_t i = 0; i < count; i++)
		want(s, entries[i], 8);
	size_t found = 0;
	for (int c = 0; c < columns_of(s); c++)
		found += shd_rfdb_segment_text(&s->rows, (shd_rfdb_column)c, row, &texts[found]);
	for (size_t i = 0; i < found; i++)
		if (texts[i].len)
			want(s, texts[i].ptr, texts[i].len);
}
