/* engine/tensors/bundle.h - what a format gives so that its tensors can be read as a bundle.
 *
 * A format embeds sherd_bundle as the first member of its own struct, makes it with shd_bundle_new(), fills in
 * tensors and pairs, and ends with shd_bundle_finish(). The front (bundle.c) checks indices, ranges and alignment. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/map.h"
#include "base/meter.h"
#include "format/tensor/safetensors.h"

#include <sherd/bundle.h>

#include <pthread.h>

/* Index and range were checked; len is not 0. All must be safe to call from several threads at once. */
typedef struct shd_bundle_ops {
	int (*read)(const sherd_bundle *, size_t index, uint64_t offset, void *buf, size_t len, sherd_error *err);
	/* All bytes of a tensor that has some, wherever they lie; NULL when the format never can. */
	int (*map)(const void **out, const sherd_bundle *, size_t index, sherd_error *err);
	/* The name of the file that holds a tensor, among several of a set; may be NULL, and so may the name. */
	const char *(*file)(const sherd_bundle *, size_t index);
	/* sherd_bundle_prepare() of these tensors, on the caller's pool; sets the meter's total. NULL when reading
	 * needs nothing first. */
	int (*prepare)(const sherd_bundle *, const size_t *tensors, size_t count, sherd_pool *pool, shd_meter *meter,
	               sherd_error *err);
	/* Are the tensor's bytes what the format recorded of them? *damage tells what was found, its code 0 if nothing
	 * was; *whole is false when nothing else holds the bytes either. What can stand in does from then on. Fails
	 * when neither can be told. Of several tensors at once; nobody reads meanwhile. NULL when nothing is recorded.
	 */
	int (*check)(const sherd_bundle *, size_t index, shd_meter *meter, bool *whole, sherd_error *damage,
	             sherd_error *err);
	/* Frees what the embedding struct owns outside the arena, also when it is half-built; may be NULL. */
	void (*close)(sherd_bundle *);
} shd_bundle_ops;

/* How its bytes are had without going back: a packed member has no middle. Reading otherwise is right, and slow. */
typedef enum shd_bundle_order {
	SHD_BUNDLE_ANYWHERE = 0,
	SHD_BUNDLE_TENSORS, /* each tensor from its front to its end, by one thread */
	SHD_BUNDLE_STREAM   /* all of them, by one thread */
} shd_bundle_order;

/* What the index of several files says, apart from what they say themselves. */
typedef struct shd_bundle_index {
	size_t value_count;
	const sherd_pair *values; /* its metadata: keys and JSON texts */
	size_t pair_count;
	const sherd_pair *pairs; /* of the files alone */
} shd_bundle_index;

struct sherd_bundle {
	const shd_bundle_ops *ops;
	sherd_format format;
	shd_bundle_order order;
	shd_arena arena;      /* everything below, and what the format keeps */
	sherd_reader *reader; /* of the one object that it is, which is closed with it; NULL: there is none */
	size_t count;
	const sherd_tensor *tensors;     /* in stored order */
	const struct sherd_model *model; /* whose arrays these are, all of them; NULL: no model's */
	size_t pair_count;
	const sherd_pair *pairs;
	const size_t
		*same; /* of each tensor, the first one that the file says has the same bytes; NULL: nothing is said */
	size_t global_count;
	const sherd_global *globals; /* that its pickles name */
	const sherd_bundle *whole;   /* of a selection: whose pairs these are; else NULL */
	/* Those of the pairs that have a type, once they were asked for. */
	pthread_mutex_t values_lock;
	shd_arena values_arena;
	const sherd_value *values; /* NULL: they were not */
	size_t value_count;
	const struct sherd_ckpt_about *about; /* of the checkpoint behind it; else NULL */
	const sherd_store *store;             /* that it was opened on; NULL: it is made of others, who tell theirs */
	const shd_bundle_index *index;        /* of several safetensors files; else NULL */
	const struct sherd_set_id *set_id;    /* of the checkpoint that is all of it; else NULL */
	shd_map names;                        /* of tensors to their indices */
};

SHD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)

/* A zeroed struct of size bytes, which begins with a sherd_bundle; sherd_bundle_close() frees it. */
int shd_bundle_new(sherd_bundle **out, size_t size, const shd_bundle_ops *ops, sherd_format format, sherd_error *err);
/* Takes the names of the tensors; two alike are SHERD_ECORRUPT, "duplicate-name". */
int shd_bundle_finish(sherd_bundle *bundle, sherd_error *err);
/* sherd_bundle_values() that tells when memory is out. Thread-safe. */
int shd_bundle_values(const sherd_bundle *bundle, const sherd_value **out, size_t *count, sherd_error *err);
/* The same for a single array that has no name of its own: it gets the last part of the key, without the ending. */
int shd_bundle_finish_one(sherd_bundle *bundle, sherd_tensor *tensor, const char *key, const char *ending,
                          sherd_error *err);

/* Of an index: its key, with its NUL, by that or its base; and a file that it names, of which a missing one makes the
 * set incomplete. */
int shd_bundle_name_index(sherd_store *store, const char *key, shd_buf *out, sherd_error *err);
int shd_bundle_open_named(sherd_reader **out, sherd_store *store, const char *key, sherd_error *err);
/* Reads and decodes the head of a safetensors file. */
int shd_bundle_read_safetensors(const sherd_reader *reader, const sherd_limits *limits, shd_arena *arena,
                                shd_safetensors *out, sherd_error *err);
