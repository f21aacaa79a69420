/* codec/flatbuf_build.h - making FlatBuffers, from the root down.
 *
 * What refers is made first, what it refers to later, so positions only grow and large payloads (spans) come last: they
 * are never in memory, only their lengths are known, and the caller appends them to the bytes made here. Calls need no
 * checking: lack of memory sticks until shd_flatbuf_build_finish(). Equal vtables are kept once.
 *
 * A position is a byte in the buffer. `from` is the position of an offset that is to lead to the new thing: a field of
 * a table, or an element of a list of offsets. Every one of them must be given something to lead to. */
#pragma once

#include "base/buf.h"

/* A payload: where its bytes lie in the file that is made, and how many they are. */
typedef struct shd_flatbuf_span {
	uint64_t at, len;
	uint64_t from; /* the offset that leads to it */
	uint32_t align;
} shd_flatbuf_span;

typedef struct shd_flatbuf_builder {
	shd_buf out;             /* everything but the spans */
	SHD_VEC(size_t) vtables; /* where each lies */
	SHD_VEC(shd_flatbuf_span) spans;
} shd_flatbuf_builder;

#define SHD_FLATBUF_MOST_FIELDS 64

/* The root's offset lies at 0: make a table from there first. */
void shd_flatbuf_build_init(shd_flatbuf_builder *b);
void shd_flatbuf_build_done(shd_flatbuf_builder *b);

/* A table whose field i takes widths[i] - '0' bytes: 1, 4, 8, or 0 for an absent one; all zero. widths is text of at
 * most SHD_FLATBUF_MOST_FIELDS. Returns its position; absent fields at the end are left out of the vtable. */
size_t shd_flatbuf_build_table(shd_flatbuf_builder *b, size_t from, const char *widths);
/* Where a field lies that is there; 0 when memory is out. */
size_t shd_flatbuf_build_field(const shd_flatbuf_builder *b, size_t table, unsigned field);
void shd_flatbuf_build_u8(shd_flatbuf_builder *b, size_t table, unsigned field, uint8_t v);
void shd_flatbuf_build_i32(shd_flatbuf_builder *b, size_t table, unsigned field, int32_t v);
void shd_flatbuf_build_i64(shd_flatbuf_builder *b, size_t table, unsigned field, int64_t v);

void shd_flatbuf_build_text(shd_flatbuf_builder *b, size_t from, const char *text);
/* Returns the position of the first offset; the others follow, 4 bytes each. */
size_t shd_flatbuf_build_offsets(shd_flatbuf_builder *b, size_t from, size_t count);
void shd_flatbuf_build_bytes(shd_flatbuf_builder *b, size_t from, const void *data, size_t count);
void shd_flatbuf_build_i32s(shd_flatbuf_builder *b, size_t from, const int32_t *v, size_t count);
void shd_flatbuf_build_i64s(shd_flatbuf_builder *b, size_t from, const int64_t *v, size_t count);
void shd_flatbuf_build_f64s(shd_flatbuf_builder *b, size_t from, const double *v, size_t count);
/* A vector of len bytes that the caller will append, at a multiple of align: a power of two, 4 or more. */
void shd_flatbuf_build_span(shd_flatbuf_builder *b, size_t from, uint64_t len, uint32_t align);

/* Places the spans, in the order they were made. What is to be written then: out; before each span zeros up to 4 bytes
 * before its place and its length as a 32-bit number; its bytes; zeros up to *size, a multiple of 8.
 * SHERD_EUNSUPPORTED, "too-large", above most bytes (which are at most 4 GiB less one). */
int shd_flatbuf_build_finish(shd_flatbuf_builder *b, uint64_t most, uint64_t *size, sherd_error *err);
size_t shd_flatbuf_build_spans(const shd_flatbuf_builder *b, const shd_flatbuf_span **out);
