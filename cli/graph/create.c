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
		(void)snprintf(out, room, "%" PRIu32 " shard%s by hash", shards, sherd_text_plural(shards));
	else
		(void)snprintf(out, room, "a shard for each directory of at least %" PRIu32 " file%s", files,
		               sherd_text_plural(files));
}

static void put_layout(sherd_doc *doc, const sherd_graph_layout *l)
{
	sherd_doc_put_text(doc, "planner", sherd_db_planner_name(l->planner));
	if (l->planner == SHERD_GRAPH_HASH)
		sherd_doc_put_u64(doc, "shards", l->shards ? l->shards : 8);
	else
		sherd_doc_put_u64(doc, "min_files", l->min_files ? l->min_files : 3);
}

/* ---- create */

static int tell_created(sherd_cli *cli, const char *path, const sherd_graph_layout *layout, sherd_error *err)
{
	char text[96];
	describe_layout(layout, text, sizeof(text));
	sherd_out_note(&cli->out, "%s: created, %s", path, text);
	sherd_doc doc = sherd_doc_begin(&cli->out);
	sherd_doc_put_text(&doc, "path", path);
	sherd_doc_put_u64(&doc, "version", 1);
	put_layout(&doc, layout);
	return sherd_doc_end(&doc, SHERD_OK, err);
}

static int run_create(sherd_cli *cli, const sherd_args *args, sherd_error *err)
{
	sherd_graph_layout layout;
	sherd_place place;
	int64_t time_ms;
	TRY(sherd_db_take_layout(args, &layout, err));
	TRY(sherd_db_time(&time_ms, err));
	TRY(sherd_place_open_any(&place, args->operands[0], true, err));
	int rc = sherd_place_blame(&place, sherd_graph_create(place.store, place.key, &layout, time_ms, err), err);
	sherd_place_close(&place);
	return rc < 0 ? rc : tell_created(cli, args->operands[0], &layout, err);
}

static const sherd_option create_options[] = {
	SHERD_LAYOUT_OPTIONS,
	{NULL, NULL, NULL, 0},
};

const sherd_command sherd_command_graph_create = {
	.name = "graph create",
	.operands = "DB",
	.summary = "Makes an empty database",
	.details = "What belongs to one directory lies in one shard, so that replacing a file touches little else.\n",
	.least = 1,
	.most = 1,
	.run = run_create,
	.options = create_options,
};

/* ---- reshard */

static int tell_resharded(sherd_cli *cli, const char *path, const sherd_graph_layout *layout,
                          const sherd_graph_reshard_result *done, sherd_error *err)
{
	char text[96];
	describe_layout(layout, text, sizeof(text));
	sherd_out_note(&cli->out, "%s: %" PRIu64 " node%s and %" PRIu64 " edge%s copied, %s", path, done->nodes,
	               sherd_text_plural(done->nodes), done->edges, sherd_text_plural(done->edges), text);
	sherd_doc doc = sherd_doc_begin(&cli->out);
	sherd_doc_put_text(&doc, "path", path);
	sherd_doc_put_u64(&doc, "nodes", done->nodes);
	sherd_doc_put_u64(&doc, "edges", done->edges);
	sherd_doc_put_u64(&doc, "lost_edges", done->lost_edges);
	put_layout(&doc, layout);
	return sherd_doc_end(&doc, SHERD_OK, err);
}

/* Where the command tells people anything. */
static bool can_warn(const sherd_cli *cli, const char *path, sherd_error *warning)
{
	*warning = (sherd_error){.offset = SHERD_NO_OFFSET};
	(void)snprintf(warning->object, sizeof(warning->object), "%s", path);
	return !cli->out.json && !cli->out.quiet;
}

static void warn_of_lost(sherd_cli *cli, const char *path, uint64_t edges)
{
	sherd_error warning;
	if (!can_warn(cli, path, &warning) || !edges)
		return;
	(void)snprintf(warning.message, sizeof(warning.message),
	               "%" PRIu64 " edge%s not copied: the source is no node of the graph", edges,
	               sherd_text_plural(edges));
	sherd_out_problem(&cli->out, &warning, true);
}

int sherd_db_reshard(sherd_cli *cli, const sherd_graph *from, const char *path, const sherd_graph_layout *layout,
                     sherd_graph_reshard_result *result, sherd_error *err)
{
	sherd_graph_reshard_options options = {.pool = cli->pool, .progress = &cli->progress};
	sherd_place to;
	TRY(sherd_db_time(&options.time_ms, err));
	TRY(sherd_place_open_any(&to, path, true, err));
	int rc =
		sherd_place_blame(&to, sherd_graph_reshard(from, to.store, to.key, layout, &options, result, err), err);
	sherd_place_close(&to);
	sherd_out_clear_bar(&cli->out);
	if (rc == SHERD_OK)
		warn_of_lost(cli, path, result->lost_edges);
	return rc;
}

/* They are of the real server, which made them of the database as it lies there. */
static int warn_of_pins(sherd_cli *cli, const sherd_db *from, sherd_error *err)
{
	sherd_error warning;
	sherd_db_bytes bytes;
	char size[SHERD_TEXT_SIZE];
	TRY(sherd_db_blame(from, sherd_db_weigh(from, &bytes, err), err));
	if (!can_warn(cli, from->path, &warning) || !bytes.pins)
		return SHERD_OK;
	sherd_text_size(bytes.pins, size);
	(void)snprintf(warning.message, sizeof(warning.message), "pins of the server are not copied: derive_pins, %s",
	               size);
	sherd_out_problem(&cli->out, &warning, true);
	return SHERD_OK;
}

static int run_reshard(sherd_cli *cli, const sherd_args *args, sherd_error *err)
{
	sherd_graph_layout layout;
	sherd_graph_reshard_result done;
	sherd_db from;
	TRY(sherd_db_take_layout(args, &layout, err));
	TRY(sherd_db_open_reader(&from, cli, args, err));
	int rc = sherd_db_reshard(cli, from.graph, args->operands[1], &layout, &done, err);
	if (rc == SHERD_OK)
		rc = warn_of_pins(cli, &from, err);
	sherd_db_close(&from);
	return rc < 0 ? rc : tell_resharded(cli, args->operands[1], &layout, &done, err);
}

static const sherd_option reshard_options[] = {
	SHERD_LAYOUT_OPTIONS,
	SHERD_AT_OPTION,
	{NULL, NULL, NULL, 0},
};

const sherd_command sherd_command_graph_reshard = {
	.name = "graph reshard",
	.operands = "DB NEW",
	.summary = "Copies what is live into a new database with other shards",
	.least = 2,
	.most = 2,
	.run = run_reshard,
	.options = reshard_options,
};
