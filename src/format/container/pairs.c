#include "format/container/pairs.h"

#include "base/cursor.h"
#include "codec/json.h"

enum { LEAST = 8 }; /* bytes of a pair of two empty texts */

void shd_container_pairs_encode(const sherd_pair *pairs, size_t count, shd_buf *out)
{
	shd_buf_u32(out, (uint32_t)count);
	for (size_t i = 0; i < count; i++) {
		shd_str key = shd_str_of(pairs[i].key), value = shd_str_of(pairs[i].value);
		shd_buf_u32(out, (uint32_t)key.len);
		shd_buf_u32(out, (uint32_t)value.len);
		shd_buf_append(out, key.ptr, key.len);
		shd_buf_append(out, value.ptr, value.len);
	}
}

static int container_pairs_take_text(shd_cursor *c, uint32_t len, shd_arena *arena, const char **out, sherd_error *err)
{
	size_t at = c->pos, bad;
	const char *text = (const char *)shd_cursor_bytes(c, len);
	TRY(shd_cursor_check(c, "METADATA", err));
	if (!shd_utf8_valid(text, len, &bad))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-utf8", at + bad, "a text of METADATA is not UTF-8");
	const char *nul = memchr(text, 0, len);
	if (nul)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-text", at + (size_t)(nul - text),
		                   "a text of METADATA holds NUL");
	*out = shd_arena_str(arena, (shd_str){text, len});
	return *out ? SHERD_OK : shd_fail_nomem(err);
}

int shd_container_pairs_decode(const void *data, size_t len, shd_arena *arena, const sherd_pair **out, size_t *count,
                               sherd_error *err)
{
	shd_cursor c = shd_cursor_over(data, len);
	uint32_t n = shd_cursor_u32(&c);
	TRY(shd_cursor_check(&c, "METADATA", err));
	if (n > shd_cursor_left(&c) / LEAST)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-count", 0, "%u pairs in %zu bytes", n, len);
	sherd_pair *pairs = shd_arena_alloc(arena, (size_t)n + 1, sizeof(*pairs));
	if (!pairs)
		return shd_fail_nomem(err);
	for (uint32_t i = 0; i < n; i++) {
		size_t at = c.pos;
		uint32_t key = shd_cursor_u32(&c), value = shd_cursor_u32(&c);
		TRY(container_pairs_take_text(&c, key, arena, &pairs[i].key, err));
		TRY(container_pairs_take_text(&c, value, arena, &pairs[i].value, err));
		if (i && strcmp(pairs[i - 1].key, pairs[i].key) >= 0)
			return shd_fail_at(err, SHERD_ECORRUPT, "duplicate-key", at,
			                   "the key %.128s is there twice, or out of order", pairs[i].key);
	}
	TRY(shd_cursor_end(&c, "METADATA", err));
	*out = pairs;
	*count = n;
	return SHERD_OK;
}
