#include "commands.h"
#include "graph/db.h"
#include "base/doc.h"
#include "tensors/describe.h"
#include "base/lost.h"
#include "rows/rows.h"

#include <sherd/bundle.h>
#include <sherd/ckpt.h>
#include <sherd/model.h>

static int show_ckpt(cli_state *cli, const char *path, const cli_place *place, sherd_format format, bool partial,
                     const cli_view *view, sherd_error *err)
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
	return cli->out.json ? cli_describe_ckpt_json(cli, ckpt, format, view, err)
	                     : cli_describe_ckpt(cli, path, ckpt, format, view, err);
}

static int show_bundle(cli_state *cli, const char *path, const cli_place *place, const cli_view *view, sherd_error *err)
{
	CLI_AUTO(sherd_bundle, sherd_bundle_close) bundle = NULL;
	sherd_bundle_options options = {.pool = cli->pool, .progress = &cli->waiting};
	TRY(cli_place_blame(place, sherd_bundle_open(&bundle, place->store, place->key, &options, err), err));
	return cli->out.json ? cli_describe_bundle_json(cli, bundle, view, err)
	                     : cli_describe_bundle(cli, path, bundle, NULL, view, err);
}

static int show_model(cli_state *cli, const char *path, const cli_place *place, const cli_view *view, sherd_error *err)
{
	CLI_AUTO(sherd_model, sherd_model_close) model = NULL;
	CLI_AUTO(sherd_bundle, sherd_bundle_close) bundle = NULL;
	TRY(cli_place_blame(place, sherd_model_open(&model, place->store, place->key, NULL, err), err));
	TRY(sherd_bundle_of_model(&bundle, model, err));
	return cli->out.json ? cli_describe_model_json(cli, model, bundle, view, err)
	                     : cli_describe_model(cli, path, model, bundle, view, err);
}

static int info_show(cli_state *cli, const char *path, cli_place *place, bool partial, const cli_view *view,
                     sherd_error *err)
{
	sherd_format format;
	TRY(cli_place_blame(place, sherd_detect(&format, place->store, place->key, err), err));
	int rc;
	switch (sherd_format_describe(format)->kind) {
	case SHERD_KIND_CHECKPOINT: rc = show_ckpt(cli, path, place, format, partial, view, err); break;
	case SHERD_KIND_ROWS: return cli_rows_show(cli, path, place, false, err);
	case SHERD_KIND_GRAPH: return cli_db_show(cli, path, place, err);
	case SHERD_KIND_MODEL: rc = show_model(cli, path, place, view, err); break;
	default: rc = show_bundle(cli, path, place, view, err);
	}
	return rc < 0 && !err->object[0] ? cli_place_blame(place, rc, err) : rc;
}

static int info_path(cli_state *cli, const cli_args *args, const char *path, const cli_view *view, sherd_error *err)
{
	CLI_AUTO_PLACE place = {0};
	TRY(cli_place_open_any(&place, path, false, err));
	return info_show(cli, path, &place, cli_args_has(args, "partial"), view, err);
}

/* One of several that cannot be shown is told, and the others are shown all the same. */
static void tell_failure(cli_state *cli, const char *path, const sherd_error *failure)
{
	sherd_error ignored;
	if (!cli->out.json) {
		cli_out_problem(&cli->out, failure, false);
		return;
	}
	cli_doc doc = cli_doc_begin(&cli->out);
	(void)path;
	cli_doc_key(&doc, "error");
	cli_doc_error(&doc, failure);
	(void)cli_doc_end(&doc, SHERD_OK, &ignored);
}

static int info_several(cli_state *cli, const cli_args *args, const cli_view *view, sherd_error *err)
{
	cli_doc list = {0};
	int failure = 0, rc = SHERD_OK;
	cli_doc_open(&list, '[');
	cli->out.into = &list;
	for (int i = 0; i < args->count && rc == SHERD_OK; i++) {
		cli->out.path = args->operands[i];
		if (i && !cli->out.json)
			cli_out_printf(&cli->out, "\n");
		rc = info_path(cli, args, args->operands[i], view, err);
		if (rc < 0 && rc != SHERD_ECANCELLED && rc != SHERD_ENOMEM) {
			tell_failure(cli, args->operands[i], err);
			failure = failure ? failure : rc;
			rc = SHERD_OK;
		}
	}
	cli->out.into = NULL;
	cli_doc_close(&list, ']');
	if (rc < 0) {
		cli_doc_done(&list);
		return rc;
	}
	cli_doc doc = cli_doc_begin(&cli->out);
	cli_doc_key(&doc, "paths");
	cli_doc_move(&doc, &list);
	TRY(cli_doc_end(&doc, SHERD_OK, err));
	return failure ? cli_status(failure) : EXIT_FINE;
}

static int info_run(cli_state *cli, const cli_args *args, sherd_error *err)
{
	cli_view view;
	TRY(cli_view_take(&view, args, err));
	return args->count > 1 ? info_several(cli, args, &view, err)
	                       : info_path(cli, args, args->operands[0], &view, err);
}

#define VIEW_OPTIONS                                                                                          \
	{"tree", NULL, "tensors by the parts of their names, equal layers folded (a terminal's default)", 0}, \
		{"flat", NULL, "a line for each tensor (the default elsewhere)", 0},                          \
		{"match", "GLOB", "only tensors whose names match", 0},                                       \
		{"sort", "stored|name|size", "the order of the lines", 0},                                    \
	{                                                                                                     \
		"files", NULL, "which file holds how much, in place of the tensors", 0                        \
	}

static const cli_option options[] = {
	{"partial", NULL, "of a checkpoint, shards may be missing or damaged: show the rest", 0},
	VIEW_OPTIONS,
};

const cli_command cli_command_info = {
	.name = "info",
	.operands = "PATH...",
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
	CLI_OPTIONS_BUT_FIRST(options),
};
