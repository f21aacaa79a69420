/* sherd/verify.h - checks everything that can be checked. */
#ifndef SHERD_VERIFY_H
#define SHERD_VERIFY_H

#include <sherd/limits.h>
#include <sherd/pool.h>
#include <sherd/progress.h>
#include <sherd/store.h>

SHERD_BEGIN_DECLS

/* What a check found. Errors make the data unfit; warnings do not. */
typedef struct sherd_report sherd_report;

/* How many errors there are. */
SHERD_API size_t sherd_report_errors(const sherd_report *report);
/* How many warnings there are. */
SHERD_API size_t sherd_report_warnings(const sherd_report *report);
/* Borrowed; NULL past the end. In the order of the objects checked, whatever the number of workers. */
SHERD_API const sherd_error *sherd_report_error(const sherd_report *report, size_t index);
/* The same of warnings. */
SHERD_API const sherd_error *sherd_report_warning(const sherd_report *report, size_t index);
/* Bytes that were read and held against checksums or rules. */
SHERD_API uint64_t sherd_report_checked_bytes(const sherd_report *report);
SHERD_API void sherd_report_close(sherd_report *report); /* NULL is fine */

typedef struct sherd_verify_options {
	bool quick; /* existence, sizes and heads only */
	sherd_pool *pool;
	const sherd_progress *progress;
	const sherd_limits *limits;
} sherd_verify_options;

/* Verifies whatever the key names (see sherd_detect). Bad data is in the report, not in the return value;
 * the call itself fails with SHERD_ENOTFOUND, SHERD_EIO, SHERD_ENOMEM, SHERD_ECANCELLED, and with SHERD_EUNSUPPORTED,
 * "foreign-format", for files of other programs that are not read here. */
SHERD_API int sherd_verify(sherd_report **out, sherd_store *store, const char *key, const sherd_verify_options *options,
                           sherd_error *err);

SHERD_END_DECLS

#endif
