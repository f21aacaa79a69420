#include "format/samediff/java_manifest.h"

#include "format/samediff/java_stream.h"
#include "format/samediff/java_text.h"

enum { MOST_NAME = 0xffff, LEAST_ROOM = 16, CACHED = 128 };

typedef struct writer {
	shd_buf *out;
	uint32_t next;          /* handle */
	uint32_t pair, number;  /* handles of the classes; 0: not spelled yet */
	uint32_t small[CACHED]; /* handles of the Longs that Java keeps one object each for */
} writer;

static void put_big(shd_buf *out, uint64_t v, unsigned bytes)
{
	while (bytes--)
		shd_buf_u8(out, (uint8_t)(v >> 8 * bytes));
}

static void put_reference(shd_buf *out, uint32_t handle)
{
	shd_buf_u8(out, SHD_JAVA_REFERENCE);
	put_big(out, handle, 4);
}

/* A class at its first use takes some handles; an object of it one more. */
static void begin_object(writer *w, uint32_t *class, const char *spelled, size_t len, uint32_t handles)
{
	shd_buf_u8(w->out, SHD_JAVA_OBJECT);
	if (*class) {
		put_reference(w->out, *class);
	} else {
		*class = w->next;
		w->next += handles;
		shd_buf_append(w->out, spelled, len);
	}
	w->next++;
}

static void put_long(writer *w, uint64_t v)
{
	if (v < CACHED && w->small[v]) {
		put_reference(w->out, w->small[v]);
		return;
	}
	begin_object(w, &w->number, SHD_JAVA_LONG, sizeof(SHD_JAVA_LONG) - 1, SHD_JAVA_OF_LONG);
	put_big(w->out, v, 8);
	if (v < CACHED)
		w->small[v] = w->next - 1;
}

static int java_manifest_write_put_entry(writer *w, const shd_java_manifest_entry *e, sherd_error *err)
{
	SHD_AUTO_BUF name = {0};
	shd_java_text_encode(e->name, strlen(e->name), &name);
	TRY(shd_buf_check(&name, err));
	if (name.len > MOST_NAME)
		return shd_fail(err, SHERD_EUNSUPPORTED, "cannot-hold",
		                "a manifest cannot hold a name of %zu bytes: %.64s...", name.len, e->name);
	shd_buf_u8(w->out, SHD_JAVA_STRING);
	put_big(w->out, name.len, 2);
	shd_buf_append(w->out, name.data, name.len);
	w->next++;
	begin_object(w, &w->pair, SHD_JAVA_PAIR, sizeof(SHD_JAVA_PAIR) - 1, SHD_JAVA_OF_PAIR);
	put_long(w, e->offset);
	put_long(w, e->length);
	return SHERD_OK;
}

int shd_java_manifest_encode(shd_buf *out, const shd_java_manifest_entry *entries, size_t count, sherd_error *err)
{
	writer w = {.out = out, .next = SHD_JAVA_HANDLE + SHD_JAVA_OF_MAP};
	uint64_t room = LEAST_ROOM; /* Java doubles it when more than three quarters are taken */
	while (count > room / 4 * 3)
		room *= 2;
	shd_buf_append(out, SHD_JAVA_MAP, sizeof(SHD_JAVA_MAP) - 1);
	put_big(out, 0x3f400000, 4); /* 0.75 */
	put_big(out, count ? room / 4 * 3 : 0, 4);
	put_big(out, 0x7708, 2);
	put_big(out, room, 4);
	put_big(out, count, 4);
	for (size_t i = 0; i < count; i++)
		TRY(java_manifest_write_put_entry(&w, &entries[i], err));
	put_big(out, SHD_JAVA_END << 8, 2);
	return shd_buf_check(out, err);
}
