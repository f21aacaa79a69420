/* cli/target.h - where converted tensors go, and in which format. */
#ifndef SHERD_CLI_TARGET_H
#define SHERD_CLI_TARGET_H

#include "args.h"

#include <sherd/convert.h>
#include <sherd/model.h>

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
/* Does the format hold models, and nothing else? */
bool sherd_target_is_model(const sherd_target *target);
/* Writes the model with its graph, or the bundle when model is NULL. */
int sherd_target_write(sherd_cli *cli, const sherd_target *target, const sherd_bundle *bundle, const sherd_model *model,
                       sherd_error *err);

#endif
