#include "graph/export.h"

#include "commands.h"
#include "graph/records.h"
#include "base/text.h"
#include "base/watch.h"

#include <inttypes.h>
#include <string.h>

/* One of the files that are written: invisible until both are whole. */
typedef struct target {
	const char *path; /* NULL: nothing is wanted; "-": standard output */
	cli_place place;
	sherd_writer *writer; /* NULL for standard output */
} target;

static int target_open(target *t, bool replace, sherd_error *err)
{
	sherd_write_options options = {.mode = replace ? SHERD_WRITE_REPLACE : SHERD_WRITE_NEW};
	sherd_stat stat;
	if (!t->path || strcmp(t->path, "-") == 0)
		return SHERD_OK;
	TRY(cli_place_open(&t->place, t->path, true, err));
	/* Found out before the work, and once more by the commit. */
	int rc = SHERD_OK;
	if (!replace && sherd_store_stat(&stat, t->place.store, t->place.key, NULL) == SHERD_OK)
		rc = cli_fail(err, SHERD_EEXIST, "exists", "it exists (--replace replaces it)");
	if (rc == SHERD_OK)
		rc = sherd_store_write(&t->writer, t->place.store, t->place.key, &options, err);
	return cli_place_blame(&t->place, rc, err);
}

static int target_commit(target *t, sherd_error *err)
{
	if (!t->writer)
		return SHERD_OK;
	sherd_writer *writer = t->writer;
	t->writer = NULL;
	return cli_place_blame(&t->place, sherd_writer_commit(writer, err), err);
}

static void target_close(target *t)
{
	sherd_writer_abort(t->writer);
	cli_place_close(&t->place);
}

typedef struct sink {
	cli_state *cli;
	sherd_writer *writer; /* NULL: standard output */
	bool failed;
} sink;

/* Stops when nobody reads standard output any more. */
static int put_lines(void *arg, const void *text, size_t len, sherd_error *err)
{
	sink *s = arg;
	if (s->writer) {
		int rc = sherd_writer_append(s->writer, text, len, err);
		s->failed = rc < 0;
		return rc;
	}
	cli_records_print(&s->cli->out, text, len);
	return cli_out_failed();
}

/* Errors are the database's, or the target's when the lines could not be put there. */
static int produce(cli_state *cli, const cli_db *db, const target *t, bool nodes, bool edges,
                   sherd_graph_export_result *out, sherd_error *err)
{
	sink s = {.cli = cli, .writer = t->writer};
	sherd_graph_export_result one = {0};
	const sherd_graph_export_options options = {.nodes = nodes,
	                                            .edges = edges,
	                                            .pool = cli->pool,
	                                            .progress = t->writer ? &cli->progress : &cli->waiting};
	int rc = cli_watch_blame(sherd_graph_export(db->graph, &options, put_lines, &s, &one, err), err);
	out->nodes += one.nodes;
	out->edges += one.edges;
	out->bytes += one.bytes;
	return s.failed ? cli_place_blame(&t->place, rc, err) : cli_db_blame(db, rc, err);
}

/* Two paths may lead to one file, of which only the edges would be left. */
static int check_different(const target *nodes, const target *edges, sherd_error *err)
{
	sherd_stat a, b;
	if (!nodes->place.store || !edges->writer ||
	    sherd_store_stat(&a, nodes->place.store, nodes->place.key, NULL) < 0 ||
	    sherd_store_stat(&b, edges->place.store, edges->place.key, NULL) < 0 || strcmp(a.identity, b.identity) != 0)
		return SHERD_OK;
	return cli_place_blame(&edges->place, cli_usage(err, "--nodes and --edges lead to one file by different names"),
	                       err);
}

static int write_both(cli_state *cli, const cli_db *db, target *nodes, target *edges, sherd_graph_export_result *out,
                      sherd_error *err)
{
	bool same = nodes->path && edges->path && strcmp(nodes->path, edges->path) == 0;
	int rc = nodes->path ? produce(cli, db, nodes, true, same, out, err) : SHERD_OK;
	if (rc == SHERD_OK && edges->path && !same)
		rc = produce(cli, db, edges, false, true, out, err);
	if (rc == SHERD_OK)
		rc = target_commit(nodes, err);
	if (rc == SHERD_OK) {
		rc = check_different(nodes, edges, err);
		if (rc == SHERD_OK)
			rc = target_commit(edges, err);
		if (rc < 0 && nodes->place.store)
			(void)sherd_store_remove(nodes->place.store, nodes->place.key, NULL);
	}
	return rc;
}

int cli_export_write(cli_state *cli, const cli_db *db, const cli_sources *to, bool replace,
                     sherd_graph_export_result *out, sherd_error *err)
{
	target nodes = {.path = to->nodes}, edges = {.path = to->edges};
	bool same = to->nodes && to->edges && strcmp(to->nodes, to->edges) == 0;
	*out = (sherd_graph_export_result){0};
	int rc = target_open(&nodes, replace, err);
	if (rc == SHERD_OK && !same)
		rc = target_open(&edges, replace, err);
	if (rc == SHERD_OK)
		rc = write_both(cli, db, &nodes, &edges, out, err);
	target_close(&nodes);
	target_close(&edges);
	cli_out_clear_bar(&cli->out);
	return rc;
}

static bool is_stdout(const char *path)
{
	return path && strcmp(path, "-") == 0;
}

/* Not where the records themselves are on standard output. */
static int graph_export_tell(cli_state *cli, const cli_db *db, const sherd_graph_export_result *done, sherd_error *err)
{
	uint64_t version = sherd_graph_version(db->graph);
	cli_out_note(&cli->out, "%s: %" PRIu64 " node%s and %" PRIu64 " edge%s of version %" PRIu64 " exported",
	             db->path, done->nodes, cli_text_plural(done->nodes), done->edges, cli_text_plural(done->edges),
	             version);
	cli_doc doc = cli_doc_begin(&cli->out);
	cli_doc_put_text(&doc, "path", db->path);
	cli_doc_put_u64(&doc, "version", version);
	cli_doc_put_u64(&doc, "nodes", done->nodes);
	cli_doc_put_u64(&doc, "edges", done->edges);
	cli_doc_put_u64(&doc, "bytes", done->bytes);
	return cli_doc_end(&doc, SHERD_OK, err);
}

static int graph_export_run(cli_state *cli, const cli_args *args, sherd_error *err)
{
	CLI_AUTO_DB db = {0};
	sherd_graph_export_result done;
	const cli_sources to = {cli_args_text(args, "nodes"), cli_args_text(args, "edges")};
	bool printed = is_stdout(to.nodes) || is_stdout(to.edges);
	if (!to.nodes && !to.edges)
		return cli_usage(err, "--nodes F or --edges F is missing");
	if (printed && cli->out.json)
		return cli_usage(err, "--json and - both want standard output");
	TRY(cli_db_open_reader(&db, cli, args, err));
	TRY(cli_export_write(cli, &db, &to, cli_args_has(args, "replace"), &done, err));
	return printed ? SHERD_OK : graph_export_tell(cli, &db, &done, err);
}

static const cli_option options[] = {
	{"nodes", "F", "write the nodes there, one a line; - is standard output", 0},
	{"edges", "F", "write the edges there, one a line; - is standard output", 0},
	{"replace", NULL, "the files may exist and are replaced", 0},
	CLI_AT_OPTION,
};

const cli_command cli_command_graph_export = {
	.name = "graph export",
	.operands = "DB",
	.summary = "Writes all nodes and edges as JSON Lines",
	.details = "Importing what was exported gives the same graph. One file for both holds the nodes first.\n",
	.run = graph_export_run,
	CLI_OPTIONS(options),
};
