/* engine/model/sdz.h - an archive as a store: its entries are objects that can be read, under
 * <key of the archive>/<name of the entry>. */
#pragma once

#include "engine/tensors/archive.h"
#include "engine/tensors/report.h"

#include <sherd/limits.h>
#include <sherd/sys/backend.h>

enum { SHD_SDZ_MOST_ENTRIES = 1000, SHD_SDZ_MOST_NAME = 768 };

typedef struct shd_sdz_store {
	sherd_store base;
	shd_archive archive;
	const char *prefix; /* of keys, with the '/' at its end */
} shd_sdz_store;

/* The store is read only. */
int shd_sdz_store_open(shd_sdz_store **out, sherd_store *store, const char *key, const sherd_limits *limits,
                       sherd_error *err);

/* Does the archive hold a model, or may it have before it was damaged? Where it is only beyond us, its name tells. */
int shd_sdz_has_model(sherd_store *store, const char *key, bool *out, sherd_error *err);

/* The model, as shd_model_verify() does; then, unless quick, every entry against its CRC and its sizes. */
int shd_sdz_verify(sherd_report *r, sherd_store *store, const char *key, const sherd_verify_options *o,
                   sherd_error *err);
