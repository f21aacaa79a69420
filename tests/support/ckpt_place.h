/* tests/support/ckpt_place.h - a store for a test of checkpoints, in memory or in a folder of its own. */
#pragma once

#include <sherd/ckpt.h>
#include <sherd/store.h>

typedef struct ckpt_place {
	sherd_store *store;
	char *folder; /* NULL: in memory */
} ckpt_place;

/* Setup and teardown of a case; *state is a ckpt_place. */
int ckpt_place_memory(void **state);
int ckpt_place_local(void **state);
int ckpt_place_done(void **state);

#define CASE_IN_MEMORY(f)                                                   \
	{                                                                   \
#f " (memory)", f, ckpt_place_memory, ckpt_place_done, NULL \
	}
#define CASE_IN_FOLDER(f)                                                  \
	{                                                                  \
#f " (folder)", f, ckpt_place_local, ckpt_place_done, NULL \
	}
#define CASE_ON_BOTH(f) CASE_IN_MEMORY(f), CASE_IN_FOLDER(f)

/* The store of the running case. */
#define STORE (((ckpt_place *)*state)->store)
#define FOLDER (((ckpt_place *)*state)->folder)

/* All keys, separated by single spaces and in byte order; free()d by the caller. */
char *object_keys(sherd_store *store);
/* How many keys begin so. */
size_t object_count(sherd_store *store, const char *prefix);
/* Fails the test unless these keys, separated by single spaces and in byte order, are all there is. */
void assert_keys(sherd_store *store, const char *keys);

/* Whole objects; what cannot be done fails the test. The result of a get is free()d. */
char *object_get(sherd_store *store, const char *key, size_t *len);
void object_put(sherd_store *store, const char *key, const void *data, size_t len);
void object_copy(sherd_store *from, sherd_store *to, const char *key);
/* The data of a shard of rank 0, with a digest of that kind in the head of another. */
void object_rehead(sherd_store *store, const char *from, sherd_digest old, const char *to, sherd_digest digest,
                   uint32_t tensors);
