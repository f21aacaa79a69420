#include "commands.h"
#include "graph/db.h"
#include "tensors/describe.h"
#include "base/lost.h"
#include "rows/rows.h"

#include <sherd/bundle.h>
#include <sherd/ckpt.h>
#include <sherd/model.h>

static int show_ckpt(cli_state *cli, const char *path, const cli_place *place, sherd_format format, bool partial,
                     sherd_error *err)
{
	CLI_AUTO(sherd_ckpt, sherd_ckpt_close) ckpt = NULL;
	CLI_AUTO_LOST lost = {.cli = cli, .place = place};
	sherd_ckpt_options options = {.pool = cli->pool, .progress = &cli->waiting};
	if (partial) {
		options.lost = cli_lost_tell;
		options.lost_arg = &lost;
	}
	int rc = format == SHERD_FORMAT_CHECKPOINT
	                 ? sherd_ckpt_open(&ckpt, place->store, place->key, &options, err)
	                 : sherd_ckpt_open_shard(&ckpt, place->store, place->key, &options, err);
	TRY(cli_place_blame(place, rc, err));
	return cli->out.json ? cli_describe_ckpt_json(cli, ckpt, format, err)
	                     : cli_describe_ckpt(cli, path, ckpt, format, err);
}

static int show_bundle(cli_state *cli, const char *path, const cli_place *place, sherd_error *err)
{
	CLI_AUTO(sherd_bundle, sherd_bundle_close) bundle = NULL;
	sherd_bundle_options options = {.pool = cli->pool, .progress = &cli->waiting};
	TRY(cli_place_blame(place, sherd_bundle_open(&bundle, place->store, place->key, &options, err), err));
	return cli->out.json ? cli_describe_bundle_json(cli, bundle, err)
	                     : cli_describe_bundle(cli, path, bundle, NULL, err);
}

static int show_model(cli_state *cli, const char *path, const cli_place *place, sherd_error *err)
{
	CLI_AUTO(sherd_model, sherd_model_close) model = NULL;
	CLI_AUTO(sherd_bundle, sherd_bundle_close) bundle = NULL;
	TRY(cli_place_blame(place, sherd_model_open(&model, place->store, place->key, NULL, err), err));
	TRY(sherd_bundle_of_model(&bundle, model, err));
	return cli->out.json ? cli_describe_model_json(cli, model, bundle, err)
	                     : cli_describe_model(cli, path, model, bundle, err);
}

static int info_show(cli_state *cli, const char *path, cli_place *place, sherd_format format, bool partial,
                     sherd_error *err)
{
	switch (sherd_format_describe(format)->kind) {
	case SHERD_KIND_CHECKPOINT: return show_ckpt(cli, path, place, format, partial, err);
	case SHERD_KIND_ROWS: return cli_rows_show(cli, path, place, false, err);
	case SHERD_KIND_GRAPH: return cli_db_show(cli, path, place, err);
	case SHERD_KIND_MODEL: return show_model(cli, path, place, err);
	default: return show_bundle(cli, path, place, err);
	}
}

static int info_run(cli_state *cli, const cli_args *args, sherd_error *err)
{
	const char *path = args->operands[0];
	CLI_AUTO_PLACE place = {0};
	sherd_format format;
	TRY(cli_place_open_any(&place, path, false, err));
	TRY(cli_place_blame(&place, sherd_detect(&format, place.store, place.key, err), err));
	return info_show(cli, path, &place, format, cli_args_has(args, "partial"), err);
}

static const cli_option options[] = {
	{"partial", NULL, "of a checkpoint, shards may be missing or damaged: show the rest", 0},
};

const cli_command cli_command_info = {
	.name = "info",
	.operands = "PATH",
	.summary = "Shows what a file or set is, and what is in it",
	.run = info_run,
	CLI_OPTIONS(options),
};

const cli_command cli_command_checkpoint_info = {
	.name = "checkpoint info",
	.operands = "PREFIX",
	.summary = "Shows what is in a checkpoint; the same as sherd info",
	.run = info_run,
	CLI_OPTIONS(options),
};

const cli_command cli_command_model_info = {
	.name = "model info",
	.operands = "PATH",
	.summary = "Shows what is in a model; the same as sherd info",
	.run = info_run,
};
