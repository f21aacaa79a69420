/* s3/profile.h - the shared files of AWS's tools, ~/.aws/credentials and ~/.aws/config. */
#pragma once

#include <sherd/error.h>

#include <stdbool.h>
#include <stddef.h>

typedef struct shd_s3_profile shd_s3_profile;

/* Reads what both files say of a profile (NULL: "default"). One that was named and is nowhere is SHERD_ENOTFOUND; files
 * that are not there are empty. */
int shd_s3_profile_read(shd_s3_profile **out, const char *name, sherd_error *err);
/* The value, or NULL. What is indented below "s3" is called "s3.name". Borrowed. */
const char *shd_s3_profile_get(const shd_s3_profile *profile, const char *name);
void shd_s3_profile_free(shd_s3_profile *profile); /* NULL is fine */
