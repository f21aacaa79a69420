#include "commands.h"
#include "graph/convert.h"
#include "base/lost.h"
#include "tensors/target.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>

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

/* One thing to convert; all are open until the target is written. */
typedef struct convert_source {
	cli_place place;
	cli_lost lost;
	sherd_bundle *bundle, *whole; /* whole: what is left of it by --partial; or NULL */
} convert_source;

static void convert_close(convert_source *sources, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		sherd_bundle_close(sources[i].whole);
		sherd_bundle_close(sources[i].bundle);
		cli_lost_done(&sources[i].lost);
		cli_place_close(&sources[i].place);
	}
	free(sources);
}

/* Where tensors are derived, deriving tells what of a model would be lost. */
static int convert_open(cli_state *cli, const cli_args *args, const char *path, const cli_target *target,
                        convert_source *s, sherd_error *err)
{
	const cli_place *from = &s->place;
	sherd_bundle_options reading = {.pool = cli->pool, .progress = &cli->waiting};
	TRY(cli_place_open(&s->place, path, false, err));
	s->lost = (cli_lost){.cli = cli, .place = from};
	if (cli_args_has(args, "partial")) {
		reading.lost = cli_lost_tell;
		reading.lost_arg = &s->lost;
	}
	TRY(cli_place_blame(from, sherd_bundle_open(&s->bundle, from->store, from->key, &reading, err), err));
	if (!target->drop_graph && !target->derived)
		TRY(cli_place_blame(from, sherd_convert_check(s->bundle, target->info->id, err), err));
	if (!target->allow_missing)
		TRY(cli_place_blame(from, cli_target_refuse_missing(sherd_bundle_missing(s->bundle, err), err), err));
	return reading.lost ? cli_place_blame(from, convert_sift(&s->lost, s->bundle, &s->whole, err), err) : SHERD_OK;
}

/* Whose fault it is that they do not go together is told by the index. */
static int convert_derived(cli_state *cli, const cli_target *target, convert_source *sources, size_t count,
                           cli_derive *derive, sherd_error *err)
{
	CLI_AUTO(sherd_bundle, sherd_bundle_close) derived = NULL;
	CLI_AUTO_FREE const sherd_bundle **from = calloc(count, sizeof(*from));
	if (!from)
		return cli_no_memory(err);
	for (size_t i = 0; i < count; i++)
		from[i] = sources[i].whole ? sources[i].whole : sources[i].bundle;
	int rc = sherd_bundle_derive(&derived, from, count, &derive->options, &derive->result, err);
	if (rc < 0 && rc != SHERD_EINVAL && err->index < count)
		cli_place_name(&sources[err->index].place, err);
	TRY(rc);
	if (!sherd_bundle_count(derived))
		return cli_usage(err, "no tensor is left: --match and --exclude choose none of %zu",
		                 derive->result.left_out);
	return cli_target_write(cli, target, derived, err);
}

static int convert_all(cli_state *cli, const cli_args *args, const cli_target *target, cli_derive *derive,
                       sherd_error *err)
{
	size_t count = (size_t)args->count - 1;
	convert_source *sources = calloc(count, sizeof(*sources));
	int rc = sources ? SHERD_OK : cli_no_memory(err);
	for (size_t i = 0; rc == SHERD_OK && i < count; i++)
		rc = convert_open(cli, args, args->operands[i], target, &sources[i], err);
	if (rc == SHERD_OK && target->derived)
		rc = convert_derived(cli, target, sources, count, derive, err);
	else if (rc == SHERD_OK)
		rc = cli_target_write(cli, target, sources->whole ? sources->whole : sources->bundle, err);
	convert_close(sources, sources ? count : 0);
	return rc;
}

static int convert_salvage(cli_state *cli, const cli_args *args, const cli_target *target, sherd_error *err)
{
	CLI_AUTO_PLACE from = {0};
	if (target->without_updater)
		return cli_usage(err, "--without-updater does not go with --salvage, which knows no graph");
	if (target->derived)
		return cli_usage(err, "--salvage takes one source, and writes it as it is");
	TRY(cli_place_open(&from, args->operands[0], false, err));
	return salvage(cli, &from, args->operands[0], target, err);
}

static int convert_run(cli_state *cli, const cli_args *args, sherd_error *err)
{
	CLI_AUTO_DERIVE derive = {0};
	const char *path = args->operands[args->count - 1];
	cli_target target;
	bool done = false;
	int graph = args->count == 2 ? cli_graph_convert_any(cli, args, &done, err) : SHERD_OK;
	if (done)
		return graph;
	const sherd_format_info *info = sherd_format_by_path(path, NULL);
	if (args->count > 2 && info && (info->kind == SHERD_KIND_GRAPH || info->kind == SHERD_KIND_RECORDS))
		return cli_usage(err, "graphs are converted one at a time");
	TRY(cli_target_take(&target, args, path, err));
	TRY(cli_derive_take(&derive, args, err));
	target.derived = derive.any ? &derive : NULL;
	if (derive.any && target.without_updater)
		return cli_usage(err, "--without-updater goes with one model that is written whole");
	return cli_args_has(args, "salvage") ? convert_salvage(cli, args, &target, err)
	                                     : convert_all(cli, args, &target, &derive, err);
}

enum { OF_TENSORS = 1 + CLI_DERIVE_COUNT }; /* options that come first, and that models do not have */

static const cli_option options[] = {
	{"partial", NULL, "of a checkpoint, leave out what is missing or damaged", 0},
	CLI_DERIVE_OPTIONS,
	{"to", "FORMAT", "of DST; else its extension decides", 0},
	{"shards", "N", "files of a sharded target (default: 1)", 0},
	{"max-shard-size", "SIZE", "bytes of one file, as 5G; layers stay together where files are safetensors", 0},
	{"replace", NULL, "DST may exist and is replaced", 0},
	{"compress", "none|deflate|deflate:LEVEL", "levels 1 to 12 (default: none; of a container, as it was)", 0},
	{"digest", "sha256|blake3", "what a container or checkpoint is verified by (default: sha256; as it was)", 0},
	{"drop-graph", NULL, "of a model, write the arrays and lose the graph", 0},
	{"drop-metadata", NULL, "lose the pairs of text that the target has no place for", 0},
	{"without-updater", NULL, "of a model, leave out what the updater remembers", 0},
	{"salvage", NULL, "of a damaged container, write the arrays that are whole", 0},
	{"allow-missing", NULL, "go on when arrays of a model are missing, and leave them out", 0},
};

const cli_command cli_command_convert = {
	.name = "convert",
	.operands = "SRC... DST",
	.summary = "Writes the tensors of files or sets in another format",
	.details = "The end of DST tells the format, or --to does: see the list below and sherd-convert(1). With\n"
		   "--shards a DST.sdc becomes DST.shard0-of-N.sdc and so on, and is still opened as DST.sdc.\n"
		   "Of several SRC all tensors are written; two of one name are refused without --prefer.\n"
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
	.options = options + OF_TENSORS, /* models are never partial, merged or changed */
	.option_count = COUNT_OF(options) - OF_TENSORS,
};
