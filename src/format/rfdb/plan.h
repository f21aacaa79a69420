/* format/rfdb/plan.h - which shard a file of the project belongs to. docs/formats/rfdb.md, "Planners". */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"

#include <sherd/limits.h>

#define SHD_RFDB_MAX_SHARDS 65535
#define SHD_RFDB_MIN_FILES 3 /* the default */

/* The hash planner: depends on the file's directory and the number of shards (> 0), on nothing else. */
uint16_t shd_rfdb_hash_shard(shd_str file, uint16_t shards);

/* The directory planner. An assignment, once made, stays; shards are numbered from 0 without gaps. */
typedef struct shd_rfdb_plan {
	shd_arena arena; /* of names and directories */
	uint32_t min_files;
	uint32_t shard_count;
	struct shd_rfdb_plan_shard *shards; /* by number */
	size_t shard_room;
	struct shd_rfdb_plan_place *places; /* in the order in which they were made */
	size_t place_count, place_room;
	shd_map by_directory; /* to places */
	shd_map by_name;      /* to shards */
} shd_rfdb_plan;

/* An empty plan; min_files 0 means the default. */
void shd_rfdb_plan_init(shd_rfdb_plan *plan, uint32_t min_files);
void shd_rfdb_plan_done(shd_rfdb_plan *plan);

/* Assigns every directory of these files that has no shard yet. files are valid UTF-8 (else SHERD_EINVAL, "bad-utf8");
 * neither their order matters nor whether one is there twice. On success shards[i] (shards may be NULL) is where
 * files[i] belongs; on failure the plan may hold some of the new assignments and must not be used any more. Near-linear
 * in count. */
int shd_rfdb_plan_extend(shd_rfdb_plan *plan, const shd_str *files, size_t count, uint16_t *shards, sherd_error *err);
/* False when the file's directory has no shard yet. */
bool shd_rfdb_plan_find(const shd_rfdb_plan *plan, shd_str file, uint16_t *shard);
/* "_root", "src_auth"; different for different shards. NULL past the last. */
const char *shd_rfdb_plan_name(const shd_rfdb_plan *plan, uint32_t shard);

/* shard_plan.json. Decoding needs an initialised empty plan (its min_files is replaced) and leaves nothing of data
 * in it; after a failure only done may be called. Reasons beside those of JSON: "bad-seal", "unknown-format",
 * "bad-version" (SHERD_EVERSION), "missing-key", "bad-count", "duplicate-name", "out-of-range". */
int shd_rfdb_plan_decode(const void *data, size_t len, const sherd_limits *limits, shd_rfdb_plan *plan,
                         sherd_error *err);
/* Writes the sealed document into an empty buffer, whose sticky failure reports lack of memory. */
void shd_rfdb_plan_encode(const shd_rfdb_plan *plan, shd_buf *out);
