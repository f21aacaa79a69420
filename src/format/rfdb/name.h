/* format/rfdb/name.h - where the parts of a graph database lie. docs/formats/rfdb.md, "Directory". */
#pragma once

#include "base/str.h"

#include <stdint.h>

#define SHD_RFDB_CONFIG "db_config.json"
#define SHD_RFDB_CURRENT "current.json"
#define SHD_RFDB_INDEX "manifest_index.json"
#define SHD_RFDB_PLAN "shard_plan.json"
#define SHD_RFDB_LOCK "LOCK"
#define SHD_RFDB_CLAIM "graph.making"
#define SHD_RFDB_MANIFESTS "manifests/"
#define SHD_RFDB_SEGMENTS "segments/"
#define SHD_RFDB_RUNS "segments/run_" /* how the names of runs begin */

typedef enum shd_rfdb_kind { SHD_RFDB_NODES = 0, SHD_RFDB_EDGES = 1 } shd_rfdb_kind;

/* Enough for each name below and its NUL. */
#define SHD_RFDB_NAME_MAX 64

/* For a segment that lies in segments/ itself, as shard of the name. */
#define SHD_RFDB_FLAT UINT32_MAX

/* "segments/03/seg_000012_nodes.seg" */
void shd_rfdb_segment_name(uint32_t shard, uint64_t id, shd_rfdb_kind kind, char out[SHD_RFDB_NAME_MAX]);
/* "segments/03/seg_000012_nodes.idx" */
void shd_rfdb_sidecar_name(uint32_t shard, uint64_t id, shd_rfdb_kind kind, char out[SHD_RFDB_NAME_MAX]);
/* "segments/03" */
void shd_rfdb_folder_name(uint32_t shard, char out[SHD_RFDB_NAME_MAX]);
/* "manifests/000012.json", or "manifests/000012.edit.json" */
void shd_rfdb_manifest_name(uint64_t version, bool edit, char out[SHD_RFDB_NAME_MAX]);
/* "segments/run_000003.idx": an index over many segments */
void shd_rfdb_run_name(uint64_t number, char out[SHD_RFDB_NAME_MAX]);
/* "manifests/000012.held-3": the manifest before a tag replaced it, which somebody reads */
void shd_rfdb_held_name(uint64_t version, uint64_t number, char out[SHD_RFDB_NAME_MAX]);

typedef struct shd_rfdb_file {
	bool is_sidecar;
	uint32_t shard; /* or SHD_RFDB_FLAT */
	uint64_t id;
	shd_rfdb_kind kind;
} shd_rfdb_file;

/* Take a name apart; false for any name that the functions above would not make. */
bool shd_rfdb_manifest_parse(shd_str name, uint64_t *version, bool *edit);
bool shd_rfdb_held_parse(shd_str name, uint64_t *version, uint64_t *number);
bool shd_rfdb_file_parse(shd_str name, shd_rfdb_file *out);
bool shd_rfdb_run_parse(shd_str name, uint64_t *number);
