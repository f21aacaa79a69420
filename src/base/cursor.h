/* base/cursor.h - the only place that turns bytes into integers.
 *
 * A cursor never reads outside [data, data+len) and needs no checking in
 * between: the first bad read makes it fail, every later read yields zero, and
 * shd_cursor_check() reports the offset of the first one. Read into fields by
 * statements: C leaves the order within an initialiser open. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct shd_cursor {
	const uint8_t *data;
	size_t len;
	size_t pos;
	size_t bad; /* where the first failed read began */
	bool failed;
} shd_cursor;

static inline shd_cursor shd_cursor_over(const void *data, size_t len)
{
	return (shd_cursor){.data = data, .len = len};
}

static inline size_t shd_cursor_left(const shd_cursor *c)
{
	return c->failed ? 0 : c->len - c->pos;
}

/* Borrows n bytes; NULL when fewer are left. */
static inline const uint8_t *shd_cursor_bytes(shd_cursor *c, uint64_t n)
{
	if (!c->failed && n > c->len - c->pos) {
		c->failed = true;
		c->bad = c->pos;
	}
	if (c->failed)
		return NULL;
	const uint8_t *p = c->data + c->pos;
	c->pos += (size_t)n;
	return p;
}

static inline uint32_t shd_get_u32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t shd_get_u64(const uint8_t *p)
{
	return shd_get_u32(p) | (uint64_t)shd_get_u32(p + 4) << 32;
}

static inline uint8_t shd_cursor_u8(shd_cursor *c)
{
	const uint8_t *p = shd_cursor_bytes(c, 1);
	return p ? *p : 0;
}

static inline uint16_t shd_cursor_u16(shd_cursor *c)
{
	const uint8_t *p = shd_cursor_bytes(c, 2);
	return (uint16_t)(p ? p[0] | p[1] << 8 : 0);
}

static inline uint32_t shd_cursor_u32(shd_cursor *c)
{
	const uint8_t *p = shd_cursor_bytes(c, 4);
	return p ? shd_get_u32(p) : 0;
}

static inline uint64_t shd_cursor_u64(shd_cursor *c)
{
	const uint8_t *p = shd_cursor_bytes(c, 8);
	return p ? shd_get_u64(p) : 0;
}

static inline int shd_cursor_check(const shd_cursor *c, const char *what, sherd_error *err)
{
	if (c->failed)
		return shd_fail_at(err, SHERD_ECORRUPT, "truncated", c->bad, "%s ends too early", what);
	return SHERD_OK;
}

/* As check, and nothing may be left over. */
static inline int shd_cursor_end(const shd_cursor *c, const char *what, sherd_error *err)
{
	TRY(shd_cursor_check(c, what, err));
	if (c->pos != c->len)
		return shd_fail_at(err, SHERD_ECORRUPT, "trailing-bytes", c->pos, "%s: %zu bytes left over", what,
		                   c->len - c->pos);
	return SHERD_OK;
}
