/* format/samediff/java_text.h - Java's modified UTF-8: NUL takes two bytes, characters beyond 16 bits are two
 * surrogates. */
#pragma once

#include "base/buf.h"

/* Appends the text as UTF-8; false when it is no modified UTF-8, has a surrogate alone or NUL. */
bool shd_java_text_decode(const uint8_t *text, size_t len, shd_buf *out);
/* Appends UTF-8 text as modified UTF-8. */
void shd_java_text_encode(const char *text, size_t len, shd_buf *out);
