/* base/error.h - raising and forwarding errors inside the library. */
#pragma once

#include <sherd/error.h>

#include <stdlib.h>

/* Fills err (if any) and returns code, so that raising is one statement:
 *	return shd_fail(err, SHERD_ECORRUPT, "bad-magic", "footer magic is %08x", magic);
 * reason is a string literal. */
__attribute__((format(printf, 4, 5))) int shd_fail(sherd_error *err, sherd_status code, const char *reason,
                                                   const char *fmt, ...);
__attribute__((format(printf, 5, 6))) int shd_fail_at(sherd_error *err, sherd_status code, const char *reason,
                                                      uint64_t offset, const char *fmt, ...);
/* For a failed system call: EIO with os_errno, or ENOTFOUND, EEXIST, ENOMEM where errno says so. */
__attribute__((format(printf, 3, 4))) int shd_fail_os(sherd_error *err, int os_errno, const char *fmt, ...);
int shd_fail_nomem(sherd_error *err);

/* Hands on what a call found, where it failed; returns rc. */
int shd_pass(sherd_error *err, int rc, const sherd_error *found);

/* Names the object an error belongs to, unless a deeper layer already did. */
int shd_in_object(sherd_error *err, int rc, const char *key);
/* Says in which store that object lies, unless a deeper layer already did: the one that the caller opened, where the
 * store is made of another's objects. */
int shd_in_store(sherd_error *err, int rc, const struct sherd_store *store);
/* Moves an offset that counts from the start of a part to one that counts from the start of the object. */
int shd_shift_offset(sherd_error *err, int rc, uint64_t base);
/* Says which of the things that a call was given is at fault; SHERD_NO_INDEX takes back what a call inside said. */
int shd_at_index(sherd_error *err, int rc, uint64_t index);
#define shd_fail_of(err, code, reason, index, ...) shd_at_index(err, shd_fail(err, code, reason, __VA_ARGS__), index)

/* Forward a failure unchanged. The only macro that hides a return. */
#define TRY(call)                       \
	do {                            \
		int try_rc_ = (call);   \
		if (try_rc_ < 0)        \
			return try_rc_; \
	} while (0)

/* Scope-bound ownership: SHD_AUTO(sherd_reader, sherd_reader_close) r = NULL; */
#define SHD_AUTO_DEFINE(type, close_fn)                                       \
	__attribute__((unused)) static inline void close_fn##_auto_(type **p) \
	{                                                                     \
		close_fn(*p);                                                 \
	}
#define SHD_AUTO(type, close_fn) __attribute__((cleanup(close_fn##_auto_))) type *

/* The same of a struct, zeroed before anything can fail: SHD_DONE(shd_arena_done) shd_arena a = {0}; */
#define SHD_DONE(done_fn) __attribute__((cleanup(done_fn)))
/* The same of what malloc() gave, whatever it points to: SHD_AUTO_FREE char *text = strdup("x"); */
static inline void shd_auto_free(void *p)
{
	free(*(void **)p);
}
#define SHD_AUTO_FREE __attribute__((cleanup(shd_auto_free)))

/* Hands an owned pointer out of its scope, and forgets it. */
#define TAKE(p)                            \
	({                                 \
		__typeof__(p) take_ = (p); \
		(p) = NULL;                \
		take_;                     \
	})

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
