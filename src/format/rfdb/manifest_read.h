/* format/rfdb/manifest_read.h - what the JSON files of a graph database have in common, for the files that read them.
 */
#ifndef SHERD_FORMAT_RFDB_MANIFEST_READ_H
#define SHERD_FORMAT_RFDB_MANIFEST_READ_H

#include "codec/json.h"
#include "format/rfdb/manifest.h"

typedef struct sherd_rfdb_reading {
	sherd_json *json;
	const char *data; /* the document */
	size_t len;
	sherd_arena *arena;
} sherd_rfdb_reading;

/* A string that lasts as long as the document and the arena. */
int sherd_rfdb_take_text(sherd_rfdb_reading *r, sherd_str *out, sherd_error *err);
/* The same for a string that was taken from the parser just now, such as a key. */
int sherd_rfdb_keep_text(sherd_rfdb_reading *r, sherd_str taken, sherd_str *out, sherd_error *err);

int sherd_rfdb_take_descriptors(sherd_rfdb_reading *r, sherd_rfdb_kind kind, sherd_rfdb_descriptors *out,
                                sherd_error *err);
int sherd_rfdb_take_ids(sherd_rfdb_reading *r, sherd_rfdb_ids *out, sherd_error *err);
int sherd_rfdb_take_edge_keys(sherd_rfdb_reading *r, sherd_rfdb_edge_keys *out, sherd_error *err);
int sherd_rfdb_take_numbers(sherd_rfdb_reading *r, sherd_rfdb_numbers *out, sherd_error *err);
int sherd_rfdb_take_tags(sherd_rfdb_reading *r, sherd_rfdb_tags *out, sherd_error *err);
int sherd_rfdb_take_stats(sherd_rfdb_reading *r, sherd_rfdb_stats *out, sherd_error *err);
int sherd_rfdb_take_compaction(sherd_rfdb_reading *r, sherd_rfdb_compaction *out, sherd_error *err);
int sherd_rfdb_take_counts(sherd_rfdb_reading *r, sherd_rfdb_counts *out, sherd_error *err);

/* The seal of a document: a broken one is refused. */
int sherd_rfdb_take_seal(const void *data, size_t len, sherd_seal *out, sherd_error *err);

#endif
