#include "format/container/pairs.h"

#include "base/cursor.h"
#include "codec/json.h"

enum { LEAST = 8 }; /* bytes of a pair of two empty texts */

void sherd_container_pairs_encode(const sherd_pair *pairs, size_t count, sherd_buf *out)
{
	sherd_buf_u32(out, (uint32_t)count);
	for (size_t i = 0; i < count; i++) {
		sherd_str key = sherd_str_of(pairs[i].key), value = sherd_str_of(pairs[i].value);
		sherd_buf_u32(out, (uint32_t)key.len);
		sherd_buf_u32(out, (uint32_t)value.len);
		sherd_buf_append(out, key.ptr, key.len);
		sherd_buf_append(out, value.ptr, value.len);
	}
}

static int take_text(sherd_cursor *c, uint32_t len, sherd_arena *arena, const char **out, sherd_error *err)
{
	size_t at = c->pos, bad;
	const char *text = (const char *)sherd_cursor_bytes(c, len);
	TRY(sherd_cursor_check(c, "METADATA", err));
	if (!sherd_utf8_valid(text, len, &bad))
		return sherd_fail_at(err, SHERD_ECORRUPT, "bad-utf8", at + bad, "a text of METADATA is not UTF-8");
	const char *nul = memchr(text, 0, len);
	if (nul)
		return sherd_fail_at(err, SHERD_ECORRUPT, "bad-text", at + (size_t)(nul - text),
		                     "a text of METADATA holds NUL");
	*out = sherd_arena_str(arena, (sherd_str){text, len});
	return *out ? SHERD_OK : sherd_fail_nomem(err);
}

int sherd_container_pairs_decode(const void *data, size_t len, sherd_arena *arena, const sherd_pair **out,
                                 size_t *count, sherd_error *err)
{
	sherd_cursor c = sherd_cursor_over(data, len);
	uint32_t n = sherd_cursor_u32(&c);
	TRY(sherd_cursor_check(&c, "METADATA", err));
	if (n > sherd_cursor_left(&c) / LEAST)
		return sherd_fail_at(err, SHERD_ECORRUPT, "bad-count", 0, "%u pairs in %zu bytes", n, len);
	sherd_pair *pairs = sherd_arena_alloc(arena, (size_t)n + 1, sizeof(*pairs));
	if (!pairs)
		return sherd_fail_nomem(err);
	for (uint32_t i = 0; i < n; i++) {
		size_t at = c.pos;
		uint32_t key = sherd_cursor_u32(&c), value = sherd_cursor_u32(&c);
		TRY(take_text(&c, key, arena, &pairs[i].key, err));
		TRY(take_text(&c, value, arena, &pairs[i].value, err));
		if (i && strcmp(pairs[i - 1].key, pairs[i].key) >= 0)
			return sherd_fail_at(err, SHERD_ECORRUPT, "duplicate-key", at,
			                     "the key %.128s is there twice, or out of order", pairs[i].key);
	}
	TRY(sherd_cursor_end(&c, "METADATA", err));
	*out = pairs;
	*count = n;
	return SHERD_OK;
}
