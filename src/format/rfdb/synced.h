/* format/rfdb/synced.h - synced.json: with which databases elsewhere this one has said the same, and when.
 * docs/formats/rfdb.md, "synced.json". */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "codec/sha256.h"

#include <sherd/limits.h>

#define SHD_RFDB_SYNCED "synced.json"
#define SHD_RFDB_MOST_SYNCED 16 /* places; the oldest gives way */

/* Version `here` of this database said what version `there` of the other one does. */
typedef struct shd_rfdb_synced_with {
	shd_str place; /* its name, as it was given */
	uint64_t here, there;
	uint8_t print[SHD_SHA256_BYTES]; /* of what both said */
} shd_rfdb_synced_with;

typedef struct shd_rfdb_synced {
	shd_rfdb_synced_with items[SHD_RFDB_MOST_SYNCED]; /* oldest first */
	size_t count;
} shd_rfdb_synced;

/* It is ours alone: one without a good seal is "bad-seal". Texts lie in the document or the arena. */
int shd_rfdb_synced_decode(const void *data, size_t len, shd_arena *arena, shd_rfdb_synced *out, sherd_error *err);
/* Into an empty buffer, whose sticky failure reports lack of memory. Names are valid UTF-8. */
void shd_rfdb_synced_encode(const shd_rfdb_synced *synced, shd_buf *out);
/* The line of a place, or NULL. */
const shd_rfdb_synced_with *shd_rfdb_synced_find(const shd_rfdb_synced *synced, shd_str place);
/* Puts a line last, in place of the one of the same place. */
void shd_rfdb_synced_put(shd_rfdb_synced *synced, const shd_rfdb_synced_with *with);
