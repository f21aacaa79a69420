#include "codec/flatbuf_build.h"

#include "base/cursor.h"

enum { HEAD = 4, ALIGN = 8 };

static bool failed(const shd_flatbuf_builder *b)
{
	return b->out.failed || b->vtables.failed || b->spans.failed;
}

/* Zeros until a thing that begins `before` bytes later lies at a multiple. */
static void pad(shd_flatbuf_builder *b, size_t before, size_t multiple)
{
	shd_buf_zero(&b->out, (multiple - (b->out.len + before) % multiple) % multiple);
}

/* Makes the offset lead to a place after it; finish() refuses what 32 bits do not hold. */
static void lead(shd_flatbuf_builder *b, size_t from, uint64_t to)
{
	if (!failed(b))
		shd_put_u32(b->out.data + from, (uint32_t)(to - from));
}

void shd_flatbuf_build_init(shd_flatbuf_builder *b)
{
	*b = (shd_flatbuf_builder){0};
	shd_buf_u32(&b->out, 0);
}

void shd_flatbuf_build_done(shd_flatbuf_builder *b)
{
	shd_buf_done(&b->out);
	shd_vec_done(&b->vtables);
	shd_vec_done(&b->spans);
}

/* Fills in the vtable, widest fields first so that no byte between them is lost; returns its size. */
static uint16_t flatbuf_build_plan(const char *widths, uint8_t vtable[HEAD + 2 * SHD_FLATBUF_MOST_FIELDS])
{
	size_t fields = strlen(widths);
	uint16_t size = HEAD;
	while (fields && widths[fields - 1] == '0')
		fields--;
	memset(vtable, 0, HEAD + 2 * fields);
	for (int width = 8; width; width /= 2)
		for (size_t i = 0; i < fields; i++) {
			if (widths[i] - '0' != width)
				continue;
			/* Tables lie 4 bytes before a multiple of 8, so the first field of 8 bytes follows at once. */
			vtable[HEAD + 2 * i] = (uint8_t)size;
			vtable[HEAD + 2 * i + 1] = (uint8_t)(size >> 8);
			size = (uint16_t)(size + width);
		}
	uint16_t bytes = (uint16_t)(HEAD + 2 * fields);
	vtable[0] = (uint8_t)bytes;
	vtable[1] = (uint8_t)(bytes >> 8);
	vtable[2] = (uint8_t)size;
	vtable[3] = (uint8_t)(size >> 8);
	return bytes;
}

/* The position of an equal vtable, made now if there is none yet. */
static size_t place_vtable(shd_flatbuf_builder *b, const uint8_t *vtable, uint16_t bytes)
{
	const size_t *known = b->vtables.items;
	for (size_t i = 0; i < b->vtables.count; i++)
		if (known[i] + bytes <= b->out.len && memcmp(b->out.data + known[i], vtable, bytes) == 0)
			return known[i];
	pad(b, 0, 2);
	size_t at = b->out.len;
	shd_buf_append(&b->out, vtable, bytes);
	if (!failed(b))
		shd_vec_push(&b->vtables, at);
	return at;
}

size_t shd_flatbuf_build_table(shd_flatbuf_builder *b, size_t from, const char *widths)
{
	uint8_t vtable[HEAD + 2 * SHD_FLATBUF_MOST_FIELDS];
	uint16_t bytes = flatbuf_build_plan(widths, vtable);
	size_t at = place_vtable(b, vtable, bytes), size = (size_t)(vtable[2] | vtable[3] << 8);
	pad(b, HEAD, ALIGN);
	size_t table = b->out.len;
	lead(b, from, table);
	shd_buf_u32(&b->out, (uint32_t)(table - at));
	shd_buf_zero(&b->out, size - HEAD);
	return table;
}

size_t shd_flatbuf_build_field(const shd_flatbuf_builder *b, size_t table, unsigned field)
{
	if (failed(b))
		return 0;
	size_t slot = table - shd_get_u32(b->out.data + table) + HEAD + 2 * (size_t)field;
	return table + (size_t)(b->out.data[slot] | b->out.data[slot + 1] << 8);
}

void shd_flatbuf_build_u8(shd_flatbuf_builder *b, size_t table, unsigned field, uint8_t v)
{
	if (!failed(b))
		b->out.data[shd_flatbuf_build_field(b, table, field)] = v;
}

void shd_flatbuf_build_i32(shd_flatbuf_builder *b, size_t table, unsigned field, int32_t v)
{
	if (!failed(b))
		shd_put_u32(b->out.data + shd_flatbuf_build_field(b, table, field), (uint32_t)v);
}

void shd_flatbuf_build_i64(shd_flatbuf_builder *b, size_t table, unsigned field, int64_t v)
{
	if (!failed(b))
		shd_put_u64(b->out.data + shd_flatbuf_build_field(b, table, field), (uint64_t)v);
}

/* The number of elements, which follow. A count beyond 32 bits is more than finish() lets through. */
static void begin_vector(shd_flatbuf_builder *b, size_t from, size_t count, size_t element)
{
	pad(b, HEAD, element > HEAD ? element : HEAD);
	lead(b, from, b->out.len);
	shd_buf_u32(&b->out, (uint32_t)count);
}

void shd_flatbuf_build_text(shd_flatbuf_builder *b, size_t from, const char *text)
{
	begin_vector(b, from, strlen(text), 1);
	shd_buf_append(&b->out, text, strlen(text) + 1);
}

size_t shd_flatbuf_build_offsets(shd_flatbuf_builder *b, size_t from, size_t count)
{
	begin_vector(b, from, count, 4);
	size_t at = b->out.len;
	shd_buf_zero(&b->out, 4 * count);
	return at;
}

void shd_flatbuf_build_bytes(shd_flatbuf_builder *b, size_t from, const void *data, size_t count)
{
	begin_vector(b, from, count, 1);
	shd_buf_append(&b->out, data, count);
}

void shd_flatbuf_build_i32s(shd_flatbuf_builder *b, size_t from, const int32_t *v, size_t count)
{
	begin_vector(b, from, count, 4);
	for (size_t i = 0; i < count; i++)
		shd_buf_u32(&b->out, (uint32_t)v[i]);
}

void shd_flatbuf_build_i64s(shd_flatbuf_builder *b, size_t from, const int64_t *v, size_t count)
{
	begin_vector(b, from, count, 8);
	for (size_t i = 0; i < count; i++)
		shd_buf_u64(&b->out, (uint64_t)v[i]);
}

void shd_flatbuf_build_f64s(shd_flatbuf_builder *b, size_t from, const double *v, size_t count)
{
	begin_vector(b, from, count, 8);
	for (size_t i = 0; i < count; i++) {
		uint64_t bits;
		memcpy(&bits, &v[i], sizeof(bits));
		shd_buf_u64(&b->out, bits);
	}
}

void shd_flatbuf_build_span(shd_flatbuf_builder *b, size_t from, uint64_t len, uint32_t align)
{
	const shd_flatbuf_span span = {.len = len, .from = from, .align = align};
	shd_vec_push(&b->spans, span);
}

static uint64_t round_up(uint64_t v, uint64_t multiple)
{
	return (v + multiple - 1) / multiple * multiple;
}

int shd_flatbuf_build_finish(shd_flatbuf_builder *b, uint64_t most, uint64_t *size, sherd_error *err)
{
	shd_flatbuf_span *spans = b->spans.items;
	uint64_t end = b->out.len;
	if (failed(b))
		return shd_fail_nomem(err);
	most = most > UINT32_MAX ? UINT32_MAX : most;
	for (size_t i = 0; i < b->spans.count && end <= most; i++) {
		spans[i].at = round_up(end + HEAD, spans[i].align);
		end = spans[i].len > most ? most + 1 : spans[i].at + spans[i].len;
	}
	end = round_up(end, ALIGN);
	if (end > most)
		return shd_fail(err, SHERD_EUNSUPPORTED, "too-large", "more than %llu bytes", (unsigned long long)most);
	for (size_t i = 0; i < b->spans.count; i++)
		lead(b, (size_t)spans[i].from, spans[i].at - HEAD);
	*size = end;
	return SHERD_OK;
}

size_t shd_flatbuf_build_spans(const shd_flatbuf_builder *b, const shd_flatbuf_span **out)
{
	*out = b->spans.items;
	return b->spans.count;
}
