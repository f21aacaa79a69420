/* format/rfdb/manifest_read.h - what the JSON files of a graph database have in common, for the files that read them.
 */
#pragma once

#include "codec/json_members.h"
#include "format/rfdb/manifest.h"

typedef struct shd_rfdb_reading {
	const char *data; /* the document */
	size_t len;
	shd_arena *arena;
} shd_rfdb_reading;

/* Takers of members; arg is the reading. A string lasts as long as the document and the arena. */
shd_json_take_fn shd_rfdb_take_text;          /* shd_str */
shd_json_take_fn shd_rfdb_take_node_segments; /* shd_rfdb_descriptors */
shd_json_take_fn shd_rfdb_take_edge_segments;
shd_json_take_fn shd_rfdb_take_ids;
shd_json_take_fn shd_rfdb_take_edge_keys;
shd_json_take_fn shd_rfdb_take_numbers;
shd_json_take_fn shd_rfdb_take_tags;
shd_json_take_fn shd_rfdb_take_stats;
shd_json_take_fn shd_rfdb_take_compaction;
shd_json_take_fn shd_rfdb_take_counts;
/* A string that was taken from the parser just now, such as a key, that lasts as long. */
int shd_rfdb_keep_text(shd_rfdb_reading *r, shd_str taken, shd_str *out, sherd_error *err);

/* The seal of a document: a broken one is refused. */
int shd_rfdb_take_seal(const void *data, size_t len, shd_seal *out, sherd_error *err);
