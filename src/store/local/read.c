/* store/local/read.c - reading files. A process may have few of them open, and a set may have thousands: a reader
 * beyond most_descriptors keeps its file alive by a map of it instead, and opens it by its name for each read.
 * When the name is another file's by then, it reads through the map. */
#include "store/guard.h"
#include "store/local/local.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22 /* Linux 5.14 */
#endif

enum { PEEK_PAGES = 1024 }; /* asked about at a time */
enum { DIRECT_UNKNOWN = -2 };

typedef struct local_reader {
	sherd_reader base;
	shd_local *store;
	const shd_sys *sys;
	int fd;     /* -1: given back, there is a map */
	char *name; /* then */
	dev_t dev;
	ino_t ino;
	_Atomic int reads_ahead; /* does the system, by itself, and enough? 0: not known yet, 1: yes, -1: no */
	_Atomic int direct;      /* the file once more, for direct reads; -1: they are not possible */
	pthread_mutex_t mutex;   /* of the making of the map, and of direct */
	_Atomic(uint8_t *) map;  /* the whole file, from the first call of map on */
	bool copied;             /* the map is memory of ours */
	shd_guarded *guarded;    /* else; known once there is a map */
} local_reader;

/* O_NONBLOCK: opening a pipe must not wait for its other end. */
static int local_read_open_file(const local_reader *r, const char *key)
{
	return shd_local_open(r->store, key, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

/* The reader's descriptor, or a new one of the same file, for put_back(); -1 when its name is not there any more, is
 * another file's, or cannot be opened. */
static int borrow(const local_reader *r)
{
	struct stat st;
	if (r->fd >= 0)
		return r->fd;
	int fd = local_read_open_file(r, r->name);
	if (fd < 0 || (r->sys->fstat(r->sys, fd, &st) == 0 && st.st_dev == r->dev && st.st_ino == r->ino))
		return fd;
	(void)r->sys->close(r->sys, fd);
	return -1;
}

static void put_back(const local_reader *r, int fd)
{
	if (fd >= 0 && fd != r->fd)
		(void)r->sys->close(r->sys, fd);
}

static int fail_cut(uint64_t size, sherd_error *err)
{
	return shd_fail_at(err, SHERD_ECORRUPT, "truncated", size, "the file has become shorter");
}

static int read_file(const local_reader *r, int fd, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	for (size_t done = 0; done < len;) {
		uint64_t at = offset + done;
		ssize_t n = SHD_RETRY(r->sys->pread(r->sys, fd, (char *)buf + done, len - done, (off_t)at));
		if (n == 0)
			return fail_cut(at, err);
		if (n < 0) {
			int rc = shd_fail_os(err, errno, "cannot read");
			if (err)
				err->offset = at;
			return rc;
		}
		done += (size_t)n;
	}
	return SHERD_OK;
}

/* The kernel copies, so that a disk that fails is an error and not a signal. */
static int read_map(const local_reader *r, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	uint8_t *map = atomic_load(&r->map);
	for (size_t done = 0; done < len;) {
		struct iovec to = {(char *)buf + done, len - done}, from = {map + offset + done, len - done};
		ssize_t n = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
		if (n <= 0) {
			int rc = shd_fail_os(err, n < 0 ? errno : EIO, "cannot read");
			if (err)
				err->offset = offset + done;
			return rc;
		}
		done += (size_t)n;
	}
	return SHERD_OK;
}

static int reader_at(const sherd_reader *reader, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	const local_reader *r = (const local_reader *)reader;
	int fd = borrow(r);
	int rc = fd >= 0 ? read_file(r, fd, offset, buf, len, err) : read_map(r, offset, buf, len, err);
	put_back(r, fd);
	return rc;
}

/* A set may have more files than a process may have maps. Who has no memory for a large map has none for a copy. */
enum { MOST_COPIED = 1 << 20 };

static int copy_file(local_reader *r, sherd_error *err)
{
	size_t size = (size_t)r->base.size;
	uint8_t *copy = malloc(size);
	if (!copy)
		return shd_fail_nomem(err);
	int rc = read_file(r, r->fd, 0, copy, size, err);
	if (rc < 0) {
		free(copy);
		return rc;
	}
	r->copied = true;
	atomic_store(&r->map, copy);
	return SHERD_OK;
}

static int make_map(local_reader *r, sherd_error *err)
{
	bool small = r->base.size <= MOST_COPIED;
	if (small && atomic_load(&r->store->maps) >= SHD_LOCAL_MAPS)
		return copy_file(r, err);
	void *made = r->sys->map(r->sys, r->fd, (size_t)r->base.size);
	if (made == MAP_FAILED)
		return small && errno == ENOMEM ? copy_file(r, err) : shd_fail_os(err, errno, "cannot map");
	r->guarded = shd_guard_add(made, (size_t)r->base.size, &r->base);
	if (!r->guarded) {
		(void)r->sys->unmap(r->sys, made, (size_t)r->base.size);
		return shd_fail_nomem(err);
	}
	(void)atomic_fetch_add(&r->store->maps, 1);
	atomic_store(&r->map, made);
	return SHERD_OK;
}

static uint64_t broken_at(const local_reader *r)
{
	return r->guarded ? atomic_load_explicit(&r->guarded->broken, memory_order_relaxed) : SHD_GUARD_WHOLE;
}

/* A page may be there of which only the first bytes are the file's: the size tells. */
static int reader_check(const sherd_reader *reader, sherd_error *err)
{
	const local_reader *r = (const local_reader *)reader;
	struct stat st;
	if (!atomic_load(&r->map) || r->copied)
		return SHERD_OK;
	uint64_t broken = broken_at(r);
	/* One without a descriptor is opened only when there is something to explain. */
	int fd = broken == SHD_GUARD_WHOLE ? r->fd : borrow(r);
	bool cut = fd >= 0 && r->sys->fstat(r->sys, fd, &st) == 0 && (uint64_t)st.st_size < reader->size;
	put_back(r, fd);
	if (cut)
		return fail_cut((uint64_t)st.st_size, err);
	if (broken == SHD_GUARD_WHOLE)
		return SHERD_OK;
	int rc = shd_fail_os(err, EIO, "cannot read what is mapped");
	if (err)
		err->offset = broken;
	return rc;
}

static int reader_map(const void **out, const sherd_reader *reader, uint64_t offset, size_t len, sherd_error *err)
{
	(void)len;
	/* The map is a cache: making it changes nothing that a caller can see. */
	local_reader *r = (local_reader *)(uintptr_t)reader;
	int rc = SHERD_OK;
	if (!atomic_load(&r->map)) {
		pthread_mutex_lock(&r->mutex);
		if (!atomic_load(&r->map))
			rc = make_map(r, err);
		pthread_mutex_unlock(&r->mutex);
	}
	if (rc == SHERD_OK && broken_at(r) != SHD_GUARD_WHOLE)
		rc = reader_check(reader, err);
	if (rc == SHERD_OK)
		*out = atomic_load(&r->map) + offset;
	return rc;
}

/* Asks the kernel which pages its cache holds, and puts them into the map. */
static bool reader_peek(const void **out, const sherd_reader *reader, uint64_t offset, size_t len)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), from = offset & ~(page - 1);
	unsigned char held[PEEK_PAGES];
	const void *start = NULL;
	if (reader_map(&start, reader, from, len, NULL) < 0)
		return false;
	if (((const local_reader *)reader)->copied) {
		*out = (const uint8_t *)start + (offset - from);
		return true;
	}
	if (!sherd_guard_held())
		return false;
	uint8_t *map = (uint8_t *)(uintptr_t)start;
	size_t all = (size_t)(offset - from) + len;
	for (size_t done = 0; done < all; done += PEEK_PAGES * page) {
		size_t n = all - done < PEEK_PAGES * page ? all - done : PEEK_PAGES * page;
		if (mincore(map + done, n, held) < 0)
			return false;
		for (size_t i = 0; i < (n + page - 1) / page; i++)
			if (!(held[i] & 1))
				return false;
	}
	if (madvise(map, all, MADV_POPULATE_READ) < 0)
		return false;
	*out = map + (offset - from);
	return true;
}

/* ASKED: the kernel takes no more than its own read-ahead size, 128 KiB by default, of what it is asked for at a time.
 * ENOUGH: where that size is so large, sequential reading keeps a disk busy, and in larger pages than on request. */
enum { ASKED = 128 << 10, ENOUGH_KIB = 1024 };

static void read_ahead(int fd, uint64_t offset, uint64_t len)
{
	for (uint64_t done = 0; done < len; done += ASKED) {
		uint64_t n = len - done < ASKED ? len - done : ASKED;
		(void)posix_fadvise(fd, (off_t)(offset + done), (off_t)n, POSIX_FADV_WILLNEED);
	}
}

static long read_ahead_kib(const char *format, dev_t dev)
{
	char path[96], text[24] = "";
	(void)snprintf(path, sizeof(path), format, major(dev), minor(dev));
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	ssize_t n = read(fd, text, sizeof(text) - 1);
	(void)close(fd);
	return n > 0 ? strtol(text, NULL, 10) : -1;
}

static bool reads_ahead(local_reader *r)
{
	int known = atomic_load(&r->reads_ahead);
	if (!known) {
		/* Of a whole device or a network file system; of the device that a partition is on. */
		long kib = read_ahead_kib("/sys/class/bdi/%u:%u/read_ahead_kb", r->dev);
		if (kib < 0)
			kib = read_ahead_kib("/sys/dev/block/%u:%u/../queue/read_ahead_kb", r->dev);
		known = kib >= ENOUGH_KIB ? 1 : -1;
		atomic_store(&r->reads_ahead, known);
	}
	return known > 0;
}

/* How a map is touched, for the pages that have any byte of the range. */
static void advise_touching(uint8_t *map, uint64_t from, uint64_t to, bool apart)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	from &= ~(page - 1);
	(void)madvise(map + from, (size_t)(to - from), apart ? MADV_RANDOM : MADV_NORMAL);
}

/* Hints go to the kernel as they are, past the table: no promise depends on them. Pages are asked for if any byte of
 * them is wanted, and let go only if all of them are done with. */
static void reader_advise(const sherd_reader *reader, uint64_t offset, uint64_t len, sherd_advice advice)
{
	local_reader *r = (local_reader *)(uintptr_t)reader;
	uint8_t *map = atomic_load(&r->map); /* before copied, which is known then */
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), mask = ~(page - 1);
	if (r->fd >= 0 && (advice == SHERD_ADVICE_SOON || (advice == SHERD_ADVICE_ONWARD && !reads_ahead(r))))
		read_ahead(r->fd, offset, len);
	if (!map || r->copied || (advice == SHERD_ADVICE_SOON && r->fd >= 0))
		return;
	if (advice == SHERD_ADVICE_SOON) {
		(void)madvise(map + (offset & mask), (size_t)(offset + len - (offset & mask)), MADV_WILLNEED);
		return;
	}
	if (advice == SHERD_ADVICE_ONWARD || advice == SHERD_ADVICE_APART) {
		advise_touching(map, offset, offset + len, advice == SHERD_ADVICE_APART);
		return;
	}
	uint64_t from = offset & mask, to = (offset + len + page - 1) & mask;
	if (advice == SHERD_ADVICE_DONE) {
		from = (offset + page - 1) & mask;
		to = offset + len == reader->size ? to : (offset + len) & mask;
	}
	if (from >= to)
		return;
	(void)madvise(map + from, (size_t)(to - from), advice == SHERD_ADVICE_NOW ? MADV_POPULATE_READ : MADV_DONTNEED);
}

static void close_file(local_reader *r)
{
	if (r->fd < 0)
		return;
	(void)r->sys->close(r->sys, r->fd);
	(void)atomic_fetch_sub(&r->store->descriptors, 1);
	r->fd = -1;
}

static void close_direct(local_reader *r)
{
	int fd = atomic_load(&r->direct);
	if (fd < 0)
		return;
	(void)r->sys->close(r->sys, fd);
	(void)atomic_fetch_sub(&r->store->descriptors, 1);
}

static void reader_close(sherd_reader *reader)
{
	local_reader *r = (local_reader *)reader;
	uint8_t *map = atomic_load(&r->map);
	if (r->copied) {
		free(map);
	} else if (map) {
		shd_guard_remove(r->guarded);
		(void)r->sys->unmap(r->sys, map, (size_t)reader->size);
		(void)atomic_fetch_sub(&r->store->maps, 1);
	}
	close_file(r);
	close_direct(r);
	pthread_mutex_destroy(&r->mutex);
	free(r->name);
	free(r);
}

/* ---- is it in memory? */

#ifndef SYS_cachestat
#define SYS_cachestat 451 /* Linux 6.5 */
#endif

typedef struct cache_range {
	uint64_t offset, len;
} cache_range;

typedef struct cache_pages {
	uint64_t present, dirty, written, evicted, lately;
} cache_pages;

/* Where nobody counts pages, one byte in the middle is tried. */
static bool try_byte(int fd, uint64_t offset)
{
	char byte;
	struct iovec to = {&byte, 1};
	return preadv2(fd, &to, 1, (off_t)offset, RWF_NOWAIT) >= 0 || errno != EAGAIN;
}

static bool reader_cached(const sherd_reader *reader, uint64_t offset, uint64_t len)
{
	const local_reader *r = (const local_reader *)reader;
	cache_range range = {offset, len};
	cache_pages pages = {0};
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	const uint8_t *map = atomic_load(&r->map);
	unsigned char held;
	if (r->fd < 0 && map && !r->copied &&
	    mincore((void *)(uintptr_t)(map + (offset + len / 2) / page * page), (size_t)page, &held) == 0)
		return held & 1;
	if (r->fd < 0)
		return true;
	if (syscall(SYS_cachestat, r->fd, &range, &pages, 0) < 0)
		return try_byte(r->fd, offset + len / 2);
	return 2 * pages.present > (offset + len - 1) / page - offset / page;
}

/* Opens the file once more; -1 when it cannot be, or too many are open. */
static int open_direct(local_reader *r)
{
	char path[32];
	int fd = borrow(r), direct = -1;
	if (fd < 0 || atomic_load(&r->store->descriptors) > r->store->most_descriptors) {
		put_back(r, fd);
		return -1;
	}
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	direct = SHD_RETRY(r->sys->open(r->sys, AT_FDCWD, path, O_RDONLY | O_DIRECT | O_CLOEXEC, 0, 0));
	put_back(r, fd);
	if (direct >= 0)
		(void)atomic_fetch_add(&r->store->descriptors, 1);
	return direct < 0 ? -1 : direct;
}

int shd_local_direct(const sherd_reader *reader)
{
	if (reader->ops->close != reader_close)
		return -1;
	local_reader *r = (local_reader *)(uintptr_t)reader;
	int fd = atomic_load(&r->direct);
	if (fd != DIRECT_UNKNOWN)
		return fd;
	pthread_mutex_lock(&r->mutex);
	fd = atomic_load(&r->direct);
	if (fd == DIRECT_UNKNOWN)
		atomic_store(&r->direct, fd = open_direct(r));
	pthread_mutex_unlock(&r->mutex);
	return fd;
}

static const struct sherd_reader_ops reader_ops = {.at = reader_at,
                                                   .map = reader_map,
                                                   .peek = reader_peek,
                                                   .close = reader_close,
                                                   .advise = reader_advise,
                                                   .cached = reader_cached,
                                                   .check = reader_check};

/* Where there are too many, and the file can be held otherwise. */
static void give_back(local_reader *r, const char *key)
{
	const void *map;
	if (atomic_load(&r->store->descriptors) <= r->store->most_descriptors)
		return;
	r->name = strdup(key);
	if (r->name && (!r->base.size || reader_map(&map, &r->base, 0, (size_t)r->base.size, NULL) == SHERD_OK))
		close_file(r);
}

static int open_object(shd_local *s, const char *key, local_reader *r, sherd_error *err)
{
	r->fd = local_read_open_file(r, key);
	if (r->fd >= 0)
		(void)atomic_fetch_add(&s->descriptors, 1);
	if (r->fd < 0)
		return errno == ENXIO ? shd_local_check_kind(S_IFSOCK, err) : shd_local_fail(err, errno, "cannot open");
	struct stat st;
	if (s->sys->fstat(s->sys, r->fd, &st) < 0)
		return shd_fail_os(err, errno, "cannot stat");
	TRY(shd_local_check_kind(st.st_mode, err));
	sherd_stat stat;
	shd_local_stat_of(&st, &stat);
	r->base.size = stat.size;
	r->dev = st.st_dev;
	r->ino = st.st_ino;
	memcpy(r->base.identity, stat.identity, sizeof(stat.identity));
	give_back(r, key);
	return SHERD_OK;
}

int shd_local_read(sherd_reader **out, sherd_store *store, const char *key, sherd_error *err)
{
	shd_local *s = (shd_local *)store;
	local_reader *r = calloc(1, sizeof(*r));
	if (!r)
		return shd_fail_nomem(err);
	r->base.ops = &reader_ops;
	r->store = s;
	r->sys = s->sys;
	r->fd = -1;
	atomic_init(&r->direct, DIRECT_UNKNOWN);
	pthread_mutex_init(&r->mutex, NULL);
	int rc = open_object(s, key, r, err);
	if (rc < 0)
		reader_close(&r->base);
	else
		*out = &r->base;
	return rc;
}
