/* sherd/store.h - where objects live.
 *
 * A store is a flat map from key to bytes. An object appears whole or not at
 * all: it is invisible until its writer commits, and it never changes
 * afterwards; it can only be replaced whole or removed. Keys are relative paths
 * with '/': no empty part, no "." or "..", no NUL, no leading '/', at most
 * SHERD_MAX_KEY bytes and 255 in one part, no part that begins with
 * ".sherd-tmp-". Any other byte is fine.
 *
 * Thread safety: a store and its readers may be used from any number of threads
 * at once; a writer belongs to one thread at a time, but for its places. A store
 * outlives its readers, writers and locks. */
#ifndef SHERD_STORE_H
#define SHERD_STORE_H

#include <sherd/error.h>
#include <sherd/memory.h>
#include <sherd/pair.h>

#include <stdbool.h>
#include <stddef.h>

SHERD_BEGIN_DECLS

typedef struct sherd_store sherd_store;
typedef struct sherd_reader sherd_reader;
typedef struct sherd_writer sherd_writer;
typedef struct sherd_lock sherd_lock;

#define SHERD_MAX_KEY 1024

/* What a backend promises beyond the contract. */
#define SHERD_CAP_MAP (1u << 0)     /* readers can map */
#define SHERD_CAP_DURABLE (1u << 1) /* what is committed survives power loss */
#define SHERD_CAP_LOCK (1u << 2)    /* objects can be locked */
#define SHERD_CAP_MKDIR (1u << 3)   /* folders can be made and removed */
#define SHERD_CAP_REMOTE (1u << 4)  /* bytes come over a network: better read than mapped */
#define SHERD_CAP_HELD (1u << 5)    /* bytes are held in memory: no disk can fail under a map */

struct sherd_scheme; /* sherd/sys/backend.h */

typedef struct sherd_store_options {
	bool create; /* make the folder that holds it, and its parents, durably; empty ones go again with close */
	/* A folder that exists names what lies beside it: "dir/run" is then the key "run" in "dir", of which folder
	 * "run/" and objects such as "run.json" are part. SHERD_ENOTFOUND, "is-folder", where nothing can ("." or
	 * ".." or "/"). */
	bool beside;
	const sherd_pair *own; /* settings that only this kind of store knows; the last one of a name counts */
	size_t own_count;
	const struct sherd_scheme *const
		*schemes; /* besides those that are built in, and before them; ends with NULL */
} sherd_store_options;

/* Opens the store that holds the object or set named by a plain path or a URI, and
 * hands out its key there (sherd_free() it); the key is "" when it is a folder that exists.
 *
 * "path" and "file:path", also with "//" and an empty or local host: files. A
 * link that is named is followed, and so are those beside a ".safetensors.index.json"
 * that is one. Setting: "follow-symlinks", "true" to trust links that lead out.
 * "mem://key": a new store in memory, gone with its close. No settings.
 *
 * SHERD_EUNSUPPORTED, "unsupported-scheme", tells which there are; SHERD_EINVAL is
 * "bad-setting", or "bad-path" of a name that is empty; SHERD_ENOTFOUND when the
 * folder around it is not there. */
SHERD_API int sherd_store_open(sherd_store **out, char **key, const char *uri, const sherd_store_options *options,
                               sherd_error *err);

/* What goes before a key to make a name that the user can open, as it was written:
 * "dir/", "file:///data/", "" for the current folder. "" as well when the store was
 * not opened by a name. Borrowed from the store. */
SHERD_API const char *sherd_store_label(const sherd_store *store);
/* Makes the object of an error such a name. It lies in the store that the error
 * tells, which must still be open, else in this one (NULL: in none); an error without an
 * object is about key. To be called once: the error tells no store any more. */
SHERD_API void sherd_store_name_error(const sherd_store *store, const char *key, sherd_error *err);

/* Opens a new store in memory, which has no name and is gone with its close. */
SHERD_API int sherd_store_open_memory(sherd_store **out, sherd_error *err);
typedef struct sherd_local_options {
	bool create;          /* make the folder, and its parents, durably */
	bool follow_symlinks; /* trust links that lead out of the folder */
} sherd_local_options;
/* Objects are files below the folder. SHERD_ENOTFOUND when there is none. */
SHERD_API int sherd_store_open_local(sherd_store **out, const char *folder, const sherd_local_options *options,
                                     sherd_error *err);
typedef struct sherd_cache_options {
	uint64_t bytes; /* what the folder may hold; about; 0: 16 GiB */
} sherd_cache_options;
/* A store that keeps what is read of another one in a local folder, which is made where it is missing: blocks of 4 MiB
 * and, of what is mapped, whole objects. So a store that cannot map can be mapped, and what was read once is not
 * fetched again as long as the object's identity is the same, which is asked for at each opening. What lies there is
 * held against a checksum before it is handed out, and fetched anew where it does not fit; what was not used for
 * longest goes when the bound is reached. Processes may share the folder. Writes go to the inner store, which belongs
 * to the cache from then on and is closed with it; after a failure it is the caller's. SHERD_EIO when the folder cannot
 * be used. */
SHERD_API int sherd_store_open_cache(sherd_store **out, sherd_store *inner, const char *folder,
                                     const sherd_cache_options *options, sherd_error *err);
SHERD_API void sherd_store_close(sherd_store *store); /* NULL is fine */
/* SHERD_CAP_* of the store. */
SHERD_API unsigned sherd_store_caps(const sherd_store *store);

typedef struct sherd_stat {
	uint64_t size;
	int64_t mtime_ns;  /* since 1970 UTC; 0 when unknown */
	char identity[72]; /* differs whenever the object was replaced */
} sherd_stat;

/* Size, time and identity of an object. SHERD_ENOTFOUND when there is none; folders are no objects. */
SHERD_API int sherd_store_stat(sherd_stat *out, sherd_store *store, const char *key, sherd_error *err);
/* What time it is where mtime_ns comes from, so that the difference is an age whatever the clock of this machine says.
 */
SHERD_API int64_t sherd_store_now(sherd_store *store);

/* Told of one object; false to stop. */
typedef bool sherd_list_fn(void *arg, const char *key, const sherd_stat *stat);
/* Calls each() for every key that begins with prefix and sorts after `after` ("" = from the first), in byte order. What
 * is committed or removed meanwhile is listed or not. */
SHERD_API int sherd_store_list(sherd_store *store, const char *prefix, const char *after, sherd_list_fn *each,
                               void *arg, sherd_error *err);

/* Removes an object, durably. Removing what is not there succeeds. */
SHERD_API int sherd_store_remove(sherd_store *store, const char *key, sherd_error *err);
/* The same, but only of what has this identity; else SHERD_ECONFLICT, "replaced", and it stays. */
SHERD_API int sherd_store_remove_if(sherd_store *store, const char *key, const char *identity, sherd_error *err);
/* Gives up writes below a prefix that were begun longer ago than age_ns, by the store's clock, and neither committed
 * nor aborted: their writers have died, or will fail. *count: how many there were; with dry_run they stay. None where
 * the store clears such by itself. */
SHERD_API int sherd_store_abandon(uint64_t *count, sherd_store *store, const char *prefix, int64_t age_ns, bool dry_run,
                                  sherd_error *err);
/* Makes a folder and its parents, durably; it may exist. SHERD_EUNSUPPORTED without SHERD_CAP_MKDIR. */
SHERD_API int sherd_store_mkdir(sherd_store *store, const char *key, sherd_error *err);
/* Removes a folder in which nothing is, durably. One that is not there or not empty is left as it is, and that is no
 * failure. SHERD_EUNSUPPORTED without SHERD_CAP_MKDIR. */
SHERD_API int sherd_store_rmdir(sherd_store *store, const char *key, sherd_error *err);

/* Opens an object for reading; SHERD_ENOTFOUND when there is none. An open reader survives the removal of its object,
 * or fails; it never gives wrong bytes. */
SHERD_API int sherd_store_read(sherd_reader **out, sherd_store *store, const char *key, sherd_error *err);
SHERD_API void sherd_reader_close(sherd_reader *reader); /* NULL is fine */
/* Bytes of the object. */
SHERD_API uint64_t sherd_reader_size(const sherd_reader *reader);
/* The key that it was opened by; valid until it is closed. */
SHERD_API const char *sherd_reader_key(const sherd_reader *reader);
/* The store that the caller opened; of an archive, the one that it lies in. */
SHERD_API const sherd_store *sherd_reader_store(const sherd_reader *reader);
SHERD_API const char *sherd_reader_identity(const sherd_reader *reader); /* as in sherd_stat */
/* Reads exactly len bytes at offset; less is SHERD_ECORRUPT, "truncated". */
SHERD_API int sherd_reader_at(const sherd_reader *reader, uint64_t offset, void *buf, size_t len, sherd_error *err);
/* Borrows the bytes themselves, until the reader is closed. SHERD_EUNSUPPORTED without SHERD_CAP_MAP.
 * A file that is cut off, or a disk that fails, raises SIGBUS where a map is touched, unless a guard is open
 * (sherd/guard.h); then it reads as zeros, and sherd_reader_check() tells. */
SHERD_API int sherd_reader_map(const void **out, const sherd_reader *reader, uint64_t offset, size_t len,
                               sherd_error *err);
/* Borrows the bytes, until the reader is closed, if they are in memory already and no signal can come of it: a guard is
 * open, or there is no map. False: read them. Give back what was used with SHERD_ADVICE_DONE, and check. */
SHERD_API bool sherd_reader_peek(const void **out, const sherd_reader *reader, uint64_t offset, size_t len);
/* Is what was borrowed what the object holds? To be asked after it was used, and before what was made of it is trusted:
 * SHERD_ECORRUPT, "truncated", or SHERD_EIO, with the byte from which on it is not. May ask the system for the size. */
SHERD_API int sherd_reader_check(const sherd_reader *reader, sherd_error *err);

/* What the caller is about to do with a range. Only hints: they never fail and never change what is read. */
typedef enum sherd_advice {
	SHERD_ADVICE_SOON = 0,   /* needed before long: begin to fetch it */
	SHERD_ADVICE_NOW = 1,    /* needed at once: make a map of it present */
	SHERD_ADVICE_DONE = 2,   /* not needed any more: a map of it need not stay resident */
	SHERD_ADVICE_ONWARD = 3, /* like SOON, by who reads in order and expects the system to notice that */
	/* A map of it is touched here and there: nothing around what is touched is to be fetched with it. Until ONWARD.
	 */
	SHERD_ADVICE_APART = 4
} sherd_advice;
/* Tells the store what will happen to a range, which may reach past the end. */
SHERD_API void sherd_reader_advise(const sherd_reader *reader, uint64_t offset, uint64_t len, sherd_advice advice);

/* Would reading this range wait for a disk? A guess: true when most of it is in memory, or when nobody can tell. */
SHERD_API bool sherd_reader_cached(const sherd_reader *reader, uint64_t offset, uint64_t len);

/* Reads past the caches of the system, several under way at a time: for what is larger than memory, or will not be
 * needed again. Ranges of any objects of the store come in the order in which they were asked for. Belongs to one
 * thread; a reader outlives what was asked of it. */
typedef struct sherd_queue sherd_queue;
/* ahead: bytes that may be under way, and memory that it takes; about. SHERD_EUNSUPPORTED, "no-direct", where the
 * store cannot. */
SHERD_API int sherd_store_queue(sherd_queue **out, sherd_store *store, uint64_t ahead, sherd_error *err);
/* Begins to read a range, or its first bytes: a piece ends with it or at a multiple of 64 of the object. Takes none
 * when the queue is full. SHERD_EUNSUPPORTED, "no-direct", where this object cannot be read so. */
SHERD_API int sherd_queue_ask(size_t *taken, sherd_queue *queue, const sherd_reader *reader, uint64_t offset,
                              size_t len, sherd_error *err);
/* 1 and the oldest piece that was asked for, valid until the next call of this; 0 when there is none. Nothing but
 * close after a failure. */
SHERD_API int sherd_queue_next(const void **data, size_t *len, sherd_queue *queue, sherd_error *err);
SHERD_API void sherd_queue_close(sherd_queue *queue); /* NULL is fine */

/* Writing. A writer is gone after commit or abort, whatever commit returns. */
typedef enum sherd_write_mode {
	SHERD_WRITE_NEW = 0, /* commit fails with SHERD_EEXIST when the key is taken; of two, one wins */
	/* Readers see the old object or the new one, whole; what is no object stays as it is. Who may use the object
	 * stays as it was: mode, and group and owner as far as the system permits. */
	SHERD_WRITE_REPLACE = 1
} sherd_write_mode;

typedef struct sherd_write_options {
	sherd_write_mode mode;
	uint32_t head;           /* how many bytes at the front fill() may change; at most SHERD_MAX_HEAD */
	const char *if_identity; /* REPLACE only what has this identity, else SHERD_ECONFLICT; NULL: anything */
	uint64_t size_hint; /* the expected size, 0 when unknown; need not be right, but large objects gain by it */
	/* NULL, or 72 bytes that outlive the writer: commit puts there what stat would tell. When it fails, what stat
	 * tells if the object is there nevertheless; "" where nobody knows. */
	char *identity;
	/* The key of an object that this one takes the place of, under another name: who may use that one may use this
	 * one. NULL, or nothing there: as the process makes files, or with REPLACE as what is replaced. */
	const char *like;
	/* It is removed before anybody relies on it: after a crash of the system it may be gone, or hold other bytes.
	 */
	bool fleeting;
} sherd_write_options;

#define SHERD_MAX_HEAD (1u << 20)

/* Begins an object, which nobody sees before commit. NULL options: SHERD_WRITE_NEW. SHERD_EINVAL, "bad-mode",
 * "bad-head", "bad-identity" or "bad-key", tells what is wrong with the options. */
SHERD_API int sherd_store_write(sherd_writer **out, sherd_store *store, const char *key,
                                const sherd_write_options *options, sherd_error *err);
/* Appends bytes. The first failed append or fill is remembered: later calls and commit then fail with the same error,
 * and nothing is left behind. */
SHERD_API int sherd_writer_append(sherd_writer *writer, const void *buf, size_t len, sherd_error *err);
/* Changes bytes of the head that were appended before; SHERD_EINVAL, "bad-range", past them. */
SHERD_API int sherd_writer_fill(sherd_writer *writer, uint32_t offset, const void *buf, size_t len, sherd_error *err);
/* Places: bytes come in any order, from any number of threads at once. The object is the same as if they had been
 * appended in order, and so is what a crash or a failure leaves.
 *
 * Begins it, before anything was appended; else SHERD_EINVAL, "bad-mode". Part by part the bytes go to where they are
 * stored: *part tells how many at a time. A thread that is far ahead of the first byte that is missing waits for it, so
 * that memory is bounded; hence threads take work in the order of the object, and one that will not bring what it took
 * says so (sherd_writer_give_up()). Append, fill and commit follow when all threads are done: they end it, and fail
 * with SHERD_EINVAL, "bad-range", if there is a gap. */
SHERD_API int sherd_writer_places(size_t *part, sherd_writer *writer, sherd_error *err);
/* Lends the memory whose bytes will stand at offset: *len of them were asked for, and it becomes what there is in one
 * stretch, at least one. Whoever asked fills it, and hands it back. */
SHERD_API int sherd_writer_room(void **room, size_t *len, sherd_writer *writer, uint64_t offset, sherd_error *err);
/* Hands back what was lent at offset, all of it, filled. Every byte comes once. */
SHERD_API int sherd_writer_placed(sherd_writer *writer, uint64_t offset, size_t len, sherd_error *err);
/* Both, of bytes that lie elsewhere. */
SHERD_API int sherd_writer_put(sherd_writer *writer, uint64_t offset, const void *buf, size_t len, sherd_error *err);
/* Makes a failure of the caller that of the writer, unless it has one: who waits for a place gets it, and so does who
 * comes later, commit among them. From any thread. */
SHERD_API void sherd_writer_give_up(sherd_writer *writer, const sherd_error *why);
/* After any failure but SHERD_EUNKNOWN nothing of it comes later. */
SHERD_API int sherd_writer_commit(sherd_writer *writer, sherd_error *err);
SHERD_API void sherd_writer_abort(sherd_writer *writer); /* NULL is fine */

/* Writes a whole small object. SHERD_EEXIST with SHERD_WRITE_NEW when the key is taken. */
SHERD_API int sherd_store_put(sherd_store *store, const char *key, sherd_write_mode mode, const void *data, size_t len,
                              sherd_error *err);
/* Reads a whole small object of at most max bytes (SHERD_ELIMIT above), and puts a NUL after it; sherd_free() the
 * result. */
SHERD_API int sherd_store_get(char **data, size_t *len, sherd_store *store, const char *key, uint64_t max,
                              sherd_error *err);

/* Locks are held on objects and end with the process that holds them. Locking never waits: SHERD_ECONFLICT when an
 * incompatible lock is held; SHERD_EUNSUPPORTED, "no-lock", without SHERD_CAP_LOCK. */
typedef enum sherd_lock_mode { SHERD_LOCK_SHARED = 0, SHERD_LOCK_EXCLUSIVE = 1 } sherd_lock_mode;

/* Locks an object that exists (SHERD_ENOTFOUND if not). */
SHERD_API int sherd_store_lock(sherd_lock **out, sherd_store *store, const char *key, sherd_lock_mode mode,
                               sherd_error *err);
/* Creates an object that is locked from the moment it can be seen; SHERD_EEXIST when the key is taken. */
SHERD_API int sherd_store_create_locked(sherd_lock **out, sherd_store *store, const char *key, const void *data,
                                        size_t len, sherd_lock_mode mode, sherd_error *err);
SHERD_API void sherd_lock_release(sherd_lock *lock); /* NULL is fine */
/* Gives an object a second name in its folder, durably, so that locks on it can still be seen after the first one was
 * replaced or removed. SHERD_EEXIST when the name is taken, SHERD_EUNSUPPORTED, "no-link", where objects have one. */
SHERD_API int sherd_store_link(sherd_store *store, const char *key, const char *second, sherd_error *err);

SHERD_END_DECLS

#endif
