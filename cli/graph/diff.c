#include "commands.h"
#include "graph/db.h"
#include "graph/records.h"

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

/* Each by itself: neither need be the current version, which may be damaged. */
static int run(sherd_cli *cli, const sherd_args *args, sherd_error *err)
{
	sherd_db from, to;
	TRY(sherd_db_open_version(&from, cli, args, args->operands[1], err));
	int rc = sherd_db_open_version(&to, cli, args, args->count > 2 ? args->operands[2] : NULL, err);
	if (rc == SHERD_OK) {
		rc = print_diff(cli, &from, from.graph, to.graph, err);
		sherd_db_close(&to);
	}
	sherd_db_close(&from);
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
