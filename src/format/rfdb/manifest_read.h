/* format/rfdb/manifest_read.h - what the JSON files of a graph database have in common, for the files that read them.
 */
#ifndef SHD_FORMAT_RFDB_MANIFEST_READ_H
#define SHD_FORMAT_RFDB_MANIFEST_READ_H

#include "codec/json.h"
#include "format/rfdb/manifest.h"

typedef struct shd_rfdb_reading {
	shd_json *json;
	const char *data; /* the document */
	size_t len;
	shd_arena *arena;
} shd_rfdb_reading;

/* A string that lasts as long as the document and the arena. */
int shd_rfdb_take_text(shd_rfdb_reading *r, shd_str *out, sherd_error *err);
/* The same for a string that was taken from the parser just now, such as a key. */
int shd_rfdb_keep_text(shd_rfdb_reading *r, shd_str taken, shd_str *out, sherd_error *err);

int shd_rfdb_take_descriptors(shd_rfdb_reading *r, shd_rfdb_kind kind, shd_rfdb_descriptors *out, sherd_error *err);
int shd_rfdb_take_ids(shd_rfdb_reading *r, shd_rfdb_ids *out, sherd_error *err);
int shd_rfdb_take_edge_keys(shd_rfdb_reading *r, shd_rfdb_edge_keys *out, sherd_error *err);
int shd_rfdb_take_numbers(shd_rfdb_reading *r, shd_rfdb_numbers *out, sherd_error *err);
int shd_rfdb_take_tags(shd_rfdb_reading *r, shd_rfdb_tags *out, sherd_error *err);
int shd_rfdb_take_stats(shd_rfdb_reading *r, shd_rfdb_stats *out, sherd_error *err);
int shd_rfdb_take_compaction(shd_rfdb_reading *r, shd_rfdb_compaction *out, sherd_error *err);
int shd_rfdb_take_counts(shd_rfdb_reading *r, shd_rfdb_counts *out, sherd_error *err);

/* The seal of a document: a broken one is refused. */
int shd_rfdb_take_seal(const void *data, size_t len, shd_seal *out, sherd_error *err);

#endif
