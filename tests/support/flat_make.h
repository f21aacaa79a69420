/* tests/support/flat_make.h - FlatBuffers made by hand: the referring part first, what it refers to later.
 *
 * Positions are bytes in the buffer. Everything is appended; offsets are filled in by flat_point(). */
#pragma once

#include "base/buf.h"

/* Appends the place for the offset of the root. */
void flat_begin(shd_buf *b);
/* A table with fields of so many bytes, one digit each ("0480": field 1 of 4, field 2 of 8 bytes), all zero. */
size_t flat_table(shd_buf *b, const char *widths);
/* Where a field of a table lies. */
size_t flat_field(const shd_buf *b, size_t table, unsigned field);
/* Makes the offset at `from` lead to `to`, which lies behind it. */
void flat_point(shd_buf *b, size_t from, size_t to);
void flat_set_u8(shd_buf *b, size_t table, unsigned field, uint8_t v);
void flat_set_i32(shd_buf *b, size_t table, unsigned field, int32_t v);
void flat_set_i64(shd_buf *b, size_t table, unsigned field, int64_t v);

/* Each makes the field lead to something new. A vector of offsets has them zero; its first one lies at the result. */
size_t flat_add_table(shd_buf *b, size_t table, unsigned field, const char *widths);
size_t flat_add_offsets(shd_buf *b, size_t table, unsigned field, uint32_t count);
void flat_add_text(shd_buf *b, size_t table, unsigned field, const char *text);
void flat_add_texts(shd_buf *b, size_t table, unsigned field, const char *const *texts, uint32_t count);
void flat_add_bytes(shd_buf *b, size_t table, unsigned field, const void *data, uint32_t len);
void flat_add_i32s(shd_buf *b, size_t table, unsigned field, const int32_t *v, uint32_t count);
void flat_add_i64s(shd_buf *b, size_t table, unsigned field, const int64_t *v, uint32_t count);
