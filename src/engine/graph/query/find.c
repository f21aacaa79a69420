/* engine/graph/query/find.c - nodes by type, file and name. */
#include "engine/graph/disk/want.h"
#include "engine/graph/graph.h"

#include <stdlib.h>

/* One condition on a column. */
typedef struct condition {
	shd_rfdb_column column;
	unsigned part; /* of the index */
	bool prefix;
	shd_str text;
} condition;

typedef struct search {
	const sherd_graph *graph;
	condition list[3];
	size_t count;
	sherd_graph_node_fn *each;
	void *arg;
	bool stopped;
} search;

static void find_add(search *s, sherd_graph_text text, bool prefix, shd_rfdb_column column, unsigned part)
{
	if (text.ptr && !(prefix && text.len == 0))
		s->list[s->count++] =
			(condition){.column = column, .part = part, .prefix = prefix, .text = {text.ptr, text.len}};
}

static bool find_fits(const condition *c, shd_str text)
{
	return (c->prefix ? text.len >= c->text.len : text.len == c->text.len) &&
	       memcmp(text.ptr, c->text.ptr, c->text.len) == 0;
}

static bool fits_row(const search *s, const graph_segment *segment, uint64_t row)
{
	for (size_t i = 0; i < s->count; i++) {
		shd_str text;
		if (!shd_rfdb_segment_text(&segment->rows, s->list[i].column, row, &text) ||
		    !find_fits(&s->list[i], text))
			return false;
	}
	return true;
}

static void find_hand_out(search *s, const shd_rfdb_node *node)
{
	sherd_graph_node out;
	shd_graph_node_out(node, &out);
	s->stopped = !s->each(s->arg, &out);
}

/* Row of the item at place i of the list. */
static int try_row(search *s, size_t i, bool plain, uint64_t row, sherd_error *err)
{
	const graph_segment *segment = s->graph->view.lists[SHD_RFDB_NODES].items[i];
	shd_rfdb_node node;
	if (row >= segment->rows.rows || !fits_row(s, segment, row))
		return SHERD_OK;
	if (s->graph->buffer.node_count &&
	    shd_graph_buffer_node(&s->graph->buffer, shd_rfdb_segment_id(&segment->rows, row)))
		return SHERD_OK;
	if (!plain) {
		int rc = shd_graph_view_node_lives(&s->graph->view, i, row, err);
		if (rc <= 0)
			return rc;
	}
	TRY(shd_graph_segment_read_node(segment, row, &node, err));
	find_hand_out(s, &node);
	return SHERD_OK;
}

static int try_rows(search *s, size_t i, const shd_rfdb_rows *rows, sherd_error *err)
{
	bool plain = shd_graph_view_is_plain(&s->graph->view, SHD_RFDB_NODES, i);
	for (uint64_t k = 0; k < rows->count && !s->stopped; k++)
		TRY(try_row(s, i, plain, shd_rfdb_rows_at(*rows, k), err));
	return SHERD_OK;
}

static const shd_rfdb_groups *groups_of(const shd_rfdb_sidecar *x, const condition *c)
{
	return c->part == GRAPH_BY_TYPE ? &x->by_type : c->part == GRAPH_BY_FILE ? &x->by_file : &x->by_name;
}

static int find_compare(const void *left, const void *right)
{
	const shd_str *a = left, *b = right;
	size_t n = a->len < b->len ? a->len : b->len;
	int c = memcmp(a->ptr, b->ptr, n);
	return c ? c : (a->len > b->len) - (a->len < b->len);
}

/* Does the manifest say that the segment has no such type or file? */
static bool is_excluded(const graph_segment *segment, const condition *c)
{
	bool by_file = c->part == GRAPH_BY_FILE;
	const shd_rfdb_texts *texts = by_file ? &segment->about.files : &segment->about.types;
	if (c->prefix || c->part == GRAPH_BY_NAME || !texts->count)
		return false;
	if (by_file ? segment->files_sorted : segment->types_sorted)
		return !bsearch(&c->text, texts->items, texts->count, sizeof(c->text), find_compare);
	for (size_t i = 0; i < texts->count; i++)
		if (find_compare(&c->text, &texts->items[i]) == 0)
			return false;
	return true;
}

/* Of the conditions that match whole texts the one with the fewest rows. */
static int smallest(const search *s, const graph_segment *segment, shd_rfdb_rows *out, bool *found, sherd_error *err)
{
	*found = false;
	for (size_t i = 0; i < s->count; i++) {
		const condition *c = &s->list[i];
		const shd_rfdb_sidecar *x;
		if (c->prefix)
			continue;
		TRY(shd_graph_segment_index(segment, c->part, &x, err));
		shd_rfdb_rows rows = shd_rfdb_groups_find(groups_of(x, c), &segment->rows, c->text);
		if (!*found || rows.count < out->count)
			*out = rows;
		*found = true;
		if (!rows.count)
			break;
	}
	return SHERD_OK;
}

/* By the groups that begin with the text of the first condition, all of which are prefixes here. */
static int by_prefix(search *s, size_t i, sherd_error *err)
{
	const graph_segment *segment = s->graph->view.lists[SHD_RFDB_NODES].items[i];
	const condition *c = &s->list[0];
	const shd_rfdb_sidecar *x;
	TRY(shd_graph_segment_index(segment, c->part, &x, err));
	const shd_rfdb_groups *groups = groups_of(x, c);
	for (uint32_t n = shd_rfdb_groups_seek(groups, &segment->rows, c->text); n < groups->count && !s->stopped;
	     n++) {
		shd_str key;
		shd_rfdb_rows rows;
		if (!shd_rfdb_groups_at(groups, &segment->rows, n, &key, &rows) || !find_fits(c, key))
			break;
		TRY(try_rows(s, i, &rows, err));
	}
	return SHERD_OK;
}

static int every_row(search *s, size_t i, sherd_error *err)
{
	const graph_segment *segment = s->graph->view.lists[SHD_RFDB_NODES].items[i];
	bool plain = shd_graph_view_is_plain(&s->graph->view, SHD_RFDB_NODES, i);
	int rc = SHERD_OK;
	shd_graph_segment_scan(segment);
	for (uint64_t row = 0; row < segment->rows.rows && !s->stopped && rc == SHERD_OK; row++)
		rc = try_row(s, i, plain, row, err);
	shd_graph_segment_scanned(segment);
	return rc;
}

static int search_segment(search *s, size_t i, sherd_error *err)
{
	const graph_segment *segment = s->graph->view.lists[SHD_RFDB_NODES].items[i];
	shd_rfdb_rows rows;
	bool found;
	for (size_t c = 0; c < s->count; c++)
		if (is_excluded(segment, &s->list[c]))
			return SHERD_OK;
	TRY(smallest(s, segment, &rows, &found, err));
	if (found)
		return try_rows(s, i, &rows, err);
	if (s->count)
		return by_prefix(s, i, err);
	return every_row(s, i, err);
}

static bool fits_fresh(const search *s, const shd_rfdb_node *n)
{
	for (size_t i = 0; i < s->count; i++) {
		const condition *c = &s->list[i];
		if (!find_fits(c, c->part == GRAPH_BY_TYPE ? n->type : c->part == GRAPH_BY_FILE ? n->file : n->name))
			return false;
	}
	return true;
}

static void search_fresh(search *s, const graph_new_node *n)
{
	if (!n->dead && fits_fresh(s, &n->node))
		find_hand_out(s, &n->node);
}

static int search_buffer(search *s, const sherd_graph_query *query, sherd_error *err)
{
	/* A writer belongs to one thread: nobody sees that chains are made. */
	graph_buffer *b = (graph_buffer *)(uintptr_t)&s->graph->buffer;
	if (!query || !query->file.len || query->file_prefix) {
		for (size_t i = 0; i < b->node_count && !s->stopped; i++)
			search_fresh(s, &b->nodes[i]);
		return SHERD_OK;
	}
	if (!shd_graph_buffer_file(b))
		return shd_fail_nomem(err);
	uint32_t at = shd_graph_buffer_first_of(b, graph_text_in(query->file));
	for (; at != GRAPH_IDS_NONE && !s->stopped; at = shd_graph_buffer_next_of(b, at))
		search_fresh(s, &b->nodes[at]);
	return SHERD_OK;
}

/* By the name, or the file, whichever has fewer rows: 1, or 0 when neither is given in whole, or no run can tell. */
static int find_spots(const search *s, graph_spot_vec *out, sherd_error *err)
{
	int found = 0;
	for (size_t i = 0; i < s->count; i++) {
		SHD_AUTO_VEC graph_spot_vec spots = {0};
		const condition *c = &s->list[i];
		if (c->prefix || c->part == GRAPH_BY_TYPE)
			continue;
		int rc = shd_graph_cover_texts(&s->graph->view,
		                               c->part == GRAPH_BY_NAME ? SHD_RFDB_RUN_NAMES : SHD_RFDB_RUN_FILES,
		                               c->text, &spots, err);
		if (rc <= 0)
			return rc;
		if (found && out->count <= spots.count)
			continue;
		const graph_spot_vec kept = *out;
		*out = spots;
		spots = kept;
		found = 1;
	}
	return found;
}

/* Rows that runs lead to, and those of segments that none covers, in the order of the segments. */
static int search_spots(search *s, const graph_spot_vec *spots, sherd_error *err)
{
	const graph_view *v = &s->graph->view;
	size_t at = 0;
	for (size_t i = 0; i <= v->cover.bare_count[SHD_RFDB_NODES] && !s->stopped; i++) {
		bool last = i == v->cover.bare_count[SHD_RFDB_NODES];
		size_t until = last ? SIZE_MAX : v->cover.bare[SHD_RFDB_NODES][i];
		for (; at < spots->count && spots->items[at].place < until && !s->stopped; at++) {
			const graph_spot *spot = &spots->items[at];
			shd_graph_segment_want_texts(v->lists[SHD_RFDB_NODES].items[spot->place], spot->row);
			TRY(try_row(s, spot->place, shd_graph_view_is_plain(v, SHD_RFDB_NODES, spot->place), spot->row,
			            err));
		}
		if (!last && !s->stopped)
			TRY(search_segment(s, until, err));
	}
	return SHERD_OK;
}

static int search_all(search *s, const sherd_graph_query *query, sherd_error *err)
{
	SHD_AUTO_VEC graph_spot_vec spots = {0};
	int covered = find_spots(s, &spots, err);
	TRY(covered);
	if (covered) {
		TRY(search_spots(s, &spots, err));
		return search_buffer(s, query, err);
	}
	for (size_t i = 0; i < s->graph->view.lists[SHD_RFDB_NODES].count && !s->stopped; i++)
		TRY(search_segment(s, i, err));
	return search_buffer(s, query, err);
}

int sherd_graph_find(const sherd_graph *g, const sherd_graph_query *query, sherd_graph_node_fn *each, void *arg,
                     sherd_error *err)
{
	search s = {.graph = g, .each = each, .arg = arg};
	if (query) {
		find_add(&s, query->name, query->name_prefix, SHD_RFDB_NAME, GRAPH_BY_NAME);
		find_add(&s, query->file, query->file_prefix, SHD_RFDB_FILE, GRAPH_BY_FILE);
		find_add(&s, query->type, query->type_prefix, SHD_RFDB_NODE_TYPE, GRAPH_BY_TYPE);
	}
	return shd_graph_view_settle(&g->view, search_all(&s, query, err), err);
}
