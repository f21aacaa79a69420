#include "commands.h"
#include "base/doc.h"
#include "base/place.h"
#include "base/watch.h"

#include <sherd/ckpt.h>

#include <time.h>

static int checkpoint_publish_tell(cli_state *cli, const char *path, const char *id, const char *key, sherd_error *err)
{
	cli_doc doc = cli_doc_begin(&cli->out);
	cli_doc_put_text(&doc, "prefix", path);
	if (id)
		cli_doc_put_text(&doc, "setId", id);
	cli_doc_put_bool(&doc, key, true);
	return cli_doc_end(&doc, SHERD_OK, err);
}

static int checkpoint_publish_commit(cli_state *cli, const cli_args *args, sherd_error *err)
{
	const char *path = args->operands[0];
	sherd_ckpt_options options = {.pool = cli->pool, .progress = &cli->waiting};
	CLI_AUTO_PLACE place = {0};
	TRY(cli_place_open_prefix(&place, path, err));
	TRY(cli_place_blame(&place, sherd_ckpt_commit(place.store, place.key, &options, err), err));
	cli_out_note(&cli->out, "%s: committed", path);
	return checkpoint_publish_tell(cli, path, NULL, "committed", err);
}

const cli_command cli_command_checkpoint_commit = {
	.name = "checkpoint commit",
	.operands = "PREFIX",
	.summary = "Publishes a set whose ranks have all saved their shards",
	.run = checkpoint_publish_commit,
};

/* The first rank may have to make the folder yet. */
static int open_in_time(cli_place *place, const char *path, uint64_t timeout_ns, sherd_error *err)
{
	const struct timespec pause = {.tv_nsec = 50000000};
	uint64_t passed = 0;
	for (;;) {
		int rc = cli_place_open(place, path, false, err);
		if (rc != SHERD_ENOTFOUND || passed >= timeout_ns)
			return rc;
		TRY(cli_watch_check(err));
		(void)nanosleep(&pause, NULL);
		passed += (uint64_t)pause.tv_nsec;
	}
}

static int wait(cli_state *cli, const cli_args *args, sherd_error *err)
{
	const char *path = args->operands[0], *wanted = cli_args_text(args, "set-id");
	sherd_ckpt_options options = {.pool = cli->pool, .progress = &cli->waiting};
	uint64_t timeout = UINT64_MAX;
	sherd_set_id want;
	CLI_AUTO_PLACE place = {0};
	if (wanted && sherd_set_id_parse(&want, wanted, err) < 0)
		return cli_usage(err, "--set-id must be 32 lower-case hexadecimal digits");
	TRY(cli_args_span(args, "timeout", &timeout, err));
	TRY(open_in_time(&place, path, timeout, err));
	TRY(cli_place_blame(
		&place, sherd_ckpt_wait(place.store, place.key, wanted ? &want : NULL, timeout, &options, err), err));
	cli_out_note(&cli->out, "%s: committed", path);
	return checkpoint_publish_tell(cli, path, wanted, "committed", err);
}

static const cli_option wait_options[] = {
	{"timeout", "TIME", "at most so long: 90, 15m, 12h; without it, for ever", 0},
	{"set-id", "ID", "this very set, when another one may stand there", 0},
};

const cli_command cli_command_checkpoint_wait = {
	.name = "checkpoint wait",
	.operands = "PREFIX",
	.summary = "Waits until all ranks of a checkpoint have saved it, and it is committed",
	.run = wait,
	CLI_OPTIONS(wait_options),
};

static int checkpoint_publish_repair(cli_state *cli, const cli_args *args, sherd_error *err)
{
	const char *path = args->operands[0], *wanted = cli_args_text(args, "set-id");
	sherd_ckpt_repair_options options = {
		.replace = cli_args_has(args, "replace"), .pool = cli->pool, .progress = &cli->progress};
	sherd_set_id want, repaired;
	CLI_AUTO_PLACE place = {0};
	if (wanted && sherd_set_id_parse(&want, wanted, err) < 0)
		return cli_usage(err, "--set-id must be 32 lower-case hexadecimal digits");
	options.set_id = wanted ? &want : NULL;
	TRY(cli_place_open_prefix(&place, path, err));
	TRY(cli_place_blame(&place, sherd_ckpt_repair(place.store, place.key, &options, &repaired, err), err));
	char id[SHERD_SET_ID_TEXT];
	sherd_set_id_format(id, &repaired);
	cli_out_note(&cli->out, "%s: metadata written for set %s, which may never have been committed before", path,
	             id);
	return checkpoint_publish_tell(cli, path, id, "repaired", err);
}

static const cli_option repair_options[] = {
	{"set-id", "ID", "which set, when shards of several complete ones are there", 0},
	{"replace", NULL, "metadata that is there but cannot be read may be replaced", 0},
};

const cli_command cli_command_checkpoint_repair = {
	.name = "checkpoint repair",
	.operands = "PREFIX",
	.summary = "Writes lost metadata anew from the shards, which must all verify",
	.details = "This publishes a set that may never have been committed: the save may have been cancelled, or\n"
		   "another one may have been meant to take its place.\n",
	.run = checkpoint_publish_repair,
	CLI_OPTIONS(repair_options),
};
