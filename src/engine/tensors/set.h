/* engine/tensors/set.h - a target of several objects and a head that names them.
 *
 * README.md of this folder tells the order of steps and why a crash, or a second writer, never leaves a mixture. */
#pragma once

#include "engine/tensors/convert.h"

typedef struct shd_conversion_set shd_conversion_set;

/* What a format of sets tells. */
typedef struct shd_conversion_set_ops {
	/* Fills in the keys of the objects: the plain ones when attempt is NULL, else names with the attempt in them,
	 * which nobody else has ever used. */
	int (*name)(shd_conversion *c, shd_conversion_set *set, const char *attempt, sherd_error *err);
	/* The text of the head, when all objects are written. */
	int (*encode)(shd_conversion *c, const shd_conversion_set *set, shd_buf *out, sherd_error *err);
	/* The keys of the objects that a head names, in c's arena. */
	int (*decode)(shd_conversion *c, const shd_conversion_set *set, const char *text, size_t len,
	              const char *const **keys, size_t *count, sherd_error *err);
	const char *suffix; /* of the names of all objects: nothing else is ever removed */
	/* Objects without a head may stay beside a new set: readers go by the head. Else they are in its way. */
	bool beside;
} shd_conversion_set_ops;

struct shd_conversion_set {
	const shd_conversion_set_ops *ops;
	const char *head, *claim; /* keys */
	const char *prefix;       /* that the keys of all objects begin with */
	shd_conversion_object *objects;
	size_t count;
	const void *arg; /* of ops */
};

/* Writes objects and head, or fails and leaves nothing new. */
int shd_conversion_set_write(shd_conversion *c, shd_conversion_set *set, sherd_error *err);
