#include "commands.h"
#include "checkpoint/source.h"
#include "tensors/target.h"

#include <inttypes.h>
#include <stdlib.h>

static int take_ranks(sherd_bundle_selection *want, const sherd_args *args, sherd_error *err)
{
	TRY(sherd_args_count(args, "world", 1, &want->world, err));
	TRY(sherd_args_count(args, "rank", 0, &want->rank, err));
	want->cut = sherd_args_has(args, "cut");
	if (sherd_args_has(args, "rank") != sherd_args_has(args, "world"))
		return sherd_cli_usage(err, "--rank and --world go together");
	if (want->world && want->rank >= want->world)
		return sherd_cli_usage(err, "--rank must be below --world %" PRIu32, want->world);
	if (want->cut && !want->world)
		return sherd_cli_usage(err, "--cut needs --rank and --world");
	return SHERD_OK;
}

static int load(sherd_cli *cli, sherd_source *from, const sherd_target *target, const sherd_bundle_selection *want,
                bool partial, sherd_error *err)
{
	sherd_bundle *bundle = NULL, *selected = NULL, *whole = NULL;
	int rc = sherd_bundle_of_ckpt(&bundle, from->ckpt, err);
	if (rc == SHERD_OK)
		rc = sherd_lost_check(&from->lost, bundle, err);
	if (rc == SHERD_OK)
		rc = sherd_bundle_select(&selected, bundle, want, err);
	if (rc == SHERD_OK && partial)
		rc = sherd_lost_sift(&from->lost, selected, want->names, &whole, err);
	if (rc < 0)
		(void)sherd_place_blame(&from->place, rc, err);
	else
		rc = sherd_target_write(cli, target, partial ? whole : selected, err);
	sherd_bundle_close(whole);
	sherd_bundle_close(selected);
	sherd_bundle_close(bundle);
	return rc;
}

static int run(sherd_cli *cli, const sherd_args *args, sherd_error *err)
{
	const char *out = sherd_args_text(args, "output"), *name;
	sherd_target target;
	sherd_source from;
	sherd_bundle_selection want = {0};
	size_t next = 0;
	if (!out)
		return sherd_cli_usage(err, "-o OUT is missing");
	TRY(sherd_target_take(&target, args, out, err));
	TRY(take_ranks(&want, args, err));
	const char **names = calloc(args->given_count + 1, sizeof(*names));
	if (!names)
		return sherd_cli_no_memory(err);
	while ((name = sherd_args_each(args, "tensor", &next)))
		names[want.name_count++] = name;
	want.names = want.name_count ? names : NULL;
	bool partial = sherd_args_has(args, "partial");
	int rc = sherd_source_open(&from, cli, args->operands[0], partial, err);
	if (rc == SHERD_OK) {
		rc = load(cli, &from, &target, &want, partial, err);
		sherd_source_close(&from);
	}
	free(names);
	return rc;
}

static const sherd_option options[] = {
	{"output", "OUT", "where to write; its end tells the format, as for sherd convert", 'o'},
	{"tensor", "NAME", "only this tensor; may be repeated", 0},
	{"rank", "R", "only the part of this rank", 0},
	{"world", "W", "how many ranks load", 0},
	{"cut", NULL, "rows [R*d/W, (R+1)*d/W) of every tensor instead of whole tensors by size", 0},
	{"partial", NULL, "what is missing or damaged is left out: load the tensors that are whole", 0},
	{"replace", NULL, "OUT may exist and is replaced", 0},
	{NULL, NULL, NULL, 0},
};

const sherd_command sherd_command_checkpoint_load = {
	.name = "checkpoint load",
	.operands = "PREFIX -o OUT",
	.summary = "Writes a checkpoint, or a rank's part of it, as one file",
	.details = "What is loaded is verified first; nothing is written when a byte of it is wrong. A folder stands\n"
		   "for the newest checkpoint in it, a shard for itself.\n",
	.least = 1,
	.most = 1,
	.run = run,
	.options = options,
};
