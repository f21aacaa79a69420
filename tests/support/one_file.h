/* tests/support/one_file.h - every format that is one object, for tests of who writes it, with how many threads. */
#pragma once

#include <sherd/ckpt.h>
#include <sherd/convert.h>
#include <sherd/store.h>

typedef struct one_file {
	const char *key;
	sherd_format format;
	sherd_compression compress;
	sherd_digest digest;
} one_file;

/* Ends with a key of NULL. A checkpoint is the shard that has the key. */
extern const one_file one_files[];

/* Three tensors of so many bytes together, about, each its own; they lie in the store, which must live as long. */
sherd_bundle *one_file_sample(sherd_store *memory, size_t bytes);
/* Writes it, in the place of one that may be there; a checkpoint, whose parts are named by what they replace, where
 * nothing is. */
int one_file_write(const one_file *f, const sherd_bundle *bundle, sherd_store *store, sherd_pool *pool,
                   sherd_error *err);
/* Makes room for a checkpoint. */
void one_file_clear(const one_file *f, sherd_store *store);
