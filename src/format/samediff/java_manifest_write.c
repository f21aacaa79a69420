#include "format/samediff/java_manifest.h"

#include "format/samediff/java_stream.h"
#include "format/samediff/java_text.h"

enum { MOST_NAME = 0xffff, LEAST_ROOM = 16, CACHED = 128 };

typedef struct writer {
	sherd_buf *out;
	uint32_t next;          /* handle */
	uint32_t pair, number;  /* handles of the classes; 0: not spelled yet */
	uint32_t small[CACHED]; /* handles of the Longs that Java keeps one object each for */
} writer;

static void put_big(sherd_buf *out, uint64_t v, unsigned bytes)
{
	while (bytes--)
		sherd_buf_u8(out, (uint8_t)(v >> 8 * bytes));
}

static void put_reference(sherd_buf *out, uint32_t handle)
{
	sherd_buf_u8(out, SHERD_JAVA_REFERENCE);
	put_big(out, handle, 4);
}

/* A class at its first use takes some handles; an object of it one more. */
static void begin_object(writer *w, uint32_t *class, const char *spelled, size_t len, uint32_t handles)
{
	sherd_buf_u8(w->out, SHERD_JAVA_OBJECT);
	if (*class) {
		put_reference(w->out, *class);
	} else {
		*class = w->next;
		w->next += handles;
		sherd_buf_append(w->out, spelled, len);
	}
	w->next++;
}

static void put_long(writer *w, uint64_t v)
{
	if (v < CACHED && w->small[v]) {
		put_reference(w->out, w->small[v]);
		return;
	}
	begin_object(w, &w->number, SHERD_JAVA_LONG, sizeof(SHERD_JAVA_LONG) - 1, SHERD_JAVA_OF_LONG);
	put_big(w->out, v, 8);
	if (v < CACHED)
		w->small[v] = w->next - 1;
}

static int put_entry(writer *w, const sherd_java_manifest_entry *e, sherd_error *err)
{
	SHERD_AUTO_BUF name = {0};
	sherd_java_text_encode(e->name, strlen(e->name), &name);
	TRY(sherd_buf_check(&name, err));
	if (name.len > MOST_NAME)
		return sherd_fail(err, SHERD_EUNSUPPORTED, "cannot-hold",
		                  "a manifest cannot hold a name of %zu bytes: %.64s...", name.len, e->name);
	sherd_buf_u8(w->out, SHERD_JAVA_STRING);
	put_big(w->out, name.len, 2);
	sherd_buf_append(w->out, name.data, name.len);
	w->next++;
	begin_object(w, &w->pair, SHERD_JAVA_PAIR, sizeof(SHERD_JAVA_PAIR) - 1, SHERD_JAVA_OF_PAIR);
	put_long(w, e->offset);
	put_long(w, e->length);
	return SHERD_OK;
}

int sherd_java_manifest_encode(sherd_buf *out, const sherd_java_manifest_entry *entries, size_t count, sherd_error *err)
{
	writer w = {.out = out, .next = SHERD_JAVA_HANDLE + SHERD_JAVA_OF_MAP};
	uint64_t room = LEAST_ROOM; /* Java doubles it when more than three quarters are taken */
	while (count > room / 4 * 3)
		room *= 2;
	sherd_buf_append(out, SHERD_JAVA_MAP, sizeof(SHERD_JAVA_MAP) - 1);
	put_big(out, 0x3f400000, 4); /* 0.75 */
	put_big(out, count ? room / 4 * 3 : 0, 4);
	put_big(out, 0x7708, 2);
	put_big(out, room, 4);
	put_big(out, count, 4);
	for (size_t i = 0; i < count; i++)
		TRY(put_entry(&w, &entries[i], err));
	put_big(out, SHERD_JAVA_END << 8, 2);
	return sherd_buf_check(out, err);
}
