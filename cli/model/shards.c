#include "base/clock.h"
#include "commands.h"
#include "base/doc.h"
#include "base/place.h"
#include "tensors/target.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct rewrite {
	const char *from, *to;
	uint64_t written;
	sherd_model_save_options options;
} rewrite;

static int tell(sherd_cli *cli, const rewrite *r, const sherd_model *model, sherd_error *err)
{
	sherd_bundle *bundle;
	char size[SHERD_TEXT_SIZE];
	uint64_t bytes;
	const uint64_t *written = r->options.written;
	uint32_t files = r->options.shards ? r->options.shards : 1;
	TRY(sherd_bundle_of_model(&bundle, model, err));
	size_t count = sherd_target_count(bundle, r->options.without_updater, &bytes);
	sherd_bundle_close(bundle);
	sherd_text_size(*written, size);
	sherd_out_note(&cli->out, "%s: %zu array%s, %s written to %" PRIu32 " file%s", r->to, count,
	               sherd_text_plural(count), size, files, sherd_text_plural(files));
	sherd_doc doc = sherd_doc_begin(&cli->out);
	sherd_doc_put_text(&doc, "path", r->to);
	sherd_doc_put_text(&doc, "format", sherd_format_name(SHERD_FORMAT_SAMEDIFF_CONTAINER));
	sherd_doc_put_u64(&doc, "files", files);
	sherd_doc_put_u64(&doc, "arrays", count);
	sherd_doc_put_u64(&doc, "bytes", bytes);
	sherd_doc_put_u64(&doc, "written", *written);
	return sherd_doc_end(&doc, SHERD_OK, err);
}

static int write_model(sherd_cli *cli, const rewrite *r, const sherd_model *model, sherd_error *err)
{
	sherd_place to;
	TRY(sherd_place_open(&to, r->to, true, err));
	int rc = sherd_place_blame(&to, sherd_model_save(model, to.store, to.key, &r->options, err), err);
	sherd_place_close(&to);
	return rc < 0 ? rc : tell(cli, r, model, err);
}

static int take(sherd_cli *cli, rewrite *r, const sherd_args *args, sherd_error *err)
{
	sherd_clock clock;
	const char *compress = sherd_args_text(args, "compress");
	*r = (rewrite){.from = args->operands[0], .to = args->operands[1]};
	TRY(sherd_clock_read(&clock, err));
	r->options = (sherd_model_save_options){.format = SHERD_FORMAT_SAMEDIFF_CONTAINER,
	                                        .as_it_was = !compress,
	                                        .replace = sherd_args_has(args, "replace"),
	                                        .without_updater = sherd_args_has(args, "without-updater"),
	                                        .allow_missing = sherd_args_has(args, "allow-missing"),
	                                        .time_ms = clock.time_ns / 1000000,
	                                        .timed = true,
	                                        .framework = SHERD_CLI_FRAMEWORK,
	                                        .written = &r->written,
	                                        .pool = cli->pool,
	                                        .progress = &cli->progress};
	TRY(sherd_args_count(args, "shards", 1, &r->options.shards, err));
	return sherd_target_compression(compress, &r->options.compress, &r->options.level, err);
}

static int rewrite_model(sherd_cli *cli, const sherd_args *args, sherd_error *err)
{
	rewrite r;
	sherd_place from;
	sherd_model *model;
	TRY(take(cli, &r, args, err));
	TRY(sherd_place_open(&from, r.from, false, err));
	int rc = sherd_place_blame(&from, sherd_model_open(&model, from.store, from.key, NULL, err), err);
	if (rc == SHERD_OK) {
		if (!r.options.allow_missing)
			rc = sherd_place_blame(&from, sherd_target_refuse_missing(sherd_model_missing(model, err), err),
			                       err);
		if (rc == SHERD_OK)
			rc = write_model(cli, &r, model, err);
		sherd_model_close(model);
	}
	sherd_place_close(&from);
	return rc;
}

static int split(sherd_cli *cli, const sherd_args *args, sherd_error *err)
{
	if (!sherd_args_has(args, "shards"))
		return sherd_cli_usage(err, "--shards is needed");
	return rewrite_model(cli, args, err);
}

static const sherd_option options[] = {
	{"shards", "N", "into so many files", 0},
	{"compress", "HOW", "none, deflate or deflate:LEVEL, 1 to 12 (default: as it was)", 0},
	{"replace", NULL, "what is there already is replaced, in one step", 0},
	{"without-updater", NULL, "leave out what the updater remembers", 0},
	{"allow-missing", NULL, "go on when arrays are missing, and leave them out", 0},
	{NULL, NULL, NULL, 0},
};

const sherd_command sherd_command_model_split = {
	.name = "model split",
	.operands = "FILE BASE",
	.summary = "Writes a model as a container in several files",
	.details = "They are BASE.shard0-of-N.sdc and so on; arrays go to them by size, evenly. FILE is a model of\n"
		   "any format.\n",
	.least = 2,
	.most = 2,
	.run = split,
	.options = options,
};

const sherd_command sherd_command_model_join = {
	.name = "model join",
	.operands = "BASE FILE",
	.summary = "Writes a model as a container in one file",
	.details = "BASE is the base of a container in several files, or one of them.\n",
	.least = 2,
	.most = 2,
	.run = rewrite_model,
	.options = options + 1,
};
