/* cli/tensors/target.h - where converted tensors go, and in which format. */
#ifndef SHERD_CLI_TENSORS_TARGET_H
#define SHERD_CLI_TENSORS_TARGET_H

#include "base/args.h"

#include <sherd/convert.h>
#include <sherd/version.h>

typedef struct sherd_target {
	const char *path;
	const sherd_format_info *info; /* of the format */
	uint32_t shards;
	bool replace;
	bool drop_graph;
	bool drop_pairs, without_updater, allow_missing;
	sherd_compression compress;
	int level;
	bool as_it_was; /* --compress was not given */
} sherd_target;

/* framework.version of the models that this command writes, where they have none. */
#define SHERD_CLI_FRAMEWORK "sherd " SHERD_VERSION

/* "none", "deflate", "deflate:9"; NULL is none. */
int sherd_target_compression(const char *text, sherd_compression *compress, int *level, sherd_error *err);
/* Takes the options of convert, those that the command has; without --to the end of the path decides. */
int sherd_target_take(sherd_target *target, const sherd_args *args, const char *path, sherd_error *err);
/* rc is that of sherd_bundle_missing() or sherd_model_missing(): tells the way out, --allow-missing, which the command
 * has. */
int sherd_target_refuse_missing(int rc, sherd_error *err);
/* How many tensors of the bundle are written, and their bytes. */
size_t sherd_target_count(const sherd_bundle *bundle, bool without_updater, uint64_t *bytes);
int sherd_target_write(sherd_cli *cli, const sherd_target *target, const sherd_bundle *bundle, sherd_error *err);

#endif
