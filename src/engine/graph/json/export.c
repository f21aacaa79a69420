/* engine/graph/json/export.c - all records as lines: the caller finds them, workers write them, the caller hands them
 * on in their order. Texts of records are borrowed from the graph, which nobody changes meanwhile. */
#include "base/buf.h"
#include "base/turns.h"
#include "engine/graph/graph.h"
#include "engine/graph/json/lines.h"

#include <stdlib.h>

enum { RECORDS = 2048 }; /* of a piece */

typedef struct export_piece {
	SHD_VEC(sherd_graph_node) nodes;
	SHD_VEC(sherd_graph_edge) edges;
	shd_buf text;
	int rc;
	sherd_error err;
} export_piece;

typedef struct exporting {
	const sherd_graph *graph;
	const sherd_graph_export_options *options;
	sherd_graph_sink_fn *sink;
	void *arg;
	export_piece *pieces, *filling;
	size_t count;
	shd_turns *turns;
	bool stopped;
	int rc; /* of what callbacks did */
	sherd_error *err;
	sherd_graph_export_result result;
} exporting;

static int export_lines(export_piece *p, char **line, size_t *room, sherd_error *err)
{
	size_t len, nodes = p->nodes.count;
	for (size_t i = 0; i < nodes + p->edges.count; i++) {
		TRY(i < nodes ? sherd_graph_node_line(line, room, &len, &p->nodes.items[i], err)
		              : sherd_graph_edge_line(line, room, &len, &p->edges.items[i - nodes], err));
		(*line)[len] = '\n'; /* where its NUL stood */
		shd_buf_append(&p->text, *line, len + 1);
	}
	return shd_buf_check(&p->text, err);
}

static void export_work(void *piece)
{
	export_piece *p = piece;
	SHD_AUTO_FREE char *line = NULL;
	size_t room = 0;
	p->text.len = 0;
	p->rc = export_lines(p, &line, &room, &p->err);
}

/* Hands the oldest piece on, and empties it; false when there is none. */
static bool export_hand_on(exporting *x)
{
	export_piece *p = shd_turns_take(x->turns);
	const sherd_progress *watch = x->options->progress;
	if (!p)
		return false;
	if (x->rc == SHERD_OK && !x->stopped) {
		x->rc = shd_pass(x->err, p->rc, &p->err);
		if (x->rc == SHERD_OK)
			x->rc = x->sink(x->arg, p->text.data, p->text.len, x->err);
		if (x->rc == SHERD_OK) {
			x->result.nodes += p->nodes.count;
			x->result.edges += p->edges.count;
			x->result.bytes += p->text.len;
		}
		if (x->rc == SHERD_OK && watch && !watch->update(watch->arg, x->result.bytes, 0))
			x->rc = shd_fail(x->err, SHERD_ECANCELLED, "cancelled", "cancelled");
		x->stopped = x->rc != SHERD_OK;
		x->rc = x->rc > 0 ? SHERD_OK : x->rc;
	}
	p->nodes.count = p->edges.count = 0;
	return true;
}

static void export_give(exporting *x)
{
	if (!x->filling->nodes.count && !x->filling->edges.count)
		return;
	shd_turns_give(x->turns);
	while (!(x->filling = shd_turns_next(x->turns)))
		(void)export_hand_on(x);
}

/* A record was put into the piece that is filled. */
static bool export_go_on(exporting *x, bool failed)
{
	if (failed)
		x->rc = shd_fail_nomem(x->err);
	if (x->filling->nodes.count + x->filling->edges.count >= RECORDS)
		export_give(x);
	return x->rc == SHERD_OK && !x->stopped;
}

static bool export_node(void *arg, const sherd_graph_node *node)
{
	exporting *x = arg;
	shd_vec_push(&x->filling->nodes, *node);
	return export_go_on(x, x->filling->nodes.failed);
}

static bool export_edge(void *arg, const sherd_graph_edge *edge)
{
	exporting *x = arg;
	shd_vec_push(&x->filling->edges, *edge);
	return export_go_on(x, x->filling->edges.failed);
}

static int export_all(exporting *x, sherd_error *err)
{
	if (x->options->nodes)
		TRY(sherd_graph_find(x->graph, NULL, export_node, x, err));
	if (x->options->edges && x->rc == SHERD_OK && !x->stopped)
		TRY(sherd_graph_edges(x->graph, NULL, export_edge, x, err));
	export_give(x);
	while (export_hand_on(x))
		;
	TRY(x->rc);
	/* Workers looked at what is mapped, too. */
	return shd_graph_view_settle(&x->graph->view, SHERD_OK, err);
}

static int export_open(exporting *x, sherd_error *err)
{
	x->count = shd_turns_pieces(x->options->pool);
	x->pieces = calloc(x->count, sizeof(*x->pieces));
	if (!x->pieces)
		return shd_fail_nomem(err);
	TRY(shd_turns_open(&x->turns, x->options->pool, export_work, x->pieces, x->count, sizeof(*x->pieces), err));
	x->filling = x->pieces; /* which comes first */
	return SHERD_OK;
}

static void export_close(exporting *x)
{
	shd_turns_close(x->turns);
	for (size_t i = 0; x->pieces && i < x->count; i++) {
		shd_vec_done(&x->pieces[i].nodes);
		shd_vec_done(&x->pieces[i].edges);
		shd_buf_done(&x->pieces[i].text);
	}
	free(x->pieces);
}

int sherd_graph_export(const sherd_graph *graph, const sherd_graph_export_options *options, sherd_graph_sink_fn *sink,
                       void *arg, sherd_graph_export_result *result, sherd_error *err)
{
	exporting x = {.graph = graph, .options = options, .sink = sink, .arg = arg, .err = err};
	int rc = export_open(&x, err);
	if (x.filling)
		rc = export_all(&x, err);
	export_close(&x);
	if (rc == SHERD_OK && result)
		*result = x.result;
	return rc;
}
