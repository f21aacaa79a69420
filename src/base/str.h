/* base/str.h - a borrowed run of bytes that need not end with NUL. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct shd_str {
	const char *ptr;
	size_t len;
} shd_str;

#define SHD_STR(literal) ((shd_str){(literal), sizeof(literal) - 1})

static inline shd_str shd_str_of(const char *text)
{
	return (shd_str){text, strlen(text)};
}

static inline bool shd_str_is(shd_str s, const char *text)
{
	return strlen(text) == s.len && memcmp(s.ptr, text, s.len) == 0;
}

static inline bool shd_str_starts(shd_str s, const char *prefix)
{
	size_t n = strlen(prefix);
	return n <= s.len && memcmp(s.ptr, prefix, n) == 0;
}

static inline bool shd_str_ends(shd_str s, const char *suffix)
{
	size_t n = strlen(suffix);
	return n <= s.len && memcmp(s.ptr + s.len - n, suffix, n) == 0;
}

/* What stands after the last '/' of a key; all of it where there is none. */
static inline const char *shd_str_leaf(const char *key)
{
	const char *slash = strrchr(key, '/');
	return slash ? slash + 1 : key;
}

/* By bytes, a prefix in front of what it begins. */
static inline int shd_str_compare(shd_str a, shd_str b)
{
	size_t n = a.len < b.len ? a.len : b.len;
	int order = n ? memcmp(a.ptr, b.ptr, n) : 0;
	return order ? order : (a.len > b.len) - (a.len < b.len);
}
