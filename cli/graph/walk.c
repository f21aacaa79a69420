#include "commands.h"
#include "graph/db.h"
#include "graph/records.h"

#include <stdlib.h>
#include <string.h>

static const char *const directions[] = {
	[SHERD_GRAPH_OUT] = "out", [SHERD_GRAPH_IN] = "in", [SHERD_GRAPH_BOTH] = "both", NULL};

typedef struct walking {
	const cli_db *db;
	cli_records records;
	sherd_graph_types types;
	sherd_graph_walk_options walk;
	bool starts; /* what lies at depth 0 is printed too */
	bool known;  /* it is a node */
} walking;

/* An id without a node may be the end of an edge: then there is nothing to print but itself. */
static bool visit(void *arg, sherd_graph_id id, uint32_t depth)
{
	walking *w = arg;
	sherd_graph_node node = {.id = id};
	if (!depth && (!w->starts || !w->known))
		return true;
	int rc = sherd_graph_get(&node, w->db->graph, id, w->records.err);
	if (rc < 0) {
		w->records.rc = rc;
		return false;
	}
	return cli_records_node(&w->records, &node);
}

static int graph_walk_take(const cli_args *args, walking *w, sherd_graph_text *list, sherd_error *err)
{
	const char *type;
	size_t next = 0;
	unsigned direction = SHERD_GRAPH_OUT;
	while ((type = cli_args_each(args, "type", &next)))
		list[w->types.count++] = sherd_graph_text_of(type);
	w->types.list = list;
	w->walk = (sherd_graph_walk_options){.types = &w->types, .depth = 1};
	TRY(cli_args_word(args, "direction", directions, &direction, err));
	TRY(cli_args_count(args, "depth", 0, &w->walk.depth, err));
	w->walk.direction = (sherd_graph_direction)direction;
	return cli_args_u64(args, "limit", 1, &w->records.limit, err);
}

static int graph_walk_print(cli_state *cli, walking *w, const char *id, bool neighbours, sherd_error *err)
{
	cli_doc doc = cli_doc_begin(&cli->out);
	const sherd_graph_id start = sherd_graph_id_of(id, strlen(id));
	const sherd_graph *g = w->db->graph;
	w->records.doc = cli->out.json ? &doc : NULL;
	w->starts = !neighbours;
	int known = cli_db_blame(w->db, sherd_graph_exists(g, start, err), err);
	w->known = known > 0;
	cli_doc_put_open(&doc, "nodes", '[');
	int rc = known < 0    ? known
	         : neighbours ? sherd_graph_neighbours(g, start, &w->walk, visit, w, err)
	                      : sherd_graph_bfs(g, &start, 1, &w->walk, visit, w, err);
	rc = cli_db_blame(w->db, cli_records_done(&w->records, rc), err);
	cli_doc_close(&doc, ']');
	cli_doc_put_u64(&doc, "count", w->records.nodes);
	if (rc == SHERD_OK && !known && !w->records.nodes)
		rc = cli_db_blame(w->db, cli_fail(err, SHERD_ENOTFOUND, "not-found", "there is no node %.200s", id),
		                  err);
	return cli_doc_end(&doc, rc, err);
}

static int graph_walk_run(cli_state *cli, const cli_args *args, bool neighbours, sherd_error *err)
{
	CLI_AUTO_DB db = {0};
	walking w = {.db = &db, .records = {.cli = cli, .err = err}};
	CLI_AUTO_FREE sherd_graph_text *list = calloc(args->given_count + 1, sizeof(*list));
	if (!list)
		return cli_no_memory(err);
	TRY(graph_walk_take(args, &w, list, err));
	TRY(cli_db_open_reader(&db, cli, args, err));
	return graph_walk_print(cli, &w, args->operands[1], neighbours, err);
}

static int run_neighbours(cli_state *cli, const cli_args *args, sherd_error *err)
{
	return graph_walk_run(cli, args, true, err);
}

static int run_walk(cli_state *cli, const cli_args *args, sherd_error *err)
{
	return graph_walk_run(cli, args, false, err);
}

static const cli_option neighbour_options[] = {
	{"direction", "out|in|both", "which edges to follow (default: out)", 0},
	{"type", "TYPE", "only by edges of this type; may be repeated", 0},
	{"limit", "N", "print at most so many", 0},
	CLI_AT_OPTION,
};

const cli_command cli_command_graph_neighbours = {
	.name = "graph neighbours",
	.operands = "DB ID",
	.summary = "Prints the nodes at the other ends of a node's edges, each once",
	.run = run_neighbours,
	CLI_OPTIONS(neighbour_options),
};

static const cli_option walk_options[] = {
	{"direction", "out|in|both", "which edges to follow (default: out)", 0},
	{"depth", "N", "how many steps from the node (default: 1)", 0},
	{"type", "TYPE", "only by edges of this type; may be repeated", 0},
	{"limit", "N", "print at most so many", 0},
	CLI_AT_OPTION,
};

const cli_command cli_command_graph_walk = {
	.name = "graph walk",
	.operands = "DB ID",
	.summary = "Prints the nodes that can be reached from a node, the nearest first",
	.run = run_walk,
	CLI_OPTIONS(walk_options),
};
