#include "codec/flatbuf.h"

#include "base/cursor.h"
#include "codec/json.h"

#include <stdio.h>
#include <stdlib.h>

enum {
	PAGE = 16 << 10,
	SETS = 16,
	WAYS = 4,
	TABLE_COST = 16, /* the least that a visited table is charged: what is made of it takes more than its bytes */
	BUDGET_FREE = 4096, /* so that tiny buffers may share a few things */
	MISSES_FREE = 1024,
	MISSES_PER_PAGE = 16
};

typedef struct shd_flatbuf_page {
	uint64_t number, used; /* used 0: holds nothing */
	uint8_t bytes[PAGE];
} page;

static void init(shd_flatbuf *fb, uint64_t size)
{
	*fb = (shd_flatbuf){.size = size, .end = size, .budget = UINT64_MAX, .room = UINT64_MAX};
	if (size < UINT64_MAX / MISSES_PER_PAGE) {
		fb->budget = 2 * size + BUDGET_FREE;
		fb->misses = MISSES_FREE + MISSES_PER_PAGE * (size / PAGE);
	}
}

void shd_flatbuf_over(shd_flatbuf *fb, const void *data, size_t size)
{
	init(fb, size);
	fb->data = data;
}

int shd_flatbuf_open(shd_flatbuf *fb, shd_flatbuf_fetch_fn *fetch, void *arg, uint64_t size, sherd_error *err)
{
	init(fb, size);
	fb->fetch = fetch;
	fb->arg = arg;
	uint64_t wanted = size / PAGE / WAYS + 1; /* a small buffer gets no more pages than it has, or few */
	fb->sets = wanted < SETS ? (uint32_t)wanted : SETS;
	fb->pages = malloc(sizeof(page) * fb->sets * WAYS);
	if (!fb->pages)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < (size_t)fb->sets * WAYS; i++)
		fb->pages[i].used = 0;
	return SHERD_OK;
}

void shd_flatbuf_done(shd_flatbuf *fb)
{
	free(fb->pages);
	fb->pages = NULL;
}

int shd_flatbuf_check(const shd_flatbuf *fb, sherd_error *err)
{
	if (fb->rc < 0 && err)
		*err = fb->error;
	return fb->rc;
}

void shd_flatbuf_fail(shd_flatbuf *fb, sherd_status code, const char *reason, uint64_t offset, const char *fmt, ...)
{
	char text[sizeof(fb->error.message)];
	va_list args;
	if (fb->rc < 0)
		return;
	va_start(args, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	fb->rc = shd_fail_at(&fb->error, code, reason, offset, "%s", text);
}

static void fail_nomem(shd_flatbuf *fb)
{
	if (fb->rc >= 0)
		fb->rc = shd_fail_nomem(&fb->error);
}

/* The page that holds byte pos, which lies in the buffer; NULL after a failure. */
static const page *page_of(shd_flatbuf *fb, uint64_t pos)
{
	uint64_t number = pos / PAGE;
	page *set = fb->pages + number % fb->sets * WAYS, *oldest = set;
	for (page *p = set; p < set + WAYS; p++) {
		if (p->used && p->number == number) {
			p->used = ++fb->tick;
			return p;
		}
		if (p->used < oldest->used)
			oldest = p;
	}
	uint64_t begin = number * PAGE, left = fb->size - begin;
	if (!fb->misses) {
		shd_flatbuf_fail(fb, SHERD_ECORRUPT, "too-large", pos, "its parts are strewn over the file");
		return NULL;
	}
	fb->misses--;
	oldest->used = 0;
	int rc = fb->fetch(fb->arg, begin, oldest->bytes, left < PAGE ? (size_t)left : PAGE, &fb->error);
	if (rc < 0) {
		fb->rc = rc;
		return NULL;
	}
	oldest->number = number;
	oldest->used = ++fb->tick;
	return oldest;
}

static bool inside(shd_flatbuf *fb, uint64_t pos, uint64_t len, const char *what)
{
	if (fb->rc < 0)
		return false;
	if (pos <= fb->end && len <= fb->end - pos)
		return true;
	shd_flatbuf_fail(fb, SHERD_ECORRUPT, "truncated", pos < fb->end ? pos : fb->end, "%s reaches beyond the end",
	                 what);
	return false;
}

bool shd_flatbuf_copy(shd_flatbuf *fb, uint64_t pos, void *out, size_t len)
{
	uint8_t *to = out;
	if (!inside(fb, pos, len, "a run of bytes"))
		return false;
	if (fb->data) {
		if (len)
			memcpy(to, fb->data + pos, len);
		return true;
	}
	while (len) {
		const page *p = page_of(fb, pos);
		size_t skip = (size_t)(pos % PAGE), n = PAGE - skip < len ? PAGE - skip : len;
		if (!p)
			return false;
		memcpy(to, p->bytes + skip, n);
		to += n;
		pos += n;
		len -= n;
	}
	return true;
}

/* A run of at most 8 bytes; NULL after a failure. */
static const uint8_t *peek(shd_flatbuf *fb, uint64_t pos, uint32_t len, const char *what)
{
	if (!inside(fb, pos, len, what))
		return NULL;
	if (fb->data)
		return fb->data + pos;
	size_t skip = (size_t)(pos % PAGE);
	if (skip + len <= PAGE) {
		const page *p = page_of(fb, pos);
		return p ? p->bytes + skip : NULL;
	}
	return shd_flatbuf_copy(fb, pos, fb->across, len) ? fb->across : NULL;
}

static uint16_t flatbuf_get_u16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

/* Visits so many bytes, and reads `read` of them. */
static bool charge(shd_flatbuf *fb, uint64_t cost, uint64_t read, uint64_t pos)
{
	if (fb->rc < 0)
		return false;
	if (cost > fb->budget) {
		shd_flatbuf_fail(fb, SHERD_ECORRUPT, "overlap", pos, "its parts overlap more than a file's do");
		return false;
	}
	if (read > fb->room) {
		shd_flatbuf_fail(fb, SHERD_ELIMIT, "too-large", pos, "more than the limit for metadata");
		return false;
	}
	fb->budget -= cost;
	fb->room -= read;
	return true;
}

/* The table at pos, after its vtable and its size were checked. */
static shd_flat_table table_at(shd_flatbuf *fb, uint64_t pos)
{
	static const shd_flat_table none = {0};
	const uint8_t *p = peek(fb, pos, 4, "a table");
	if (!p)
		return none;
	uint64_t vtable = pos - (uint64_t)(int64_t)(int32_t)shd_get_u32(p);
	if (vtable >= fb->end) {
		shd_flatbuf_fail(fb, SHERD_ECORRUPT, "bad-offsets", pos, "the vtable of a table lies outside");
		return none;
	}
	p = peek(fb, vtable, 4, "a vtable");
	if (!p)
		return none;
	uint16_t bytes = flatbuf_get_u16(p), size = flatbuf_get_u16(p + 2);
	if (bytes < 4 || bytes % 2 || size < 4) {
		shd_flatbuf_fail(fb, SHERD_ECORRUPT, "bad-offsets", vtable, "a vtable of %u bytes for tables of %u",
		                 bytes, size);
		return none;
	}
	if (!inside(fb, vtable, bytes, "a vtable") || !inside(fb, pos, size, "a table") ||
	    !charge(fb, size < TABLE_COST ? TABLE_COST : size, size < TABLE_COST ? TABLE_COST : size, pos))
		return none;
	return (shd_flat_table){.pos = pos, .vtable = vtable, .slots = (uint16_t)((bytes - 4) / 2), .size = size};
}

/* Where an offset at pos leads; 0 after a failure. */
static uint64_t follow(shd_flatbuf *fb, uint64_t pos)
{
	const uint8_t *p = peek(fb, pos, 4, "an offset");
	if (!p)
		return 0;
	uint64_t offset = shd_get_u32(p);
	if (offset < 4 || offset > fb->end - pos) {
		shd_flatbuf_fail(fb, SHERD_ECORRUPT, "bad-offsets", pos, "an offset of %llu leads outside",
		                 (unsigned long long)offset);
		return 0;
	}
	return pos + offset;
}

shd_flat_table shd_flatbuf_root(shd_flatbuf *fb)
{
	uint64_t pos = follow(fb, 0);
	return pos ? table_at(fb, pos) : (shd_flat_table){0};
}

/* The bytes of the vector were charged when it was found; now its parts are. */
shd_flat_table shd_flatbuf_enter(shd_flatbuf *fb, const shd_flat_vector *v, uint64_t *outer)
{
	*outer = fb->end;
	if (fb->rc < 0)
		return (shd_flat_table){0};
	fb->budget += v->count;
	fb->end = v->at + v->count;
	uint64_t pos = follow(fb, v->at);
	return pos ? table_at(fb, pos) : (shd_flat_table){0};
}

void shd_flatbuf_leave(shd_flatbuf *fb, uint64_t outer)
{
	fb->end = outer;
}

/* Where the field lies, its bytes within the table; 0 when it is absent or after a failure. */
static uint64_t field_at(shd_flatbuf *fb, const shd_flat_table *t, unsigned field, uint32_t width)
{
	if (fb->rc < 0 || !t->pos || field >= t->slots)
		return 0;
	uint64_t slot = t->vtable + 4 + 2 * (uint64_t)field;
	const uint8_t *p = peek(fb, slot, 2, "a vtable");
	uint16_t offset = p ? flatbuf_get_u16(p) : 0;
	if (!offset)
		return 0;
	if (offset < 4 || offset + width > t->size) {
		shd_flatbuf_fail(fb, SHERD_ECORRUPT, "bad-offsets", slot, "field %u lies at %u of a table of %u bytes",
		                 field, offset, t->size);
		return 0;
	}
	return t->pos + offset;
}

uint64_t shd_flat_place(shd_flatbuf *fb, const shd_flat_table *t, unsigned field)
{
	return field_at(fb, t, field, 1);
}

bool shd_flat_has(shd_flatbuf *fb, const shd_flat_table *t, unsigned field)
{
	return field_at(fb, t, field, 1) != 0;
}

uint8_t shd_flat_u8(shd_flatbuf *fb, const shd_flat_table *t, unsigned field, uint8_t absent)
{
	uint64_t at = field_at(fb, t, field, 1);
	const uint8_t *p = at ? peek(fb, at, 1, "a field") : NULL;
	return p ? *p : absent;
}

int32_t shd_flat_i32(shd_flatbuf *fb, const shd_flat_table *t, unsigned field, int32_t absent)
{
	uint64_t at = field_at(fb, t, field, 4);
	const uint8_t *p = at ? peek(fb, at, 4, "a field") : NULL;
	return p ? (int32_t)shd_get_u32(p) : absent;
}

int64_t shd_flat_i64(shd_flatbuf *fb, const shd_flat_table *t, unsigned field, int64_t absent)
{
	uint64_t at = field_at(fb, t, field, 8);
	const uint8_t *p = at ? peek(fb, at, 8, "a field") : NULL;
	return p ? (int64_t)shd_get_u64(p) : absent;
}

shd_flat_table shd_flat_child(shd_flatbuf *fb, const shd_flat_table *t, unsigned field)
{
	uint64_t at = field_at(fb, t, field, 4);
	uint64_t pos = at ? follow(fb, at) : 0;
	return pos ? table_at(fb, pos) : (shd_flat_table){0};
}

/* The vector or text at pos, all of it in the buffer and charged. */
static shd_flat_vector vector_at(shd_flatbuf *fb, uint64_t pos, uint32_t element, bool read)
{
	static const shd_flat_vector none = {0};
	const uint8_t *p = peek(fb, pos, 4, "a vector");
	if (!p)
		return none;
	uint32_t count = shd_get_u32(p);
	uint64_t bytes = (uint64_t)count * element;
	if (bytes > fb->end - pos - 4) {
		shd_flatbuf_fail(fb, SHERD_ECORRUPT, "truncated", pos, "%lu elements of %u bytes are not there",
		                 (unsigned long)count, element);
		return none;
	}
	if (!charge(fb, bytes + 4, read ? bytes + 4 : 4, pos))
		return none;
	return (shd_flat_vector){.at = pos + 4, .count = count};
}

shd_flat_vector shd_flat_list(shd_flatbuf *fb, const shd_flat_table *t, unsigned field, uint32_t element)
{
	uint64_t at = field_at(fb, t, field, 4);
	uint64_t pos = at ? follow(fb, at) : 0;
	return pos ? vector_at(fb, pos, element, true) : (shd_flat_vector){0};
}

shd_flat_vector shd_flat_span(shd_flatbuf *fb, const shd_flat_table *t, unsigned field)
{
	uint64_t at = field_at(fb, t, field, 4);
	uint64_t pos = at ? follow(fb, at) : 0;
	return pos ? vector_at(fb, pos, 1, false) : (shd_flat_vector){0};
}

static const char *flatbuf_text_at(shd_flatbuf *fb, uint64_t pos, shd_arena *arena)
{
	shd_flat_vector v = vector_at(fb, pos, 1, true);
	size_t bad;
	if (!v.at || !inside(fb, v.at, (uint64_t)v.count + 1, "a text"))
		return NULL;
	char *text = shd_arena_alloc(arena, (size_t)v.count + 1, 1);
	if (!text) {
		fail_nomem(fb);
		return NULL;
	}
	if (!shd_flatbuf_copy(fb, v.at, text, (size_t)v.count + 1))
		return NULL;
	if (text[v.count] || memchr(text, 0, v.count)) {
		shd_flatbuf_fail(fb, SHERD_ECORRUPT, "bad-text", v.at, "a text does not end with its first NUL");
		return NULL;
	}
	if (!shd_utf8_valid(text, v.count, &bad)) {
		shd_flatbuf_fail(fb, SHERD_ECORRUPT, "bad-utf8", v.at + bad, "a text is not UTF-8");
		return NULL;
	}
	return text;
}

const char *shd_flat_text(shd_flatbuf *fb, const shd_flat_table *t, unsigned field, shd_arena *arena)
{
	uint64_t at = field_at(fb, t, field, 4);
	uint64_t pos = at ? follow(fb, at) : 0;
	return pos ? flatbuf_text_at(fb, pos, arena) : NULL;
}

shd_flat_table shd_flat_element(shd_flatbuf *fb, const shd_flat_vector *v, uint32_t index)
{
	uint64_t pos = fb->rc < 0 ? 0 : follow(fb, v->at + 4 * (uint64_t)index);
	return pos ? table_at(fb, pos) : (shd_flat_table){0};
}

const char *shd_flat_element_text(shd_flatbuf *fb, const shd_flat_vector *v, uint32_t index, shd_arena *arena)
{
	uint64_t pos = fb->rc < 0 ? 0 : follow(fb, v->at + 4 * (uint64_t)index);
	return pos ? flatbuf_text_at(fb, pos, arena) : NULL;
}

uint8_t shd_flat_element_u8(shd_flatbuf *fb, const shd_flat_vector *v, uint32_t index)
{
	const uint8_t *p = peek(fb, v->at + index, 1, "an element");
	return p ? *p : 0;
}

int32_t shd_flat_element_i32(shd_flatbuf *fb, const shd_flat_vector *v, uint32_t index)
{
	const uint8_t *p = peek(fb, v->at + 4 * (uint64_t)index, 4, "an element");
	return p ? (int32_t)shd_get_u32(p) : 0;
}

int64_t shd_flat_element_i64(shd_flatbuf *fb, const shd_flat_vector *v, uint32_t index)
{
	const uint8_t *p = peek(fb, v->at + 8 * (uint64_t)index, 8, "an element");
	return p ? (int64_t)shd_get_u64(p) : 0;
}
