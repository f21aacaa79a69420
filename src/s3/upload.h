/* s3/upload.h - one object in parts, several of them on their way at a time. */
#pragma once

#include "s3.h"

typedef struct shd_s3_upload shd_s3_upload;

/* How large parts have to be so that an object of that size can be written; 0 when it is not known. */
size_t shd_s3_upload_part(const shd_s3 *s, uint64_t size);

/* The first part is sent with commit, so that it may change until then. Every part has that size but the last. */
int shd_s3_upload_open(shd_s3_upload **out, shd_s3 *s, const char *key, size_t part, sherd_error *err);
int shd_s3_upload_append(shd_s3_upload *u, const char *bytes, size_t len, sherd_error *err);
/* Both free it. Nothing of what was aborted is left, as far as the server can be reached. */
int shd_s3_upload_commit(shd_s3_upload *u, const char *first, char identity[SHD_S3_IDENTITY], sherd_error *err);
void shd_s3_upload_abort(shd_s3_upload *u); /* NULL is fine */
