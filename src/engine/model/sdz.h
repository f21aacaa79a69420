/* engine/model/sdz.h - an archive as a store: its entries are objects that can be read, under
 * <key of the archive>/<name of the entry>. */
#ifndef SHD_ENGINE_MODEL_SDZ_H
#define SHD_ENGINE_MODEL_SDZ_H

#include "engine/model/sdz_kept.h"
#include "engine/tensors/report.h"
#include "format/zip.h"

#include <sherd/limits.h>
#include <sherd/sys/backend.h>

typedef struct shd_sdz_store {
	sherd_store base;
	sherd_reader *archive;
	shd_arena arena;
	size_t count;
	const shd_zip_entry **entries; /* sorted by name */
	const char *prefix;            /* of keys, with the '/' at its end */
} shd_sdz_store;

/* The store is read only. Readers of stored entries read in place; those of compressed entries inflate, see
 * sdz_stream.h. */
int shd_sdz_store_open(shd_sdz_store **out, sherd_store *store, const char *key, const sherd_limits *limits,
                       sherd_error *err);

/* Does the archive hold a model, or may it have before it was damaged? Where it is only beyond us, its name tells. */
int shd_sdz_has_model(sherd_store *store, const char *key, bool *out, sherd_error *err);

/* Of a reader of this store: parts that will be read one by one, in an order of their own. Takes the parts over, which
 * were allocated by malloc(). */
void shd_sdz_keep(sherd_reader *reader, shd_sdz_part *parts, size_t count);

/* Where the bytes of an entry begin in the archive, after its own head was held against the directory. */
int shd_sdz_find_data(const shd_sdz_store *z, const shd_zip_entry *e, uint64_t *data, sherd_error *err);

/* The model, as shd_model_verify() does; then, unless quick, every entry against its CRC and its sizes. */
int shd_sdz_verify(sherd_report *r, sherd_store *store, const char *key, const sherd_verify_options *o,
                   sherd_error *err);

#endif
