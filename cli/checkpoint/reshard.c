#include "base/clock.h"
#include "commands.h"
#include "base/doc.h"
#include "checkpoint/source.h"
#include "base/text.h"

#include <inttypes.h>
#include <string.h>

static int checkpoint_reshard_tell(cli_state *cli, const char *path, const sherd_ckpt *ckpt,
                                   const sherd_ckpt_save_options *o, sherd_error *err)
{
	char id[SHERD_SET_ID_TEXT] = ""; /* which files of the C# layout do not hold */
	size_t count = sherd_ckpt_count(ckpt);
	if (o->layout != SHERD_CKPT_LAYOUT_CSHARP)
		sherd_set_id_format(id, o->set_id);
	cli_out_note(&cli->out, "%s: %zu tensor%s of %zu shard%s in %" PRIu32 " shard%s%s%s", path, count,
	             cli_text_plural(count), sherd_ckpt_shards(ckpt), cli_text_plural(sherd_ckpt_shards(ckpt)),
	             o->world, cli_text_plural(o->world), *id ? ", set " : "", id);
	cli_doc doc = cli_doc_begin(&cli->out);
	cli_doc_put_text(&doc, "prefix", path);
	if (*id)
		cli_doc_put_text(&doc, "setId", id);
	cli_doc_put_u64(&doc, "worldSize", o->world);
	cli_doc_put_u64(&doc, "tensors", count);
	return cli_doc_end(&doc, SHERD_OK, err);
}

/* The id follows from the tensors when bytes must repeat. */
static int choose_id(cli_state *cli, const sherd_ckpt *from, const cli_place *to, const cli_clock *clock, bool cut,
                     const sherd_ckpt_save_options *options, sherd_set_id *id, sherd_error *err)
{
	CLI_AUTO(sherd_bundle, sherd_bundle_close) bundle = NULL;
	TRY(sherd_bundle_of_ckpt(&bundle, from, err));
	return cli_clock_set_id(clock, cli, to, bundle, cut, options, id, err);
}

static const char *const layouts[] = {"sherd", "csharp", NULL};
static const char *const digests[] = {"sha256", "blake3", NULL};

/* Shards of one set may differ; the first one tells. */
static int choose_digest(const cli_args *args, const sherd_ckpt *from, sherd_ckpt_save_options *options,
                         sherd_error *err)
{
	bool csharp = options->layout == SHERD_CKPT_LAYOUT_CSHARP;
	unsigned digest = !csharp && strncmp(sherd_ckpt_shard_at(from, 0)->checksum, "blake3:", 7) == 0;
	TRY(cli_args_word(args, "digest", digests, &digest, err));
	if (digest && csharp)
		return cli_usage(err, "--digest blake3 does not go with --layout csharp, which has no place for it");
	options->digest = digest ? SHERD_DIGEST_BLAKE3 : SHERD_DIGEST_SHA256;
	return SHERD_OK;
}

static int reshard(cli_state *cli, const cli_args *args, const sherd_ckpt *ckpt, sherd_error *err)
{
	sherd_ckpt_save_options options = {
		.world = 1, .replace = cli_args_has(args, "replace"), .pool = cli->pool, .progress = &cli->progress};
	cli_clock clock;
	CLI_AUTO_PLACE to = {0};
	sherd_set_id id;
	unsigned layout = 0;
	TRY(cli_args_count(args, "shards", 1, &options.world, err));
	TRY(cli_args_word(args, "layout", layouts, &layout, err));
	options.layout = layout ? SHERD_CKPT_LAYOUT_CSHARP : SHERD_CKPT_LAYOUT_SHERD;
	TRY(choose_digest(args, ckpt, &options, err));
	TRY(cli_clock_read(&clock, err));
	options.time_ns = clock.time_ns;
	options.set_id = &id;
	TRY(cli_place_open(&to, args->operands[1], true, err));
	bool cut = cli_args_has(args, "cut");
	TRY(cli_place_blame(&to, choose_id(cli, ckpt, &to, &clock, cut, &options, &id, err), err));
	TRY(cli_place_blame(&to, sherd_ckpt_reshard(ckpt, to.store, to.key, cut, &options, err), err));
	return checkpoint_reshard_tell(cli, args->operands[1], ckpt, &options, err);
}

static int checkpoint_reshard_run(cli_state *cli, const cli_args *args, sherd_error *err)
{
	CLI_AUTO_SOURCE from = {0};
	if (!cli_args_has(args, "shards"))
		return cli_usage(err, "--shards M is missing");
	TRY(cli_source_open(&from, cli, args->operands[0], false, err));
	return reshard(cli, args, from.ckpt, err);
}

static const cli_option options[] = {
	{"shards", "M", "how many shards the new checkpoint has", 0},
	{"cut", NULL, "cut every tensor by rows instead of giving whole tensors to shards", 0},
	{"layout", "sherd|csharp", "sherd (default) or csharp: 4-byte lengths, no checksums", 0},
	{"digest", "sha256|blake3", "what shards are verified by (default: as those of PREFIX)", 0},
	{"replace", NULL, "NEW may be committed already and is replaced, in one step", 0},
};

const cli_command cli_command_checkpoint_reshard = {
	.name = "checkpoint reshard",
	.operands = "PREFIX NEW",
	.summary = "Writes a checkpoint anew with another number of shards",
	.run = checkpoint_reshard_run,
	CLI_OPTIONS(options),
};
