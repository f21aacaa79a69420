#include "commands.h"
#include "graph/db.h"
#include "base/doc.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>

/* "8 shards by hash", "a shard for each directory of 3 files" */
static void describe_layout(const sherd_graph_layout *l, char *out, size_t room)
{
	uint32_t shards = l->shards ? l->shards : 8, files = l->min_files ? l->min_files : 3;
	if (l->planner == SHERD_GRAPH_HASH)
		(void)snprintf(out, room, "%" PRIu32 " shard%s by hash", shards, cli_text_plural(shards));
	else
		(void)snprintf(out, room, "a shard for each directory of at least %" PRIu32 " file%s", files,
		               cli_text_plural(files));
}

static void put_layout(cli_doc *doc, const sherd_graph_layout *l)
{
	cli_doc_put_text(doc, "planner", cli_db_planner_name(l->planner));
	if (l->planner == SHERD_GRAPH_HASH)
		cli_doc_put_u64(doc, "shards", l->shards ? l->shards : 8);
	else
		cli_doc_put_u64(doc, "min_files", l->min_files ? l->min_files : 3);
}

/* ---- create */

static int tell_created(cli_state *cli, const char *path, const sherd_graph_layout *layout, sherd_error *err)
{
	char text[96];
	describe_layout(layout, text, sizeof(text));
	cli_out_note(&cli->out, "%s: created, %s", path, text);
	cli_doc doc = cli_doc_begin(&cli->out);
	cli_doc_put_text(&doc, "path", path);
	cli_doc_put_u64(&doc, "version", 1);
	put_layout(&doc, layout);
	return cli_doc_end(&doc, SHERD_OK, err);
}

static int run_create(cli_state *cli, const cli_args *args, sherd_error *err)
{
	sherd_graph_layout layout;
	CLI_AUTO_PLACE place = {0};
	int64_t time_ns;
	TRY(cli_db_take_layout(args, &layout, err));
	TRY(cli_clock_time(&time_ns, err));
	TRY(cli_place_open_any(&place, args->operands[0], true, err));
	TRY(cli_place_blame(&place, sherd_graph_create(place.store, place.key, &layout, time_ns, err), err));
	return tell_created(cli, args->operands[0], &layout, err);
}

static const cli_option create_options[] = {
	CLI_LAYOUT_OPTIONS,
};

const cli_command cli_command_graph_create = {
	.name = "graph create",
	.operands = "DB",
	.summary = "Makes an empty database",
	.details = "What belongs to one directory lies in one shard, so that replacing a file touches little else.\n",
	.run = run_create,
	CLI_OPTIONS(create_options),
};

/* ---- reshard */

static int tell_resharded(cli_state *cli, const char *path, const sherd_graph_layout *layout,
                          const sherd_graph_reshard_result *done, sherd_error *err)
{
	char text[96];
	describe_layout(layout, text, sizeof(text));
	cli_out_note(&cli->out, "%s: %" PRIu64 " node%s and %" PRIu64 " edge%s copied, %s", path, done->nodes,
	             cli_text_plural(done->nodes), done->edges, cli_text_plural(done->edges), text);
	cli_doc doc = cli_doc_begin(&cli->out);
	cli_doc_put_text(&doc, "path", path);
	cli_doc_put_u64(&doc, "nodes", done->nodes);
	cli_doc_put_u64(&doc, "edges", done->edges);
	cli_doc_put_u64(&doc, "lost_edges", done->lost_edges);
	put_layout(&doc, layout);
	return cli_doc_end(&doc, SHERD_OK, err);
}

int cli_db_reshard(cli_state *cli, const sherd_graph *from, const char *path, const sherd_graph_layout *layout,
                   sherd_graph_reshard_result *result, sherd_error *err)
{
	sherd_graph_reshard_options options = {.pool = cli->pool, .progress = &cli->progress};
	CLI_AUTO_PLACE to = {0};
	TRY(cli_clock_time(&options.time_ns, err));
	TRY(cli_place_open_any(&to, path, true, err));
	int rc = cli_place_blame(&to, sherd_graph_reshard(from, to.store, to.key, layout, &options, result, err), err);
	cli_out_clear_bar(&cli->out);
	TRY(rc);
	if (result->lost_edges)
		cli_out_warn(&cli->out, path, "%" PRIu64 " edge%s not copied: the source is no node of the graph",
		             result->lost_edges, cli_text_plural(result->lost_edges));
	return SHERD_OK;
}

/* They are of the real server, which made them of the database as it lies there. */
static int warn_of_pins(cli_state *cli, const cli_db *from, sherd_error *err)
{
	cli_db_bytes bytes;
	char size[CLI_TEXT_SIZE];
	TRY(cli_db_blame(from, cli_db_weigh(from, &bytes, err), err));
	cli_text_size(bytes.pins, size);
	if (bytes.pins)
		cli_out_warn(&cli->out, from->path, "pins of the server are not copied: derive_pins, %s", size);
	return SHERD_OK;
}

static int run_reshard(cli_state *cli, const cli_args *args, sherd_error *err)
{
	sherd_graph_layout layout;
	sherd_graph_reshard_result done;
	CLI_AUTO_DB from = {0};
	TRY(cli_db_take_layout(args, &layout, err));
	TRY(cli_db_open_reader(&from, cli, args, err));
	TRY(cli_db_reshard(cli, from.graph, args->operands[1], &layout, &done, err));
	TRY(warn_of_pins(cli, &from, err));
	return tell_resharded(cli, args->operands[1], &layout, &done, err);
}

static const cli_option reshard_options[] = {
	CLI_LAYOUT_OPTIONS,
	CLI_AT_OPTION,
};

const cli_command cli_command_graph_reshard = {
	.name = "graph reshard",
	.operands = "DB NEW",
	.summary = "Copies what is live into a new database with other shards",
	.run = run_reshard,
	CLI_OPTIONS(reshard_options),
};
