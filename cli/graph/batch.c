#include "graph/batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 20 }; /* bytes of lines that are added at once */
/* Records, and bytes of lines, that a graph may hold in memory before they make room: about 64 MiB of either. */
enum { SPILL = 250000, SPILL_BYTES = 64 << 20 };

int cli_batch_open(cli_batch *b, sherd_error *err)
{
	*b = (cli_batch){0};
	return sherd_graph_lines_open(&b->records, NULL, err);
}

void cli_batch_close(cli_batch *b)
{
	sherd_graph_lines_close(b->records);
	free(b->node_at);
	free(b->edge_at);
	*b = (cli_batch){0};
}

void cli_batch_clear(cli_batch *b)
{
	sherd_graph_lines_clear(b->records);
}

static bool graph_batch_note(cli_position **list, size_t *room, size_t count, const cli_position *at)
{
	if (count > *room) {
		size_t more = *room ? *room * 2 : 1024;
		cli_position *larger = realloc(*list, more * sizeof(*larger));
		if (!larger)
			return false;
		*list = larger;
		*room = more;
	}
	(*list)[count - 1] = *at;
	return true;
}

/* Keeps the place of the record that was added last. */
static int note_last(cli_batch *b, int what, const cli_position *at, sherd_error *err)
{
	const sherd_graph_node *nodes;
	const sherd_graph_edge *edges;
	bool ok = true;
	if (what == SHERD_GRAPH_NODE)
		ok = graph_batch_note(&b->node_at, &b->node_room, sherd_graph_lines_nodes(&nodes, b->records), at);
	else if (what == SHERD_GRAPH_EDGE)
		ok = graph_batch_note(&b->edge_at, &b->edge_room, sherd_graph_lines_edges(&edges, b->records), at);
	return ok ? SHERD_OK : cli_no_memory(err);
}

int cli_batch_read(cli_batch *b, cli_lines *in, sherd_graph_record what, size_t bytes, sherd_error *err)
{
	const char *line;
	size_t len, taken = 0;
	int rc = 1;
	while ((!bytes || taken < bytes) && (rc = cli_lines_next(in, &line, &len, err)) > 0) {
		int got = sherd_graph_lines_add(b->records, what, line, len, err);
		TRY(cli_position_blame(&in->at, got, err));
		TRY(note_last(b, got, &in->at, err));
		taken += len;
	}
	return rc;
}

static bool is_without_source(int rc, const sherd_error *err)
{
	return rc == SHERD_EINVAL && strcmp(err->reason, "unknown-source") == 0;
}

int cli_batch_blame(const cli_batch *b, size_t nodes, int rc, sherd_error *err)
{
	if (rc >= 0 || err->index == SHERD_NO_INDEX)
		return rc;
	bool edge = err->index >= nodes;
	const cli_position *at = edge ? &b->edge_at[err->index - nodes] : &b->node_at[err->index];
	if (is_without_source(rc, err)) {
		sherd_graph_text id = sherd_graph_lines_source(b->records, err->index - nodes);
		(void)snprintf(err->message, sizeof(err->message), "no node %.*s, which an edge begins at",
		               id.len < 150 ? (int)id.len : 150, id.ptr);
	}
	if (rc == SHERD_EINVAL)
		err->code = rc = SHERD_ECORRUPT;
	return cli_position_blame(at, rc, err);
}

/* ---- sources */

/* One path for both is read once, and tells nodes from edges by itself. */
static int each_source(const cli_sources *from, int (*read)(void *, const char *, sherd_graph_record, sherd_error *),
                       void *arg, sherd_error *err)
{
	if (from->nodes && from->edges && strcmp(from->nodes, from->edges) == 0)
		return read(arg, from->nodes, SHERD_GRAPH_ANY, err);
	if (from->nodes)
		TRY(read(arg, from->nodes, SHERD_GRAPH_NODE, err));
	return from->edges ? read(arg, from->edges, SHERD_GRAPH_EDGE, err) : SHERD_OK;
}

static int graph_batch_read_all(void *arg, const char *path, sherd_graph_record what, sherd_error *err)
{
	CLI_AUTO_LINES in = {0};
	TRY(cli_lines_open(&in, path, err));
	return cli_batch_read(arg, &in, what, 0, err);
}

int cli_batch_read_all(cli_batch *b, const cli_sources *from, sherd_error *err)
{
	return each_source(from, graph_batch_read_all, b, err);
}

/* ---- loading */

typedef struct loading {
	cli_state *cli;
	sherd_graph *graph;
	cli_batch batch;
	uint64_t held; /* bytes of lines since the graph made room */
	cli_loaded loaded;
} loading;

static int add_nodes(loading *l, sherd_error *err)
{
	const sherd_graph_node *nodes;
	size_t count = sherd_graph_lines_nodes(&nodes, l->batch.records);
	l->loaded.nodes += count;
	return cli_batch_blame(&l->batch, count, sherd_graph_add_nodes(l->graph, nodes, count, err), err);
}

/* A batch that was refused went in not at all: to leave out edges, those that are left go in one by one. */
static int add_edges(loading *l, sherd_error *err)
{
	const sherd_graph_edge *edges;
	size_t count = sherd_graph_lines_edges(&edges, l->batch.records);
	int rc = sherd_graph_add_edges(l->graph, edges, count, err);
	l->loaded.edges += count;
	if (!l->loaded.skip || !is_without_source(rc, err))
		return cli_batch_blame(&l->batch, 0, rc, err);
	for (size_t i = 0; i < count; i++) {
		rc = sherd_graph_add_edges(l->graph, &edges[i], 1, err);
		if (is_without_source(rc, err)) {
			l->loaded.skipped++;
		} else if (rc < 0) {
			err->index = i;
			return cli_batch_blame(&l->batch, 0, rc, err);
		}
	}
	return SHERD_OK;
}

static int graph_batch_make_room(loading *l, sherd_error *err)
{
	if (sherd_graph_pending(l->graph) < SPILL && l->held < SPILL_BYTES)
		return SHERD_OK;
	l->held = 0;
	return sherd_graph_spill(l->graph, err);
}

static int load_source(void *arg, const char *path, sherd_graph_record what, sherd_error *err)
{
	loading *l = arg;
	CLI_AUTO_LINES in = {0};
	int rc = 1;
	TRY(cli_lines_open(&in, path, err));
	while (rc > 0) {
		uint64_t from = in.next;
		cli_batch_clear(&l->batch);
		rc = cli_batch_read(&l->batch, &in, what, PIECE, err);
		int added = rc < 0 ? rc : add_nodes(l, err);
		if (added == SHERD_OK)
			added = add_edges(l, err);
		l->held += in.next - from;
		if (added == SHERD_OK)
			added = graph_batch_make_room(l, err);
		rc = added < 0 ? added : rc;
		(void)l->cli->progress.update(l->cli->progress.arg, in.next, in.size);
	}
	cli_out_clear_bar(&l->cli->out);
	return rc;
}

int cli_batch_load(cli_state *cli, sherd_graph *graph, const cli_sources *from, cli_loaded *out, sherd_error *err)
{
	loading l = {.cli = cli, .graph = graph, .loaded.skip = out->skip};
	TRY(cli_batch_open(&l.batch, err));
	int rc = each_source(from, load_source, &l, err);
	cli_batch_close(&l.batch);
	*out = l.loaded;
	return rc;
}
