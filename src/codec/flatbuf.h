/* codec/flatbuf.h - reading FlatBuffers, every access checked.
 *
 * No field is read before its table, vtable and bytes are known to lie inside the buffer. Calls need no checking: the
 * first failure sticks with its byte, everything read later is absent or zero, so that loops end, and
 * shd_flatbuf_check() reports it. What is visited is charged against a budget of about twice the buffer's size, so
 * that offsets which meet again and again cannot make much work of a small file. Depth is the caller's: the reader
 * never descends by itself.
 *
 * The buffer is memory, or anything that bytes can be fetched from; then a few pages of it are kept, and large vectors
 * that are only described are never fetched. */
#pragma once

#include "base/arena.h"
#include "base/error.h"

typedef int shd_flatbuf_fetch_fn(void *arg, uint64_t offset, void *buf, size_t len, sherd_error *err);

typedef struct shd_flatbuf {
	const uint8_t *data; /* NULL: fetched */
	uint64_t size;
	uint64_t end;    /* nothing is read from here on: size, or less inside of a vector */
	uint64_t budget; /* bytes that may still be visited */
	uint64_t room;   /* of those, bytes that may be read: all but spans; the caller may lower it at first */
	uint64_t misses; /* pages that may still be fetched */
	shd_flatbuf_fetch_fn *fetch;
	void *arg;
	struct shd_flatbuf_page *pages;
	uint32_t sets; /* of pages, by number */
	uint64_t tick;
	uint8_t across[8]; /* bytes that lie on two pages */
	int rc;            /* of the first failure */
	sherd_error error;
} shd_flatbuf;

/* A table; pos 0 when it is absent (a buffer begins with the offset of its root, never with a table). */
typedef struct shd_flat_table {
	uint64_t pos, vtable;
	uint16_t slots; /* fields that the vtable tells of */
	uint16_t size;  /* of the table's own bytes */
} shd_flat_table;

/* A vector, or the bytes of one; at is where its first element lies, 0 when the vector is absent. */
typedef struct shd_flat_vector {
	uint64_t at;
	uint32_t count;
} shd_flat_vector;

void shd_flatbuf_over(shd_flatbuf *fb, const void *data, size_t size);
int shd_flatbuf_open(shd_flatbuf *fb, shd_flatbuf_fetch_fn *fetch, void *arg, uint64_t size, sherd_error *err);
void shd_flatbuf_done(shd_flatbuf *fb);
int shd_flatbuf_check(const shd_flatbuf *fb, sherd_error *err);
/* Keeps a failure that the caller found, unless there was one before. reason is a string literal. */
__attribute__((format(printf, 5, 6))) void shd_flatbuf_fail(shd_flatbuf *fb, sherd_status code, const char *reason,
                                                            uint64_t offset, const char *fmt, ...);

shd_flat_table shd_flatbuf_root(shd_flatbuf *fb);
/* The root of a buffer that lies in a vector of bytes, taken by shd_flat_span(). Positions stay those of the whole.
 * Until shd_flatbuf_leave() is called with what *outer was set to, nothing after the vector is read. */
shd_flat_table shd_flatbuf_enter(shd_flatbuf *fb, const shd_flat_vector *v, uint64_t *outer);
void shd_flatbuf_leave(shd_flatbuf *fb, uint64_t outer);
/* Copies bytes that lie anywhere in the buffer. */
bool shd_flatbuf_copy(shd_flatbuf *fb, uint64_t pos, void *out, size_t len);

/* Where a field lies in the buffer; 0 when it is absent. */
uint64_t shd_flat_place(shd_flatbuf *fb, const shd_flat_table *t, unsigned field);
/* Fields of a table, by their number; the value given when the field is absent. */
bool shd_flat_has(shd_flatbuf *fb, const shd_flat_table *t, unsigned field);
uint8_t shd_flat_u8(shd_flatbuf *fb, const shd_flat_table *t, unsigned field, uint8_t absent);
int32_t shd_flat_i32(shd_flatbuf *fb, const shd_flat_table *t, unsigned field, int32_t absent);
int64_t shd_flat_i64(shd_flatbuf *fb, const shd_flat_table *t, unsigned field, int64_t absent);
shd_flat_table shd_flat_child(shd_flatbuf *fb, const shd_flat_table *t, unsigned field);
/* A copy in the arena, UTF-8 without NUL inside; NULL when it is absent. */
const char *shd_flat_text(shd_flatbuf *fb, const shd_flat_table *t, unsigned field, shd_arena *arena);
/* The vector lies in the buffer with all its elements of so many bytes: 1, 4 for tables and texts too, or 8. */
shd_flat_vector shd_flat_list(shd_flatbuf *fb, const shd_flat_table *t, unsigned field, uint32_t element);

/* The same for a vector of bytes that is only described: it is neither read nor counted as such. */
shd_flat_vector shd_flat_span(shd_flatbuf *fb, const shd_flat_table *t, unsigned field);

/* Elements; the index is below the count. */
shd_flat_table shd_flat_element(shd_flatbuf *fb, const shd_flat_vector *v, uint32_t index);
const char *shd_flat_element_text(shd_flatbuf *fb, const shd_flat_vector *v, uint32_t index, shd_arena *arena);
uint8_t shd_flat_element_u8(shd_flatbuf *fb, const shd_flat_vector *v, uint32_t index);
int32_t shd_flat_element_i32(shd_flatbuf *fb, const shd_flat_vector *v, uint32_t index);
int64_t shd_flat_element_i64(shd_flatbuf *fb, const shd_flat_vector *v, uint32_t index);
