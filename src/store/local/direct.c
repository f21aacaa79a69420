/* store/local/direct.c - files past the page cache: a ring of pieces, all but one of them under way.
 *
 * Their bytes lie in a ring, too. A piece lies there in one stretch: where the end is too near, it begins at the front.
 */
#include "store/local/local.h"

#include <stdlib.h>
#include <sys/mman.h>

/* What devices want of offsets, lengths and addresses of direct reads; none wants more. */
#define BLOCK UINT64_C(4096)

enum { MOST_PIECES = SHD_LOCAL_QUEUE, LEAST_PIECES = 4, MOST_PIECE = 1 << 20 };

typedef struct piece {
	const sherd_reader *reader;
	int fd;          /* direct, the reader's */
	uint64_t offset; /* what was asked for */
	size_t len;
	size_t skip;    /* bytes of its block before it */
	size_t blocks;  /* bytes that are read for it */
	size_t at;      /* where they go */
	size_t space;   /* what it takes of the ring, with the end that it left out */
	bool under_way; /* the kernel writes to it */
	int64_t got;    /* what has been read of the blocks, or a negative errno */
} piece;

typedef struct local_queue {
	sherd_queue base;
	shd_local *store;
	const shd_sys *sys;
	unsigned long kernel;  /* valid if queued */
	bool queued;           /* else pieces are read when they are due */
	unsigned first, count; /* the piece that is handed out next, and how many there are from it */
	size_t held;           /* what the one before it takes, which is done with at the next call */
	uint8_t *buf;
	size_t size, used, end; /* of the ring of bytes: all, taken, and where the free ones begin */
	size_t most;            /* bytes of a piece */
	piece pieces[MOST_PIECES];
} local_queue;

/* Room in the ring for a piece; false when there is none. */
static bool place(local_queue *q, piece *p)
{
	bool wrap = q->size - q->end < p->blocks;
	size_t space = p->blocks + (wrap ? q->size - q->end : 0);
	if (q->count == MOST_PIECES || space > q->size - q->used)
		return false;
	p->at = wrap ? 0 : q->end;
	p->space = space;
	q->used += space;
	q->end = p->at + p->blocks;
	return true;
}

/* Pieces end at multiples of their greatest size in the file, so that those which follow each other share no block. */
static int queue_ask(size_t *taken, sherd_queue *queue, const sherd_reader *reader, uint64_t offset, size_t len,
                     sherd_error *err)
{
	local_queue *q = (local_queue *)queue;
	int fd = shd_local_direct(reader);
	if (fd < 0)
		return shd_fail(err, SHERD_EUNSUPPORTED, "no-direct", "this file system has no direct reads");
	unsigned i = (q->first + q->count) % MOST_PIECES;
	size_t room = q->most - (size_t)(offset % q->most);
	piece p = {.reader = reader, .fd = fd, .offset = offset, .len = len < room ? len : room};
	p.skip = (size_t)(offset % BLOCK);
	p.blocks = (size_t)((p.skip + p.len + BLOCK - 1) / BLOCK * BLOCK);
	if (!place(q, &p))
		return SHERD_OK;
	p.under_way = q->queued && q->sys->queue_read(q->sys, q->kernel, i, fd, q->buf + p.at, p.blocks,
	                                              (off_t)(offset - p.skip)) == 0;
	q->pieces[i] = p;
	q->count++;
	*taken = p.len;
	return SHERD_OK;
}

/* Waits for one piece; others may come first. */
static int await(local_queue *q, const piece *p, sherd_error *err)
{
	while (p->under_way) {
		uint64_t tag;
		int64_t got;
		if (SHD_RETRY(q->sys->queue_wait(q->sys, q->kernel, &tag, &got)) < 0)
			return shd_fail_os(err, errno, "cannot read");
		q->pieces[tag].under_way = false;
		q->pieces[tag].got = got;
	}
	return SHERD_OK;
}

/* What did not come directly comes the usual way, or fails there and tells why. */
static int complete(local_queue *q, piece *p, sherd_error *err)
{
	uint8_t *buf = q->buf + p->at;
	TRY(await(q, p, err));
	if (!q->queued)
		p->got = SHD_RETRY(q->sys->pread(q->sys, p->fd, buf, p->blocks, (off_t)(p->offset - p->skip)));
	size_t got = p->got < (int64_t)p->skip ? 0 : (size_t)p->got - p->skip;
	if (got >= p->len)
		return SHERD_OK;
	return p->reader->ops->at(p->reader, p->offset + got, buf + p->skip + got, p->len - got, err);
}

static int queue_next(const void **data, size_t *len, sherd_queue *queue, sherd_error *err)
{
	local_queue *q = (local_queue *)queue;
	q->used -= q->held;
	q->held = 0;
	if (!q->count)
		return 0;
	piece *p = &q->pieces[q->first];
	q->base.reader = p->reader;
	TRY(complete(q, p, err));
	*data = q->buf + p->at + p->skip;
	*len = p->len;
	q->first = (q->first + 1) % MOST_PIECES;
	q->count--;
	q->held = p->space;
	return 1;
}

/* ---- closing and opening */

static void give_back_kernel(local_queue *q)
{
	bool empty = true;
	for (unsigned i = 0; i < MOST_PIECES && empty; i++)
		empty = await(q, &q->pieces[i], NULL) == SHERD_OK;
	shd_local_give_queue(q->store, q->kernel, empty);
}

static void queue_close(sherd_queue *queue)
{
	local_queue *q = (local_queue *)queue;
	if (q->queued)
		give_back_kernel(q);
	(void)munmap(q->buf, q->size);
	free(q);
}

/* Pieces large enough to be worth a call, and room for enough of them to keep a disk busy. */
static void shape(local_queue *q, uint64_t ahead)
{
	uint64_t most = ahead / LEAST_PIECES / BLOCK * BLOCK;
	most = most < BLOCK ? BLOCK : most > MOST_PIECE ? MOST_PIECE : most;
	uint64_t count = ahead / most;
	count = count < LEAST_PIECES ? LEAST_PIECES : count > MOST_PIECES ? MOST_PIECES : count;
	q->most = (size_t)most;
	q->size = (size_t)(most * count);
}

int shd_local_queue(sherd_queue **out, sherd_store *store, uint64_t ahead, sherd_error *err)
{
	static const struct sherd_queue_ops ops = {.ask = queue_ask, .next = queue_next, .close = queue_close};
	local_queue *q = calloc(1, sizeof(*q));
	if (!q)
		return shd_fail_nomem(err);
	q->base.ops = &ops;
	q->store = (shd_local *)store;
	q->sys = q->store->sys;
	shape(q, ahead);
	void *buf = mmap(NULL, q->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (buf == MAP_FAILED) {
		free(q);
		return shd_fail_nomem(err);
	}
	q->buf = buf;
	/* The kernel pins the memory page by page: fewer pages, less work. */
	(void)madvise(buf, q->size, MADV_HUGEPAGE);
	q->queued = shd_local_take_queue(q->store, &q->kernel);
	*out = &q->base;
	return SHERD_OK;
}
