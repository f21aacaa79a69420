#include "graph/sources.h"

#include "base/auto.h"
#include "commands.h"
#include "graph/db.h"
#include "base/doc.h"
#include "base/text.h"

#include <inttypes.h>

static int take_sources(const cli_args *args, cli_sources *from, sherd_error *err)
{
	from->nodes = cli_args_text(args, "nodes");
	from->edges = cli_args_text(args, "edges");
	if (!from->nodes && !from->edges)
		return cli_usage(err, "--nodes F or --edges F is missing");
	return SHERD_OK;
}

/* ---- import */

static int tell_imported(cli_state *cli, const cli_db *db, const sherd_graph_import_result *loaded, sherd_error *err)
{
	uint64_t version = sherd_graph_version(db->graph);
	cli_out_note(&cli->out, "%s: %" PRIu64 " node%s and %" PRIu64 " edge%s imported, version %" PRIu64, db->path,
	             loaded->nodes, cli_text_plural(loaded->nodes), loaded->edges, cli_text_plural(loaded->edges),
	             version);
	if (loaded->skipped)
		cli_out_note(&cli->out, "%s: %" PRIu64 " edge%s left out, whose source is no node", db->path,
		             loaded->skipped, cli_text_plural(loaded->skipped));
	cli_doc doc = cli_doc_begin(&cli->out);
	cli_doc_put_text(&doc, "path", db->path);
	cli_doc_put_u64(&doc, "version", version);
	cli_doc_put_u64(&doc, "nodes", loaded->nodes);
	cli_doc_put_u64(&doc, "edges", loaded->edges);
	cli_doc_put_u64(&doc, "skipped_edges", loaded->skipped);
	return cli_doc_end(&doc, SHERD_OK, err);
}

static int run_import(cli_state *cli, const cli_args *args, sherd_error *err)
{
	CLI_AUTO_DB db = {0};
	cli_sources from;
	sherd_graph_import_result loaded;
	TRY(take_sources(args, &from, err));
	TRY(cli_db_open_writer(&db, cli, args, err));
	TRY(cli_sources_import(cli, db.graph, &from, cli_args_has(args, "skip-unknown"), &loaded, err));
	TRY(cli_db_flush(&db, cli, err));
	return tell_imported(cli, &db, &loaded, err);
}

static const cli_option import_options[] = {
	{"nodes", "F", "file of nodes, one a line; - is standard input", 0},
	{"edges", "F", "file of edges, one a line; - is standard input", 0},
	{"skip-unknown", NULL, "leave out edges whose source is no node, and count them", 0},
	CLI_WAIT_OPTION,
};

const cli_command cli_command_graph_import = {
	.name = "graph import",
	.operands = "DB",
	.summary = "Adds nodes and edges from JSON Lines, as one version",
	.details =
		"A node is {\"id\",\"semanticId\",\"nodeType\",\"name\",\"file\",\"exported\",\"metadata\"}, an edge\n"
		"{\"src\",\"dst\",\"edgeType\",\"metadata\"}. What is there already is replaced. One file for both\n"
		"holds nodes before the edges that begin at them. A bad line is told, and nothing is imported.\n",
	.run = run_import,
	CLI_OPTIONS(import_options),
};

/* ---- update, delete-file */

static int tell_changed(cli_state *cli, const cli_db *db, const char *file, const sherd_graph_update_result *c,
                        sherd_error *err)
{
	uint64_t version = sherd_graph_version(db->graph);
	cli_out_note(&cli->out,
	             "%s: %s: nodes %" PRIu64 " added, %" PRIu64 " changed, %" PRIu64 " removed, edges %" PRIu64
	             " added, %" PRIu64 " removed, version %" PRIu64,
	             db->path, file, c->nodes_added, c->nodes_changed, c->nodes_removed, c->edges_added,
	             c->edges_removed, version);
	cli_doc doc = cli_doc_begin(&cli->out);
	cli_doc_put_text(&doc, "path", db->path);
	cli_doc_put_text(&doc, "file", file);
	cli_doc_put_u64(&doc, "version", version);
	cli_doc_put_u64(&doc, "nodes_added", c->nodes_added);
	cli_doc_put_u64(&doc, "nodes_changed", c->nodes_changed);
	cli_doc_put_u64(&doc, "nodes_removed", c->nodes_removed);
	cli_doc_put_u64(&doc, "edges_added", c->edges_added);
	cli_doc_put_u64(&doc, "edges_removed", c->edges_removed);
	return cli_doc_end(&doc, SHERD_OK, err);
}

static int update(const cli_db *db, sherd_graph_text file, const cli_sources *from, sherd_graph_update_result *change,
                  sherd_error *err)
{
	const sherd_graph_node *nodes;
	const sherd_graph_edge *edges;
	CLI_AUTO(sherd_graph_lines, sherd_graph_lines_close) lines = NULL;
	TRY(cli_sources_read(&lines, from, err));
	size_t node_count = sherd_graph_lines_nodes(&nodes, lines);
	size_t edge_count = sherd_graph_lines_edges(&edges, lines);
	int rc = sherd_graph_update_file(db->graph, file, nodes, node_count, edges, edge_count, change, err);
	return sherd_graph_lines_blame(lines, node_count, rc, err);
}

static int run_update(cli_state *cli, const cli_args *args, sherd_error *err)
{
	CLI_AUTO_DB db = {0};
	cli_sources from;
	sherd_graph_update_result change = {0};
	const char *file = cli_args_text(args, "file");
	if (!file)
		return cli_usage(err, "--file PATH is missing");
	TRY(take_sources(args, &from, err));
	TRY(cli_db_open_writer(&db, cli, args, err));
	TRY(update(&db, sherd_graph_text_of(file), &from, &change, err));
	TRY(cli_db_flush(&db, cli, err));
	return tell_changed(cli, &db, file, &change, err);
}

static const cli_option update_options[] = {
	CLI_WAIT_OPTION,
	{"file", "PATH", "the file, as its nodes name it", 0},
	{"nodes", "F", "its nodes, one a line; - is standard input", 0},
	{"edges", "F", "the edges from them, one a line; - is standard input", 0},
};

const cli_command cli_command_graph_update = {
	.name = "graph update",
	.operands = "DB --file PATH",
	.summary = "Replaces everything that belongs to one file, as one version",
	.details = "Its nodes, the edges from them, and edges whose metadata names it as their __file_context go;\n"
		   "what the files hold comes. Edges from elsewhere to nodes that stay do stay.\n",
	.run = run_update,
	CLI_OPTIONS(update_options),
};

static int run_delete(cli_state *cli, const cli_args *args, sherd_error *err)
{
	CLI_AUTO_DB db = {0};
	sherd_graph_update_result change = {0};
	const char *file = args->operands[1];
	TRY(cli_db_open_writer(&db, cli, args, err));
	TRY(cli_db_blame(&db, sherd_graph_delete_file(db.graph, sherd_graph_text_of(file), &change, err), err));
	if (!change.nodes_removed && !change.edges_removed)
		return cli_db_blame(
			&db, cli_fail(err, SHERD_ENOTFOUND, "not-found", "nothing belongs to a file %.200s", file),
			err);
	TRY(cli_db_flush(&db, cli, err));
	return tell_changed(cli, &db, file, &change, err);
}

static const cli_option wait_options[] = {
	CLI_WAIT_OPTION,
};

const cli_command cli_command_graph_delete_file = {
	.name = "graph delete-file",
	.operands = "DB PATH",
	.summary = "Removes everything that belongs to one file, as one version",
	.run = run_delete,
	CLI_OPTIONS(wait_options),
};
