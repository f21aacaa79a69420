/* s3/role.h - credentials for a while, that a container or an instance is given. */
#pragma once

#include "http.h"

/* All NULL: none. */
typedef struct shd_s3_credentials {
	char *id, *secret, *token; /* token may be NULL */
	int64_t until;             /* seconds since 1970; 0: for ever */
} shd_s3_credentials;

/* Secrets are wiped. */
void shd_s3_credentials_free(shd_s3_credentials *c);

/* Asks the endpoint that the environment of a container names, else that of an instance (IMDSv2).
 * SHERD_EINVAL, "no-credentials", when there is none. */
int shd_s3_role_ask(shd_s3_credentials *out, shd_http *http, sherd_error *err);
