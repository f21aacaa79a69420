/* sherd/error.h - status codes and the caller-owned error object.
 *
 * Every fallible function returns SHERD_OK or one of the negative codes below and
 * takes a sherd_error as its last parameter, which may be NULL. Outputs are
 * written only on success.
 *
 * Any of them may fail with SHERD_ENOMEM, SHERD_EIO, SHERD_EINVAL (an argument
 * that its comment rules out), and, where it takes a progress, SHERD_ECANCELLED.
 * What opens or reads stored data may also fail with SHERD_ENOTFOUND (nothing is
 * stored under the key), SHERD_ECORRUPT, SHERD_EVERSION, SHERD_ELIMIT and
 * SHERD_EUNSUPPORTED, what publishes or removes with SHERD_EUNKNOWN. Comments name
 * the codes that a function has besides, or where one of these means more. */
#ifndef SHERD_ERROR_H
#define SHERD_ERROR_H

#include <sherd/export.h>

#include <stdint.h>

SHERD_BEGIN_DECLS

struct sherd_store;

/* Chosen by what the caller can do about it. Values never change meaning. */
typedef enum sherd_status {
	SHERD_OK = 0,
	SHERD_ENOMEM = -1,        /* allocation failed */
	SHERD_EIO = -2,           /* the store failed; os_errno tells why if it is known */
	SHERD_ENOTFOUND = -3,     /* no such object, tensor, row or node */
	SHERD_EEXIST = -4,        /* the object exists and the call may not replace it */
	SHERD_ECORRUPT = -5,      /* bytes contradict the format or their checksum */
	SHERD_EVERSION = -6,      /* well-formed, but newer than this library */
	SHERD_ELIMIT = -7,        /* a limit of sherd_limits would be exceeded */
	SHERD_EINVAL = -8,        /* bad argument: the caller's bug, not the file's */
	SHERD_ECONFLICT = -9,     /* somebody else is writing, or published first */
	SHERD_EUNSUPPORTED = -10, /* this format, backend or build cannot do that */
	SHERD_EINCOMPLETE = -11,  /* a set that was never committed */
	SHERD_ECANCELLED = -12,   /* the progress callback, or a cancel call, said stop */
	/* A write or removal got no answer: it has happened, or not, or will yet. Look before you do anything else, and
	 * remove nothing that it may have published. */
	SHERD_EUNKNOWN = -13
} sherd_status;

#define SHERD_NO_OFFSET UINT64_MAX
#define SHERD_NO_INDEX UINT64_MAX

/* Filled when, and only when, a call given a non-NULL err returns < 0.
 * Plain memory: nothing to free, may live on the stack, may be copied. */
typedef struct sherd_error {
	sherd_status code;
	int os_errno;    /* 0 when the cause is not the system */
	uint64_t offset; /* byte in the object, or SHERD_NO_OFFSET */
	/* Of a call that takes several records, tensors, wants or sources: which of them is at fault, counted from 0 in
	 * the order in which they were given; else SHERD_NO_INDEX. */
	uint64_t index;
	const char *reason; /* a stable short word ("bad-magic"), static storage, never NULL */
	char object[256];   /* key of the object, "" when unknown; a longer key keeps its tail */
	char message[256];  /* one line, no trailing newline or period */
	/* Where the object lies, when it is known: a call may read from one store and write to another. One of those
	 * that the caller opened; only to be compared once it is closed. */
	const struct sherd_store *store;
} sherd_error;

/* Told of one object or tensor that is lost, where a call goes on without it. */
typedef void sherd_lost_fn(void *arg, const sherd_error *lost);

/* A constant English phrase for a code; never NULL. */
SHERD_API const char *sherd_status_name(sherd_status code);

SHERD_END_DECLS

#endif
