/* s3/queue.c - ranges on their way, in the order in which they were asked for. */
#include "read.h"

#include <stdlib.h>

enum { MOST_PIECES = 64, FEWEST_PIECES = 2 };
static const size_t least_piece = (size_t)256 << 10, most_piece = (size_t)8 << 20;

typedef struct queue_piece {
	shd_s3_call call;
	const sherd_reader *reader;
	char *bytes;
	uint64_t offset;
	size_t len;
	bool here; /* nothing has to be waited for */
} queue_piece;

typedef struct s3_queue {
	sherd_queue base;
	shd_s3 *s;
	size_t piece, room;  /* bytes of one; how many there may be */
	size_t first, count; /* that were asked for and not handed out */
	bool lent;           /* the one before the first is in the caller's hands */
	queue_piece pieces[];
} s3_queue;

static int s3_queue_ask(size_t *taken, sherd_queue *queue, const sherd_reader *reader, uint64_t offset, size_t len,
                        sherd_error *err)
{
	s3_queue *q = (s3_queue *)queue;
	if (q->count + q->lent >= q->room)
		return SHERD_OK; /* none was taken */
	queue_piece *p = &q->pieces[(q->first + q->count) % q->room];
	if (len > q->piece)
		len = (size_t)((offset + q->piece) / 64 * 64 - offset);
	if (!p->bytes && !(p->bytes = malloc(q->piece)))
		return shd_s3_no_memory(err);
	p->here = shd_s3_reader_has(reader, offset, p->bytes, len);
	if (!p->here)
		TRY(shd_s3_reader_begin(reader, &p->call, offset, p->bytes, len, err));
	p->reader = reader;
	p->offset = offset;
	p->len = len;
	q->count++;
	*taken = len;
	return SHERD_OK;
}

static int s3_queue_next(const void **data, size_t *len, sherd_queue *queue, sherd_error *err)
{
	s3_queue *q = (s3_queue *)queue;
	q->lent = false;
	if (!q->count)
		return 0;
	queue_piece *p = &q->pieces[q->first];
	q->base.reader = p->reader;
	int rc = p->here ? SHERD_OK : shd_s3_reader_end(p->reader, &p->call, p->offset, err);
	shd_s3_call_end(q->s, &p->call);
	TRY(rc);
	q->first = (q->first + 1) % q->room;
	q->count--;
	q->lent = true;
	*data = p->bytes;
	*len = p->len;
	return 1;
}

static void s3_queue_close(sherd_queue *queue)
{
	s3_queue *q = (s3_queue *)queue;
	for (size_t i = 0; i < q->room; i++) {
		shd_s3_call_end(q->s, &q->pieces[i].call);
		free(q->pieces[i].bytes);
	}
	free(q);
}

static const struct sherd_queue_ops queue_ops = {.ask = s3_queue_ask, .next = s3_queue_next, .close = s3_queue_close};

int shd_s3_queue(sherd_queue **out, sherd_store *store, uint64_t ahead, sherd_error *err)
{
	size_t piece = ahead / 8 < least_piece  ? least_piece
	               : ahead / 8 < most_piece ? (size_t)(ahead / 8)
	                                        : most_piece;
	size_t room = ahead / piece < FEWEST_PIECES ? FEWEST_PIECES
	              : ahead / piece < MOST_PIECES ? (size_t)(ahead / piece)
	                                            : MOST_PIECES;
	s3_queue *q = calloc(1, sizeof(*q) + room * sizeof(q->pieces[0]));
	if (!q)
		return shd_s3_no_memory(err);
	q->base.ops = &queue_ops;
	q->s = (shd_s3 *)store;
	q->piece = piece / 64 * 64;
	q->room = room;
	*out = &q->base;
	return SHERD_OK;
}
