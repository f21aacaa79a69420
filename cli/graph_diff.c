#include "commands.h"
#include "db.h"
#include "records.h"

#include <stdlib.h>

static const char *const changes[] = {
	[SHERD_GRAPH_ADDED] = "added", [SHERD_GRAPH_REMOVED] = "removed", [SHERD_GRAPH_CHANGED] = "changed"};

static bool tell_node(void *arg, sherd_graph_difference what, const sherd_graph_node *node)
{
	sherd_records *r = arg;
	r->change = changes[what];
	return sherd_records_node(r, node);
}

static bool tell_edge(void *arg, sherd_graph_difference what, const sherd_graph_edge *edge)
{
	sherd_records *r = arg;
	r->change = changes[what];
	return sherd_records_edge(r, edge);
}

static int print_diff(sherd_cli *cli, const sherd_db *db, const sherd_graph *from, const sherd_graph *to,
                      sherd_error *err)
{
	sherd_doc doc = sherd_doc_begin(&cli->out);
	sherd_records r = {.cli = cli, .err = err, .doc = cli->out.json ? &doc : NULL};
	const sherd_graph_diff_fns fns = {.node = tell_node, .edge = tell_edge, .arg = &r};
	sherd_doc_put_u64(&doc, "from", sherd_graph_version(from));
	sherd_doc_put_u64(&doc, "to", sherd_graph_version(to));
	sherd_doc_put_open(&doc, "changes", '[');
	int rc = sherd_records_done(&r, sherd_db_blame(db, sherd_graph_diff(from, to, &fns, err), err));
	sherd_doc_close(&doc, ']');
	sherd_doc_put_u64(&doc, "nodes", r.nodes);
	sherd_doc_put_u64(&doc, "edges", r.edges);
	return sherd_doc_end(&doc, rc, err);
}

/* The current version is the one that is open. */
static int open_version(const sherd_db *db, const char *text, sherd_graph **out, sherd_error *err)
{
	sherd_graph_options options = {.read_only = true};
	TRY(sherd_db_version_of(db, text, &options.version, err));
	return sherd_db_blame(db, sherd_graph_open(out, db->place.store, db->place.key, &options, err), err);
}

static int run(sherd_cli *cli, const sherd_args *args, sherd_error *err)
{
	sherd_db db;
	sherd_graph *from = NULL, *to = NULL;
	TRY(sherd_db_open_reader(&db, cli, args, err));
	int rc = open_version(&db, args->operands[1], &from, err);
	if (rc == SHERD_OK && args->count > 2)
		rc = open_version(&db, args->operands[2], &to, err);
	if (rc == SHERD_OK)
		rc = print_diff(cli, &db, from, to ? to : db.graph, err);
	sherd_graph_close(from);
	sherd_graph_close(to);
	sherd_db_close(&db);
	return rc;
}

const sherd_command sherd_command_graph_diff = {
	.name = "graph diff",
	.operands = "DB FROM [TO]",
	.summary = "Prints what leads from one version to another as lines of JSON",
	.details = "FROM and TO are numbers of versions, or tags KEY=VALUE; without TO the current one is meant.\n",
	.least = 2,
	.most = 3,
	.run = run,
};
