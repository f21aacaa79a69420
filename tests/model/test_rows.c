/* Model: random sets, batches, windows, worlds, orders, epochs, samples, tails, resets, resumes with another world and
 * after appends, ways to read: what all ranks get together is what a naive list of batches says, bit for bit.
 * SHD_SEED repeats a run. */
#include "support/rows_set.h"
#include "support/scratch.h"
#include "support/test.h"

#include "base/error.h"
#include "base/rng.h"
#include "engine/rows/order.h"

#include <sherd/guard.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

SHD_AUTO_DEFINE(sherd_rows_cursor, sherd_rows_cursor_close)
#define CURSOR SHD_AUTO(sherd_rows_cursor, sherd_rows_cursor_close)

enum {
	SETS = 40,
	CASES = 50,
	MOST_SHARDS = 9,
	MOST_ROWS = 60,
	MOST_MORE = 3,
	MOST_TOTAL = (MOST_SHARDS + MOST_MORE) * MOST_ROWS
};

static uint64_t state_of_luck;
static sherd_pool *pool;

static uint64_t luck(uint64_t n)
{
	return shd_splitmix64(state_of_luck++) % n;
}

/* ---- a set, in memory and as files */

typedef struct set {
	uint64_t shards[MOST_SHARDS + MOST_MORE];
	size_t count;
	uint64_t total, width;
	size_t grown_count; /* shards after an append */
	uint64_t grown_total;
	sherd_store *stores[2]; /* local, memory */
	sherd_rows *rows[2];
	sherd_rows *grown[2]; /* the same set, opened after an append; NULL: it has no manifest, and did not grow */
	char *folder;
} set;

/* As any program writes files; our store would sync each. */
static void write_plainly(set *s, size_t count, bool manifest)
{
	for (size_t i = 0; i < count + manifest; i++) {
		char key[64], path[4096], *data = NULL;
		size_t len = 0;
		if (i < count)
			(void)snprintf(key, sizeof(key), "part-%05zu.shard", i);
		else
			(void)snprintf(key, sizeof(key), "rows.manifest.json");
		(void)snprintf(path, sizeof(path), "%s/%s", s->folder, key);
		assert_ok(sherd_store_get(&data, &len, s->stores[1], key, 1 << 24, err));
		FILE *f = fopen(path, "wb");
		assert_non_null(f);
		assert_int_equal(fwrite(data, 1, len, f), len);
		assert_int_equal(fclose(f), 0);
		sherd_free(data);
	}
}

static void set_grow(set *s)
{
	s->grown_count = s->count + (size_t)luck(MOST_MORE + 1);
	s->grown_total = s->total;
	for (size_t i = s->count; i < s->grown_count; i++) {
		s->shards[i] = luck(MOST_ROWS);
		s->grown_total += s->shards[i];
	}
	rows_set_make_listed(s->stores[1], "", SHERD_F32, 2, s->shards, s->grown_count, s->width);
	write_plainly(s, s->grown_count, true);
	for (int i = 0; i < 2; i++) {
		assert_ok(sherd_rows_open_folder(&s->grown[i], s->stores[i], "", NULL, err));
		assert_int_equal(sherd_rows_total(s->grown[i]), s->grown_total);
	}
}

static void set_make(set *s)
{
	*s = (set){.count = 1 + (size_t)luck(MOST_SHARDS), .width = 1 + luck(luck(4) ? 9 : 1500)};
	for (size_t i = 0; i < s->count; i++) {
		s->shards[i] = luck(4) ? luck(luck(3) ? 12 : MOST_ROWS) : 0;
		s->total += s->shards[i];
	}
	if (!s->total)
		s->total = s->shards[0] = 1;
	s->folder = scratch_make();
	assert_ok(sherd_store_open_memory(&s->stores[1], err));
	assert_ok(sherd_store_open_local(&s->stores[0], s->folder, NULL, err));
	bool listed = luck(2);
	if (listed)
		rows_set_make_listed(s->stores[1], "", SHERD_F32, 1 + (unsigned)luck(2), s->shards, s->count, s->width);
	else
		rows_set_make(s->stores[1], "", s->shards, s->count, s->width);
	write_plainly(s, s->count, listed);
	for (int i = 0; i < 2; i++) {
		assert_ok(sherd_rows_open_folder(&s->rows[i], s->stores[i], "", NULL, err));
		assert_int_equal(sherd_rows_total(s->rows[i]), s->total);
	}
	if (listed)
		set_grow(s);
}

static void set_done(set *s)
{
	for (int i = 0; i < 2; i++) {
		sherd_rows_close(s->rows[i]);
		sherd_rows_close(s->grown[i]);
		sherd_store_close(s->stores[i]);
	}
	scratch_remove(s->folder);
}

/* ---- what must come */

typedef struct plan {
	uint64_t ids[MOST_TOTAL];
	size_t ends[MOST_TOTAL]; /* of batches, in ids */
	size_t batches;
} plan;

static uint64_t shard_end(const set *s, uint64_t row)
{
	uint64_t end = 0;
	for (size_t i = 0; i < COUNT_OF(s->shards) && end <= row; i++)
		end += s->shards[i];
	return end;
}

static void plan_make(plan *p, const set *s, uint64_t total, const sherd_rows_stream_options *o)
{
	rows_order order = {
		.total = total, .shuffle = o->shuffle, .seed = o->seed, .window = o->shuffle_window, .epoch = o->epoch};
	size_t n = 0, begun = 0;
	uint64_t batch = o->batch_rows ? o->batch_rows : 1024;
	*p = (plan){.batches = 0};
	if (o->sample)
		shd_rows_order_sample(&order, o->fraction);
	for (uint64_t position = o->from; position < total; position++) {
		uint64_t row = shd_rows_order_at(&order, position);
		if (shd_rows_order_takes(&order, row))
			p->ids[n++] = row;
		bool full = n - begun == batch,
		     edge = !o->shuffle && !o->sample && position + 1 == shard_end(s, position);
		if (n > begun && (full || edge || position + 1 == total)) {
			p->ends[p->batches++] = n;
			begun = n;
		}
	}
}

static void assert_batch(const plan *p, size_t which, const sherd_rows_batch *b)
{
	size_t begin = which ? p->ends[which - 1] : 0;
	assert_rows(b, p->ids + begin, 0, p->ends[which] - begin);
}

/* ---- a case */

typedef struct run {
	const set *set;
	const plan *plan;
	sherd_rows_stream_options options; /* of the first stream */
	char text[SHERD_ROWS_CURSOR_TEXT];
	size_t done; /* batches that all ranks together have had */
	bool resumed;
} run;

/* Any way to read gives the same. */
static sherd_rows_cursor *open_rank(const run *r, uint32_t rank, uint32_t world, sherd_rows_tail tail, bool *grown)
{
	static const sherd_rows_access ways[] = {SHERD_ROWS_MAP, SHERD_ROWS_READ, SHERD_ROWS_AUTO, SHERD_ROWS_DIRECT};
	static const uint64_t windows[] = {0, 1, 100, 5000, UINT64_MAX};
	sherd_rows_stream_options o = r->options;
	sherd_rows_cursor *c = NULL;
	o.rank = rank;
	o.world = world;
	o.tail = tail;
	o.access = ways[luck(COUNT_OF(ways))];
	o.dtype = luck(2) ? SHERD_F32 : luck(2) ? SHERD_F64 : SHERD_DTYPE_NONE;
	o.window_bytes = windows[luck(COUNT_OF(windows))];
	o.pool = luck(3) ? NULL : pool;
	if (r->resumed) {
		o.resume = r->text;
		o.from = o.epoch = 0;
		o.batch_rows = luck(2) ? o.batch_rows : 0; /* the text knows */
	}
	/* Who resumes may find that the set has grown. */
	*grown = r->resumed && r->set->grown[0] && luck(2);
	assert_ok(sherd_rows_cursor_open(&c, *grown ? r->set->grown[luck(2)] : r->set->rows[luck(2)], &o, err));
	return c;
}

/* The batch that a rank gets in a step of this stream, by its number: ranks take turns by number, not by place. */
static size_t number_of(const run *r, uint32_t rank, uint32_t world, size_t step)
{
	size_t n = r->done + step * world;
	while (n % world != rank)
		n++;
	return n;
}

static void assert_step(const run *r, sherd_rows_cursor *c, uint32_t rank, uint32_t world, size_t step)
{
	size_t n = number_of(r, rank, world, step);
	sherd_rows_batch b;
	assert_int_equal(sherd_rows_next(&b, c, NULL), 1);
	assert_int_equal(b.number, n);
	assert_int_equal(b.epoch, r->options.epoch);
	assert_int_equal(b.padding, n >= r->plan->batches);
	assert_batch(r->plan, b.padding ? (n - r->plan->batches) % r->plan->batches : n, &b);
}

/* How many steps a rank has until the end. */
static size_t steps_left(const run *r, uint32_t rank, uint32_t world, sherd_rows_tail tail)
{
	size_t left = r->plan->batches - r->done, rounds = left / world;
	if (left % world == 0 || tail == SHERD_ROWS_TAIL_DROP)
		return rounds;
	return rounds + (tail == SHERD_ROWS_TAIL_PAD || number_of(r, rank, world, rounds) < r->plan->batches);
}

/* From the beginning of an epoch on, for a few steps or to the end. */
static void walk_from_start(run r, sherd_rows_cursor *c, uint32_t rank, uint32_t world, sherd_rows_tail tail)
{
	r.done = 0;
	size_t steps = steps_left(&r, rank, world, tail);
	for (size_t i = 0; i < steps && i < 5; i++)
		assert_step(&r, c, rank, world, i);
	if (steps <= 5)
		assert_int_equal(sherd_rows_next(&(sherd_rows_batch){0}, c, NULL), 0);
}

/* A stream that was resumed, and sought another row, goes back to where it began, and to any other epoch. */
static void walk_again(const run *r, uint32_t rank, uint32_t world, sherd_rows_tail tail)
{
	static plan other;
	bool grown;
	CURSOR c = open_rank(r, rank, world, tail, &grown);
	run next = *r;
	if (luck(2))
		assert_ok(sherd_rows_seek(c, luck(r->set->total + 1), err));
	for (uint64_t i = luck(3); i > 0; i--)
		assert_true(sherd_rows_next(&(sherd_rows_batch){0}, c, NULL) >= 0);
	sherd_rows_reset(c);
	walk_from_start(next, c, rank, world, tail);
	next.plan = &other;
	next.options.epoch = luck(3) ? luck(4) : luck(UINT64_MAX);
	next.options.batch_rows = sherd_rows_batch_rows(c);
	plan_make(&other, r->set, grown ? r->set->grown_total : r->set->total, &next.options);
	sherd_rows_begin_epoch(c, next.options.epoch);
	walk_from_start(next, c, rank, world, tail);
}

static void walk(const run *r, uint32_t rank, uint32_t world, sherd_rows_tail tail, size_t steps,
                 char text[SHERD_ROWS_CURSOR_TEXT])
{
	bool grown;
	CURSOR c = open_rank(r, rank, world, tail, &grown);
	bool end = steps > r->plan->batches;
	steps = end ? steps_left(r, rank, world, tail) : steps;
	if (luck(3) == 0)
		walk_again(r, rank, world, tail);
	for (size_t i = 0; i < steps; i++)
		assert_step(r, c, rank, world, i);
	if (end)
		assert_int_equal(sherd_rows_next(&(sherd_rows_batch){0}, c, NULL), 0);
	assert_ok(sherd_rows_tell(text, c, err));
}

/* One world runs for some rounds, or to the end; then the next may go on from what any of its ranks tells. */
static void run_world(run *r, bool to_end, sherd_rows_tail tail)
{
	uint32_t world = 1 + (uint32_t)luck(luck(4) ? 5 : 40);
	size_t left = r->plan->batches - r->done, rounds = (size_t)luck(left / world + 1);
	char text[SHERD_ROWS_CURSOR_TEXT], first[SHERD_ROWS_CURSOR_TEXT] = "";
	for (uint32_t rank = 0; rank < world; rank++) {
		walk(r, rank, world, tail, to_end ? SIZE_MAX : rounds, text);
		if (rank)
			assert_string_equal(text, first);
		memcpy(first, text, sizeof(first));
	}
	memcpy(r->text, first, sizeof(first));
	r->resumed = true;
	r->done += to_end && tail != SHERD_ROWS_TAIL_DROP ? left : to_end ? left / world * world : rounds * world;
}

static sherd_rows_stream_options any_stream(const set *s)
{
	static const double fractions[] = {0, 0.05, 0.3, 0.9, 1};
	sherd_rows_stream_options o = {.batch_rows = luck(8) ? 1 + luck(luck(2) ? 7 : 80) : 0};
	o.shuffle = luck(2);
	o.seed = o.shuffle ? luck(UINT64_MAX) : 0;
	o.shuffle_window = luck(2) ? 0 : 1 + luck(s->total + 5);
	o.sample = luck(3) == 0;
	o.fraction = fractions[luck(COUNT_OF(fractions))];
	o.from = luck(3) ? 0 : luck(s->total + 1);
	o.epoch = luck(2) ? luck(3) : 0;
	return o;
}

static void run_case(const set *s)
{
	static plan p;
	run r = {.set = s, .plan = &p, .options = any_stream(s)};
	plan_make(&p, s, s->total, &r.options);
	for (uint64_t worlds = luck(4); worlds > 0; worlds--)
		run_world(&r, false, SHERD_ROWS_TAIL_KEEP);
	run_world(&r, true, (sherd_rows_tail)luck(3));
	/* What a world dropped, and nothing else, is there for the next. */
	run_world(&r, true, SHERD_ROWS_TAIL_KEEP);
	assert_int_equal(r.done, p.batches);
}

TEST(all_ranks_together_get_every_row_once_and_in_order)
{
	for (int i = 0; i < SETS; i++) {
		set s;
		uint64_t seed = state_of_luck;
		set_make(&s);
		for (int k = 0; k < CASES; k++)
			run_case(&s);
		set_done(&s);
		state_of_luck = seed + 1000000;
	}
}

int main(void)
{
	const char *text = getenv("SHERD_SEED");
	state_of_luck = text ? strtoull(text, NULL, 0) : shd_splitmix64((uint64_t)time(NULL));
	(void)printf("SHERD_SEED=%" PRIu64 "\n", state_of_luck);
	(void)fflush(stdout);
	if (sherd_pool_open(&pool, 2, NULL) < 0 || (luck(2) && sherd_guard_open(NULL) < 0))
		return 1;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_ranks_together_get_every_row_once_and_in_order),
	};
	int failed = cmocka_run_group_tests_name("rows model", tests, NULL, NULL);
	sherd_pool_close(pool);
	return failed;
}
