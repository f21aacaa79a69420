/* format/onnx/fields.h - a protocol buffer, read through a window. */
#pragma once

#include "base/str.h"
#include "format/onnx/model.h"

enum { SHD_ONNX_WINDOW = 16 << 10 };

typedef struct shd_onnx_fields {
	const shd_onnx_source *source;
	uint64_t begin; /* of what is in the window */
	size_t filled;
	uint8_t window[SHD_ONNX_WINDOW];
} shd_onnx_fields;

/* A message, or what is left of it. */
typedef struct shd_onnx_span {
	uint64_t at, end;
} shd_onnx_span;

/* One field: its number, how it is stored, and its value: a number, or bytes that lie there. */
typedef struct shd_onnx_field {
	uint64_t number;
	uint32_t wire; /* 0: number, 1: 8 bytes, 2: bytes, 5: 4 bytes */
	uint64_t value;
	shd_onnx_span bytes; /* of 1, 2 and 5 */
	uint64_t at;         /* where it begins */
} shd_onnx_field;

/* 1 and the next field, 0 at the end of the message. */
int shd_onnx_next(shd_onnx_fields *f, shd_onnx_span *message, shd_onnx_field *out, sherd_error *err);
/* A number in the bytes of packed ones. */
int shd_onnx_number(shd_onnx_fields *f, shd_onnx_span *span, uint64_t *out, sherd_error *err);
int shd_onnx_bytes(shd_onnx_fields *f, shd_onnx_span span, void *buf, sherd_error *err);
/* UTF-8 without NUL, at most so long, in the arena. */
int shd_onnx_text(shd_onnx_fields *f, const shd_onnx_field *field, uint64_t most, shd_arena *arena, const char **out,
                  sherd_error *err);
int shd_onnx_bad(const shd_onnx_field *field, const char *what, sherd_error *err);
