/* cli/tensors/target.h - where converted tensors go, and in which format. */
#pragma once

#include "tensors/derive.h"

#include <sherd/convert.h>
#include <sherd/version.h>

typedef struct cli_target {
	const char *path;
	const sherd_format_info *info; /* of the format */
	uint32_t shards;
	uint64_t max_shard; /* bytes; 0: any */
	bool replace;
	bool drop_graph;
	bool drop_pairs, without_updater, allow_missing;
	sherd_compression compress;
	int level;
	bool as_it_was;            /* neither --compress nor --digest sha256 was given */
	const cli_derive *derived; /* what became of the tensors; or NULL */
	sherd_digest digest;
} cli_target;

/* framework.version of the models that this command writes, where they have none. */
#define CLI_FRAMEWORK "sherd " SHERD_VERSION

/* "none", "deflate", "deflate:9"; NULL is none. */
int cli_target_compression(const char *text, sherd_compression *compress, int *level, sherd_error *err);
/* --digest, if it was given. */
int cli_target_digest(const cli_args *args, sherd_digest *digest, sherd_error *err);
/* Takes the options of convert, those that the command has; without --to the end of the path decides. */
int cli_target_take(cli_target *target, const cli_args *args, const char *path, sherd_error *err);
/* rc is that of sherd_bundle_missing() or sherd_model_missing(): tells the way out, --allow-missing, which the command
 * has. */
int cli_target_refuse_missing(int rc, sherd_error *err);
/* How many tensors of the bundle are written, and their bytes. */
int cli_target_count(const sherd_bundle *bundle, bool without_updater, size_t *count, uint64_t *bytes,
                     sherd_error *err);
/* The formats that are written and take this, as --to names them, with one text between them and another before the
 * last; graphs: those of graphs, too. */
void cli_target_formats(unsigned takes, bool graphs, const char *between, const char *last, char *out, size_t room);
/* For --help: what --to takes, how a path ends that is meant so, and what it is. */
void cli_target_list(cli_table *out);
int cli_target_write(cli_state *cli, const cli_target *target, const sherd_bundle *bundle, sherd_error *err);
