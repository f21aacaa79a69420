/* s3/put.h - one PUT that holds to its condition, whatever the server answers. */
#pragma once

#include "s3.h"

typedef struct shd_s3_putting {
	const char *key;
	const void *body;
	size_t len;
	bool exclusive;          /* only where nothing is */
	const char *if_identity; /* only in place of this one; or NULL */
	bool mark;               /* instead of a body: what says that the object was removed */
} shd_s3_putting;

/* SHERD_EEXIST, SHERD_ECONFLICT "replaced", or SHERD_EUNKNOWN, where a try got no answer and may come yet.
 * identity: 72 bytes for what was written, or NULL. */
int shd_s3_put(shd_s3 *s, const shd_s3_putting *p, char *identity, sherd_error *err);
/* The value of If-Match for an ETag without quotes; SHD_S3_MOST_ETAG + 2 bytes. */
void shd_s3_condition(const shd_s3_manners *manners, const char *etag, char *out);
