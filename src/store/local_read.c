#include "store/local.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22 /* Linux 5.14 */
#endif

typedef struct local_reader {
	sherd_reader base;
	const sherd_sys *sys;
	int fd;
	pthread_mutex_t mutex;  /* of the making of the map */
	_Atomic(uint8_t *) map; /* the whole file, from the first call of map on */
} local_reader;

static int reader_at(const sherd_reader *reader, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	const local_reader *r = (const local_reader *)reader;
	for (size_t done = 0; done < len;) {
		uint64_t at = offset + done;
		ssize_t n = SHERD_RETRY(r->sys->pread(r->sys, r->fd, (char *)buf + done, len - done, (off_t)at));
		if (n == 0)
			return sherd_fail_at(err, SHERD_ECORRUPT, "truncated", at, "the file has become shorter");
		if (n < 0) {
			int rc = sherd_fail_os(err, errno, "cannot read");
			if (err)
				err->offset = at;
			return rc;
		}
		done += (size_t)n;
	}
	return SHERD_OK;
}

static int reader_map(const sherd_reader *reader, uint64_t offset, size_t len, const void **out, sherd_error *err)
{
	(void)len;
	/* The map is a cache: making it changes nothing that a caller can see. */
	local_reader *r = (local_reader *)(uintptr_t)reader;
	uint8_t *map = atomic_load(&r->map);
	int rc = SHERD_OK;
	if (!map) {
		pthread_mutex_lock(&r->mutex);
		map = atomic_load(&r->map);
		if (!map) {
			void *made = r->sys->map(r->sys, r->fd, (size_t)reader->size);
			if (made == MAP_FAILED)
				rc = sherd_fail_os(err, errno, "cannot map");
			else
				atomic_store(&r->map, map = made);
		}
		pthread_mutex_unlock(&r->mutex);
	}
	if (rc == SHERD_OK)
		*out = map + offset;
	return rc;
}

/* The kernel takes no more than its own read-ahead size, 128 KiB by default, of what it is asked for at a time. */
enum { READ_AHEAD = 128 << 10 };

static void read_ahead(int fd, uint64_t offset, uint64_t len)
{
	for (uint64_t done = 0; done < len; done += READ_AHEAD) {
		uint64_t n = len - done < READ_AHEAD ? len - done : READ_AHEAD;
		(void)posix_fadvise(fd, (off_t)(offset + done), (off_t)n, POSIX_FADV_WILLNEED);
	}
}

/* Hints go to the kernel as they are, past the table: no promise depends on them. Pages are asked for if any byte of
 * them is wanted, and let go only if all of them are done with. */
static void reader_advise(const sherd_reader *reader, uint64_t offset, uint64_t len, sherd_advice advice)
{
	const local_reader *r = (const local_reader *)reader;
	uint8_t *map = atomic_load(&r->map);
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), mask = ~(page - 1);
	if (advice == SHERD_ADVICE_SOON)
		read_ahead(r->fd, offset, len);
	if (!map || advice == SHERD_ADVICE_SOON)
		return;
	uint64_t from = offset & mask, to = (offset + len + page - 1) & mask;
	if (advice == SHERD_ADVICE_DONE) {
		from = (offset + page - 1) & mask;
		to = offset + len == reader->size ? to : (offset + len) & mask;
	}
	if (from >= to)
		return;
	(void)madvise(map + from, (size_t)(to - from), advice == SHERD_ADVICE_NOW ? MADV_POPULATE_READ : MADV_DONTNEED);
}

static void reader_close(sherd_reader *reader)
{
	local_reader *r = (local_reader *)reader;
	uint8_t *map = atomic_load(&r->map);
	if (map)
		(void)r->sys->unmap(r->sys, map, (size_t)reader->size);
	if (r->fd >= 0)
		(void)r->sys->close(r->sys, r->fd);
	pthread_mutex_destroy(&r->mutex);
	free(r);
}

static const struct sherd_reader_ops reader_ops = {
	.at = reader_at, .map = reader_map, .close = reader_close, .advise = reader_advise};

/* O_NONBLOCK: opening a pipe must not wait for its other end. */
static int open_object(sherd_local *s, const char *key, local_reader *r, sherd_error *err)
{
	r->fd = sherd_local_open(s, key, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (r->fd < 0)
		return errno == ENXIO ? sherd_local_check_kind(S_IFSOCK, err)
		                      : sherd_local_fail(err, errno, "cannot open");
	struct stat st;
	if (s->sys->fstat(s->sys, r->fd, &st) < 0)
		return sherd_fail_os(err, errno, "cannot stat");
	TRY(sherd_local_check_kind(st.st_mode, err));
	sherd_stat stat;
	sherd_local_stat_of(&st, &stat);
	r->base.size = stat.size;
	memcpy(r->base.identity, stat.identity, sizeof(stat.identity));
	return SHERD_OK;
}

int sherd_local_read(sherd_store *store, const char *key, sherd_reader **out, sherd_error *err)
{
	sherd_local *s = (sherd_local *)store;
	local_reader *r = calloc(1, sizeof(*r));
	if (!r)
		return sherd_fail_nomem(err);
	r->base.ops = &reader_ops;
	r->sys = s->sys;
	r->fd = -1;
	pthread_mutex_init(&r->mutex, NULL);
	int rc = open_object(s, key, r, err);
	if (rc < 0)
		reader_close(&r->base);
	else
		*out = &r->base;
	return rc;
}
