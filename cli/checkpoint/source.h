/* cli/checkpoint/source.h - the checkpoint that a command reads, by whatever names it. */
#pragma once

#include "base/lost.h"

#include <sherd/ckpt.h>

typedef struct cli_source {
	cli_place place;
	sherd_ckpt *ckpt;
	cli_lost lost;
} cli_source;

/* A prefix, a metadata file, one shard, which is that shard alone, or a folder, which is the newest checkpoint in it;
 * that is told. partial: what is missing is told, too, and the rest is opened. */
int cli_source_open(cli_source *source, cli_state *cli, const char *path, bool partial, sherd_error *err);
void cli_source_close(cli_source *source);
#define CLI_AUTO_SOURCE __attribute__((cleanup(cli_source_close))) cli_source
