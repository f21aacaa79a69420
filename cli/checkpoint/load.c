#include "commands.h"
#include "checkpoint/source.h"
#include "tensors/target.h"

#include <inttypes.h>
#include <stdlib.h>

static int checkpoint_load_take_ranks(sherd_bundle_select_options *want, const cli_args *args, sherd_error *err)
{
	TRY(cli_args_count(args, "world", 1, &want->world, err));
	TRY(cli_args_count(args, "rank", 0, &want->rank, err));
	want->cut = cli_args_has(args, "cut");
	if (cli_args_has(args, "rank") != cli_args_has(args, "world"))
		return cli_usage(err, "--rank and --world go together");
	if (want->world && want->rank >= want->world)
		return cli_usage(err, "--rank must be below --world %" PRIu32, want->world);
	if (want->cut && !want->world)
		return cli_usage(err, "--cut needs --rank and --world");
	return SHERD_OK;
}

static int checkpoint_load(cli_state *cli, cli_source *from, const cli_target *target,
                           const sherd_bundle_select_options *want, bool partial, sherd_error *err)
{
	CLI_AUTO(sherd_bundle, sherd_bundle_close) bundle = NULL;
	CLI_AUTO(sherd_bundle, sherd_bundle_close) selected = NULL;
	CLI_AUTO(sherd_bundle, sherd_bundle_close) whole = NULL;
	const cli_place *place = &from->place;
	TRY(cli_place_blame(place, sherd_bundle_of_ckpt(&bundle, from->ckpt, err), err));
	TRY(cli_place_blame(place, cli_lost_check(&from->lost, bundle, err), err));
	TRY(cli_place_blame(place, sherd_bundle_select(&selected, bundle, want, err), err));
	if (partial)
		TRY(cli_place_blame(place, cli_lost_sift(&whole, &from->lost, selected, want->names, err), err));
	return cli_target_write(cli, target, partial ? whole : selected, err);
}

static int checkpoint_load_run(cli_state *cli, const cli_args *args, sherd_error *err)
{
	const char *out = cli_args_text(args, "output"), *name;
	cli_target target;
	CLI_AUTO_SOURCE from = {0};
	sherd_bundle_select_options want = {0};
	size_t next = 0;
	if (!out)
		return cli_usage(err, "-o OUT is missing");
	TRY(cli_target_take(&target, args, out, err));
	TRY(checkpoint_load_take_ranks(&want, args, err));
	CLI_AUTO_FREE const char **names = calloc(args->given_count + 1, sizeof(*names));
	if (!names)
		return cli_no_memory(err);
	while ((name = cli_args_each(args, "tensor", &next)))
		names[want.name_count++] = name;
	want.names = want.name_count ? names : NULL;
	bool partial = cli_args_has(args, "partial");
	TRY(cli_source_open(&from, cli, args->operands[0], partial, err));
	return checkpoint_load(cli, &from, &target, &want, partial, err);
}

static const cli_option options[] = {
	{"output", "OUT", "where to write; its end tells the format, as for sherd convert", 'o'},
	{"tensor", "NAME", "only this tensor; may be repeated", 0},
	{"rank", "R", "only the part of this rank", 0},
	{"world", "W", "how many ranks load", 0},
	{"cut", NULL, "rows [R*d/W, (R+1)*d/W) of every tensor instead of whole tensors by size", 0},
	{"partial", NULL, "what is missing or damaged is left out: load the tensors that are whole", 0},
	{"replace", NULL, "OUT may exist and is replaced", 0},
};

const cli_command cli_command_checkpoint_load = {
	.name = "checkpoint load",
	.operands = "PREFIX -o OUT",
	.summary = "Writes a checkpoint, or a rank's part of it, as one file",
	.details = "What is loaded is verified first; nothing is written when a byte of it is wrong. A folder stands\n"
		   "for the newest checkpoint in it, a shard for itself.\n",
	.run = checkpoint_load_run,
	CLI_OPTIONS(options),
};
