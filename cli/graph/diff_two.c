#include "base/text.h"
#include "graph/db.h"
#include "graph/records.h"
#include "tensors/diff.h"

#include <inttypes.h>

typedef struct diff_counts {
	cli_records records;
	uint64_t nodes[3], edges[3]; /* by sherd_graph_difference */
	uint64_t shown, limit;
} diff_counts;

static const char *const changes[] = {
	[SHERD_GRAPH_ADDED] = "only-right", [SHERD_GRAPH_REMOVED] = "only-left", [SHERD_GRAPH_CHANGED] = "changed"};

/* Shows the record unless there are enough; the rest is only counted. */
static bool begin_record(diff_counts *d, sherd_graph_difference what)
{
	d->records.change = changes[what];
	d->records.count = d->records.cli->out.quiet || (d->limit && d->shown >= d->limit);
	d->shown++;
	return true;
}

static bool count_node(void *arg, sherd_graph_difference what, const sherd_graph_node *node)
{
	diff_counts *d = arg;
	d->nodes[what]++;
	return begin_record(d, what) && cli_records_node(&d->records, node);
}

static bool count_edge(void *arg, sherd_graph_difference what, const sherd_graph_edge *edge)
{
	diff_counts *d = arg;
	d->edges[what]++;
	return begin_record(d, what) && cli_records_edge(&d->records, edge);
}

static void put_kinds(cli_doc *doc, const char *key, const uint64_t counts[3])
{
	cli_doc_put_open(doc, key, '{');
	for (int i = 0; i < 3; i++)
		cli_doc_put_u64(doc, changes[i], counts[i]);
	cli_doc_close(doc, '}');
}

static uint64_t sum_of(const uint64_t counts[3])
{
	return counts[0] + counts[1] + counts[2];
}

static void print_kinds(const cli_diff *diff, const diff_counts *d)
{
	uint64_t found = sum_of(d->nodes) + sum_of(d->edges);
	if (!found) {
		cli_out_note(&diff->cli->out, "%s and %s: equal", diff->paths[0], diff->paths[1]);
		return;
	}
	if (d->limit && found > d->limit)
		cli_out_note(&diff->cli->out, "and %" PRIu64 " more (--limit 0 prints all)", found - d->limit);
	cli_out_note(&diff->cli->out,
	             "%s and %s: nodes: %" PRIu64 " only left, %" PRIu64 " only right, %" PRIu64
	             " changed; edges: %" PRIu64 " only left, %" PRIu64 " only right, %" PRIu64 " changed",
	             diff->paths[0], diff->paths[1], d->nodes[SHERD_GRAPH_REMOVED], d->nodes[SHERD_GRAPH_ADDED],
	             d->nodes[SHERD_GRAPH_CHANGED], d->edges[SHERD_GRAPH_REMOVED], d->edges[SHERD_GRAPH_ADDED],
	             d->edges[SHERD_GRAPH_CHANGED]);
}

static int compare_graphs(const cli_diff *diff, const cli_db *left, const cli_db *right, sherd_error *err)
{
	cli_doc doc = cli_doc_begin(&diff->cli->out);
	diff_counts d = {.records = {.cli = diff->cli, .err = err, .doc = diff->cli->out.json ? &doc : NULL},
	                 .limit = 20};
	const sherd_graph_diff_fns fns = {.node = count_node, .edge = count_edge, .arg = &d};
	int rc = cli_args_u64(diff->args, "limit", 0, &d.limit, err);
	cli_doc_put_text(&doc, "left", diff->paths[0]);
	cli_doc_put_text(&doc, "right", diff->paths[1]);
	cli_doc_put_open(&doc, "differences", '[');
	if (rc == SHERD_OK)
		rc = cli_db_blame(left, sherd_graph_diff(left->graph, right->graph, &fns, err), err);
	rc = cli_records_done(&d.records, rc);
	cli_doc_close(&doc, ']');
	cli_doc_put_bool(&doc, "equal", !sum_of(d.nodes) && !sum_of(d.edges));
	put_kinds(&doc, "nodes", d.nodes);
	put_kinds(&doc, "edges", d.edges);
	TRY(cli_doc_end(&doc, rc, err));
	print_kinds(diff, &d);
	return sum_of(d.nodes) + sum_of(d.edges) ? EXIT_BAD_DATA : EXIT_FINE;
}

int cli_diff_graphs(cli_diff *diff, sherd_error *err)
{
	CLI_AUTO_DB left = {.path = diff->paths[0]};
	CLI_AUTO_DB right = {.path = diff->paths[1]};
	const sherd_graph_options options = {.read_only = true, .pool = diff->cli->pool};
	TRY(cli_db_open_place(&left, &diff->places[0], &options, err));
	TRY(cli_db_open_place(&right, &diff->places[1], &options, err));
	return compare_graphs(diff, &left, &right, err);
}
