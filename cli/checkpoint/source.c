#include "checkpoint/source.h"

#include "base/clock.h"

#include <sherd/detect.h>

#include <stdlib.h>
#include <string.h>

static bool is_shard(const cli_place *place)
{
	sherd_format format;
	return sherd_detect(&format, place->store, place->key, NULL) == SHERD_OK &&
	       format == SHERD_FORMAT_CHECKPOINT_SHARD;
}

static bool ends_with_slash(const char *path)
{
	size_t len = strlen(path);
	return len && path[len - 1] == '/';
}

/* SHERD_ENOTFOUND when no checkpoint is committed there. */
static int open_newest(cli_source *s, cli_state *cli, const char *path, const sherd_ckpt_options *options,
                       sherd_error *err)
{
	CLI_AUTO(sherd_ckpt_list, sherd_ckpt_list_close) list = NULL;
	sherd_ckpt_options looking = {.pool = cli->pool, .progress = &cli->waiting};
	TRY(cli_place_open_folder(&s->place, path, err));
	int rc = sherd_ckpt_list_open(&list, s->place.store, "", &looking, err);
	if (rc == SHERD_OK) {
		const sherd_ckpt_listing *newest = sherd_ckpt_list_newest(list, cli_clock_now());
		if (newest)
			rc = sherd_ckpt_open(&s->ckpt, s->place.store, newest->prefix, options, err);
		else
			rc = cli_fail(err, SHERD_ENOTFOUND, "not-found", "no committed checkpoint is in this folder");
		if (rc == SHERD_OK)
			cli_out_note(&cli->out, "%s%s: the newest in %s", sherd_store_label(s->place.store),
			             newest->prefix, path);
	}
	(void)cli_place_blame(&s->place, rc, err);
	if (rc < 0)
		cli_place_close(&s->place);
	return rc;
}

static int checkpoint_source_open_named(cli_source *s, const char *path, const sherd_ckpt_options *options,
                                        sherd_error *err)
{
	TRY(cli_place_open(&s->place, path, false, err));
	int rc;
	if (is_shard(&s->place)) {
		rc = sherd_ckpt_open_shard(&s->ckpt, s->place.store, s->place.key, options, err);
	} else {
		cli_place_close(&s->place);
		TRY(cli_place_open_prefix(&s->place, path, err));
		rc = sherd_ckpt_open(&s->ckpt, s->place.store, s->place.key, options, err);
	}
	(void)cli_place_blame(&s->place, rc, err);
	return rc;
}

int cli_source_open(cli_source *s, cli_state *cli, const char *path, bool partial, sherd_error *err)
{
	sherd_ckpt_options options = {.pool = cli->pool, .progress = &cli->waiting, .group = cli->group};
	*s = (cli_source){.lost = {.cli = cli, .place = &s->place}};
	if (partial) {
		options.lost = cli_lost_tell;
		options.lost_arg = &s->lost;
	}
	if (ends_with_slash(path) && open_newest(s, cli, path, &options, err) == SHERD_OK)
		return SHERD_OK;
	int rc = checkpoint_source_open_named(s, path, &options, err);
	bool folder = s->place.beside;
	if (rc < 0) {
		cli_lost_done(&s->lost);
		cli_place_close(&s->place);
	}
	/* Nothing has that prefix, but a folder of that name is there. */
	if (rc == SHERD_ENOTFOUND && (folder || strcmp(err->reason, "is-folder") == 0)) {
		if (cli->group)
			cli->group->failed = false; /* all have heard it, and all go on */
		rc = open_newest(s, cli, path, &options, err);
	}
	return rc;
}

void cli_source_close(cli_source *s)
{
	sherd_ckpt_close(s->ckpt);
	cli_place_close(&s->place);
	cli_lost_done(&s->lost);
}
