/* s3/s3.h - the store of s3://, and what its parts share. */
#pragma once

#include "config.h"
#include "http.h"

#include <sherd/sys/backend.h>

#include <pthread.h>

/* Forward a failure unchanged. */
#define TRY(call)                       \
	do {                            \
		int try_rc_ = (call);   \
		if (try_rc_ < 0)        \
			return try_rc_; \
	} while (0)

#define SHD_S3_NS_MOST (INT64_MAX / 1000000000) /* seconds that can be told in nanoseconds: until 2262 */
#define SHD_S3_FIRST ((size_t)64 << 10)         /* what a reader fetches when it is opened */
#define SHD_S3_MOST_PUT ((uint64_t)5 << 30)
#define SHD_S3_IDENTITY 72
#define SHD_S3_WRITE_ID 17   /* 16 digits and NUL */
#define SHD_S3_MOST_ETAG 256 /* with NUL */

/* What a server was found to do with conditions. */
typedef struct shd_s3_manners {
	bool known;
	bool put;      /* If-None-Match and If-Match on PUT are honoured */
	bool remove;   /* If-Match on DELETE is */
	bool crc;      /* x-amz-checksum-crc32 is held against the body */
	bool unquoted; /* it wants the ETag of If-Match without quotes */
} shd_s3_manners;

typedef struct shd_s3 {
	sherd_store base;
	shd_s3_config config;
	shd_http *http;
	char *root;                  /* what stands before keys, "" or ending with '/' */
	char *place;                 /* server, bucket and root */
	pthread_mutex_t identifying; /* of the credentials, and the next */
	int64_t asked_ms;            /* when a role was last asked; 0: never */
	pthread_mutex_t asking;      /* held while manners are found out */
	shd_s3_manners manners;
	pthread_mutex_t mutex; /* of the clock */
	bool clock_known;
	int64_t clock; /* milliseconds that the server's clock is ahead of CLOCK_MONOTONIC, at least */
} shd_s3;

static inline int shd_s3_no_memory(sherd_error *err)
{
	return sherd_fail(err, SHERD_ENOMEM, "no-memory", "out of memory");
}

static inline int64_t shd_s3_ns(int64_t seconds)
{
	return seconds > SHD_S3_NS_MOST ? INT64_MAX : seconds < -SHD_S3_NS_MOST ? INT64_MIN : seconds * 1000000000;
}

/* What stands under a key. */
typedef struct shd_s3_object {
	bool there;                     /* as users see it: what was removed by a mark is not */
	bool marked;                    /* removed by a mark, which has this ETag */
	char etag[SHD_S3_MOST_ETAG];    /* without quotes */
	char write_id[SHD_S3_WRITE_ID]; /* "" where another program wrote it */
	uint64_t size;
	int64_t modified; /* seconds since 1970 */
} shd_s3_object;

/* Looks by HEAD. What is not there is no failure. */
int shd_s3_look(shd_s3_object *out, shd_s3 *s, const char *key, sherd_error *err);
/* "etag.write_id", or what is there of both. */
void shd_s3_identity(const shd_s3_object *object, char out[SHD_S3_IDENTITY]);
/* Does the object have this identity? One without a write id, as list tells, asks only for the ETag. */
bool shd_s3_is(const shd_s3_object *object, const char *identity);
/* Finds out, once per store, what the server does with conditions; SHERD_EUNSUPPORTED, "no-exclusive", where it may not
 * be written to. */
int shd_s3_ask_manners(shd_s3_manners *out, shd_s3 *s, sherd_error *err);
void shd_s3_new_write_id(char out[SHD_S3_WRITE_ID]);

/* What a mark holds in place of an object that was removed, where a server deletes in spite of conditions. */
extern const char shd_s3_mark[];

int shd_s3_read(sherd_reader **out, sherd_store *store, const char *key, sherd_error *err);
int shd_s3_write(sherd_writer **out, sherd_store *store, const char *key, const sherd_write_options *options,
                 sherd_error *err);
int shd_s3_list(sherd_store *store, const char *prefix, const char *after, sherd_list_fn *each, void *arg,
                sherd_error *err);
int shd_s3_remove(sherd_store *store, const char *key, const char *if_identity, sherd_error *err);
/* The same by who may not ask for a head: the object is opened. */
int shd_s3_stat_read(sherd_stat *out, sherd_store *store, const char *key, sherd_error *err);
int shd_s3_abandon(uint64_t *count, sherd_store *store, const char *prefix, int64_t age_ns, bool dry_run,
                   sherd_error *err);
int64_t shd_s3_now(sherd_store *store);
const char *shd_s3_place_name(const sherd_store *store);
/* SHERD_EIO, "forked", in a child of the process that opened the store: before any of its locks, which may be held for
 * ever there. */
int shd_s3_check_process(const shd_s3 *s, sherd_error *err);
void shd_s3_init(shd_s3 *s); /* the part that cannot fail */
void shd_s3_close(sherd_store *store);

extern const sherd_scheme shd_scheme_http, shd_scheme_https; /* web.c */

int shd_s3_stat(sherd_stat *out, sherd_store *store, const char *key, sherd_error *err);
