/* tests/support/test.h - what every test includes. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sherd/error.h>

#define TEST(name) static void name(void **state __attribute__((unused)))

/* Succeeds only if the call does; prints the library's own message if not. */
#define assert_ok(call)                                                                                       \
	do {                                                                                                  \
		sherd_error e_ = {0}, *err = &e_;                                                             \
		if ((call) < 0)                                                                               \
			fail_msg("%s: %s: %s: %s", #call, sherd_status_name(e_.code), e_.object, e_.message); \
	} while (0)

/* Succeeds only if the call fails with this code, at this byte, and fills the error. */
#define assert_fails(want_code, want_offset, call)                                                            \
	do {                                                                                                  \
		sherd_error e_ = {0}, *err = &e_;                                                             \
		assert_int_equal((call), (want_code));                                                        \
		assert_int_equal(e_.code, (want_code));                                                       \
		if (e_.offset != (want_offset))                                                               \
			fail_msg("offset %lld, not %lld: %s", (long long)e_.offset, (long long)(want_offset), \
			         e_.message);                                                                 \
		assert_non_null(e_.reason);                                                                   \
		assert_true(e_.message[0] != 0);                                                              \
	} while (0)

/* Succeeds only if the call fails with this code and this short word. */
#define assert_refused(want_code, want_reason, call)         \
	do {                                                 \
		sherd_error e_ = {0}, *err = &e_;            \
		assert_int_equal((call), (want_code));       \
		assert_int_equal(e_.code, (want_code));      \
		assert_string_equal(e_.reason, want_reason); \
		assert_true(e_.message[0] != 0);             \
	} while (0)
