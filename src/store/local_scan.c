/* store/local_scan.c - a file in order and past the page cache: a ring of pieces, all but one of them under way. */
#include "store/local.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

/* What devices want of offsets, lengths and addresses of direct reads; none wants more. */
#define BLOCK UINT64_C(4096)

enum { MOST_PIECES = SHERD_LOCAL_QUEUE, LEAST_PIECES = 4, MOST_PIECE = 1 << 20 };

typedef struct piece {
	uint64_t offset;
	size_t len;     /* what of it lies in the file */
	bool under_way; /* the kernel writes to it */
	int64_t got;    /* what has been read of it, or a negative errno */
} piece;

typedef struct local_scan {
	sherd_scan base;
	sherd_local *store;
	const sherd_sys *sys;
	const sherd_reader *reader;
	int fd;              /* of its own: direct */
	unsigned long queue; /* valid if queued */
	bool queued;         /* else pieces are read when they are asked for */
	uint64_t at;         /* the next byte that is handed out */
	uint64_t next;       /* the next byte that is asked for */
	size_t piece_size;
	unsigned count, first; /* pieces; the one that is handed out next */
	bool held;             /* the one before it has been handed out, and is done with at the next call */
	uint8_t *buf;
	piece pieces[MOST_PIECES];
} local_scan;

static void ask(local_scan *s, unsigned i)
{
	piece *p = &s->pieces[i];
	uint64_t left = s->reader->size - s->next;
	*p = (piece){.offset = s->next, .len = left < s->piece_size ? (size_t)left : s->piece_size};
	if (!p->len)
		return;
	s->next += p->len;
	p->under_way = s->queued && s->sys->queue_read(s->sys, s->queue, i, s->fd, s->buf + i * s->piece_size,
	                                               s->piece_size, (off_t)p->offset) == 0;
}

/* Waits for one piece; others may come first. */
static int await(local_scan *s, const piece *p, sherd_error *err)
{
	while (p->under_way) {
		uint64_t tag;
		int64_t got;
		if (SHERD_RETRY(s->sys->queue_wait(s->sys, s->queue, &tag, &got)) < 0)
			return sherd_fail_os(err, errno, "cannot read");
		s->pieces[tag].under_way = false;
		s->pieces[tag].got = got;
	}
	return SHERD_OK;
}

/* What did not come directly comes the usual way, or fails there and tells why. */
static int complete(local_scan *s, unsigned i, sherd_error *err)
{
	piece *p = &s->pieces[i];
	uint8_t *buf = s->buf + i * s->piece_size;
	TRY(await(s, p, err));
	if (!s->queued)
		p->got = SHERD_RETRY(s->sys->pread(s->sys, s->fd, buf, s->piece_size, (off_t)p->offset));
	size_t got = p->got < 0 ? 0 : (size_t)p->got;
	if (got >= p->len)
		return SHERD_OK;
	return s->reader->ops->at(s->reader, p->offset + got, buf + got, p->len - got, err);
}

static int scan_next(sherd_scan *scan, const void **data, size_t *len, sherd_error *err)
{
	local_scan *s = (local_scan *)scan;
	if (s->held)
		ask(s, (s->first + s->count - 1) % s->count);
	s->held = false;
	if (s->at >= s->reader->size)
		return 0;
	const piece *p = &s->pieces[s->first];
	TRY(complete(s, s->first, err));
	size_t skip = (size_t)(s->at - p->offset);
	*data = s->buf + s->first * s->piece_size + skip;
	*len = p->len - skip;
	s->at += *len;
	s->first = (s->first + 1) % s->count;
	s->held = true;
	return 1;
}

/* ---- closing and opening */

static void give_back_queue(local_scan *s)
{
	bool empty = true;
	for (unsigned i = 0; i < s->count && empty; i++)
		empty = await(s, &s->pieces[i], NULL) == SHERD_OK;
	sherd_local_give_queue(s->store, s->queue, empty);
}

static void scan_close(sherd_scan *scan)
{
	local_scan *s = (local_scan *)scan;
	if (s->queued)
		give_back_queue(s);
	if (s->fd >= 0)
		(void)s->sys->close(s->sys, s->fd);
	if (s->buf)
		(void)munmap(s->buf, s->count * s->piece_size);
	free(s);
}

/* Pieces large enough to be worth a call, and enough of them to keep a disk busy. */
static void shape(local_scan *s, uint64_t ahead)
{
	uint64_t each = ahead / LEAST_PIECES / BLOCK * BLOCK;
	each = each < BLOCK ? BLOCK : each > MOST_PIECE ? MOST_PIECE : each;
	uint64_t count = ahead / each;
	s->piece_size = (size_t)each;
	s->count = (unsigned)(count < LEAST_PIECES ? LEAST_PIECES : count > MOST_PIECES ? MOST_PIECES : count);
}

static int open_direct(local_scan *s, int fd)
{
	char path[32];
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return SHERD_RETRY(s->sys->open(s->sys, AT_FDCWD, path, O_RDONLY | O_DIRECT | O_CLOEXEC, 0, 0));
}

static int scan_init(local_scan *s, int fd, sherd_error *err)
{
	s->fd = open_direct(s, fd);
	if (s->fd < 0)
		return sherd_fail(err, SHERD_EUNSUPPORTED, "no-direct", "this file system has no direct reads");
	void *buf = mmap(NULL, s->count * s->piece_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (buf == MAP_FAILED)
		return sherd_fail_nomem(err);
	s->buf = buf;
	/* The kernel pins the memory page by page: fewer pages, less work. */
	(void)madvise(buf, s->count * s->piece_size, MADV_HUGEPAGE);
	s->queued = sherd_local_take_queue(s->store, &s->queue);
	for (unsigned i = 0; i < s->count; i++)
		ask(s, i);
	return SHERD_OK;
}

int sherd_local_scan(sherd_local *store, const sherd_reader *reader, int fd, uint64_t offset, uint64_t ahead,
                     sherd_scan **out, sherd_error *err)
{
	static const struct sherd_scan_ops ops = {.next = scan_next, .close = scan_close};
	local_scan *s = calloc(1, sizeof(*s));
	if (!s)
		return sherd_fail_nomem(err);
	s->base.ops = &ops;
	s->store = store;
	s->sys = store->sys;
	s->reader = reader;
	s->fd = -1;
	s->at = offset;
	s->next = offset / BLOCK * BLOCK;
	shape(s, ahead);
	int rc = scan_init(s, fd, err);
	if (rc < 0)
		scan_close(&s->base);
	else
		*out = &s->base;
	return rc;
}
