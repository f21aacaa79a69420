/* store/local/local.h - objects are files below a folder. Between the files of the local store only; tests use
 * shd_store_open_local_sys(). */
#pragma once

#include <sherd/sys/backend.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"
#include "store/local/sys.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

/* As sherd_store_open_local(), over another table, which outlives the store. */
int shd_store_open_local_sys(sherd_store **out, const char *folder, const sherd_local_options *options,
                             const shd_sys *sys, sherd_error *err);

/* Descriptors that the readers of one store hold. Those beyond hold their files by a map. */
#define SHD_LOCAL_DESCRIPTORS 256
/* Maps that they hold: half of what Linux gives a process (vm.max_map_count), so that others find some. Small files
 * beyond are copied. */
#define SHD_LOCAL_MAPS 32768

#define SHD_TEMP_PREFIX ".sherd-tmp-"

typedef struct shd_local {
	sherd_store base;
	const shd_sys *sys;
	int root;
	bool follow;                  /* links may lead anywhere */
	_Atomic bool no_openat2;      /* the system refused it: folders are walked one by one, links are refused */
	_Atomic bool no_nameless;     /* O_TMPFILE, or giving such a file a name, was refused */
	_Atomic unsigned descriptors; /* that readers hold */
	unsigned most_descriptors;    /* that they may; the rest keep their files by maps */
	_Atomic unsigned maps;        /* likewise */
	pthread_mutex_t mutex;        /* of what follows */
	shd_map ready;                /* folders whose way from the root was synced and that were swept */
	shd_arena ready_names;
	unsigned long queues[4]; /* idle: to close one takes as long as to read many megabytes */
	unsigned queue_count;
	unsigned made;  /* how many of the last parts of the way to the root this store made */
	char *made_way; /* that way, absolute, if close is to remove what is empty of it; else NULL */
} shd_local;

/* Repeats a system call that a signal interrupted. */
#define SHD_RETRY(call)                                 \
	({                                              \
		__typeof__(call) retry_;                \
		do                                      \
			retry_ = (call);                \
		while (retry_ == -1 && errno == EINTR); \
		retry_;                                 \
	})

/* local.c */

/* Of the folders that were made to open this one, those that are empty go with close. */
void shd_local_tidy(sherd_store *store, const char *folder);
/* As shd_fail_os(), and tells when a link led out. */
__attribute__((format(printf, 3, 4))) int shd_local_fail(sherd_error *err, int os_errno, const char *fmt, ...);
/* Opens what lies at a path below the root ("" is the root itself) without leaving it; -1 and errno on failure. */
int shd_local_open(shd_local *s, const char *path, int flags);
/* A file of its own for every caller, so that it can be locked. folder is the part of the key before its last '/'.
 * Missing folders are made. The first time a folder is asked for here, the way to it is synced and what dead
 * writers left in it is swept. */
int shd_local_open_folder(shd_local *s, const char *key, int *fd, sherd_error *err);
int shd_local_stat(sherd_stat *out, shd_local *s, const char *key, sherd_error *err);
void shd_local_stat_of(const struct stat *st, sherd_stat *out);
/* SHERD_OK when it is a plain file. */
int shd_local_check_kind(mode_t mode, sherd_error *err);
int shd_local_sync_folder(const shd_sys *sys, int fd, sherd_error *err);

/* read.c */
int shd_local_read(sherd_reader **out, sherd_store *store, const char *key, sherd_error *err);

/* The reader's file for direct reads, which closes with it; -1: there is none. */
int shd_local_direct(const sherd_reader *reader);

/* direct.c */
int shd_local_queue(sherd_queue **out, sherd_store *store, uint64_t ahead, sherd_error *err);

/* queue.c: for up to SHD_LOCAL_QUEUE reads or writes at a time. False where the system has none. */
#define SHD_LOCAL_QUEUE 64
bool shd_local_take_queue(shd_local *s, unsigned long *out);
/* empty: nothing is under way any more; else it is closed, which waits for that. */
void shd_local_give_queue(shd_local *s, unsigned long queue, bool empty);
void shd_local_close_queues(shd_local *s);

/* later.c: appends to one file that go on meanwhile. */
enum { SHD_LOCAL_LATER = 8 }; /* of them at most */
typedef struct shd_local_later {
	unsigned long queue;
	bool queued;  /* there is one */
	bool refused; /* the system has no queues, or not for this file */
	unsigned oldest, count;
	struct shd_local_write {
		const uint8_t *buf;
		size_t len;
		uint64_t offset;
		bool under_way;
		int64_t got;       /* as pwrite() has it, or a negative errno */
	} writes[SHD_LOCAL_LATER]; /* a ring */
} shd_local_later;
/* Begins to write to fd, past the page cache; waits for the oldest when there are too many. 1, or 0 when it cannot be
 * done this way. plain is the same file in the usual way: what the system refuses to write past the cache goes there.
 */
int shd_local_later_begin(shd_local *s, shd_local_later *l, int fd, const void *buf, size_t len, uint64_t offset,
                          int plain, sherd_error *err);
/* Waits until at most so many are under way, the oldest first. */
int shd_local_later_settle(shd_local *s, shd_local_later *l, unsigned most, int plain, sherd_error *err);
/* Waits for all, whatever becomes of them. */
void shd_local_later_done(shd_local *s, shd_local_later *l);

/* places.c: parts of one file that come in any order. */
#define SHD_LOCAL_BUFFER ((size_t)4 << 20) /* of a large file, and of what is gathered for one */
enum { SHD_LOCAL_LENT = 16, SHD_LOCAL_UNDER_WAY = 4 };
typedef struct shd_local_places {
	size_t part; /* 0: there are none */
	bool large;  /* they go past the page cache */
	shd_local *store;
	int plain, direct; /* the file, and the same past the cache or -1; lent */
	uint64_t hint;     /* how long it will be, about */
	uint64_t length;   /* that it was given so far */
	pthread_mutex_t mutex;
	bool begun, queued, refused; /* as of shd_local_later */
	unsigned long queue;
	unsigned made, under_way;
	struct shd_local_room {
		uint8_t *bytes;
		uint64_t offset;
		bool lent, under_way;
	} rooms[SHD_LOCAL_LENT + SHD_LOCAL_UNDER_WAY];
	int rc; /* of the first failure */
	sherd_error failure;
} shd_local_places;
void shd_local_places_parts(sherd_parts *out, shd_local_places *p, bool large);
int shd_local_places_room(void **out, shd_local_places *p, sherd_error *err);
int shd_local_places_place(shd_local_places *p, uint64_t offset, const void *bytes, sherd_error *err);
/* Waits for all. */
int shd_local_places_settle(shd_local_places *p, sherd_error *err);
/* Waits for all, whatever becomes of them. */
void shd_local_places_done(shd_local_places *p);

/* list.c */
int shd_local_list(sherd_store *store, const char *prefix, const char *after, sherd_list_fn *each, void *arg,
                   sherd_error *err);
/* Calls each() for the entries of an open folder, but for "." and ".."; it returns false to stop. type is a DT_. */
typedef bool shd_local_entry_fn(const char *name, unsigned char type, void *arg);
int shd_local_entries(const shd_sys *sys, int fd, shd_local_entry_fn *each, void *arg, sherd_error *err);

/* mode.c: who may use a file */
typedef struct shd_local_mode {
	bool known; /* else the system's default for this process */
	mode_t mode;
	uid_t owner;
	gid_t group;
} shd_local_mode;
/* Of the object under the key, if there is one; else *out stays as it is. */
void shd_local_mode_of(shd_local *s, const char *key, shd_local_mode *out);
/* Gives it to the file. */
int shd_local_mode_keep(const shd_sys *sys, int fd, const shd_local_mode *mode, sherd_error *err);

/* temp.c: a file that is not an object yet */
typedef struct shd_local_temp {
	int dir;       /* the folder it will stand in; -1 when there is nothing */
	int fd;        /* open for reading and writing; -1 when there is nothing */
	int lock;      /* LOCK_SH, LOCK_EX, or 0 when nobody needs it locked */
	char name[48]; /* "" while it has none */
	bool fleeting; /* it need not be durable */
	/* What its commit gives it; when that is known nobody but its owner may use it before. */
	shd_local_mode mode;
} shd_local_temp;

#define SHD_LOCAL_TEMP_NONE ((shd_local_temp){.dir = -1, .fd = -1})

/* lock 0 locks only files that have a name, so that they are not swept. mode may be NULL. */
int shd_local_temp_open(shd_local *s, const char *key, bool named, int lock, const shd_local_mode *mode,
                        shd_local_temp *out, sherd_error *err);
/* Trades a file without a name for one with a name and the same bytes. */
int shd_local_temp_name(shd_local *s, shd_local_temp *temp, sherd_error *err);
/* Removes what has not become an object, and closes. */
void shd_local_temp_done(shd_local *s, shd_local_temp *temp);
void shd_local_sweep(shd_local *s, int dir);
int shd_local_pwrite(const shd_sys *sys, int fd, const void *buf, size_t len, uint64_t offset, sherd_error *err);

/* commit.c: temp becomes the object under key, durably. */
int shd_local_commit_new(shd_local *s, shd_local_temp *temp, const char *key, sherd_error *err);
/* if_identity may be NULL. */
int shd_local_commit_over(shd_local *s, shd_local_temp *temp, const char *key, const char *if_identity,
                          sherd_error *err);
int shd_local_remove(sherd_store *store, const char *key, const char *if_identity, sherd_error *err);
int shd_local_rmdir(sherd_store *store, const char *key, sherd_error *err);
int shd_local_link(sherd_store *store, const char *key, const char *second, sherd_error *err);

/* write.c */
int shd_local_write(sherd_writer **out, sherd_store *store, const char *key, const sherd_write_options *options,
                    sherd_error *err);

/* lock.c */
int shd_local_lock(sherd_lock **out, sherd_store *store, const char *key, sherd_lock_mode mode, sherd_error *err);
int shd_local_create_locked(sherd_lock **out, sherd_store *store, const char *key, const void *data, size_t len,
                            sherd_lock_mode mode, sherd_error *err);
