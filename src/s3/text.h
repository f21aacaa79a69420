/* s3/text.h - text that grows, for requests. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* All zero is empty. Ends with NUL unless it is empty. After an allocation failed nothing is added any more. Memory is
 * wiped before it is given back, since there may be secrets in it. */
typedef struct shd_s3_text {
	char *data;
	size_t len, room;
	bool failed;
} shd_s3_text;

void shd_s3_text_add(shd_s3_text *text, const char *bytes, size_t len);
__attribute__((format(printf, 2, 3))) void shd_s3_text_say(shd_s3_text *text, const char *fmt, ...);
/* Percent-encodes as signatures want it: all but letters, digits and "-._~", and '/' where it is kept. */
void shd_s3_text_encode(shd_s3_text *text, const char *bytes, bool keep_slash);
/* The text, never NULL. */
const char *shd_s3_text_of(const shd_s3_text *text);
void shd_s3_text_clear(shd_s3_text *text);
void shd_s3_text_free(shd_s3_text *text);
