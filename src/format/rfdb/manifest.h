/* format/rfdb/manifest.h - the JSON files of a graph database. docs/formats/rfdb.md, "JSON files".
 *
 * Decoded things lie in the arena; strings without escapes point into the document, which must outlive them. Unknown
 * keys are passed over. A seal that is there must be right ("bad-seal"); one that is absent is only noted. Reasons
 * beside those of JSON: "missing-key", "bad-type", "bad-text", "bad-count", "out-of-range". */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/u128.h"
#include "codec/seal.h"
#include "codec/sha256.h"
#include "format/rfdb/name.h"

#include <sherd/limits.h>

typedef struct shd_rfdb_texts {
	const shd_str *items;
	size_t count;
} shd_rfdb_texts;

/* A segment, as a manifest names it. */
typedef struct shd_rfdb_descriptor {
	uint64_t id;
	shd_rfdb_kind kind;
	uint32_t shard; /* or SHD_RFDB_FLAT, which counts as shard 0 */
	uint64_t rows;
	uint64_t bytes;
	shd_rfdb_texts types; /* of nodes or of edges; empty means none or unknown */
	shd_rfdb_texts files; /* of nodes */
	bool has_sha256;      /* of the segment; only we record it */
	uint8_t sha256[SHD_SHA256_BYTES];
} shd_rfdb_descriptor;

typedef struct shd_rfdb_descriptors {
	const shd_rfdb_descriptor *items;
	size_t count;
} shd_rfdb_descriptors;

typedef struct shd_rfdb_edge_key {
	shd_u128 src, dst;
	shd_str type;
} shd_rfdb_edge_key;

typedef struct shd_rfdb_ids {
	const shd_u128 *items;
	size_t count;
} shd_rfdb_ids;

typedef struct shd_rfdb_edge_keys {
	const shd_rfdb_edge_key *items;
	size_t count;
} shd_rfdb_edge_keys;

typedef struct shd_rfdb_numbers {
	const uint64_t *items;
	size_t count;
} shd_rfdb_numbers;

/* The same while they are gathered. */
typedef SHD_VEC(shd_rfdb_descriptor) shd_rfdb_descriptor_vec;
typedef SHD_VEC(shd_u128) shd_rfdb_id_vec;
typedef SHD_VEC(shd_rfdb_edge_key) shd_rfdb_edge_key_vec;
typedef SHD_VEC(uint64_t) shd_rfdb_number_vec;

typedef struct shd_rfdb_tag {
	shd_str key, value;
} shd_rfdb_tag;

typedef struct shd_rfdb_tags {
	const shd_rfdb_tag *items;
	size_t count;
} shd_rfdb_tags;

/* Of L0 alone; rows that are hidden or there twice are counted. */
typedef struct shd_rfdb_stats {
	uint64_t nodes, edges;
	uint32_t node_segments, edge_segments;
} shd_rfdb_stats;

typedef struct shd_rfdb_count {
	shd_str type;
	uint64_t count;
} shd_rfdb_count;

typedef struct shd_rfdb_types {
	const shd_rfdb_count *items; /* ascending by type when we wrote them */
	size_t count;
} shd_rfdb_types;

/* What is alive in this version, by type. Only we record it. */
typedef struct shd_rfdb_counts {
	bool known;
	shd_rfdb_types of[2]; /* SHD_RFDB_NODES, SHD_RFDB_EDGES */
	bool placed;          /* every live edge lies in the shard of its source, and has one */
} shd_rfdb_counts;

typedef struct shd_rfdb_compaction {
	uint64_t version; /* 0: there was none */
	uint64_t time_ms;
	uint32_t merged;
} shd_rfdb_compaction;

/* A version in full. */
typedef struct shd_rfdb_manifest {
	uint64_t version;
	uint64_t created_at; /* seconds since 1970 */
	bool has_parent;
	uint64_t parent;
	shd_rfdb_descriptors nodes, edges;       /* L0, oldest first */
	shd_rfdb_descriptors l1_nodes, l1_edges; /* older than L0 */
	shd_rfdb_ids dead_nodes;
	shd_rfdb_edge_keys dead_edges;
	shd_rfdb_tags tags;
	shd_rfdb_stats stats;
	shd_rfdb_compaction compaction;
	shd_rfdb_counts counts;
	shd_rfdb_numbers given_up; /* versions that are damaged, and that a repair left behind; only we record it */
	shd_seal seal;
} shd_rfdb_manifest;

/* A version as what changed since the one before. */
typedef struct shd_rfdb_edit {
	uint64_t version, parent, created_at;
	shd_rfdb_descriptors added_nodes, added_edges;
	shd_rfdb_numbers removed_nodes, removed_edges; /* segment ids */
	shd_rfdb_ids dead_nodes, undead_nodes;         /* tombstones added; then removed */
	shd_rfdb_edge_keys dead_edges, undead_edges;
	bool has_l1_nodes, has_l1_edges; /* the list replaces the one before */
	shd_rfdb_descriptors l1_nodes, l1_edges;
	shd_rfdb_tags tags; /* all of them */
	shd_rfdb_stats stats;
	shd_rfdb_compaction compaction; /* version 0: as before */
	shd_rfdb_counts counts;
	shd_seal seal;
} shd_rfdb_edit;

int shd_rfdb_manifest_decode(const void *data, size_t len, const sherd_limits *limits, shd_arena *arena,
                             shd_rfdb_manifest *out, sherd_error *err);
int shd_rfdb_edit_decode(const void *data, size_t len, const sherd_limits *limits, shd_arena *arena, shd_rfdb_edit *out,
                         sherd_error *err);

/* The version that edits[count-1] makes of base. Each edit must follow what is in front of it: its version is one
 * more, its parent is the version before; else SHERD_ECORRUPT, "bad-version". Linear in all of them together. The
 * result borrows from base and edits; tombstones come out ascending and once; counts are those of the last edit. */
int shd_rfdb_manifest_apply(const shd_rfdb_manifest *base, const shd_rfdb_edit *edits, size_t count, shd_arena *arena,
                            shd_rfdb_manifest *out, sherd_error *err);
/* The one with this number of all segments that the version names, in nodes and edges and in both levels; NULL after
 * the last. */
const shd_rfdb_descriptor *shd_rfdb_manifest_segment(const shd_rfdb_manifest *m, size_t number);
/* Is a segment id named twice, in nodes and edges and in both levels together? "duplicate-id". */
int shd_rfdb_manifest_check(const shd_rfdb_manifest *m, sherd_error *err);
/* Sums up the L0 lists. */
shd_rfdb_stats shd_rfdb_stats_of(const shd_rfdb_descriptor *nodes, size_t node_count, const shd_rfdb_descriptor *edges,
                                 size_t edge_count);

/* Tombstones ascend by id; by source, destination, bytes of the type. */
int shd_rfdb_edge_key_compare(const shd_rfdb_edge_key *a, const shd_rfdb_edge_key *b);

/* Write sealed documents into an empty buffer, whose sticky failure reports lack of memory. Strings must be valid
 * UTF-8. A compaction with version 0 is left out, so are empty lists where the real server leaves them out. */
void shd_rfdb_manifest_encode(const shd_rfdb_manifest *m, shd_buf *out);
void shd_rfdb_edit_encode(const shd_rfdb_edit *e, shd_buf *out);

/* current.json */
typedef struct shd_rfdb_current {
	uint64_t version;
	uint64_t fence; /* how often it was replaced since, without another version; only we count it */
	bool vacant;    /* there is no version yet: somebody is making the database */
	shd_seal seal;
} shd_rfdb_current;
/* A sealed one has no other keys: another document of ours in its place is refused, "not-current". */
int shd_rfdb_current_decode(const void *data, size_t len, shd_rfdb_current *out, sherd_error *err);
void shd_rfdb_current_encode(const shd_rfdb_current *current, shd_buf *out);

/* db_config.json */
typedef enum shd_rfdb_planner { SHD_RFDB_HASH = 0, SHD_RFDB_DIRECTORY = 1 } shd_rfdb_planner;
typedef struct shd_rfdb_config {
	uint16_t shards;          /* > 0 */
	shd_rfdb_planner planner; /* HASH where nothing is said; an unknown one is SHERD_EUNSUPPORTED, "bad-argument" */
	uint64_t created_at;      /* seconds since 1970; 0 when unknown */
	shd_seal seal;
} shd_rfdb_config;
int shd_rfdb_config_decode(const void *data, size_t len, shd_rfdb_config *out, sherd_error *err);
void shd_rfdb_config_encode(const shd_rfdb_config *config, shd_buf *out);

/* manifest_index.json: a cache, true only while latest is the current version. */
typedef struct shd_rfdb_snapshot {
	uint64_t version, created_at;
	shd_rfdb_tags tags;
	shd_rfdb_stats stats;
} shd_rfdb_snapshot;
typedef struct shd_rfdb_index {
	uint64_t latest;
	const shd_rfdb_snapshot *snapshots;
	size_t count;
	const struct shd_rfdb_tagged *tagged; /* of every tag the version it is found under */
	size_t tagged_count;
	shd_rfdb_numbers segments; /* ids that any version names */
	shd_seal seal;
} shd_rfdb_index;
struct shd_rfdb_tagged {
	shd_str key, value;
	uint64_t version;
};
int shd_rfdb_index_decode(const void *data, size_t len, const sherd_limits *limits, shd_arena *arena,
                          shd_rfdb_index *out, sherd_error *err);
/* tagged must be grouped by key, keys distinct. */
void shd_rfdb_index_encode(const shd_rfdb_index *index, shd_buf *out);
