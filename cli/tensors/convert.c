#include "commands.h"
#include "graph/convert.h"
#include "base/lost.h"
#include "tensors/target.h"
#include "base/text.h"

#include <stdio.h>

/* What could not be had is told, and makes the command fail after it wrote the rest. */
static int convert_tell_lost(cli_state *cli, const cli_place *from, const char *path, const sherd_report *lost,
                             size_t count, sherd_error *err)
{
	for (size_t i = 0; i < sherd_report_errors(lost) && !cli->out.quiet; i++) {
		sherd_error problem = *sherd_report_error(lost, i);
		(void)cli_place_blame(from, problem.code, &problem);
		cli_out_problem(&cli->out, &problem, true);
	}
	if (!sherd_report_errors(lost))
		return SHERD_OK;
	int rc = cli_fail(err, SHERD_EINCOMPLETE, "incomplete", "damaged: %zu array%s could be had", count,
	                  cli_text_plural(count));
	(void)snprintf(err->object, sizeof(err->object), "%s", path);
	return rc;
}

static int salvage(cli_state *cli, const cli_place *from, const char *path, const cli_target *target, sherd_error *err)
{
	CLI_AUTO(sherd_bundle, sherd_bundle_close) bundle = NULL;
	CLI_AUTO(sherd_report, sherd_report_close) lost = NULL;
	const sherd_bundle_options reading = {.pool = cli->pool, .progress = &cli->waiting};
	TRY(cli_place_blame(from, sherd_bundle_salvage(&bundle, &lost, from->store, from->key, &reading, err), err));
	size_t count = sherd_bundle_count(bundle);
	if (count)
		TRY(cli_target_write(cli, target, bundle, err));
	return convert_tell_lost(cli, from, path, lost, count, err);
}

/* --partial: what of a checkpoint is whole. */
static int convert_sift(cli_lost *lost, const sherd_bundle *bundle, sherd_bundle **whole, sherd_error *err)
{
	sherd_format format = sherd_bundle_format(bundle);
	if (format != SHERD_FORMAT_CHECKPOINT && format != SHERD_FORMAT_CHECKPOINT_SHARD)
		return SHERD_OK;
	TRY(cli_lost_check(lost, bundle, err));
	return cli_lost_sift(whole, lost, bundle, false, err);
}

static int convert_run(cli_state *cli, const cli_args *args, sherd_error *err)
{
	CLI_AUTO_PLACE from = {0};
	CLI_AUTO(sherd_bundle, sherd_bundle_close) bundle = NULL;
	CLI_AUTO(sherd_bundle, sherd_bundle_close) whole = NULL;
	cli_target target;
	bool done;
	int graph = cli_graph_convert_any(cli, args, &done, err);
	if (done)
		return graph;
	TRY(cli_target_take(&target, args, args->operands[1], err));
	if (cli_args_has(args, "salvage") && target.without_updater)
		return cli_usage(err, "--without-updater does not go with --salvage, which knows no graph");
	TRY(cli_place_open(&from, args->operands[0], false, err));
	if (cli_args_has(args, "salvage"))
		return salvage(cli, &from, args->operands[0], &target, err);
	CLI_AUTO_LOST lost = {.cli = cli, .place = &from};
	sherd_bundle_options reading = {.pool = cli->pool, .progress = &cli->waiting};
	if (cli_args_has(args, "partial")) {
		reading.lost = cli_lost_tell;
		reading.lost_arg = &lost;
	}
	TRY(cli_place_blame(&from, sherd_bundle_open(&bundle, from.store, from.key, &reading, err), err));
	if (!target.drop_graph)
		TRY(cli_place_blame(&from, sherd_convert_check(bundle, target.info->id, err), err));
	if (!target.allow_missing)
		TRY(cli_place_blame(&from, cli_target_refuse_missing(sherd_bundle_missing(bundle, err), err), err));
	if (reading.lost)
		TRY(cli_place_blame(&from, convert_sift(&lost, bundle, &whole, err), err));
	return cli_target_write(cli, &target, whole ? whole : bundle, err);
}

static const cli_option options[] = {
	{"partial", NULL, "of a checkpoint, leave out what is missing or damaged", 0},
	{"to", "FORMAT", "of DST; else its extension decides", 0},
	{"shards", "N", "files of a sharded target (default: 1)", 0},
	{"replace", NULL, "DST may exist and is replaced", 0},
	{"compress", "none|deflate|deflate:LEVEL", "levels 1 to 12 (default: none; of a container, as it was)", 0},
	{"drop-graph", NULL, "of a model, write the arrays and lose the graph", 0},
	{"drop-metadata", NULL, "lose the pairs of text that the target has no place for", 0},
	{"without-updater", NULL, "of a model, leave out what the updater remembers", 0},
	{"salvage", NULL, "of a damaged container, write the arrays that are whole", 0},
	{"allow-missing", NULL, "go on when arrays of a model are missing, and leave them out", 0},
};

const cli_command cli_command_convert = {
	.name = "convert",
	.operands = "SRC DST",
	.summary = "Writes the tensors of a file or set in another format",
	.details = "The end of DST tells the format, or --to does: see the list below and sherd-convert(1). With\n"
		   "--shards a DST.sdc becomes DST.shard0-of-N.sdc and so on, and is still opened as DST.sdc.\n"
		   "Graphs go to DST.jsonl, nodes first, or to a database, DST.rfdb, which JSON Lines go to, too.\n",
	.list = cli_target_list,
	.run = convert_run,
	CLI_OPTIONS(options),
};

const cli_command cli_command_model_convert = {
	.name = "model convert",
	.operands = "SRC DST",
	.summary = "Writes a model in another format; the same as sherd convert",
	.run = convert_run,
	CLI_OPTIONS_BUT_FIRST(options), /* models are never partial */
};
