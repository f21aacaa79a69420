/* cli/checkpoint/source.h - the checkpoint that a command reads, by whatever names it. */
#ifndef SHERD_CLI_CHECKPOINT_SOURCE_H
#define SHERD_CLI_CHECKPOINT_SOURCE_H

#include "base/lost.h"

#include <sherd/ckpt.h>

typedef struct sherd_source {
	sherd_place place;
	sherd_ckpt *ckpt;
	sherd_lost lost;
} sherd_source;

/* A prefix, a metadata file, one shard, which is that shard alone, or a folder, which is the newest checkpoint in it;
 * that is told. partial: what is missing is told, too, and the rest is opened. */
int sherd_source_open(sherd_source *source, sherd_cli *cli, const char *path, bool partial, sherd_error *err);
void sherd_source_close(sherd_source *source);

#endif
