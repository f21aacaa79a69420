#include "graph/convert.h"

#include "tensors/derive.h"

#include "base/doc.h"
#include "graph/export.h"
#include "base/text.h"

#include <sherd/detect.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What stands on a side. */
typedef enum side { OTHER, LINES, DATABASE } side;

static side side_of(const sherd_format_info *info)
{
	return !info                              ? OTHER
	       : info->kind == SHERD_KIND_RECORDS ? LINES
	       : info->kind == SHERD_KIND_GRAPH   ? DATABASE
	                                          : OTHER;
}

/* A database is a folder: its name may end in '/'. */
static int target_of(const cli_args *args, side *out, sherd_error *err)
{
	const char *to = cli_args_text(args, "to");
	size_t len = strlen(args->operands[1]);
	if (to) {
		*out = side_of(sherd_format_describe(sherd_format_by_name(to)));
		return SHERD_OK;
	}
	while (len > 1 && args->operands[1][len - 1] == '/')
		len--;
	CLI_AUTO_FREE char *path = strndup(args->operands[1], len);
	if (!path)
		return cli_no_memory(err);
	*out = side_of(sherd_format_by_path(path, NULL));
	return SHERD_OK;
}

/* What is no format that we know is taken for lines when a graph is to become of it. */
static int source_of(const char *path, side to, side *out, sherd_error *err)
{
	CLI_AUTO_PLACE place = {0};
	sherd_format format = SHERD_FORMAT_UNKNOWN;
	*out = LINES;
	if (strcmp(path, "-") == 0 && to == DATABASE)
		return SHERD_OK;
	TRY(cli_place_open_any(&place, path, false, err));
	int rc = cli_place_blame(&place, sherd_detect(&format, place.store, place.key, err), err);
	if (rc == SHERD_EUNSUPPORTED && to == DATABASE)
		return SHERD_OK;
	*out = side_of(sherd_format_describe(format));
	return rc;
}

static int graph_convert_refuse(const char *path, const char *why, sherd_error *err)
{
	size_t len = strlen(path), room = sizeof(err->object) - 1;
	int rc = cli_fail(err, SHERD_EUNSUPPORTED, "cannot-hold", "%s", why);
	memcpy(err->object, path + (len > room ? len - room : 0), (len > room ? room : len) + 1);
	return rc;
}

static int graph_convert_tell(cli_state *cli, const char *path, const char *format,
                              const sherd_graph_reshard_result *done, sherd_error *err)
{
	cli_out_note(&cli->out, "%s: %s, %" PRIu64 " node%s and %" PRIu64 " edge%s written", path, format, done->nodes,
	             cli_text_plural(done->nodes), done->edges, cli_text_plural(done->edges));
	cli_doc doc = cli_doc_begin(&cli->out);
	cli_doc_put_text(&doc, "path", path);
	cli_doc_put_text(&doc, "format", format);
	cli_doc_put_u64(&doc, "nodes", done->nodes);
	cli_doc_put_u64(&doc, "edges", done->edges);
	cli_doc_put_u64(&doc, "lost_edges", done->lost_edges);
	return cli_doc_end(&doc, SHERD_OK, err);
}

static int to_lines(cli_state *cli, const cli_args *args, sherd_error *err)
{
	const char *path = args->operands[1];
	const cli_sources to = {path, path};
	sherd_graph_export_result written;
	CLI_AUTO_DB db = {0};
	if (cli_args_has(args, "shards"))
		return cli_usage(err, "--shards goes with a target of several files only");
	TRY(cli_db_open_reader(&db, cli, args, err));
	TRY(cli_export_write(cli, &db, &to, cli_args_has(args, "replace"), &written, err));
	const sherd_graph_reshard_result done = {.nodes = written.nodes, .edges = written.edges};
	return graph_convert_tell(cli, path, "jsonl", &done, err);
}

/* Copies into a database that is new, and tells. */
static int graph_convert_copy(cli_state *cli, const cli_args *args, const sherd_graph *from, sherd_error *err)
{
	sherd_graph_layout layout = {0};
	sherd_graph_reshard_result done;
	TRY(cli_db_take_layout(args, &layout, err));
	if (cli_args_has(args, "replace"))
		return cli_usage(err, "--replace does not go with a database: remove it first");
	TRY(cli_db_reshard(cli, from, args->operands[1], &layout, &done, err));
	return graph_convert_tell(cli, args->operands[1], "rfdb", &done, err);
}

static int from_database(cli_state *cli, const cli_args *args, sherd_error *err)
{
	CLI_AUTO_DB db = {0};
	TRY(cli_db_open_reader(&db, cli, args, err));
	return graph_convert_copy(cli, args, db.graph, err);
}

/* Through a graph in memory, so that bad lines are found before anything is made. */
static int from_lines(cli_state *cli, const cli_args *args, sherd_error *err)
{
	const char *path = args->operands[0];
	const cli_sources from = {path, path};
	const sherd_graph_layout one = {.shards = 1};
	sherd_graph_import_result loaded;
	CLI_AUTO(sherd_graph, sherd_graph_close) graph = NULL;
	TRY(sherd_graph_open_ephemeral(&graph, &one, cli->pool, err));
	TRY(cli_sources_import(cli, graph, &from, false, &loaded, err));
	return graph_convert_copy(cli, args, graph, err);
}

/* Options of convert that are about tensors and models. */
static int graph_convert_check_options(const cli_args *args, sherd_error *err)
{
	static const char *const others[] = {"compress",        "drop-graph",     "drop-metadata",
	                                     "without-updater", "salvage",        "partial",
	                                     "allow-missing",   "max-shard-size", "digest"};
	if (cli_derive_given(args))
		return cli_usage(err, "--%s does not go with a graph", cli_derive_given(args));
	for (size_t i = 0; i < COUNT_OF(others); i++)
		if (cli_args_has(args, others[i]))
			return cli_usage(err, "--%s does not go with a graph", others[i]);
	return SHERD_OK;
}

int cli_graph_convert_any(cli_state *cli, const cli_args *args, bool *done, sherd_error *err)
{
	side to, from;
	*done = true;
	TRY(target_of(args, &to, err));
	int rc = source_of(args->operands[0], to, &from, err);
	*done = to != OTHER || from == DATABASE;
	if (!*done)
		return SHERD_OK;
	TRY(rc);
	if (to == OTHER)
		return graph_convert_refuse(
			args->operands[0], "a graph goes to JSON Lines (DST.jsonl) or a database (DST.rfdb) only", err);
	if (from == OTHER)
		return graph_convert_refuse(args->operands[0], "this is no graph, which JSON Lines and databases hold",
		                            err);
	TRY(graph_convert_check_options(args, err));
	if (to == LINES)
		return to_lines(cli, args, err);
	return from == LINES ? from_lines(cli, args, err) : from_database(cli, args, err);
}
