/* format/rfdb/strings.h - the string table of a segment. docs/formats/rfdb.md, "String table".
 *
 *	off   size  field
 *	0     4     n, number of strings
 *	4     4     D, bytes of text
 *	8     8n    for each string u32 offset in the text, u32 length
 *	8+8n  D     text, UTF-8
 */
#pragma once

#include "base/buf.h"
#include "base/cursor.h"

#define SHD_RFDB_STRINGS_HEAD 8

/* A view into the segment. */
typedef struct shd_rfdb_strings {
	const uint8_t *entries;
	const char *text;
	uint32_t count, text_len;
} shd_rfdb_strings;

/* Takes the table that fills [data, data+len) exactly; looks at its head only. "truncated", "trailing-bytes". */
int shd_rfdb_strings_decode(const uint8_t *data, size_t len, shd_rfdb_strings *out, sherd_error *err);

/* False when there is no such string, or its place is outside of the text. */
static inline bool shd_rfdb_strings_get(const shd_rfdb_strings *s, uint32_t index, shd_str *out)
{
	if (index >= s->count)
		return false;
	const uint8_t *e = s->entries + 8 * (size_t)index;
	uint32_t at = shd_get_u32(e), len = shd_get_u32(e + 4);
	if (at > s->text_len || len > s->text_len - at)
		return false;
	*out = (shd_str){s->text + at, len};
	return true;
}

/* Every string lies in the text and is valid UTF-8. Offsets of errors count from the table's start. */
int shd_rfdb_strings_check(const shd_rfdb_strings *s, sherd_error *err);

/* The writer: numbers strings in the order of their first use. */
typedef struct shd_rfdb_intern {
	shd_buf entries; /* as on disk */
	shd_buf text;    /* as on disk */
	uint32_t count;  /* of strings */
	struct shd_rfdb_slot *slots;
	size_t cap;    /* a power of two, or 0 */
	uint64_t seed; /* 0: not chosen yet */
} shd_rfdb_intern;

void shd_rfdb_intern_done(shd_rfdb_intern *t);
/* Room for so many strings, only to save time; false when memory is out. */
bool shd_rfdb_intern_reserve(shd_rfdb_intern *t, uint64_t strings);
/* Asks for the memory that a string will need soon; its hash. */
uint32_t shd_rfdb_intern_fetch(shd_rfdb_intern *t, shd_str s);
/* SHERD_ELIMIT, "too-large", when text or strings would pass what 32 bits can say. */
int shd_rfdb_intern_add(shd_rfdb_intern *t, shd_str s, uint32_t *index, sherd_error *err);
/* The same, with the hash that was found before. */
int shd_rfdb_intern_add_hashed(shd_rfdb_intern *t, shd_str s, uint32_t hash, uint32_t *index, sherd_error *err);
/* Borrowed until the next add. */
shd_str shd_rfdb_intern_get(const shd_rfdb_intern *t, uint32_t index);
