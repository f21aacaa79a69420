/* tools/analyser.h - put before every file by tools/lint, for clang's analyser alone.
 *
 * The analyser sees one file at a time and takes "the call failed, and returned
 * success" for possible. These say that failing yields a negative code, and that
 * a test does not go on after an assertion that does not hold. */
#if __has_include("base/error.h")
#include "base/error.h"

#define shd_fail(err, code, ...) ((void)(shd_fail)(err, code, __VA_ARGS__), (int)(code))
#define shd_fail_at(err, code, ...) ((void)(shd_fail_at)(err, code, __VA_ARGS__), (int)(code))
#define shd_fail_os(err, ...) ((void)(shd_fail_os)(err, __VA_ARGS__), (int)SHERD_EIO)
#define shd_fail_nomem(err) ((void)(shd_fail_nomem)(err), (int)SHERD_ENOMEM)
#define shd_in_object(err, rc, key)                            \
	({                                                     \
		int analysed_rc_ = (rc);                       \
		(void)(shd_in_object)(err, analysed_rc_, key); \
		analysed_rc_;                                  \
	})
#define shd_in_store(err, rc, store)                            \
	({                                                      \
		int analysed_rc_ = (rc);                        \
		(void)(shd_in_store)(err, analysed_rc_, store); \
		analysed_rc_;                                   \
	})
#define shd_shift_offset(err, rc, base)                            \
	({                                                         \
		int analysed_rc_ = (rc);                           \
		(void)(shd_shift_offset)(err, analysed_rc_, base); \
		analysed_rc_;                                      \
	})
#define shd_at_index(err, rc, index)                            \
	({                                                      \
		int analysed_rc_ = (rc);                        \
		(void)(shd_at_index)(err, analysed_rc_, index); \
		analysed_rc_;                                   \
	})
#endif

/* Components see no more of the library than this. */
#if __has_include(<sherd/sys/backend.h>)
#include <sherd/sys/backend.h>

#define sherd_fail(err, code, ...) ((void)(sherd_fail)(err, code, __VA_ARGS__), (int)(code))
#endif

#if __has_include("support/test.h")
#include "support/test.h"

/* NOLINTNEXTLINE(readability-redundant-declaration): the same, with what the analyser is to know. */
void _fail(const char *file, int line) __attribute__((analyzer_noreturn));

#undef assert_true
#undef assert_non_null
#define assert_true(condition) ((condition) ? (void)0 : _fail(__FILE__, __LINE__))
#define assert_non_null(pointer) assert_true((pointer) != NULL)
#endif
