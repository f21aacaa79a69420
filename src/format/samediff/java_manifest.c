#include "format/samediff/java_manifest.h"

#include "base/cursor.h"
#include "base/limits.h"
#include "base/map.h"
#include "format/samediff/java_stream.h"
#include "format/samediff/java_text.h"

enum { HEAD = sizeof(SHD_JAVA_MAP) - 1, FIELDS = 8 };

typedef enum kind { OTHER, PAIR_CLASS, LONG_CLASS, LONG, PAIR } kind;

/* What a handle stands for: the number of a Long, the two of a Pair. */
typedef struct handle {
	kind kind;
	uint64_t a, b;
} handle;

typedef struct parser {
	shd_cursor c;
	sherd_limits limits;
	shd_arena *arena;
	SHD_VEC(handle) handles;
	shd_buf text;
	sherd_error *err;
} parser;

static int bad(const parser *p, size_t at, const char *what)
{
	return shd_fail_at(p->err, SHERD_ECORRUPT, "bad-manifest", at, "%s", what);
}

static void add_handle(parser *p, handle h)
{
	shd_vec_push(&p->handles, h);
}

static void add_others(parser *p, size_t count)
{
	for (size_t i = 0; i < count; i++)
		add_handle(p, (handle){OTHER, 0, 0});
}

static uint64_t take_big(shd_cursor *c, size_t bytes)
{
	const uint8_t *p = shd_cursor_bytes(c, bytes);
	uint64_t v = 0;
	for (size_t i = 0; p && i < bytes; i++)
		v = v << 8 | p[i];
	return v;
}

/* Takes bytes that are known in advance; false when others stand there. */
static bool take_same(shd_cursor *c, const char *want, size_t len)
{
	const uint8_t *got = shd_cursor_bytes(c, len);
	return got && memcmp(got, want, len) == 0;
}

/* After the mark of a reference: what it refers to, which must be of that kind. */
static int take_reference(parser *p, kind want, handle *out)
{
	size_t at = p->c.pos, count = p->handles.count;
	uint64_t number = take_big(&p->c, 4);
	TRY(shd_cursor_check(&p->c, "the manifest", p->err));
	number -= SHD_JAVA_HANDLE;
	if (number >= count)
		return bad(p, at, "a reference to what was not there before");
	*out = p->handles.items[number];
	return out->kind == want ? SHERD_OK : bad(p, at, "a reference to something of another class");
}

/* A class: spelled at its first use, referred to later. */
static int take_class(parser *p, kind want, const char *spelled, size_t len, size_t handles)
{
	handle h;
	size_t at = p->c.pos;
	if (shd_cursor_left(&p->c) && p->c.data[at] == SHD_JAVA_REFERENCE) {
		(void)shd_cursor_u8(&p->c);
		return take_reference(p, want, &h);
	}
	if (!take_same(&p->c, spelled, len)) {
		TRY(shd_cursor_check(&p->c, "the manifest", p->err));
		return bad(p, at, "an object of a class that no manifest has");
	}
	add_handle(p, (handle){want, 0, 0});
	add_others(p, handles - 1);
	return SHERD_OK;
}

/* A Long, new or seen before. */
static int take_long(parser *p, uint64_t *out)
{
	handle h = {LONG, 0, 0};
	size_t at = p->c.pos;
	uint8_t mark = shd_cursor_u8(&p->c);
	TRY(shd_cursor_check(&p->c, "the manifest", p->err));
	if (mark == SHD_JAVA_REFERENCE) {
		TRY(take_reference(p, LONG, &h));
	} else if (mark == SHD_JAVA_OBJECT) {
		TRY(take_class(p, LONG_CLASS, SHD_JAVA_LONG, sizeof(SHD_JAVA_LONG) - 1, SHD_JAVA_OF_LONG));
		at = p->c.pos;
		h.a = take_big(&p->c, 8);
		TRY(shd_cursor_check(&p->c, "the manifest", p->err));
		add_handle(p, h);
	} else {
		return bad(p, at, "no number where one must be");
	}
	if (h.a > INT64_MAX)
		return shd_fail_at(p->err, SHERD_ECORRUPT, "bad-offsets", at, "a negative number");
	*out = h.a;
	return SHERD_OK;
}

static int take_pair(parser *p, handle *out)
{
	size_t at = p->c.pos, self;
	uint8_t mark = shd_cursor_u8(&p->c);
	TRY(shd_cursor_check(&p->c, "the manifest", p->err));
	if (mark == SHD_JAVA_REFERENCE)
		return take_reference(p, PAIR, out);
	if (mark != SHD_JAVA_OBJECT)
		return bad(p, at, "no pair where one must be");
	TRY(take_class(p, PAIR_CLASS, SHD_JAVA_PAIR, sizeof(SHD_JAVA_PAIR) - 1, SHD_JAVA_OF_PAIR));
	handle h = {PAIR, 0, 0};
	self = p->handles.count;
	add_others(p, 1); /* until both of its numbers are there it cannot be referred to */
	TRY(take_long(p, &h.a));
	TRY(take_long(p, &h.b));
	TRY(shd_vec_check(&p->handles, p->err));
	p->handles.items[self] = h;
	*out = h;
	return SHERD_OK;
}

static int take_name(parser *p, const char **out)
{
	size_t at = p->c.pos;
	uint8_t mark = shd_cursor_u8(&p->c);
	TRY(shd_cursor_check(&p->c, "the manifest", p->err));
	if (mark != SHD_JAVA_STRING)
		return bad(p, at, "no name where one must be");
	size_t len = (size_t)take_big(&p->c, 2);
	const uint8_t *text = shd_cursor_bytes(&p->c, len);
	TRY(shd_cursor_check(&p->c, "the manifest", p->err));
	add_others(p, 1);
	p->text.len = 0;
	if (!len || !shd_java_text_decode(text, len, &p->text))
		return shd_fail_at(p->err, SHERD_ECORRUPT, "bad-name", at, "a name that is none");
	TRY(shd_buf_check(&p->text, p->err));
	if (p->text.len > p->limits.name_bytes)
		return shd_fail_at(p->err, SHERD_ELIMIT, "name-too-long", at, "a name of %zu bytes", p->text.len);
	*out = shd_arena_str(p->arena, (shd_str){(const char *)p->text.data, p->text.len});
	return *out ? SHERD_OK : shd_fail_nomem(p->err);
}

static int take_entries(parser *p, shd_java_manifest_entry *entries, size_t count, shd_map *names)
{
	for (size_t i = 0; i < count; i++) {
		size_t at = p->c.pos;
		bool ok;
		handle pair;
		TRY(take_name(p, &entries[i].name));
		if (shd_map_add(names, shd_str_of(entries[i].name), i, &ok) != SHD_MAP_NONE)
			return shd_fail_at(p->err, SHERD_ECORRUPT, "duplicate-name", at, "%.128s is there twice",
			                   entries[i].name);
		if (!ok)
			return shd_fail_nomem(p->err);
		TRY(take_pair(p, &pair));
		entries[i].offset = pair.a;
		entries[i].length = pair.b;
	}
	return SHERD_OK;
}

/* Everything up to the entries. */
static int take_map(parser *p, size_t *count)
{
	if (!take_same(&p->c, SHD_JAVA_MAP, HEAD)) {
		TRY(shd_cursor_check(&p->c, "the manifest", p->err));
		return bad(p, 0, "no map of Java's begins here");
	}
	add_others(p, SHD_JAVA_OF_MAP);
	(void)shd_cursor_bytes(&p->c, FIELDS); /* load factor and threshold: of no use to a reader */
	size_t at = p->c.pos;
	bool block = take_same(&p->c, "w\x08", 2);
	(void)take_big(&p->c, 4);
	uint64_t n = take_big(&p->c, 4);
	TRY(shd_cursor_check(&p->c, "the manifest", p->err));
	if (!block)
		return bad(p, at, "the map does not tell how many entries it has");
	enum { LEAST = 9 }; /* bytes of the shortest entry: a name of one byte, a reference */
	if (n > shd_cursor_left(&p->c) / LEAST + 1)
		return shd_fail_at(p->err, SHERD_ECORRUPT, "bad-count", at + 6, "%llu entries are not there",
		                   (unsigned long long)n);
	*count = (size_t)n;
	return SHERD_OK;
}

static int java_manifest_take_end(parser *p)
{
	size_t at = p->c.pos;
	uint8_t end = shd_cursor_u8(&p->c), order = shd_cursor_u8(&p->c);
	TRY(shd_cursor_check(&p->c, "the manifest", p->err));
	if (end != SHD_JAVA_END || order > 1)
		return bad(p, at, "the map does not end after its entries");
	return shd_cursor_end(&p->c, "the manifest", p->err);
}

int shd_java_manifest_decode(const void *data, size_t len, const sherd_limits *limits, shd_arena *arena,
                             shd_java_manifest_entry **out, size_t *count, sherd_error *err)
{
	parser p = {
		.c = shd_cursor_over(data, len), .limits = shd_limits_or_default(limits), .arena = arena, .err = err};
	shd_map names = {0};
	shd_java_manifest_entry *entries = NULL;
	size_t n = 0;
	int rc = take_map(&p, &n);
	if (rc == SHERD_OK) {
		entries = shd_arena_alloc(arena, n + 1, sizeof(*entries));
		rc = entries ? take_entries(&p, entries, n, &names) : shd_fail_nomem(err);
	}
	if (rc == SHERD_OK)
		rc = java_manifest_take_end(&p);
	if (rc == SHERD_OK)
		rc = shd_vec_check(&p.handles, err);
	shd_map_done(&names);
	shd_vec_done(&p.handles);
	shd_buf_done(&p.text);
	if (rc < 0)
		return rc;
	*out = entries;
	*count = n;
	return SHERD_OK;
}
