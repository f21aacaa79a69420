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

static int model_shards_tell(cli_state *cli, const rewrite *r, const sherd_model *model, sherd_error *err)
{
	CLI_AUTO(sherd_bundle, sherd_bundle_close) bundle = NULL;
	char size[CLI_TEXT_SIZE];
	size_t count;
	uint64_t bytes;
	const uint64_t *written = r->options.written;
	uint32_t files = r->options.shards ? r->options.shards : 1;
	TRY(sherd_bundle_of_model(&bundle, model, err));
	TRY(cli_target_count(bundle, r->options.without_updater, &count, &bytes, err));
	cli_text_size(*written, size);
	cli_out_note(&cli->out, "%s: %zu array%s, %s written to %" PRIu32 " file%s", r->to, count,
	             cli_text_plural(count), size, files, cli_text_plural(files));
	cli_doc doc = cli_doc_begin(&cli->out);
	cli_doc_put_text(&doc, "path", r->to);
	cli_doc_put_text(&doc, "format", sherd_format_name(SHERD_FORMAT_SAMEDIFF_CONTAINER));
	cli_doc_put_u64(&doc, "files", files);
	cli_doc_put_u64(&doc, "arrays", count);
	cli_doc_put_u64(&doc, "bytes", bytes);
	cli_doc_put_u64(&doc, "written", *written);
	return cli_doc_end(&doc, SHERD_OK, err);
}

static int write_model(cli_state *cli, const rewrite *r, const sherd_model *model, sherd_error *err)
{
	CLI_AUTO_PLACE to = {0};
	TRY(cli_place_open(&to, r->to, true, err));
	TRY(cli_place_blame(&to, sherd_model_save(model, to.store, to.key, &r->options, err), err));
	return model_shards_tell(cli, r, model, err);
}

static int model_shards_take(cli_state *cli, rewrite *r, const cli_args *args, sherd_error *err)
{
	cli_clock clock;
	const char *compress = cli_args_text(args, "compress");
	*r = (rewrite){.from = args->operands[0], .to = args->operands[1]};
	TRY(cli_clock_read(&clock, err));
	r->options = (sherd_model_save_options){.format = SHERD_FORMAT_SAMEDIFF_CONTAINER,
	                                        .as_it_was = !compress,
	                                        .replace = cli_args_has(args, "replace"),
	                                        .without_updater = cli_args_has(args, "without-updater"),
	                                        .allow_missing = cli_args_has(args, "allow-missing"),
	                                        .time_ns = clock.time_ns,
	                                        .timed = true,
	                                        .framework = CLI_FRAMEWORK,
	                                        .written = &r->written,
	                                        .pool = cli->pool,
	                                        .progress = &cli->progress};
	TRY(cli_args_count(args, "shards", 1, &r->options.shards, err));
	TRY(cli_target_digest(args, &r->options.digest, err));
	if (!r->options.digest && cli_args_has(args, "digest"))
		r->options.as_it_was = false;
	return cli_target_compression(compress, &r->options.compress, &r->options.level, err);
}

static int rewrite_model(cli_state *cli, const cli_args *args, sherd_error *err)
{
	rewrite r;
	CLI_AUTO_PLACE from = {0};
	CLI_AUTO(sherd_model, sherd_model_close) model = NULL;
	TRY(model_shards_take(cli, &r, args, err));
	TRY(cli_place_open(&from, r.from, false, err));
	TRY(cli_place_blame(&from, sherd_model_open(&model, from.store, from.key, NULL, err), err));
	if (!r.options.allow_missing)
		TRY(cli_place_blame(&from, cli_target_refuse_missing(sherd_model_missing(model, err), err), err));
	return write_model(cli, &r, model, err);
}

static int split(cli_state *cli, const cli_args *args, sherd_error *err)
{
	if (!cli_args_has(args, "shards"))
		return cli_usage(err, "--shards is needed");
	return rewrite_model(cli, args, err);
}

static const cli_option options[] = {
	{"shards", "N", "into so many files", 0},
	{"compress", "none|deflate|deflate:LEVEL", "levels 1 to 12 (default: as it was)", 0},
	{"digest", "sha256|blake3", "what it is verified by (default: as it was)", 0},
	{"replace", NULL, "what is there already is replaced, in one step", 0},
	{"without-updater", NULL, "leave out what the updater remembers", 0},
	{"allow-missing", NULL, "go on when arrays are missing, and leave them out", 0},
};

const cli_command cli_command_model_split = {
	.name = "model split",
	.operands = "FILE BASE",
	.summary = "Writes a model as a container in several files",
	.details = "They are BASE.shard0-of-N.sdc and so on; arrays go to them by size, evenly. FILE is a model of\n"
		   "any format.\n",
	.run = split,
	CLI_OPTIONS(options),
};

const cli_command cli_command_model_join = {
	.name = "model join",
	.operands = "BASE FILE",
	.summary = "Writes a model as a container in one file",
	.details = "BASE is the base of a container in several files, or one of them.\n",
	.run = rewrite_model,
	CLI_OPTIONS_BUT_FIRST(options),
};
