#include "support/fail_malloc.h"

#include "support/test.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

static _Atomic long countdown;
static _Atomic bool hit;
static _Atomic size_t asked;

void *__real_malloc(size_t);
void *__real_calloc(size_t, size_t);
void *__real_realloc(void *, size_t);
void *__real_aligned_alloc(size_t, size_t);
int __real_posix_memalign(void **, size_t, size_t);
void *__wrap_malloc(size_t);
void *__wrap_calloc(size_t, size_t);
void *__wrap_realloc(void *, size_t);
char *__wrap_strdup(const char *);
void *__wrap_aligned_alloc(size_t, size_t);
int __wrap_posix_memalign(void **, size_t, size_t);

static bool fails(size_t bytes)
{
	atomic_fetch_add(&asked, bytes);
	if (atomic_load(&countdown) <= 0 || atomic_fetch_sub(&countdown, 1) != 1)
		return false;
	atomic_store(&hit, true);
	errno = ENOMEM;
	return true;
}

void fail_malloc_at(long nth)
{
	atomic_store(&hit, false);
	atomic_store(&asked, 0);
	atomic_store(&countdown, nth);
}

bool fail_malloc_hit(void)
{
	return atomic_load(&hit);
}

size_t fail_malloc_bytes(void)
{
	return atomic_load(&asked);
}

void *__wrap_malloc(size_t n)
{
	return fails(n) ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t m)
{
	return fails(n * m) ? NULL : __real_calloc(n, m);
}

void *__wrap_realloc(void *p, size_t n)
{
	return fails(n) ? NULL : __real_realloc(p, n);
}

char *__wrap_strdup(const char *s)
{
	size_t n = strlen(s) + 1;
	char *copy = __wrap_malloc(n);
	return copy ? memcpy(copy, s, n) : NULL;
}

void *__wrap_aligned_alloc(size_t align, size_t n)
{
	return fails(n) ? NULL : __real_aligned_alloc(align, n);
}

int __wrap_posix_memalign(void **out, size_t align, size_t n)
{
	return fails(n) ? ENOMEM : __real_posix_memalign(out, align, n);
}

long fail_malloc_each(int (*call)(sherd_error *err))
{
	long nth = 0;
	bool failed;
	do {
		sherd_error err = {0};
		fail_malloc_at(++nth);
		int rc = call(&err);
		failed = fail_malloc_hit();
		fail_malloc_at(0);
		assert_int_equal(rc, failed ? SHERD_ENOMEM : SHERD_OK);
		assert_int_equal(err.code, rc);
	} while (failed);
	return nth - 1;
}
