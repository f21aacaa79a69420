/* engine/convert/convert.h - one conversion on its way: where from, where to, how far. */
#ifndef SHERD_ENGINE_CONVERT_H
#define SHERD_ENGINE_CONVERT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/meter.h"

#include <sherd/convert.h>

typedef struct sherd_conversion {
	const sherd_bundle *from;
	sherd_store *store;
	const char *key;
	uint32_t shards; /* at least 1 */
	bool replace;
	sherd_pool *pool;
	sherd_meter meter;
	sherd_arena arena; /* everything below objects */
} sherd_conversion;

/* One object to write: a head, then the data of tensors in this order. */
typedef struct sherd_conversion_object {
	const char *key;
	sherd_buf head;
	const size_t *tensors;
	size_t count;
	bool fresh; /* written, and nothing stood there before */
} sherd_conversion_object;

/* Writes all of them in parallel, or fails and removes those that are new. Without replace, SHERD_EEXIST before
 * anything is written when one of them is there, or `last`, which the caller will write (NULL: nothing). */
int sherd_conversion_write(sherd_conversion *c, sherd_conversion_object *objects, size_t count, const char *last,
                           sherd_error *err);
/* Removes those that are new. */
void sherd_conversion_undo(sherd_conversion *c, sherd_conversion_object *objects, size_t count);

int sherd_convert_safetensors(sherd_conversion *c, sherd_error *err);
int sherd_convert_safetensors_index(sherd_conversion *c, sherd_error *err);
int sherd_convert_npy(sherd_conversion *c, sherd_error *err);
/* Models meter themselves. */
int sherd_convert_model(const sherd_conversion *c, sherd_format to, const sherd_convert_options *options,
                        sherd_error *err);
/* Does the format hold a graph? */
bool sherd_convert_holds_graph(sherd_format format);

#endif
