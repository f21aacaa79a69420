/* engine/tensors/convert.h - one conversion on its way: where from, where to, how far. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/meter.h"
#include "engine/publish/part.h"

#include <sherd/convert.h>

typedef struct shd_conversion {
	const sherd_bundle *from;
	sherd_store *store;
	const char *key;
	uint32_t shards; /* at least 1 */
	bool replace;
	const sherd_convert_options *options; /* as given, never NULL */
	const struct shd_format_entry *to;
	const char *like; /* the head of a set, whose mode its objects take where it is there before; or NULL */
	sherd_pool *pool;
	shd_meter meter;
	shd_arena arena; /* everything below objects */
} shd_conversion;

/* One object to write: a head, then the data of tensors in this order. */
typedef struct shd_conversion_object {
	const char *key;
	shd_buf head;
	const size_t *tensors;
	size_t count;
	uint32_t align; /* data of each tensor fill up to a multiple of this, with zeros; 0: they do not */
	bool summed;    /* crc32 is wanted */
	/* Writes all of it otherwise, and sets bytes; NULL: head and tensors as they are. */
	int (*write)(shd_conversion *c, struct shd_conversion_object *o, sherd_writer *writer, sherd_error *err);
	void *arg;
	/* When it was written: */
	shd_part part;
	uint64_t bytes;
	uint32_t crc32; /* of all of it */
} shd_conversion_object;

/* Writes all of them in parallel, where nothing may stand. After a failure those that were written are still there. */
int shd_conversion_write(shd_conversion *c, shd_conversion_object *objects, size_t count, sherd_error *err);
/* Removes those that were written; false when one could not be. */
bool shd_conversion_undo(shd_conversion *c, shd_conversion_object *objects, size_t count);
/* Opens an object that is the whole target, for who writes it otherwise; without replace SHERD_EEXIST when it is there.
 */
int shd_conversion_open_one(shd_conversion *c, const char *key, uint64_t size_hint, sherd_writer **out,
                            sherd_error *err);
/* Writes an object that is the whole target; without replace SHERD_EEXIST when it is there. */
int shd_conversion_write_one(shd_conversion *c, shd_conversion_object *object, sherd_error *err);
