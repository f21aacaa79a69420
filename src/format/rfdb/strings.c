#include "format/rfdb/strings.h"

#include "base/large.h"
#include "base/map.h"
#include "codec/json.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- reading */

int shd_rfdb_strings_decode(const uint8_t *data, size_t len, shd_rfdb_strings *out, sherd_error *err)
{
	shd_cursor c = shd_cursor_over(data, len);
	shd_rfdb_strings s;
	s.count = shd_cursor_u32(&c);
	s.text_len = shd_cursor_u32(&c);
	s.entries = shd_cursor_bytes(&c, 8 * (uint64_t)s.count);
	s.text = (const char *)shd_cursor_bytes(&c, s.text_len);
	TRY(shd_cursor_end(&c, "the string table", err));
	*out = s;
	return SHERD_OK;
}

int shd_rfdb_strings_check(const shd_rfdb_strings *s, sherd_error *err)
{
	for (uint32_t i = 0; i < s->count; i++) {
		uint64_t at = SHD_RFDB_STRINGS_HEAD + 8 * (uint64_t)i;
		shd_str text;
		size_t bad;
		if (!shd_rfdb_strings_get(s, i, &text))
			return shd_fail_at(err, SHERD_ECORRUPT, "bad-index", at,
			                   "string %" PRIu32 " is not within the text", i);
		if (!shd_utf8_valid(text.ptr, text.len, &bad))
			return shd_fail_at(err, SHERD_ECORRUPT, "bad-utf8",
			                   SHD_RFDB_STRINGS_HEAD + 8 * (uint64_t)s->count +
			                           (uint64_t)(text.ptr - s->text) + bad,
			                   "string %" PRIu32 " is not UTF-8", i);
	}
	return SHERD_OK;
}

/* ---- writing */

enum { LEAST = 64 }; /* slots */

struct shd_rfdb_slot {
	uint32_t hash;
	uint32_t string; /* its number plus one; 0 is empty */
};

void shd_rfdb_intern_done(shd_rfdb_intern *t)
{
	shd_buf_done(&t->entries);
	shd_buf_done(&t->text);
	free(t->slots);
	*t = (shd_rfdb_intern){0};
}

shd_str shd_rfdb_intern_get(const shd_rfdb_intern *t, uint32_t index)
{
	const uint8_t *e = t->entries.data + 8 * (size_t)index;
	/* The text of empty strings alone was never allocated. */
	const char *text = t->text.data ? (const char *)t->text.data : "";
	return (shd_str){text + shd_get_u32(e), shd_get_u32(e + 4)};
}

static bool strings_grow(shd_rfdb_intern *t, size_t cap)
{
	struct shd_rfdb_slot *slots = shd_large_alloc(cap * sizeof(*slots));
	if (!slots)
		return false;
	memset(slots, 0, cap * sizeof(*slots));
	for (size_t i = 0; i < t->cap; i++) {
		if (!t->slots[i].string)
			continue;
		size_t at = t->slots[i].hash & (cap - 1);
		/* 32 bits of hash choose among up to 2^33 slots: past that, runs only grow longer. */
		while (slots[at].string)
			at = (at + 1) & (cap - 1);
		slots[at] = t->slots[i];
	}
	free(t->slots);
	t->slots = slots;
	t->cap = cap;
	return true;
}

bool shd_rfdb_intern_reserve(shd_rfdb_intern *t, uint64_t strings)
{
	size_t cap = t->cap ? t->cap : LEAST;
	while (cap / 2 < strings && cap < SIZE_MAX / 64)
		cap *= 2;
	return cap == t->cap || strings_grow(t, cap);
}

static bool equal(const shd_rfdb_intern *t, uint32_t index, shd_str s)
{
	const uint8_t *e = t->entries.data + 8 * (size_t)index;
	return shd_get_u32(e + 4) == s.len && (!s.len || memcmp(t->text.data + shd_get_u32(e), s.ptr, s.len) == 0);
}

static int strings_append(shd_rfdb_intern *t, shd_str s, sherd_error *err)
{
	if (t->count == UINT32_MAX || s.len > UINT32_MAX - t->text.len)
		return shd_fail(err, SHERD_ELIMIT, "too-large", "the strings of a segment take more than 4 GiB");
	uint8_t entry[8];
	shd_put_u32(entry, (uint32_t)t->text.len);
	shd_put_u32(entry + 4, (uint32_t)s.len);
	if (!shd_buf_reserve(&t->text, s.len) || !shd_buf_reserve(&t->entries, sizeof(entry)))
		return shd_fail_nomem(err);
	shd_buf_append(&t->text, s.ptr, s.len);
	shd_buf_append(&t->entries, entry, sizeof(entry));
	return SHERD_OK;
}

static uint32_t strings_hash_of(shd_rfdb_intern *t, shd_str s)
{
	if (!t->seed)
		t->seed = shd_hash_seed() | 1;
	return (uint32_t)shd_hash(t->seed, s.ptr, s.len);
}

uint32_t shd_rfdb_intern_fetch(shd_rfdb_intern *t, shd_str s)
{
	uint32_t hash = strings_hash_of(t, s);
	if (t->cap)
		__builtin_prefetch(&t->slots[hash & (t->cap - 1)], 1);
	return hash;
}

int shd_rfdb_intern_add_hashed(shd_rfdb_intern *t, shd_str s, uint32_t hash, uint32_t *index, sherd_error *err)
{
	if (t->count >= t->cap / 2 && !strings_grow(t, t->cap ? t->cap * 2 : LEAST))
		return shd_fail_nomem(err);
	size_t at = hash & (t->cap - 1);
	for (; t->slots[at].string; at = (at + 1) & (t->cap - 1))
		if (t->slots[at].hash == hash && equal(t, t->slots[at].string - 1, s)) {
			*index = t->slots[at].string - 1;
			return SHERD_OK;
		}
	TRY(strings_append(t, s, err));
	*index = t->count++;
	t->slots[at] = (struct shd_rfdb_slot){.hash = hash, .string = t->count};
	return SHERD_OK;
}

int shd_rfdb_intern_add(shd_rfdb_intern *t, shd_str s, uint32_t *index, sherd_error *err)
{
	return shd_rfdb_intern_add_hashed(t, s, strings_hash_of(t, s), index, err);
}
