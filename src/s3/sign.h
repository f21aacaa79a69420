/* s3/sign.h - AWS Signature Version 4: who asks, and that nobody changed what was asked. */
#pragma once

#include "text.h"

#include <sherd/pair.h>

#include <time.h>

#define SHD_S3_HASH_HEX 65  /* 64 digits and NUL */
#define SHD_S3_DATE_TEXT 17 /* "20130524T000000Z" and NUL */
#define SHD_S3_MOST_SIGNED 24

typedef struct shd_s3_signing {
	const char *method;
	const char *path;  /* encoded once, as it is sent */
	const char *query; /* encoded, in byte order, each name with '=' */
	const char *hash;  /* of the body, in hexadecimal */
	const char *date;
	const char *region, *service;
	const sherd_pair *headers; /* names in lower case, in any order, each once; at most SHD_S3_MOST_SIGNED */
	size_t count;
} shd_s3_signing;

void shd_s3_hash(const void *data, size_t len, char out[SHD_S3_HASH_HEX]);
void shd_s3_date(time_t when, char out[SHD_S3_DATE_TEXT]);
/* Appends the value of the header Authorization. */
void shd_s3_sign(shd_s3_text *out, const shd_s3_signing *s, const char *id, const char *secret);
