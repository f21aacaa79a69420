#include "commands.h"
#include "base/ranks.h"
#include "checkpoint/source.h"
#include "tensors/target.h"

#include <inttypes.h>
#include <stdlib.h>

static int checkpoint_load_take_ranks(sherd_bundle_select_options *want, const cli_ranks *ranks, const cli_args *args,
                                      sherd_error *err)
{
	want->world = ranks->world;
	want->rank = ranks->rank;
	want->cut = cli_args_has(args, "cut");
	if (ranks->found && ranks->world > 1 && !cli_ranks_in_path(cli_args_text(args, "output")))
		return cli_usage(err, "%%r must stand in OUT, for the rank: each writes a file of its own");
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
	cli_ranks ranks;
	CLI_AUTO_SOURCE from = {0};
	sherd_bundle_select_options want = {0};
	size_t next = 0;
	if (!out)
		return cli_usage(err, "-o OUT is missing");
	TRY(cli_ranks_take(&ranks, cli->group, args, err));
	TRY(checkpoint_load_take_ranks(&want, &ranks, args, err));
	CLI_AUTO_FREE char *path = cli_ranks_path(&ranks, out);
	if (!path)
		return cli_no_memory(err);
	TRY(cli_target_take(&target, args, path, err));
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
	{"rank", "R", "only the part of this rank; or auto, mpi", 0},
	{"world", "W", "how many ranks load", 0},
	{"cut", NULL, "rows [R*d/W, (R+1)*d/W) of every tensor instead of whole tensors by size", 0},
	{"partial", NULL, "what is missing or damaged is left out: load the tensors that are whole", 0},
	{"replace", NULL, "OUT may exist and is replaced", 0},
};

const cli_command cli_command_checkpoint_load = {
	.name = "checkpoint load",
	.operands = "PREFIX -o OUT",
	.summary = "Writes a checkpoint, or a rank's part of it, as one file",
	.details =
		"What is loaded is verified first; nothing is written when a byte of it is wrong. A folder stands\n"
		"for the newest checkpoint in it, a shard for itself. Started by mpirun, each rank writes its part:\n"
		"%r in OUT stands for the rank, also with --rank auto, which goes by the launcher's variables.\n",
	.run = checkpoint_load_run,
	.by_ranks = true,
	CLI_OPTIONS(options),
};
