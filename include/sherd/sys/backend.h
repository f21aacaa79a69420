/* sherd/sys/backend.h - write your own store. Stable within a minor release only.
 *
 * The front (sherd_store_*) checks keys, ranges and sticky failures and names
 * the object in errors; a backend does the rest. Backends embed the structs
 * below as their first member. */
#ifndef SHERD_SYS_BACKEND_H
#define SHERD_SYS_BACKEND_H

#include <sherd/store.h>

SHERD_BEGIN_DECLS

struct sherd_store {
	const struct sherd_store_ops *ops;
	/* For a store made of another one's objects: that one, which errors name as the place; else NULL. */
	const sherd_store *around;
	/* What sherd_store_label() gives; malloc(), and the front frees it. A scheme sets it where the name that it was
	 * given does not end with the key; else it is NULL, and the front's. */
	char *label;
};

/* Stores that are opened by "name://...". */
typedef struct sherd_scheme {
	const char *name;            /* lower case */
	const char *const *settings; /* names of `own` in sherd_store_options; ends with NULL, or is NULL */
	/* As sherd_store_open(), which has checked the settings. uri is as the caller wrote it, options never NULL.
	 * *key comes from malloc(). */
	int (*open)(sherd_store **out, char **key, const char *uri, const sherd_store_options *options,
	            sherd_error *err);
} sherd_scheme;

/* Those that are built in; ends with NULL. */
SHERD_API const sherd_scheme *const *sherd_store_schemes(void);
/* The value of a setting, or NULL. */
SHERD_API const char *sherd_store_setting(const sherd_store_options *options, const char *name);
/* CRC-32 as in zlib: continues crc (0 at the start) over more bytes. */
SHERD_API uint32_t sherd_crc32(uint32_t crc, const void *data, size_t len);
/* The CRC-32 of two inputs one after the other, from that of each and the length of the second. */
SHERD_API uint32_t sherd_crc32_join(uint32_t first, uint32_t second, uint64_t second_len);
/* Fills err, which may be NULL, and returns code. reason is a string literal. */
SHERD_API int sherd_fail(sherd_error *err, sherd_status code, const char *reason, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Members after identity belong to the front: a backend leaves them zero. An identity that is empty or begins with "W/"
 * is weak: other bytes may have it, too, so that caches keep nothing under it. */
struct sherd_reader {
	const struct sherd_reader_ops *ops;
	uint64_t size;
	char identity[72];
	char *key;
	const sherd_store *store;
	void *first; /* bytes that were read already; or NULL */
	size_t first_len;
};

/* next() sets reader to the one whose piece it reached, for the front to name in errors. */
struct sherd_queue {
	const struct sherd_queue_ops *ops;
	const sherd_reader *reader;
};

/* Members other than ops belong to the front. */
struct sherd_writer {
	const struct sherd_writer_ops *ops;
	char *key;
	const sherd_store *store;
	uint64_t length; /* appended so far */
	uint32_t head;
	sherd_error failure;                /* the first one; its code is SHERD_OK while all is well */
	struct sherd_writer_places *places; /* while bytes come in any order; or NULL */
};

struct sherd_lock {
	void (*release)(sherd_lock *);
};

struct sherd_store_ops {
	const char *scheme; /* "file", "mem", "s3" */
	unsigned caps;      /* SHERD_CAP_*: engines choose by these, never by scheme */
	int (*read)(sherd_reader **out, sherd_store *, const char *key, sherd_error *err);
	/* options is never NULL, and gone when the call returns */
	int (*write)(sherd_writer **out, sherd_store *, const char *key, const sherd_write_options *options,
	             sherd_error *err);
	int (*list)(sherd_store *, const char *prefix, const char *after, sherd_list_fn *each, void *arg,
	            sherd_error *err);
	int (*stat)(sherd_stat *out, sherd_store *, const char *key, sherd_error *err);
	/* if_identity NULL: whatever is there */
	int (*remove)(sherd_store *, const char *key, const char *if_identity, sherd_error *err);
	void (*close)(sherd_store *);
	/* With SHERD_CAP_MKDIR, else NULL. */
	int (*mkdir)(sherd_store *, const char *key, sherd_error *err);
	int (*rmdir)(sherd_store *, const char *key, sherd_error *err);
	/* With SHERD_CAP_LOCK, else NULL. */
	int (*lock)(sherd_lock **out, sherd_store *, const char *key, sherd_lock_mode mode, sherd_error *err);
	int (*create_locked)(sherd_lock **out, sherd_store *, const char *key, const void *data, size_t len,
	                     sherd_lock_mode mode, sherd_error *err);
	/* Both are in one folder. Or NULL. */
	int (*link)(sherd_store *, const char *key, const char *second, sherd_error *err);
	int (*queue)(sherd_queue **out, sherd_store *, uint64_t ahead, sherd_error *err); /* or NULL */
	int64_t (*now)(sherd_store *); /* or NULL: times are those of this machine */
	/* As sherd_store_abandon(); prefix is never NULL. NULL: what nobody finished goes by itself. */
	int (*abandon)(uint64_t *count, sherd_store *, const char *prefix, int64_t age_ns, bool dry_run,
	               sherd_error *err);
	/* Names the place on earth, for who keeps what was read there: server and folder. NULL: its label does. */
	const char *(*place)(const sherd_store *);
};

/* Ranges were checked against size and are not empty. */
struct sherd_reader_ops {
	int (*at)(const sherd_reader *, uint64_t offset, void *buf, size_t len, sherd_error *err);
	int (*map)(const void **out, const sherd_reader *, uint64_t offset, size_t len, sherd_error *err); /* or NULL */
	bool (*peek)(const void **out, const sherd_reader *, uint64_t offset, size_t len);                 /* or NULL */
	void (*close)(sherd_reader *);
	void (*advise)(const sherd_reader *, uint64_t offset, uint64_t len, sherd_advice advice); /* or NULL */
	bool (*cached)(const sherd_reader *, uint64_t offset, uint64_t len);                      /* or NULL */
	int (*check)(const sherd_reader *, sherd_error *err); /* NULL: what it shows cannot fail */
};

struct sherd_queue_ops {
	int (*ask)(size_t *taken, sherd_queue *, const sherd_reader *, uint64_t offset, size_t len, sherd_error *err);
	int (*next)(const void **data, size_t *len, sherd_queue *, sherd_error *err);
	void (*close)(sherd_queue *);
};

/* How an object is cut into parts that are written by themselves. */
typedef struct sherd_parts {
	size_t bytes;  /* of each; a part begins at a multiple of that */
	unsigned most; /* that may be lent, or wait for one before them, at a time: at least 2, at most 64 */
} sherd_parts;

/* commit and abort free the writer, and whatever room it has. After a failure only abort is called. Ranges to fill were
 * checked. */
struct sherd_writer_ops {
	int (*append)(sherd_writer *, const void *buf, size_t len, sherd_error *err);
	int (*fill)(sherd_writer *, uint32_t offset, const void *buf, size_t len, sherd_error *err);
	int (*commit)(sherd_writer *, sherd_error *err);
	void (*abort)(sherd_writer *);
	/* Places, for stores that write parts in any order; or all NULL, then the front gathers parts of its own and
	 * appends them in order. The front counts bytes: a part is placed once, when it is full. */
	void (*parts)(sherd_parts *out, sherd_writer *); /* before anything else */
	/* Memory for one part, however the store wants it aligned. May wait for parts that are on their way, and not
	 * for rooms that are lent. From any thread. */
	int (*room)(void **out, sherd_writer *, sherd_error *err);
	/* Takes a room back that is full, and writes it at offset, now or later; a failure may be told by a later call.
	 * From any thread. */
	int (*place)(sherd_writer *, uint64_t offset, void *room, sherd_error *err);
	/* All parts up to length are placed, and no thread is in here any more: appends follow at length. One room may
	 * still be lent, whose bytes are appended next. */
	int (*settle)(sherd_writer *, uint64_t length, sherd_error *err);
};

SHERD_END_DECLS

#endif
