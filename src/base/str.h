/* base/str.h - a borrowed run of bytes that need not end with NUL. */
#ifndef SHERD_BASE_STR_H
#define SHERD_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct sherd_str {
	const char *ptr;
	size_t len;
} sherd_str;

#define SHERD_STR(literal) ((sherd_str){(literal), sizeof(literal) - 1})

static inline sherd_str sherd_str_of(const char *text)
{
	return (sherd_str){text, strlen(text)};
}

static inline bool sherd_str_is(sherd_str s, const char *text)
{
	return strlen(text) == s.len && memcmp(s.ptr, text, s.len) == 0;
}

static inline bool sherd_str_starts(sherd_str s, const char *prefix)
{
	size_t n = strlen(prefix);
	return n <= s.len && memcmp(s.ptr, prefix, n) == 0;
}

static inline bool sherd_str_ends(sherd_str s, const char *suffix)
{
	size_t n = strlen(suffix);
	return n <= s.len && memcmp(s.ptr + s.len - n, suffix, n) == 0;
}

/* What stands behind the last '/' of a key; all of it where there is none. */
static inline const char *sherd_str_leaf(const char *key)
{
	const char *slash = strrchr(key, '/');
	return slash ? slash + 1 : key;
}

/* By bytes, a prefix in front of what it begins. */
static inline int sherd_str_compare(sherd_str a, sherd_str b)
{
	size_t n = a.len < b.len ? a.len : b.len;
	int order = n ? memcmp(a.ptr, b.ptr, n) : 0;
	return order ? order : (a.len > b.len) - (a.len < b.len);
}

#endif
