#include "engine/rows/sequence.h"

#include "engine/rows/cursor_text.h"

#include <inttypes.h>
#include <math.h>

enum { DEFAULT_BATCH = 1024 };

static bool straight(const rows_sequence *s)
{
	return !s->order.shuffle && !s->order.sample;
}

/* The rest of the shard, or a whole batch of it. */
static bool pick_straight(const rows_sequence *s, rows_state *at, rows_pick *out)
{
	if (at->position >= s->order.total)
		return false;
	const sherd_rows_shard *shard = &s->rows->shards[shd_rows_shard_of(s->rows, at->position)];
	uint64_t left = shard->first + shard->rows - at->position;
	uint64_t count = left < s->batch_rows ? left : s->batch_rows;
	if (out) {
		out->straight = true;
		out->first = at->position;
		out->count = (size_t)count;
	}
	at->position += count;
	return true;
}

/* Rows that are taken, in delivery order, until the batch is full. */
static bool pick_ids(const rows_sequence *s, rows_state *at, rows_pick *out)
{
	uint64_t taken = 0;
	while (at->position < s->order.total && taken < s->batch_rows) {
		uint64_t row = shd_rows_order_at(&s->order, at->position++);
		if (!shd_rows_order_takes(&s->order, row))
			continue;
		taken++;
		if (out)
			shd_vec_push(&out->ids, row);
	}
	if (out) {
		out->straight = false;
		out->count = (size_t)taken;
	}
	return taken > 0;
}

/* A shuffle alone fills every batch: others' batches are passed over without looking at their rows. */
static bool pass_over(const rows_sequence *s, rows_state *at)
{
	uint64_t left = s->order.total - at->position;
	at->position += left < s->batch_rows ? left : s->batch_rows;
	return left > 0;
}

/* Takes one batch of the global sequence; out may be NULL. */
static bool advance(const rows_sequence *s, rows_state *at, rows_pick *out)
{
	bool any;
	if (out) {
		out->ids.count = 0;
		out->ids.failed = false; /* no memory then does not mean none now */
	}
	if (straight(s))
		any = pick_straight(s, at, out);
	else
		any = out || s->order.sample ? pick_ids(s, at, out) : pass_over(s, at);
	if (any && out)
		out->number = at->number;
	at->number += any;
	return any;
}

/* Takes up to so many batches; how many there were. */
static uint64_t skip(const rows_sequence *s, rows_state *at, uint64_t most)
{
	uint64_t had = 0;
	while (had < most && advance(s, at, NULL))
		had++;
	return had;
}

/* Batch `steps` of an epoch that begins at this position, and round again; false when it has none. */
static bool pick_again(const rows_sequence *s, uint64_t from, uint64_t steps, rows_pick *out)
{
	rows_state at = {.position = from};
	uint64_t had = skip(s, &at, steps);
	if (had == steps && advance(s, &at, out))
		return true;
	at = (rows_state){.position = from};
	if (had)
		(void)skip(s, &at, steps % had);
	return advance(s, &at, out);
}

/* Who sought a row before the beginning of a stream that begins at the end gets rows from 0. */
static void pick_padding(const rows_sequence *s, uint64_t steps, uint64_t number, rows_pick *out)
{
	if (!pick_again(s, s->from, steps, out))
		(void)pick_again(s, 0, steps, out);
	out->number = number;
	out->padding = true;
}

/* The last round has fewer batches than ranks: does this rank get one? */
static bool finish_round(rows_sequence *s, uint32_t mine, uint32_t had, rows_pick *out)
{
	s->finished = true;
	if (!had || s->tail == SHERD_ROWS_TAIL_DROP)
		return false;
	if (mine < had)
		return true;
	if (s->tail == SHERD_ROWS_TAIL_KEEP)
		return false;
	pick_padding(s, mine - had, s->now.number + (mine - had), out);
	return true;
}

int shd_rows_sequence_next(rows_sequence *s, rows_pick *out, sherd_error *err)
{
	if (s->finished)
		return 0;
	/* The place within this round at which the number of the batch is ours. */
	uint64_t ahead = (uint64_t)s->rank + s->world - s->now.number % s->world;
	uint32_t mine = (uint32_t)(ahead % s->world), had = 0;
	rows_state before = s->now;
	out->padding = false;
	out->epoch = s->order.epoch;
	while (had < s->world && advance(s, &s->now, had == mine ? out : NULL))
		had++;
	bool given = had == s->world || finish_round(s, mine, had, out);
	if (had < s->world && s->tail == SHERD_ROWS_TAIL_DROP)
		s->now = before; /* what nobody got is still to come for whoever resumes */
	TRY(shd_vec_check(&out->ids, err));
	return given;
}

void shd_rows_sequence_reset(rows_sequence *s)
{
	s->now = (rows_state){.position = s->from};
	s->finished = false;
}

void shd_rows_sequence_begin(rows_sequence *s, uint64_t epoch)
{
	s->order.epoch = epoch;
	s->order.total = s->rows->total;
	shd_rows_sequence_reset(s);
}

int shd_rows_sequence_seek(rows_sequence *s, uint64_t position, sherd_error *err)
{
	if (position > s->order.total)
		return shd_fail(err, SHERD_EINVAL, "bad-argument", "row %" PRIu64 " of %" PRIu64, position,
		                s->order.total);
	s->now = (rows_state){.position = position};
	s->finished = false;
	return SHERD_OK;
}

static uint64_t batch_size(const sherd_rows *rows, const sherd_rows_stream_options *o)
{
	uint64_t n = o->batch_rows;
	if (!n && o->batch_bytes) {
		n = o->batch_bytes / rows->row_bytes;
		n = n ? n : 1;
	}
	n = n ? n : DEFAULT_BATCH;
	return n < rows->total ? n : rows->total;
}

static int sequence_check_options(const sherd_rows *rows, const sherd_rows_stream_options *o, sherd_error *err)
{
	uint32_t world = o->world ? o->world : 1;
	if (o->rank >= world)
		return shd_fail(err, SHERD_EINVAL, "bad-argument", "rank %" PRIu32 " of %" PRIu32, o->rank, world);
	if (o->from > rows->total)
		return shd_fail(err, SHERD_EINVAL, "bad-argument", "row %" PRIu64 " of %" PRIu64, o->from, rows->total);
	if (o->dtype != SHERD_DTYPE_NONE && o->dtype != SHERD_F64 && o->dtype != SHERD_F32 && o->dtype != SHERD_F16 &&
	    o->dtype != SHERD_BF16)
		return shd_fail(err, SHERD_EINVAL, "bad-argument", "rows are delivered as F64, F32, F16 or BF16");
	if ((unsigned)o->access > SHERD_ROWS_DIRECT || (unsigned)o->tail > SHERD_ROWS_TAIL_PAD)
		return shd_fail(err, SHERD_EINVAL, "bad-argument", "no such access or tail");
	if (o->sample && isnan(o->fraction))
		return shd_fail(err, SHERD_EINVAL, "bad-argument", "the fraction of a sample is not a number");
	if (o->resume && (o->from || o->epoch))
		return shd_fail(err, SHERD_EINVAL, "bad-argument",
		                "a stream begins at a row of an epoch or at a cursor, not both");
	return SHERD_OK;
}

int shd_rows_sequence_init(rows_sequence *s, const sherd_rows *rows, const sherd_rows_stream_options *o,
                           sherd_error *err)
{
	TRY(sequence_check_options(rows, o, err));
	*s = (rows_sequence){
		.rows = rows,
		.order = {.total = rows->total,
	                  .shuffle = o->shuffle,
	                  .seed = o->seed,
	                  .window = o->shuffle_window,
	                  .epoch = o->epoch},
		.batch_rows = batch_size(rows, o),
		.rank = o->rank,
		.world = o->world ? o->world : 1,
		.tail = o->tail,
		.from = o->from,
		.now = {.position = o->from},
	};
	if (o->sample)
		shd_rows_order_sample(&s->order, o->fraction);
	if (o->resume)
		TRY(shd_rows_text_resume(s, o->resume, o->batch_rows || o->batch_bytes, err));
	return SHERD_OK;
}
