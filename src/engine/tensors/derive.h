/* engine/tensors/derive.h - a bundle that is made of others: what each of its tensors is. */
#pragma once

#include "codec/cast.h"
#include "engine/tensors/bundle.h"

#include <sherd/convert.h>

/* Blocks of a tensor in which values that are too large were counted. */
typedef struct shd_derived_span {
	uint64_t begin, end;
} shd_derived_span;

typedef struct shd_derived_tensor {
	const sherd_bundle *from;
	size_t index;         /* in it */
	const shd_cast *cast; /* NULL: it stays as it is */
	SHD_VEC(shd_derived_span) counted;
} shd_derived_tensor;

typedef struct shd_derived {
	sherd_bundle base;
	shd_derived_tensor *parts; /* one of each tensor */
	size_t part_count;         /* as soon as there are some to be freed */
	sherd_pair *pairs;         /* to be freed; or NULL */
	pthread_mutex_t lock;      /* of all counted and of overflowed */
	bool locked;               /* the lock was made */
	uint64_t overflowed;
	sherd_bundle **owned; /* sources that are closed with it; or NULL */
	size_t owned_count;
} shd_derived;

extern const shd_bundle_ops shd_derived_ops;

/* Bytes [offset, offset+len) of a tensor that is cast. Thread-safe. */
int shd_derived_read(shd_derived *b, size_t index, uint64_t offset, void *buf, size_t len, sherd_error *err);
/* Closes these with the bundle, which was derived from them, and frees the list. */
void shd_derived_own(sherd_bundle *derived, sherd_bundle **sources, size_t count);
/* Takes the pairs of all sources into the bundle. */
int shd_derived_take_pairs(shd_derived *b, const sherd_bundle *const *from, size_t count, sherd_prefer prefer,
                           sherd_error *err);
