#include "commands.h"
#include "graph/db.h"
#include "base/doc.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static sherd_graph_id graph_delete_id_of(const char *text)
{
	return sherd_graph_id_of(text, strlen(text));
}

static int fail_absent(const cli_db *db, const char *what, const char *named, sherd_error *err)
{
	return cli_db_blame(db, cli_fail(err, SHERD_ENOTFOUND, "not-found", "there is no %s %.200s", what, named), err);
}

static int graph_delete_finish(cli_state *cli, cli_db *db, const char *what, uint64_t deleted, sherd_error *err)
{
	TRY(cli_db_flush(db, cli, err));
	uint64_t version = sherd_graph_version(db->graph);
	cli_out_note(&cli->out, "%s: %" PRIu64 " %s%s deleted, version %" PRIu64, db->path, deleted, what,
	             cli_text_plural(deleted), version);
	cli_doc doc = cli_doc_begin(&cli->out);
	cli_doc_put_text(&doc, "path", db->path);
	cli_doc_put_u64(&doc, "version", version);
	cli_doc_put_u64(&doc, "deleted", deleted);
	return cli_doc_end(&doc, SHERD_OK, err);
}

/* All of them or none. */
static int check_nodes(const cli_db *db, const cli_args *args, sherd_error *err)
{
	for (int i = 1; i < args->count; i++) {
		int there = cli_db_blame(db, sherd_graph_exists(db->graph, graph_delete_id_of(args->operands[i]), err),
		                         err);
		TRY(there);
		if (!there)
			return fail_absent(db, "node", args->operands[i], err);
	}
	return SHERD_OK;
}

static int run_nodes(cli_state *cli, const cli_args *args, sherd_error *err)
{
	CLI_AUTO_DB db = {0};
	uint64_t deleted = 0;
	size_t count = (size_t)args->count - 1;
	CLI_AUTO_FREE sherd_graph_id *ids = calloc(count, sizeof(*ids));
	if (!ids)
		return cli_no_memory(err);
	for (size_t i = 0; i < count; i++)
		ids[i] = graph_delete_id_of(args->operands[i + 1]);
	TRY(cli_db_open_writer(&db, cli, args, err));
	TRY(check_nodes(&db, args, err));
	TRY(cli_db_blame(&db, sherd_graph_delete_nodes(db.graph, ids, count, &deleted, err), err));
	return graph_delete_finish(cli, &db, "node", deleted, err);
}

static int run_edge(cli_state *cli, const cli_args *args, sherd_error *err)
{
	CLI_AUTO_DB db = {0};
	uint64_t deleted = 0;
	const sherd_graph_edge edge = {.src = graph_delete_id_of(args->operands[1]),
	                               .dst = graph_delete_id_of(args->operands[2]),
	                               .type = sherd_graph_text_of(args->operands[3]),
	                               .metadata = sherd_graph_text_of("")};
	TRY(cli_db_open_writer(&db, cli, args, err));
	TRY(cli_db_blame(&db, sherd_graph_delete_edges(db.graph, &edge, 1, &deleted, err), err));
	if (!deleted)
		return fail_absent(&db, "edge of this source and destination of type", args->operands[3], err);
	return graph_delete_finish(cli, &db, "edge", deleted, err);
}

static const cli_option options[] = {
	CLI_WAIT_OPTION,
};

const cli_command cli_command_graph_delete_node = {
	.name = "graph delete-node",
	.operands = "DB ID...",
	.summary = "Removes nodes with the edges from and to them, as one version",
	.details = "All of them, or none where one is not there.\n",
	.run = run_nodes,
	CLI_OPTIONS(options),
};

const cli_command cli_command_graph_delete_edge = {
	.name = "graph delete-edge",
	.operands = "DB A B TYPE",
	.summary = "Removes the edge from A to B of this type, as one version",
	.run = run_edge,
	CLI_OPTIONS(options),
};
