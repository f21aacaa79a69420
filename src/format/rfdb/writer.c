#include "format/rfdb/writer.h"

#include <stdlib.h>

void shd_rfdb_writer_init(shd_rfdb_writer *w, shd_rfdb_kind kind)
{
	*w = (shd_rfdb_writer){.kind = kind};
}

void shd_rfdb_writer_done(shd_rfdb_writer *w)
{
	for (int c = 0; c < SHD_RFDB_COLUMNS; c++)
		free(w->text[c]);
	free(w->ids);
	free(w->dst);
	free(w->hashes);
	shd_rfdb_intern_done(&w->strings);
	shd_buf_done(&w->used);
	shd_vec_done(&w->zone[0]);
	shd_vec_done(&w->zone[1]);
	*w = (shd_rfdb_writer){.kind = w->kind};
}

/* ---- rows */

static int columns(const shd_rfdb_writer *w)
{
	return w->kind == SHD_RFDB_NODES ? SHD_RFDB_COLUMNS : SHD_RFDB_EDGE_METADATA + 1;
}

static bool widen(uint8_t **column, uint64_t rows, size_t size)
{
	uint8_t *moved = rows > SIZE_MAX / size ? NULL : realloc(*column, rows * size);
	if (moved)
		*column = moved;
	return moved;
}

int shd_rfdb_writer_reserve(shd_rfdb_writer *w, uint64_t rows, sherd_error *err)
{
	if (rows <= w->room)
		return SHERD_OK;
	bool ok = widen(&w->ids, rows, 16);
	ok = ok && (w->kind == SHD_RFDB_NODES ? widen(&w->hashes, rows, 8) : widen(&w->dst, rows, 16));
	for (int c = 0; c < columns(w); c++)
		ok = ok && widen(&w->text[c], rows, 4);
	/* Nodes mostly have two or three strings of their own. */
	ok = ok && (w->kind == SHD_RFDB_EDGES || shd_rfdb_intern_reserve(&w->strings, 2 * rows));
	if (!ok)
		return shd_fail_nomem(err);
	w->room = rows;
	return SHERD_OK;
}

static int rfdb_writer_make_room(shd_rfdb_writer *w, sherd_error *err)
{
	return w->rows < w->room ? SHERD_OK : shd_rfdb_writer_reserve(w, w->room ? w->room + w->room / 2 : 64, err);
}

static bool is_string(const shd_rfdb_writer *w, uint32_t index, shd_str s)
{
	shd_str there = shd_rfdb_intern_get(&w->strings, index);
	return there.len == s.len && (!s.len || memcmp(there.ptr, s.ptr, s.len) == 0);
}

/* What stands in the row before, or was given from the same place before, need not be looked for. */
static int rfdb_writer_put_text(shd_rfdb_writer *w, int column, shd_str s, sherd_error *err)
{
	uint32_t *last = &w->last[column];
	size_t slot = ((uintptr_t)s.ptr >> 3 ^ s.len) % SHD_RFDB_RECENT;
	if (!w->rows || !is_string(w, *last, s)) {
		if (w->recent[slot].ptr == s.ptr && s.len && is_string(w, w->recent[slot].index, s))
			*last = w->recent[slot].index;
		else
			TRY(shd_rfdb_intern_add(&w->strings, s, last, err));
		w->recent[slot].ptr = s.ptr;
		w->recent[slot].index = *last;
	}
	shd_put_u32(w->text[column] + 4 * w->rows, *last);
	return SHERD_OK;
}

/* The same for a text that is mostly the row's own; hash: of it. */
static int put_own(shd_rfdb_writer *w, int column, shd_str s, uint32_t hash, sherd_error *err)
{
	uint32_t *last = &w->last[column];
	TRY(shd_rfdb_intern_add_hashed(&w->strings, s, hash, last, err));
	shd_put_u32(w->text[column] + 4 * w->rows, *last);
	return SHERD_OK;
}

/* Notes that a field of the zone map has the string. */
static int note_value(shd_rfdb_writer *w, int field, uint32_t string, sherd_error *err)
{
	if (w->used.len <= string)
		shd_buf_zero(&w->used, w->strings.count - w->used.len);
	TRY(shd_buf_check(&w->used, err));
	uint8_t bit = (uint8_t)(1 << field);
	if (w->used.data[string] & bit)
		return SHERD_OK;
	w->used.data[string] |= bit;
	shd_vec_push(&w->zone[field], string);
	return shd_vec_check(&w->zone[field], err);
}

int shd_rfdb_writer_node(shd_rfdb_writer *w, const shd_rfdb_node *node, sherd_error *err)
{
	TRY(rfdb_writer_make_room(w, err));
	/* All are asked for before the first is waited for. */
	uint32_t id = shd_rfdb_intern_fetch(&w->strings, node->semantic_id);
	uint32_t name = shd_rfdb_intern_fetch(&w->strings, node->name);
	uint32_t metadata = shd_rfdb_intern_fetch(&w->strings, node->metadata);
	TRY(put_own(w, SHD_RFDB_SEMANTIC_ID, node->semantic_id, id, err));
	TRY(rfdb_writer_put_text(w, SHD_RFDB_NODE_TYPE, node->type, err));
	TRY(put_own(w, SHD_RFDB_NAME, node->name, name, err));
	TRY(rfdb_writer_put_text(w, SHD_RFDB_FILE, node->file, err));
	TRY(put_own(w, SHD_RFDB_NODE_METADATA, node->metadata, metadata, err));
	TRY(note_value(w, SHD_RFDB_ZONE_FILES, w->last[SHD_RFDB_FILE], err));
	TRY(note_value(w, SHD_RFDB_ZONE_TYPES, w->last[SHD_RFDB_NODE_TYPE], err));
	shd_put_u128(w->ids + 16 * w->rows, node->id);
	shd_put_u64(w->hashes + 8 * w->rows, node->content_hash);
	w->rows++;
	return SHERD_OK;
}

int shd_rfdb_writer_edge(shd_rfdb_writer *w, const shd_rfdb_edge *edge, sherd_error *err)
{
	TRY(rfdb_writer_make_room(w, err));
	TRY(rfdb_writer_put_text(w, SHD_RFDB_EDGE_TYPE, edge->type, err));
	TRY(rfdb_writer_put_text(w, SHD_RFDB_EDGE_METADATA, edge->metadata, err));
	TRY(note_value(w, SHD_RFDB_ZONE_TYPES, w->last[SHD_RFDB_EDGE_TYPE], err));
	shd_put_u128(w->ids + 16 * w->rows, edge->src);
	shd_put_u128(w->dst + 16 * w->rows, edge->dst);
	w->rows++;
	return SHERD_OK;
}

/* ---- what came together */

static int rfdb_writer_compare(const void *a, const void *b)
{
	return shd_str_compare(*(const shd_str *)a, *(const shd_str *)b);
}

int shd_rfdb_writer_values(const shd_rfdb_writer *w, int field, shd_str **out, size_t *count, sherd_error *err)
{
	size_t n = w->zone[field].count;
	shd_str *list = malloc((n + 1) * sizeof(*list));
	if (!list)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < n; i++)
		list[i] = shd_rfdb_intern_get(&w->strings, w->zone[field].items[i]);
	qsort(list, n, sizeof(*list), rfdb_writer_compare);
	*out = list;
	*count = n;
	return SHERD_OK;
}

/* Where things lie in a file of so many rows. */
typedef struct layout {
	uint64_t pad, data_end, bloom; /* bytes; offset; bytes of one filter */
	uint64_t zone, strings, footer;
} layout;

static layout layout_of(const shd_rfdb_writer *w, uint64_t zone_size)
{
	layout l = {.bloom = shd_rfdb_bloom_size(w->rows)};
	if (w->kind == SHD_RFDB_NODES) {
		uint64_t text_end = SHD_RFDB_HEAD + 20 * w->rows;
		l.pad = -text_end & 15;
		l.data_end = text_end + l.pad + 24 * w->rows;
		l.zone = l.data_end + l.bloom;
	} else {
		l.data_end = SHD_RFDB_HEAD + 40 * w->rows;
		l.zone = l.data_end + 2 * l.bloom;
	}
	l.strings = l.zone + zone_size;
	l.footer = l.strings + SHD_RFDB_STRINGS_HEAD + w->strings.entries.len + w->strings.text.len;
	return l;
}

uint64_t shd_rfdb_writer_size(const shd_rfdb_writer *w)
{
	return layout_of(w, 0).footer + SHD_RFDB_FOOTER;
}

static int make_zone(const shd_rfdb_writer *w, shd_buf *out, sherd_error *err)
{
	bool nodes = w->kind == SHD_RFDB_NODES;
	/* The real server finds the files of a segment by this alone. */
	shd_rfdb_zone_field fields[2] = {{.name = "file", .whole = true}, {.name = nodes ? "node_type" : "edge_type"}};
	int rc = SHERD_OK;
	for (int f = nodes ? 0 : 1; f < 2; f++) {
		fields[f].left_out = w->zone[f].count > SHD_RFDB_ZONE_VALUES && !fields[f].whole;
		if (rc >= 0 && !fields[f].left_out)
			rc = shd_rfdb_writer_values(w, f, &fields[f].values, &fields[f].count, err);
	}
	if (rc >= 0) {
		shd_rfdb_zone_encode(nodes ? fields : fields + 1, nodes ? 2 : 1, out);
		rc = shd_buf_check(out, err);
	}
	free(fields[0].values);
	free(fields[1].values);
	return rc;
}

/* ---- the bytes */

typedef struct output {
	shd_rfdb_sink *sink;
	void *arg;
	int rc; /* of the first call that failed; none is made after it */
	sherd_error *err;
} output;

static void rfdb_writer_emit(output *o, const void *data, size_t len)
{
	if (o->rc >= 0 && len)
		o->rc = o->sink(o->arg, data, len, o->err);
}

static void emit_bloom(output *o, const uint8_t *ids, uint64_t rows)
{
	size_t size = shd_rfdb_bloom_size(rows);
	uint8_t *raw = o->rc >= 0 ? malloc(size) : NULL;
	if (raw) {
		shd_rfdb_bloom_encode(ids, rows, raw);
		rfdb_writer_emit(o, raw, size);
	} else if (o->rc >= 0) {
		o->rc = shd_fail_nomem(o->err);
	}
	free(raw);
}

static void emit_head(output *o, const shd_rfdb_writer *w, const layout *l)
{
	uint8_t head[SHD_RFDB_HEAD] = {'S', 'G', 'V', '2', 2, 0, (uint8_t)w->kind};
	shd_put_u64(head + 8, w->rows);
	shd_put_u64(head + 16, l->footer);
	rfdb_writer_emit(o, head, sizeof(head));
}

static void emit_columns(output *o, const shd_rfdb_writer *w, const layout *l)
{
	static const uint8_t zeros[16];
	bool nodes = w->kind == SHD_RFDB_NODES;
	if (!nodes) {
		rfdb_writer_emit(o, w->ids, 16 * w->rows);
		rfdb_writer_emit(o, w->dst, 16 * w->rows);
	}
	for (int c = 0; c < columns(w); c++)
		rfdb_writer_emit(o, w->text[c], 4 * w->rows);
	if (nodes) {
		rfdb_writer_emit(o, zeros, l->pad);
		rfdb_writer_emit(o, w->ids, 16 * w->rows);
		rfdb_writer_emit(o, w->hashes, 8 * w->rows);
	}
	emit_bloom(o, w->ids, w->rows);
	if (!nodes)
		emit_bloom(o, w->dst, w->rows);
}

static void emit_strings(output *o, const shd_rfdb_intern *t)
{
	uint8_t head[SHD_RFDB_STRINGS_HEAD];
	shd_put_u32(head, t->count);
	shd_put_u32(head + 4, (uint32_t)t->text.len);
	rfdb_writer_emit(o, head, sizeof(head));
	rfdb_writer_emit(o, t->entries.data, t->entries.len);
	rfdb_writer_emit(o, t->text.data, t->text.len);
}

static void emit_footer(output *o, const shd_rfdb_writer *w, const layout *l)
{
	uint8_t footer[SHD_RFDB_FOOTER];
	shd_put_u64(footer, l->data_end);
	shd_put_u64(footer + 8, w->kind == SHD_RFDB_EDGES ? l->data_end + l->bloom : 0);
	shd_put_u64(footer + 16, l->zone);
	shd_put_u64(footer + 24, l->strings);
	shd_put_u64(footer + 32, l->data_end);
	shd_put_u32(footer + 40, SHD_RFDB_FOOTER);
	shd_put_u32(footer + 44, SHD_RFDB_FOOTER_MAGIC);
	rfdb_writer_emit(o, footer, sizeof(footer));
}

int shd_rfdb_writer_finish(shd_rfdb_writer *w, shd_rfdb_sink *sink, void *arg, uint64_t *size, sherd_error *err)
{
	SHD_AUTO_BUF zone = {0};
	output o = {.sink = sink, .arg = arg, .err = err};
	TRY(make_zone(w, &zone, err));
	layout l = layout_of(w, zone.len);
	emit_head(&o, w, &l);
	emit_columns(&o, w, &l);
	rfdb_writer_emit(&o, zone.data, zone.len);
	emit_strings(&o, &w->strings);
	emit_footer(&o, w, &l);
	TRY(o.rc);
	*size = l.footer + SHD_RFDB_FOOTER;
	return SHERD_OK;
}
