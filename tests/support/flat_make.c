#include "support/flat_make.h"

#include "base/cursor.h"

enum { MOST_FIELDS = 32 };

static void align(shd_buf *b, size_t to, size_t offset)
{
	while ((b->len + offset) % to)
		shd_buf_u8(b, 0);
}

void flat_begin(shd_buf *b)
{
	shd_buf_u32(b, 0);
}

size_t flat_table(shd_buf *b, const char *widths)
{
	uint16_t at[MOST_FIELDS] = {0}, size = 4, count = (uint16_t)strlen(widths);
	for (uint16_t i = 0; i < count; i++) {
		uint16_t width = (uint16_t)(widths[i] - '0');
		if (!width)
			continue;
		size = (uint16_t)((size + width - 1) / width * width);
		at[i] = size;
		size = (uint16_t)(size + width);
	}
	uint16_t vtable = (uint16_t)(4 + 2 * count);
	align(b, 8, vtable);
	shd_buf_u16(b, vtable);
	shd_buf_u16(b, size);
	for (uint16_t i = 0; i < count; i++)
		shd_buf_u16(b, at[i]);
	size_t table = b->len;
	shd_buf_u32(b, vtable);
	shd_buf_zero(b, size - 4u);
	return table;
}

size_t flat_field(const shd_buf *b, size_t table, unsigned field)
{
	size_t slot = table - shd_get_u32(b->data + table) + 4 + 2 * (size_t)field;
	return table + (size_t)(b->data[slot] | b->data[slot + 1] << 8);
}

void flat_point(shd_buf *b, size_t from, size_t to)
{
	shd_put_u32(b->data + from, (uint32_t)(to - from));
}

void flat_set_u8(shd_buf *b, size_t table, unsigned field, uint8_t v)
{
	b->data[flat_field(b, table, field)] = v;
}

void flat_set_i32(shd_buf *b, size_t table, unsigned field, int32_t v)
{
	shd_put_u32(b->data + flat_field(b, table, field), (uint32_t)v);
}

void flat_set_i64(shd_buf *b, size_t table, unsigned field, int64_t v)
{
	shd_put_u64(b->data + flat_field(b, table, field), (uint64_t)v);
}

size_t flat_add_table(shd_buf *b, size_t table, unsigned field, const char *widths)
{
	size_t to = flat_table(b, widths);
	flat_point(b, flat_field(b, table, field), to);
	return to;
}

/* The length of a vector whose elements will follow. */
static void begin_vector(shd_buf *b, size_t from, uint32_t count, size_t element)
{
	align(b, element > 4 ? element : 4, 4);
	flat_point(b, from, b->len);
	shd_buf_u32(b, count);
}

size_t flat_add_offsets(shd_buf *b, size_t table, unsigned field, uint32_t count)
{
	begin_vector(b, flat_field(b, table, field), count, 4);
	size_t at = b->len;
	shd_buf_zero(b, 4 * (size_t)count);
	return at;
}

static void add_text(shd_buf *b, size_t from, const char *text)
{
	begin_vector(b, from, (uint32_t)strlen(text), 4);
	shd_buf_append(b, text, strlen(text) + 1);
}

void flat_add_text(shd_buf *b, size_t table, unsigned field, const char *text)
{
	add_text(b, flat_field(b, table, field), text);
}

void flat_add_texts(shd_buf *b, size_t table, unsigned field, const char *const *texts, uint32_t count)
{
	size_t at = flat_add_offsets(b, table, field, count);
	for (uint32_t i = 0; i < count; i++)
		add_text(b, at + 4 * (size_t)i, texts[i]);
}

void flat_add_bytes(shd_buf *b, size_t table, unsigned field, const void *data, uint32_t len)
{
	begin_vector(b, flat_field(b, table, field), len, 1);
	shd_buf_append(b, data, len);
}

void flat_add_i32s(shd_buf *b, size_t table, unsigned field, const int32_t *v, uint32_t count)
{
	begin_vector(b, flat_field(b, table, field), count, 4);
	for (uint32_t i = 0; i < count; i++)
		shd_buf_u32(b, (uint32_t)v[i]);
}

void flat_add_i64s(shd_buf *b, size_t table, unsigned field, const int64_t *v, uint32_t count)
{
	begin_vector(b, flat_field(b, table, field), count, 8);
	for (uint32_t i = 0; i < count; i++)
		shd_buf_u64(b, (uint64_t)v[i]);
}
