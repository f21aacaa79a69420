#include "commands.h"
#include "graph/db.h"
#include "graph/records.h"

static const char *const changes[] = {
	[SHERD_GRAPH_ADDED] = "added", [SHERD_GRAPH_REMOVED] = "removed", [SHERD_GRAPH_CHANGED] = "changed"};

static bool tell_node(void *arg, sherd_graph_difference what, const sherd_graph_node *node)
{
	cli_records *r = arg;
	r->change = changes[what];
	return cli_records_node(r, node);
}

static bool tell_edge(void *arg, sherd_graph_difference what, const sherd_graph_edge *edge)
{
	cli_records *r = arg;
	r->change = changes[what];
	return cli_records_edge(r, edge);
}

static int print_diff(cli_state *cli, const cli_db *db, const sherd_graph *from, const sherd_graph *to,
                      sherd_error *err)
{
	cli_doc doc = cli_doc_begin(&cli->out);
	cli_records r = {.cli = cli, .err = err, .doc = cli->out.json ? &doc : NULL};
	const sherd_graph_diff_fns fns = {.node = tell_node, .edge = tell_edge, .arg = &r};
	cli_doc_put_u64(&doc, "from", sherd_graph_version(from));
	cli_doc_put_u64(&doc, "to", sherd_graph_version(to));
	cli_doc_put_open(&doc, "changes", '[');
	int rc = cli_records_done(&r, cli_db_blame(db, sherd_graph_diff(from, to, &fns, err), err));
	cli_doc_close(&doc, ']');
	cli_doc_put_u64(&doc, "nodes", r.nodes);
	cli_doc_put_u64(&doc, "edges", r.edges);
	return cli_doc_end(&doc, rc, err);
}

/* Each by itself: neither need be the current version, which may be damaged. */
static int graph_diff_run(cli_state *cli, const cli_args *args, sherd_error *err)
{
	CLI_AUTO_DB from = {0};
	CLI_AUTO_DB to = {0};
	TRY(cli_db_open_version(&from, cli, args, args->operands[1], err));
	TRY(cli_db_open_version(&to, cli, args, args->count > 2 ? args->operands[2] : NULL, err));
	return print_diff(cli, &from, from.graph, to.graph, err);
}

const cli_command cli_command_graph_diff = {
	.name = "graph diff",
	.operands = "DB FROM [TO]",
	.summary = "Prints what leads from one version to another as lines of JSON",
	.details = "FROM and TO are numbers of versions, or tags KEY=VALUE; without TO the current one is meant.\n",
	.run = graph_diff_run,
};
