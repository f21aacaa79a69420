/* engine/model/sdnb.h - models in SDNB files: one, or several that belong together, in a store or in an archive. */
#pragma once

#include "engine/model/model.h"
#include "format/samediff/graph.h"
#include "format/samediff/sdnb.h"

/* One file, decoded: its graph, and what lies after it. */
typedef struct shd_sdnb_part {
	shd_samediff_graph graph; /* data of its arrays counts from the start of the file */
	size_t entry_count;
	const shd_java_manifest_entry *entries;
	uint64_t trailing; /* bytes after the manifest */
} shd_sdnb_part;

int shd_sdnb_part_open(const sherd_reader *reader, const sherd_limits *limits, shd_arena *arena, shd_sdnb_part *out,
                       sherd_error *err);

/* The files of a model: one, or all shards in their order. */
typedef struct shd_sdnb_files {
	size_t count;
	const char **keys;
	bool sharded;
} shd_sdnb_files;

/* key names a file, one shard of a set, or the base of one (with or without .sdnb). SHERD_EINCOMPLETE, "missing-shard",
 * names the first that is not there; SHERD_ECORRUPT, "two-sets", when the base has two whole sets. */
int shd_sdnb_find(sherd_store *store, const char *key, const sherd_limits *limits, shd_arena *arena,
                  shd_sdnb_files *out, sherd_error *err);
/* Is the key the base of shards? */
int shd_sdnb_has_shards(sherd_store *store, const char *key, bool *out, sherd_error *err);

typedef struct shd_sdnb_model {
	sherd_model base;
	sherd_store *archive; /* that the files lie in; NULL: they lie in the caller's store */
	size_t reader_count;  /* opened so far */
	sherd_reader **readers;
	const shd_nd4j_array *arrays;
	const uint32_t *files; /* for each array the reader that has it */
	uint64_t trailing;     /* bytes after the manifests */
} shd_sdnb_model;

/* The SDNB model that a model is, in an archive or not; NULL when it is none. */
const shd_sdnb_model *shd_sdnb_of(const sherd_model *model);

/* Opens the model that the key names in the store. archive, when it is not NULL, becomes the model's, also when this
 * fails. */
int shd_sdnb_open(sherd_model **out, sherd_store *store, const char *key, const sherd_limits *limits,
                  sherd_store *archive, sherd_error *err);
