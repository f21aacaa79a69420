/* s3/config.h - which server, and who asks: settings, the environment, and the files that AWS's tools share. */
#pragma once

#include "role.h"

#include <sherd/store.h>

typedef struct shd_s3_config {
	char *bucket;
	char *origin; /* "https://host:port" */
	char *host;   /* as in the header Host */
	char *base;   /* what stands before the key in a path: "" or "/bucket", encoded */
	char *region;
	char *ca_bundle;                /* or NULL */
	shd_s3_credentials credentials; /* none where nobody asks by name, or a role has to be asked for them */
	bool by_role;
	bool plain;  /* no S3: objects of any server by their URL, which are read */
	char *query; /* plain: what stands behind the key of the object that was named, with '?'; or NULL */
	char *named; /* plain: that key */
	bool aws;    /* a server of AWS, which is documented to honour conditions */
	bool alone;  /* nobody else writes */
	long timeout_ms, request_ms, delay_ms;
	int retries;
	size_t part; /* bytes of a part, and of what is written at once */
} shd_s3_config;

extern const char *const shd_s3_settings[]; /* ends with NULL */

/* On failure too, what is there has to be freed. No message tells a secret. */
int shd_s3_config_find(shd_s3_config *out, const char *bucket, const sherd_store_options *options, sherd_error *err);
/* Of a plain server, which the caller places. */
int shd_s3_config_plain(shd_s3_config *out, const sherd_store_options *options, sherd_error *err);
void shd_s3_config_free(shd_s3_config *config);
