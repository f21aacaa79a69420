#include "format/rfdb/writer.h"

#include <stdlib.h>

void sherd_rfdb_writer_init(sherd_rfdb_writer *w, sherd_rfdb_kind kind)
{
	*w = (sherd_rfdb_writer){.kind = kind};
}

void sherd_rfdb_writer_done(sherd_rfdb_writer *w)
{
	for (int c = 0; c < SHERD_RFDB_COLUMNS; c++)
		free(w->text[c]);
	free(w->ids);
	free(w->dst);
	free(w->hashes);
	sherd_rfdb_intern_done(&w->strings);
	sherd_buf_done(&w->used);
	sherd_buf_done(&w->zone[0]);
	sherd_buf_done(&w->zone[1]);
	*w = (sherd_rfdb_writer){.kind = w->kind};
}

/* ---- rows */

static int columns(const sherd_rfdb_writer *w)
{
	return w->kind == SHERD_RFDB_NODES ? SHERD_RFDB_COLUMNS : SHERD_RFDB_EDGE_METADATA + 1;
}

static bool widen(uint8_t **column, uint64_t rows, size_t size)
{
	uint8_t *moved = rows > SIZE_MAX / size ? NULL : realloc(*column, rows * size);
	if (moved)
		*column = moved;
	return moved;
}

int sherd_rfdb_writer_reserve(sherd_rfdb_writer *w, uint64_t rows, sherd_error *err)
{
	if (rows <= w->room)
		return SHERD_OK;
	bool ok = widen(&w->ids, rows, 16);
	ok = ok && (w->kind == SHERD_RFDB_NODES ? widen(&w->hashes, rows, 8) : widen(&w->dst, rows, 16));
	for (int c = 0; c < columns(w); c++)
		ok = ok && widen(&w->text[c], rows, 4);
	/* Nodes mostly have two or three strings of their own. */
	ok = ok && (w->kind == SHERD_RFDB_EDGES || sherd_rfdb_intern_reserve(&w->strings, 2 * rows));
	if (!ok)
		return sherd_fail_nomem(err);
	w->room = rows;
	return SHERD_OK;
}

static int make_room(sherd_rfdb_writer *w, sherd_error *err)
{
	return w->rows < w->room ? SHERD_OK : sherd_rfdb_writer_reserve(w, w->room ? w->room + w->room / 2 : 64, err);
}

static bool is_string(const sherd_rfdb_writer *w, uint32_t index, sherd_str s)
{
	sherd_str there = sherd_rfdb_intern_get(&w->strings, index);
	return there.len == s.len && (!s.len || memcmp(there.ptr, s.ptr, s.len) == 0);
}

/* What stands in the row before, or was given from the same place before, need not be looked for. */
static int put_text(sherd_rfdb_writer *w, int column, sherd_str s, sherd_error *err)
{
	uint32_t *last = &w->last[column];
	size_t slot = ((uintptr_t)s.ptr >> 3 ^ s.len) % SHERD_RFDB_RECENT;
	if (!w->rows || !is_string(w, *last, s)) {
		if (w->recent[slot].ptr == s.ptr && s.len && is_string(w, w->recent[slot].index, s))
			*last = w->recent[slot].index;
		else
			TRY(sherd_rfdb_intern_add(&w->strings, s, last, err));
		w->recent[slot].ptr = s.ptr;
		w->recent[slot].index = *last;
	}
	sherd_put_u32(w->text[column] + 4 * w->rows, *last);
	return SHERD_OK;
}

/* The same for a text that is mostly the row's own; hash: of it. */
static int put_own(sherd_rfdb_writer *w, int column, sherd_str s, uint32_t hash, sherd_error *err)
{
	uint32_t *last = &w->last[column];
	TRY(sherd_rfdb_intern_add_hashed(&w->strings, s, hash, last, err));
	sherd_put_u32(w->text[column] + 4 * w->rows, *last);
	return SHERD_OK;
}

/* Notes that a field of the zone map has the string. */
static int note_value(sherd_rfdb_writer *w, int field, uint32_t string, sherd_error *err)
{
	if (w->used.len <= string)
		sherd_buf_zero(&w->used, w->strings.count - w->used.len);
	TRY(sherd_buf_check(&w->used, err));
	uint8_t bit = (uint8_t)(1 << field);
	if (w->used.data[string] & bit)
		return SHERD_OK;
	w->used.data[string] |= bit;
	sherd_buf_append(&w->zone[field], &string, sizeof(string));
	return sherd_buf_check(&w->zone[field], err);
}

int sherd_rfdb_writer_node(sherd_rfdb_writer *w, const sherd_rfdb_node *node, sherd_error *err)
{
	TRY(make_room(w, err));
	/* All are asked for before the first is waited for. */
	uint32_t id = sherd_rfdb_intern_fetch(&w->strings, node->semantic_id);
	uint32_t name = sherd_rfdb_intern_fetch(&w->strings, node->name);
	uint32_t metadata = sherd_rfdb_intern_fetch(&w->strings, node->metadata);
	TRY(put_own(w, SHERD_RFDB_SEMANTIC_ID, node->semantic_id, id, err));
	TRY(put_text(w, SHERD_RFDB_NODE_TYPE, node->type, err));
	TRY(put_own(w, SHERD_RFDB_NAME, node->name, name, err));
	TRY(put_text(w, SHERD_RFDB_FILE, node->file, err));
	TRY(put_own(w, SHERD_RFDB_NODE_METADATA, node->metadata, metadata, err));
	TRY(note_value(w, SHERD_RFDB_ZONE_FILES, w->last[SHERD_RFDB_FILE], err));
	TRY(note_value(w, SHERD_RFDB_ZONE_TYPES, w->last[SHERD_RFDB_NODE_TYPE], err));
	sherd_put_u128(w->ids + 16 * w->rows, node->id);
	sherd_put_u64(w->hashes + 8 * w->rows, node->content_hash);
	w->rows++;
	return SHERD_OK;
}

int sherd_rfdb_writer_edge(sherd_rfdb_writer *w, const sherd_rfdb_edge *edge, sherd_error *err)
{
	TRY(make_room(w, err));
	TRY(put_text(w, SHERD_RFDB_EDGE_TYPE, edge->type, err));
	TRY(put_text(w, SHERD_RFDB_EDGE_METADATA, edge->metadata, err));
	TRY(note_value(w, SHERD_RFDB_ZONE_TYPES, w->last[SHERD_RFDB_EDGE_TYPE], err));
	sherd_put_u128(w->ids + 16 * w->rows, edge->src);
	sherd_put_u128(w->dst + 16 * w->rows, edge->dst);
	w->rows++;
	return SHERD_OK;
}

/* How far ahead rows, and the texts of rows, are asked for: in another order than they lie in, waiting for memory would
 * cost more than all the rest. */
enum { ROWS_AHEAD = 12, TEXTS_AHEAD = 6 };

static uint64_t row_at(const sherd_rfdb_keyed *order, size_t i)
{
	return order ? order[i].row : i;
}

static void fetch_node(const sherd_rfdb_node *node)
{
	__builtin_prefetch(node);
	__builtin_prefetch((const char *)node + 64);
}

static void fetch_texts(const sherd_rfdb_node *node)
{
	__builtin_prefetch(node->semantic_id.ptr);
	__builtin_prefetch(node->name.ptr);
	__builtin_prefetch(node->metadata.ptr);
}

int sherd_rfdb_writer_nodes(sherd_rfdb_writer *w, const sherd_rfdb_node *nodes, const sherd_rfdb_keyed *order,
                            size_t count, sherd_error *err)
{
	for (size_t i = 0; i < count; i++) {
		if (count - i > ROWS_AHEAD)
			fetch_node(&nodes[row_at(order, i + ROWS_AHEAD)]);
		if (count - i > TEXTS_AHEAD)
			fetch_texts(&nodes[row_at(order, i + TEXTS_AHEAD)]);
		TRY(sherd_rfdb_writer_node(w, &nodes[row_at(order, i)], err));
	}
	return SHERD_OK;
}

int sherd_rfdb_writer_edges(sherd_rfdb_writer *w, const sherd_rfdb_edge *edges, const sherd_rfdb_keyed *order,
                            size_t count, sherd_error *err)
{
	for (size_t i = 0; i < count; i++) {
		if (count - i > ROWS_AHEAD)
			__builtin_prefetch(&edges[row_at(order, i + ROWS_AHEAD)]);
		TRY(sherd_rfdb_writer_edge(w, &edges[row_at(order, i)], err));
	}
	return SHERD_OK;
}

/* ---- what came together */

static int compare(const void *a, const void *b)
{
	return sherd_str_compare(*(const sherd_str *)a, *(const sherd_str *)b);
}

int sherd_rfdb_writer_values(const sherd_rfdb_writer *w, int field, sherd_str **out, size_t *count, sherd_error *err)
{
	size_t n = w->zone[field].len / sizeof(uint32_t);
	const uint32_t *strings = (const uint32_t *)(const void *)w->zone[field].data;
	sherd_str *list = malloc((n + 1) * sizeof(*list));
	if (!list)
		return sherd_fail_nomem(err);
	for (size_t i = 0; i < n; i++)
		list[i] = sherd_rfdb_intern_get(&w->strings, strings[i]);
	qsort(list, n, sizeof(*list), compare);
	*out = list;
	*count = n;
	return SHERD_OK;
}

/* Where things lie in a file of so many rows. */
typedef struct layout {
	uint64_t pad, data_end, bloom; /* bytes; offset; bytes of one filter */
	uint64_t zone, strings, footer;
} layout;

static layout layout_of(const sherd_rfdb_writer *w, uint64_t zone_size)
{
	layout l = {.bloom = sherd_rfdb_bloom_size(w->rows)};
	if (w->kind == SHERD_RFDB_NODES) {
		uint64_t text_end = SHERD_RFDB_HEAD + 20 * w->rows;
		l.pad = -text_end & 15;
		l.data_end = text_end + l.pad + 24 * w->rows;
		l.zone = l.data_end + l.bloom;
	} else {
		l.data_end = SHERD_RFDB_HEAD + 40 * w->rows;
		l.zone = l.data_end + 2 * l.bloom;
	}
	l.strings = l.zone + zone_size;
	l.footer = l.strings + SHERD_RFDB_STRINGS_HEAD + w->strings.entries.len + w->strings.text.len;
	return l;
}

uint64_t sherd_rfdb_writer_size(const sherd_rfdb_writer *w)
{
	return layout_of(w, 0).footer + SHERD_RFDB_FOOTER;
}

static int make_zone(const sherd_rfdb_writer *w, sherd_buf *out, sherd_error *err)
{
	bool nodes = w->kind == SHERD_RFDB_NODES;
	sherd_rfdb_zone_field fields[2] = {{.name = "file"}, {.name = nodes ? "node_type" : "edge_type"}};
	int rc = SHERD_OK;
	for (int f = nodes ? 0 : 1; f < 2; f++) {
		fields[f].left_out = w->zone[f].len / sizeof(uint32_t) > SHERD_RFDB_ZONE_VALUES;
		if (rc >= 0 && !fields[f].left_out)
			rc = sherd_rfdb_writer_values(w, f, &fields[f].values, &fields[f].count, err);
	}
	if (rc >= 0) {
		sherd_rfdb_zone_encode(nodes ? fields : fields + 1, nodes ? 2 : 1, out);
		rc = sherd_buf_check(out, err);
	}
	free(fields[0].values);
	free(fields[1].values);
	return rc;
}

/* ---- the bytes */

typedef struct output {
	sherd_rfdb_sink *sink;
	void *arg;
	int rc; /* of the first call that failed; none is made after it */
	sherd_error *err;
} output;

static void emit(output *o, const void *data, size_t len)
{
	if (o->rc >= 0 && len)
		o->rc = o->sink(o->arg, data, len, o->err);
}

static void emit_bloom(output *o, const uint8_t *ids, uint64_t rows)
{
	size_t size = sherd_rfdb_bloom_size(rows);
	uint8_t *raw = o->rc >= 0 ? malloc(size) : NULL;
	if (raw) {
		sherd_rfdb_bloom_encode(ids, rows, raw);
		emit(o, raw, size);
	} else if (o->rc >= 0) {
		o->rc = sherd_fail_nomem(o->err);
	}
	free(raw);
}

static void emit_head(output *o, const sherd_rfdb_writer *w, const layout *l)
{
	uint8_t head[SHERD_RFDB_HEAD] = {'S', 'G', 'V', '2', 2, 0, (uint8_t)w->kind};
	sherd_put_u64(head + 8, w->rows);
	sherd_put_u64(head + 16, l->footer);
	emit(o, head, sizeof(head));
}

static void emit_columns(output *o, const sherd_rfdb_writer *w, const layout *l)
{
	static const uint8_t zeros[16];
	bool nodes = w->kind == SHERD_RFDB_NODES;
	if (!nodes) {
		emit(o, w->ids, 16 * w->rows);
		emit(o, w->dst, 16 * w->rows);
	}
	for (int c = 0; c < columns(w); c++)
		emit(o, w->text[c], 4 * w->rows);
	if (nodes) {
		emit(o, zeros, l->pad);
		emit(o, w->ids, 16 * w->rows);
		emit(o, w->hashes, 8 * w->rows);
	}
	emit_bloom(o, w->ids, w->rows);
	if (!nodes)
		emit_bloom(o, w->dst, w->rows);
}

static void emit_strings(output *o, const sherd_rfdb_intern *t)
{
	uint8_t head[SHERD_RFDB_STRINGS_HEAD];
	sherd_put_u32(head, t->count);
	sherd_put_u32(head + 4, (uint32_t)t->text.len);
	emit(o, head, sizeof(head));
	emit(o, t->entries.data, t->entries.len);
	emit(o, t->text.data, t->text.len);
}

static void emit_footer(output *o, const sherd_rfdb_writer *w, const layout *l)
{
	uint8_t footer[SHERD_RFDB_FOOTER];
	sherd_put_u64(footer, l->data_end);
	sherd_put_u64(footer + 8, w->kind == SHERD_RFDB_EDGES ? l->data_end + l->bloom : 0);
	sherd_put_u64(footer + 16, l->zone);
	sherd_put_u64(footer + 24, l->strings);
	sherd_put_u64(footer + 32, l->data_end);
	sherd_put_u32(footer + 40, SHERD_RFDB_FOOTER);
	sherd_put_u32(footer + 44, SHERD_RFDB_FOOTER_MAGIC);
	emit(o, footer, sizeof(footer));
}

int sherd_rfdb_writer_finish(sherd_rfdb_writer *w, sherd_rfdb_sink *sink, void *arg, uint64_t *size, sherd_error *err)
{
	SHERD_AUTO_BUF zone = {0};
	output o = {.sink = sink, .arg = arg, .err = err};
	TRY(make_zone(w, &zone, err));
	layout l = layout_of(w, zone.len);
	emit_head(&o, w, &l);
	emit_columns(&o, w, &l);
	emit(&o, zone.data, zone.len);
	emit_strings(&o, &w->strings);
	emit_footer(&o, w, &l);
	TRY(o.rc);
	*size = l.footer + SHERD_RFDB_FOOTER;
	return SHERD_OK;
}
