#include "engine/rows/pieces.h"

/* Rows that are looked for together, by their bytes. */
enum { RUN_BYTES = 1 << 20 };

static rows_piece *piece_at(rows_pieces *p, unsigned i)
{
	return &p->ring[(p->first + i) % ROWS_PIECES];
}

/* The run is at least so long, if as much lies together: pieces end where it suits the queue, and what is left of a
 * run should not be read by itself. */
static bool look_for_run(rows_pieces *p, const sherd_rows *rows, rows_scout *scout)
{
	rows_piece *run = &p->run;
	uint64_t row, each = rows->row_bytes;
	if (run->from == run->to) {
		if (!shd_rows_scout_next(scout, &row))
			return false;
		*run = (rows_piece){.shard = shd_rows_shard_of(rows, row)};
		run->from = run->to = (row - rows->shards[run->shard].first) * each;
	}
	const sherd_rows_shard *s = &rows->shards[run->shard];
	uint64_t len = run->to - run->from, most = len < RUN_BYTES ? (RUN_BYTES - len + each - 1) / each : 0;
	run->to += each * shd_rows_scout_take(scout, s->first + run->to / each, s->first + s->rows, most);
	return true;
}

/* Would the run be of one shard too many? */
static bool crowded(rows_pieces *p)
{
	unsigned shards = 0;
	for (unsigned i = 0; i < p->count; i++) {
		size_t after = i + 1 < p->count ? piece_at(p, i + 1)->shard : p->run.shard;
		shards += piece_at(p, i)->shard != after;
	}
	return shards >= ROWS_OPEN_AHEAD;
}

/* Asks for the beginning of the run. What cannot be asked for fails, if at all, when it is due. False when there is no
 * room. */
static bool ask(rows_pieces *p, rows_shards *shards, size_t *taken)
{
	const rows_open_shard *s;
	uint64_t offset, at = shards->rows->head_bytes + p->run.from;
	size_t len = (size_t)(p->run.to - p->run.from);
	uint64_t row = shards->rows->shards[p->run.shard].first;
	*taken = len;
	p->run.reader = NULL;
	if (shd_rows_shards_find(shards, row, &s, &offset, NULL) < 0 ||
	    (p->probe && sherd_reader_cached(s->reader, at, len)) ||
	    (!p->queue && sherd_store_queue(&p->queue, shards->rows->store, p->window, NULL) < 0))
		return true;
	if (sherd_queue_ask(taken, p->queue, s->reader, at, len, NULL) == SHERD_OK)
		p->run.reader = s->reader;
	else
		*taken = len;
	return *taken > 0;
}

static void pieces_push(rows_pieces *p, size_t bytes)
{
	rows_piece *last = p->count ? piece_at(p, p->count - 1) : NULL;
	if (last && !last->reader && !p->run.reader && last->shard == p->run.shard && last->to == p->run.from) {
		last->to += bytes;
	} else {
		rows_piece *next = piece_at(p, p->count++);
		*next = p->run;
		next->to = next->from + bytes;
	}
	p->run.from += bytes;
	p->ahead += bytes;
}

static void pieces_fill(rows_pieces *p, rows_shards *shards, rows_scout *scout)
{
	while (p->count < ROWS_PIECES && (p->ahead < p->window || !p->count)) {
		size_t taken;
		if (!look_for_run(p, shards->rows, scout) || crowded(p) || !ask(p, shards, &taken))
			return;
		pieces_push(p, taken);
	}
}

/* A shard that something was asked of may have been closed: rows were gathered from many others meanwhile. */
static void pieces_check(rows_pieces *p, const rows_shards *shards)
{
	if (p->closed == shards->closed)
		return;
	p->closed = shards->closed;
	for (unsigned i = 0; i < p->count; i++) {
		const rows_piece *piece = piece_at(p, i);
		const rows_open_shard *s = shd_rows_shards_peek(shards, piece->shard);
		if (piece->reader && !(s && s->reader == piece->reader)) {
			shd_rows_pieces_drop(p);
			return;
		}
	}
}

int shd_rows_pieces_front(rows_pieces *p, rows_shards *shards, rows_scout *scout, size_t shard, uint64_t at,
                          const rows_piece **out, const uint8_t **data, sherd_error *err)
{
	pieces_check(p, shards);
	if (!p->lost)
		pieces_fill(p, shards, scout);
	const rows_piece *front = p->count ? piece_at(p, 0) : NULL;
	if (front && (front->shard != shard || front->from != at))
		front = NULL;
	if (front && front->reader && !p->data) {
		size_t len;
		const void *bytes;
		TRY(sherd_queue_next(&bytes, &len, p->queue, err));
		p->data = bytes;
	}
	p->lost = p->lost || !front;
	*out = front;
	*data = p->data;
	return SHERD_OK;
}

void shd_rows_pieces_use(rows_pieces *p, uint64_t bytes)
{
	rows_piece *front = piece_at(p, 0);
	front->from += bytes;
	p->ahead -= bytes;
	if (p->data)
		p->data += bytes;
	if (front->from < front->to)
		return;
	p->data = NULL;
	p->first = (p->first + 1) % ROWS_PIECES;
	p->count--;
}

void shd_rows_pieces_drop(rows_pieces *p)
{
	sherd_queue_close(p->queue);
	*p = (rows_pieces){.window = p->window, .probe = p->probe, .lost = true};
}

bool shd_rows_pieces_lost(rows_pieces *p)
{
	bool lost = p->lost;
	if (lost)
		shd_rows_pieces_drop(p);
	p->lost = false;
	return lost;
}
