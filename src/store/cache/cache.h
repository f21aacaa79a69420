/* store/cache/cache.h - what was read of another store, kept in a local folder.
 *
 * The folder is a store of its own. Its objects are pieces of other objects: blocks, or all of one. Each is named by a
 * hash of where it comes from and of the identity that the object had, so that one that was replaced is never taken for
 * the new one, and ends with a checksum, which is held against it before a byte is handed out. Any number of processes
 * may use a folder: a piece appears whole or not at all, and is the same whoever writes it. */
#pragma once

#include "codec/sha256.h"

#include <sherd/sys/backend.h>

#include <pthread.h>
#include <stdatomic.h>

#define SHD_CACHE_BLOCK ((size_t)4 << 20)
#define SHD_CACHE_TAIL 8                         /* bytes after a piece: its mark, and its CRC-32 */
#define SHD_CACHE_NAME (SHD_SHA256_HEX + 3 + 21) /* "ab/<62 digits>-<number>" and NUL */
#define SHD_CACHE_WHOLE UINT64_MAX               /* instead of the number of a block */

typedef struct shd_cache {
	sherd_store base;
	struct sherd_store_ops ops; /* those of the inner one as far as it has them */
	sherd_store *inner, *folder;
	char *path;            /* of the folder */
	uint64_t most;         /* bytes that it may hold; about */
	pthread_mutex_t mutex; /* held while the folder is swept */
	_Atomic uint64_t held; /* bytes there, as far as we know */
} shd_cache;

/* Where pieces of an object are found. */
typedef struct shd_cache_object {
	char hash[SHD_SHA256_HEX + 1];
	uint64_t size;
} shd_cache_object;

void shd_cache_object_name(shd_cache_object *out, const shd_cache *c, const char *key, const char *identity,
                           uint64_t size);
/* 1 and the bytes of a piece, which is whole; 0 when it is not there, or not whole: that one goes. With out it is open
 * for reading, else closed again. */
int shd_cache_piece_check(sherd_reader **out, shd_cache *c, const shd_cache_object *o, uint64_t block,
                          sherd_error *err);
/* The same of one that was checked before, without looking at its bytes. */
int shd_cache_piece_open(sherd_reader **out, shd_cache *c, const shd_cache_object *o, uint64_t block, sherd_error *err);
/* Keeps a piece. False when it cannot be kept, which is no failure. */
bool shd_cache_piece_put(shd_cache *c, const shd_cache_object *o, uint64_t block, const void *bytes, size_t len);
/* Removes a piece, if it is there. */
void shd_cache_piece_drop(shd_cache *c, const shd_cache_object *o, uint64_t block);
/* Bytes of a block. */
static inline size_t shd_cache_block_len(const shd_cache_object *o, uint64_t block)
{
	uint64_t left = o->size - block * SHD_CACHE_BLOCK;
	return left < SHD_CACHE_BLOCK ? (size_t)left : SHD_CACHE_BLOCK;
}

/* Notes that so many bytes came, and removes what was not used for longest where there are too many. */
void shd_cache_grown(shd_cache *c, uint64_t bytes);

int shd_cache_read(sherd_reader **out, sherd_store *store, const char *key, sherd_error *err);
