/* format/tensor/gguf_value.h - one value of a GGUF file. */
#pragma once

#include "base/cursor.h"
#include "format/tensor/gguf.h"

/* How far the head was read, and what bounds it. */
typedef struct shd_gguf_input {
	shd_cursor cursor;  /* over the bytes that are there */
	uint64_t file_size; /* of the whole file, whose first bytes these are */
	sherd_limits limits;
	shd_arena *arena;
} shd_gguf_input;

/* Fails when that many things of at least so many bytes cannot follow in the file; returns 1 when more of it has to be
 * there first. So nothing is allocated that the bytes do not justify. */
int shd_gguf_expect(const shd_gguf_input *in, uint64_t count, uint64_t bytes, const char *what, sherd_error *err);
/* A text, borrowed from the bytes: UTF-8, at most most bytes. 1: more of the file is needed, as below. */
int shd_gguf_take_text(shd_gguf_input *in, uint64_t most, const char *what, shd_str *out, sherd_error *err);
/* A value of the type: all but its key, which is for messages. What values of ours cannot hold, arrays in arrays and
 * texts with a NUL, is JSON. */
int shd_gguf_take_value(shd_gguf_input *in, uint32_t type, const char *key, sherd_value *out, sherd_error *err);

/* Appends a value as GGUF has it, its type first, and returns 1. JSON that is made of texts with a NUL is texts again;
 * other JSON is not written, and 0 returned. */
int shd_gguf_put_value(const sherd_value *value, shd_buf *out, sherd_error *err);
void shd_gguf_put_text(shd_str text, shd_buf *out);
