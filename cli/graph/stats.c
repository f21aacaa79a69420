#include "commands.h"
#include "graph/db.h"
#include "base/doc.h"
#include "graph/shards.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void print_head(cli_state *cli, const cli_db *db, const sherd_graph_totals *t)
{
	cli_out *out = &cli->out;
	char size[CLI_TEXT_SIZE];
	sherd_graph_layout layout = sherd_graph_layout_of(db->graph);
	cli_text_size(t->bytes, size);
	cli_out_name(out, db->path);
	cli_out_printf(out, ": rfdb, version %" PRIu64 ", %" PRIu64 " node%s, %" PRIu64 " edge%s, %s\n",
	               sherd_graph_version(db->graph), t->nodes, cli_text_plural(t->nodes), t->edges,
	               cli_text_plural(t->edges), size);
	cli_out_printf(out, "planner     %s", cli_db_planner_name(layout.planner));
	if (layout.planner == SHERD_GRAPH_DIRECTORY && layout.min_files > 1)
		cli_out_printf(out, ", directories of fewer than %" PRIu32 " files join their parent",
		               layout.min_files);
	cli_out_printf(out, "\nsegments    %" PRIu64 "\n", t->segments);
	if (t->tombstones)
		cli_out_printf(out, "tombstones  %" PRIu64 "\n", t->tombstones);
}

static void graph_stats_put_head(cli_doc *doc, const cli_db *db, const sherd_graph_totals *t)
{
	cli_doc_put_text(doc, "format", "rfdb");
	cli_doc_put_u64(doc, "version", sherd_graph_version(db->graph));
	cli_doc_put_u64(doc, "nodes", t->nodes);
	cli_doc_put_u64(doc, "edges", t->edges);
	cli_doc_put_u64(doc, "segments", t->segments);
	cli_doc_put_u64(doc, "tombstones", t->tombstones);
	cli_doc_put_u64(doc, "bytes", t->bytes);
	cli_doc_put_text(doc, "planner", cli_db_planner_name(sherd_graph_layout_of(db->graph).planner));
}

/* ---- info */

typedef struct disk {
	cli_db_bytes bytes;
	uint64_t collected; /* bytes that sherd graph gc would remove */
} disk;

static int look_at_disk(const cli_db *db, disk *out, sherd_error *err)
{
	sherd_graph_gc_result gone = {0};
	TRY(cli_db_weigh(db, &out->bytes, err));
	TRY(sherd_graph_gc(db->graph, &(sherd_graph_gc_options){.dry_run = true}, &gone, err));
	out->collected = gone.bytes;
	return SHERD_OK;
}

static void print_disk(cli_state *cli, const disk *d)
{
	char size[CLI_TEXT_SIZE];
	cli_text_size(d->bytes.all, size);
	cli_out_printf(&cli->out, "on disk     %s", size);
	if (d->bytes.pins) {
		cli_text_size(d->bytes.pins, size);
		cli_out_printf(&cli->out, ", %s of them pins of the server", size);
	}
	if (d->collected) {
		cli_text_size(d->collected, size);
		cli_out_printf(&cli->out, "; sherd graph gc would free %s", size);
	}
	cli_out_printf(&cli->out, "\n");
}

static int show_json(cli_state *cli, const cli_db *db, const sherd_graph_totals *t, const disk *d, sherd_error *err)
{
	cli_doc doc = cli_doc_begin(&cli->out);
	graph_stats_put_head(&doc, db, t);
	cli_doc_put_u64(&doc, "disk_bytes", d->bytes.all);
	cli_doc_put_u64(&doc, "pin_bytes", d->bytes.pins);
	cli_doc_put_u64(&doc, "gc_bytes", d->collected);
	int rc = cli_shards_put(&doc, db, t->shards, err);
	return cli_doc_end(&doc, rc, err);
}

static int graph_stats_show(cli_state *cli, const cli_db *db, sherd_error *err)
{
	sherd_graph_totals totals;
	disk d;
	TRY(cli_db_blame(db, sherd_graph_stats(&totals, db->graph, err), err));
	TRY(cli_db_blame(db, look_at_disk(db, &d, err), err));
	if (cli->out.json)
		return show_json(cli, db, &totals, &d, err);
	print_head(cli, db, &totals);
	print_disk(cli, &d);
	cli_out_printf(&cli->out, "\n");
	return cli_shards_print(cli, db, totals.shards, false, err);
}

int cli_db_show(cli_state *cli, const char *path, cli_place *place, sherd_error *err)
{
	CLI_AUTO_DB db = {.path = path};
	const sherd_graph_options options = {.read_only = true, .pool = cli->pool};
	TRY(cli_db_open_place(&db, place, &options, err));
	return graph_stats_show(cli, &db, err);
}

/* ---- stats */

typedef struct counting {
	cli_table *table; /* or NULL */
	cli_doc *doc;
	bool failed;
} counting;

static bool add_count(void *arg, sherd_graph_text type, uint64_t count)
{
	counting *c = arg;
	if (!c->table) {
		cli_doc_key_bytes(c->doc, type.ptr, type.len);
		cli_doc_u64(c->doc, count);
		return true;
	}
	char number[24];
	CLI_AUTO_FREE char *name = strndup(type.ptr ? type.ptr : "", type.len);
	c->failed = !name;
	if (c->failed)
		return false;
	(void)snprintf(number, sizeof(number), "%" PRIu64, count);
	cli_table_add(c->table, name);
	cli_table_add(c->table, number);
	return true;
}

typedef int count_fn(const sherd_graph *graph, sherd_graph_count_fn *each, void *arg, sherd_error *err);

static int count_types(const cli_db *db, count_fn *count, counting *c, sherd_error *err)
{
	TRY(cli_db_blame(db, count(db->graph, add_count, c, err), err));
	return c->failed ? cli_no_memory(err) : SHERD_OK;
}

static int print_types(cli_state *cli, const cli_db *db, const char *head, count_fn *count, sherd_error *err)
{
	CLI_AUTO_TABLE table = {.columns = 2, .right = 1u << 1};
	counting c = {.table = &table};
	cli_table_add(&table, head);
	cli_table_add(&table, "count");
	TRY(count_types(db, count, &c, err));
	if (table.count <= table.columns)
		return SHERD_OK;
	cli_out_printf(&cli->out, "\n");
	return cli_table_print(&table, &cli->out, err);
}

static int put_types(cli_doc *doc, const cli_db *db, const char *key, count_fn *count, sherd_error *err)
{
	counting c = {.doc = doc};
	cli_doc_put_open(doc, key, '{');
	TRY(count_types(db, count, &c, err));
	cli_doc_close(doc, '}');
	return SHERD_OK;
}

static int print_stats(cli_state *cli, const cli_db *db, const sherd_graph_totals *t, sherd_error *err)
{
	sherd_error warning;
	print_head(cli, db, t);
	cli_out_printf(&cli->out, "\n");
	TRY(cli_shards_print(cli, db, t->shards, true, err));
	TRY(print_types(cli, db, "node type", sherd_graph_count_nodes, err));
	TRY(print_types(cli, db, "edge type", sherd_graph_count_edges, err));
	int unbalanced = cli_shards_balance(db, t->shards, &warning, err);
	TRY(unbalanced);
	if (unbalanced && !cli->out.quiet)
		cli_out_problem(&cli->out, &warning, true);
	return SHERD_OK;
}

static int put_stats(cli_doc *doc, const cli_db *db, const sherd_graph_totals *t, sherd_error *err)
{
	sherd_error warning;
	graph_stats_put_head(doc, db, t);
	TRY(cli_shards_put(doc, db, t->shards, err));
	TRY(put_types(doc, db, "node_types", sherd_graph_count_nodes, err));
	TRY(put_types(doc, db, "edge_types", sherd_graph_count_edges, err));
	int unbalanced = cli_shards_balance(db, t->shards, &warning, err);
	TRY(unbalanced);
	cli_doc_put_open(doc, "warnings", '[');
	if (unbalanced)
		cli_doc_error(doc, &warning);
	cli_doc_close(doc, ']');
	return SHERD_OK;
}

static int stats(cli_state *cli, const cli_db *db, sherd_error *err)
{
	sherd_graph_totals totals;
	TRY(cli_db_blame(db, sherd_graph_stats(&totals, db->graph, err), err));
	if (!cli->out.json)
		return print_stats(cli, db, &totals, err);
	cli_doc doc = cli_doc_begin(&cli->out);
	int rc = put_stats(&doc, db, &totals, err);
	return cli_doc_end(&doc, rc, err);
}

static int graph_stats_run(cli_state *cli, const cli_args *args, sherd_error *err)
{
	CLI_AUTO_DB db = {0};
	TRY(cli_db_open_reader(&db, cli, args, err));
	return stats(cli, &db, err);
}

static const cli_option options[] = {
	CLI_AT_OPTION,
};

const cli_command cli_command_graph_stats = {
	.name = "graph stats",
	.operands = "DB",
	.summary = "Counts nodes and edges by shard and by type",
	.details = "Warns when one shard holds more than 10 times the nodes of the median.\n",
	.run = graph_stats_run,
	CLI_OPTIONS(options),
};
