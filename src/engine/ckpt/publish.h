/* engine/ckpt/publish.h - the last step of a save: the metadata, built from the shards themselves. */
#pragma once

#include "base/meter.h"

#include <sherd/ckpt.h>

typedef struct ckpt_publication {
	sherd_store *store;
	const char *prefix;
	sherd_set_id set_id;
	uint32_t world;
	const char *replaces; /* identity of the metadata to replace, or of a vacant one; "": there must be none */
	sherd_pool *pool;
	shd_meter *meter;
	bool counts_shards; /* the meter does, those that are found; else nothing */
	bool only_check;    /* everything but the last step */
	const sherd_limits *limits;
} ckpt_publication;

/* The metadata does not depend on who publishes it. SHERD_EINCOMPLETE names the first missing rank;
 * SHERD_EEXIST or SHERD_ECONFLICT when another set was published first; SHERD_ECANCELLED: nothing was; SHERD_EUNKNOWN:
 * it may be, or become so, and its shards must stay. */
int shd_ckpt_publish(const ckpt_publication *p, sherd_error *err);
