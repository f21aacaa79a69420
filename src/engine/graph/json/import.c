/* engine/graph/json/import.c - lines into a writer: workers parse them ahead, the caller adds them in their order. */
#include "base/meter.h"
#include "base/turns.h"
#include "engine/graph/json/piece.h"

#include <stdlib.h>

/* Records, and bytes of lines, that a graph may hold in memory before it makes room: about 64 MiB of either. */
enum { SPILL = 250000, SPILL_BYTES = 64 << 20 };

typedef struct importing {
	sherd_graph *graph;
	const sherd_graph_import_options *options;
	graph_cut cut;
	graph_piece *pieces;
	size_t count;
	shd_turns *turns;
	uint64_t lines; /* before the piece that is added */
	uint64_t done;  /* bytes */
	uint64_t held;  /* bytes since the graph made room */
	bool ended;     /* no piece is left to be cut */
	sherd_graph_import_result result;
} importing;

static int import_nodes(importing *m, const sherd_graph_lines *lines, sherd_error *err)
{
	const sherd_graph_node *nodes;
	size_t count = sherd_graph_lines_nodes(&nodes, lines);
	int rc = sherd_graph_add_nodes(m->graph, nodes, count, err);
	m->result.nodes += count;
	return sherd_graph_lines_blame(lines, count, rc, err);
}

static bool is_without_source(int rc, const sherd_error *err)
{
	return rc == SHERD_EINVAL && strcmp(err->reason, "unknown-source") == 0;
}

/* A batch that was refused went in not at all: what stands before the edge that is to blame goes in by itself, and what
 * stands after it. */
static int import_edges_that_fit(importing *m, const sherd_graph_lines *lines, sherd_error *err)
{
	const sherd_graph_edge *edges;
	size_t count = sherd_graph_lines_edges(&edges, lines), from = 0;
	while (from < count) {
		int rc = sherd_graph_add_edges(m->graph, edges + from, count - from, err);
		if (rc >= 0)
			break;
		size_t bad = from + (size_t)err->index;
		if (!is_without_source(rc, err)) {
			err->index = err->index == SHERD_NO_INDEX ? SHERD_NO_INDEX : bad;
			return sherd_graph_lines_blame(lines, 0, rc, err);
		}
		TRY(sherd_graph_add_edges(m->graph, edges + from, bad - from, err));
		m->result.skipped++;
		from = bad + 1;
	}
	return SHERD_OK;
}

static int import_edges(importing *m, const sherd_graph_lines *lines, sherd_error *err)
{
	const sherd_graph_edge *edges;
	size_t count = sherd_graph_lines_edges(&edges, lines);
	m->result.edges += count;
	if (m->options->skip_unknown)
		return import_edges_that_fit(m, lines, err);
	return sherd_graph_lines_blame(lines, 0, sherd_graph_add_edges(m->graph, edges, count, err), err);
}

static int import_make_room(importing *m, sherd_error *err)
{
	if (sherd_graph_pending(m->graph) < SPILL && m->held < SPILL_BYTES)
		return SHERD_OK;
	m->held = 0;
	return sherd_graph_spill(m->graph, err);
}

static int import_report(const importing *m, sherd_error *err)
{
	const sherd_progress *p = m->options->progress;
	if (!p || p->update(p->arg, m->done, m->cut.source->size))
		return SHERD_OK;
	return shd_fail(err, SHERD_ECANCELLED, "cancelled", "cancelled");
}

static int import_piece(importing *m, const graph_piece *p, sherd_error *err)
{
	TRY(shd_graph_piece_check(p, m->lines, err));
	TRY(import_nodes(m, p->lines, err));
	TRY(import_edges(m, p->lines, err));
	m->lines += p->lines->at.number;
	m->held += p->end - m->done;
	m->done = p->end;
	TRY(import_make_room(m, err));
	return import_report(m, err);
}

/* Gives out all pieces that are free, until the source ends. Who is not to go on need not wait for what was given. */
static int import_ahead(importing *m, sherd_error *err)
{
	graph_piece *p;
	while (!m->ended && (p = shd_turns_next(m->turns))) {
		bool cut = shd_graph_piece_cut(p, &m->cut);
		m->ended = !cut || p->rc < 0;
		if (p->rc == SHERD_ECANCELLED)
			return shd_pass(err, p->rc, &p->err);
		if (cut)
			shd_turns_give(m->turns);
	}
	return SHERD_OK;
}

static int import_all(importing *m, sherd_error *err)
{
	const graph_piece *p;
	do {
		TRY(import_ahead(m, err));
		p = shd_turns_take(m->turns);
		if (p)
			TRY(import_piece(m, p, err));
	} while (p);
	return SHERD_OK;
}

static int import_open(importing *m, sherd_error *err)
{
	m->count = shd_turns_pieces(m->options->pool);
	m->pieces = calloc(m->count, sizeof(*m->pieces));
	if (!m->pieces)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < m->count; i++)
		TRY(shd_graph_piece_init(&m->pieces[i], m->options->limits, err));
	return shd_turns_open(&m->turns, m->options->pool, shd_graph_piece_parse, m->pieces, m->count,
	                      sizeof(*m->pieces), err);
}

static void import_close(importing *m)
{
	shd_turns_close(m->turns);
	for (size_t i = 0; m->pieces && i < m->count; i++)
		shd_graph_piece_done(&m->pieces[i]);
	free(m->pieces);
	shd_graph_cut_done(&m->cut);
}

int sherd_graph_import(sherd_graph *graph, const sherd_graph_source *source, const sherd_graph_import_options *options,
                       sherd_graph_import_result *result, sherd_error *err)
{
	static const sherd_graph_import_options defaults = {0};
	sherd_error mine; /* what failed decides what happens next */
	importing m = {.graph = graph, .options = options ? options : &defaults};
	shd_graph_cut_init(&m.cut, source, m.options->limits);
	int rc = import_open(&m, &mine);
	if (rc == SHERD_OK)
		rc = import_all(&m, &mine);
	import_close(&m);
	if (rc == SHERD_OK && result) {
		*result = m.result;
		result->edges -= m.result.skipped;
	}
	return shd_pass(err, rc, &mine);
}

static int lines_read(sherd_graph_lines *lines, graph_cut *cut, shd_buf *text, sherd_error *err)
{
	int rc;
	shd_graph_lines_begin(lines, cut->source->name, 0);
	while ((rc = shd_graph_cut_next(cut, text, err)) > 0) {
		rc = shd_graph_lines_parse(lines, cut->source->what, (const char *)text->data, text->len, err);
		if (rc < 0)
			return shd_graph_line_blame(lines, &lines->at, rc, err);
	}
	const graph_line next = {cut->source->name, lines->at.number + 1, cut->offset};
	return cut->too_long ? shd_graph_line_blame(lines, &next, rc, err)
	                     : shd_in_object(err, rc, next.name ? next.name : "");
}

int sherd_graph_lines_read(sherd_graph_lines *lines, const sherd_graph_source *source, sherd_error *err)
{
	SHD_DONE(shd_graph_cut_done) graph_cut cut;
	SHD_AUTO_BUF text = {0};
	shd_graph_cut_init(&cut, source, &lines->limits);
	return lines_read(lines, &cut, &text, err);
}
