/* cli/target.h - where converted tensors go, and in which format. */
#ifndef SHERD_CLI_TARGET_H
#define SHERD_CLI_TARGET_H

#include "args.h"

#include <sherd/convert.h>

typedef struct sherd_target {
	const char *path;
	sherd_format format;
	uint32_t shards;
	bool replace;
	bool drop_graph;
} sherd_target;

/* Takes --to, --shards, --replace and --drop-graph where the command has them; without --to the end of the path
 * decides. */
int sherd_target_take(sherd_target *target, const sherd_args *args, const char *path, sherd_error *err);
/* Refuses to lose the graph of a model, and tells the way out: --drop-graph, which the command has. */
int sherd_target_refuse_loss(const sherd_bundle *bundle, sherd_format to, sherd_error *err);
int sherd_target_write(sherd_cli *cli, const sherd_target *target, const sherd_bundle *bundle, sherd_error *err);

#endif
