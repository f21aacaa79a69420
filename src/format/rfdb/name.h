/* format/rfdb/name.h - where the parts of a graph database lie. docs/formats/rfdb.md, "Directory". */
#ifndef SHERD_FORMAT_RFDB_NAME_H
#define SHERD_FORMAT_RFDB_NAME_H

#include "base/str.h"

#include <stdint.h>

#define SHERD_RFDB_CONFIG "db_config.json"
#define SHERD_RFDB_CURRENT "current.json"
#define SHERD_RFDB_INDEX "manifest_index.json"
#define SHERD_RFDB_PLAN "shard_plan.json"
#define SHERD_RFDB_LOCK "LOCK"
#define SHERD_RFDB_MAKING "graph.making"
#define SHERD_RFDB_MANIFESTS "manifests/"
#define SHERD_RFDB_SEGMENTS "segments/"

typedef enum sherd_rfdb_kind { SHERD_RFDB_NODES = 0, SHERD_RFDB_EDGES = 1 } sherd_rfdb_kind;

/* Enough for each name below and its NUL. */
#define SHERD_RFDB_NAME_MAX 64

/* For a segment that lies in segments/ itself, as shard of the name. */
#define SHERD_RFDB_FLAT UINT32_MAX

/* "segments/03/seg_000012_nodes.seg" */
void sherd_rfdb_segment_name(uint32_t shard, uint64_t id, sherd_rfdb_kind kind, char out[SHERD_RFDB_NAME_MAX]);
/* "segments/03/seg_000012_nodes.idx" */
void sherd_rfdb_sidecar_name(uint32_t shard, uint64_t id, sherd_rfdb_kind kind, char out[SHERD_RFDB_NAME_MAX]);
/* "segments/03" */
void sherd_rfdb_folder_name(uint32_t shard, char out[SHERD_RFDB_NAME_MAX]);
/* "manifests/000012.json", or "manifests/000012.edit.json" */
void sherd_rfdb_manifest_name(uint64_t version, bool edit, char out[SHERD_RFDB_NAME_MAX]);
/* "manifests/000012.held-3": the manifest before a tag replaced it, which somebody reads */
void sherd_rfdb_held_name(uint64_t version, uint64_t number, char out[SHERD_RFDB_NAME_MAX]);

typedef struct sherd_rfdb_file {
	bool is_sidecar;
	uint32_t shard; /* or SHERD_RFDB_FLAT */
	uint64_t id;
	sherd_rfdb_kind kind;
} sherd_rfdb_file;

/* Take a name apart; false for any name that the functions above would not make. */
bool sherd_rfdb_manifest_parse(sherd_str name, uint64_t *version, bool *edit);
bool sherd_rfdb_held_parse(sherd_str name, uint64_t *version, uint64_t *number);
bool sherd_rfdb_file_parse(sherd_str name, sherd_rfdb_file *out);

#endif
