/* Several threads on one set: slots of one dispenser, and cursors of their own. */
#include "support/rows_set.h"
#include "support/scratch.h"
#include "support/test.h"

#include "base/error.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_THREADS = 8, SHARDS = 90, ROWS_EACH = 23, TOTAL = SHARDS * ROWS_EACH, WIDTH = 5 };

static sherd_store *stores[2]; /* local, memory */
static sherd_rows *sets[2];
static char *folder;

static int make_sets(void **state)
{
	(void)state;
	folder = scratch_make();
	assert_ok(sherd_store_open_local(&stores[0], folder, NULL, err));
	assert_ok(sherd_store_open_memory(&stores[1], err));
	uint64_t rows[SHARDS];
	for (size_t i = 0; i < SHARDS; i++)
		rows[i] = ROWS_EACH;
	for (int i = 0; i < 2; i++) {
		rows_set_make(stores[i], "d", rows, SHARDS, WIDTH);
		assert_ok(sherd_rows_open_folder(&sets[i], stores[i], "d", NULL, err));
	}
	return 0;
}

static int close_sets(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		sherd_rows_close(sets[i]);
		sherd_store_close(stores[i]);
	}
	scratch_remove(folder);
	return 0;
}

typedef struct crowd {
	sherd_rows_dispenser *dispenser;
	_Atomic int wrong;
	_Atomic int had[TOTAL]; /* by row: how often */
	_Atomic int numbers[TOTAL];
} crowd;

/* Every thread sees numbers that grow, and right rows. */
static void *pull(void *arg)
{
	crowd *w = arg;
	sherd_rows_slot *slot = NULL;
	sherd_rows_batch b;
	int64_t last = -1;
	if (sherd_rows_slot_open(&slot, w->dispenser, NULL) < 0) {
		atomic_fetch_add(&w->wrong, 1);
		return NULL;
	}
	int rc;
	while ((rc = sherd_rows_slot_next(&b, slot, NULL)) > 0) {
		bool fine = (int64_t)b.number > last && b.number < TOTAL;
		last = (int64_t)b.number;
		for (size_t i = 0; fine && i < b.rows; i++) {
			uint64_t id = rows_batch_id(&b, i);
			fine = id < TOTAL && rows_set_is_row(&b, i, id);
			if (fine)
				atomic_fetch_add(&w->had[id], 1);
		}
		if (fine)
			atomic_fetch_add(&w->numbers[b.number], 1);
		else
			atomic_fetch_add(&w->wrong, 1);
	}
	if (rc < 0)
		atomic_fetch_add(&w->wrong, 1);
	sherd_rows_slot_close(slot);
	return NULL;
}

static void run_crowd(const sherd_rows *rows, const sherd_rows_stream_options *o, unsigned threads)
{
	crowd *w = calloc(1, sizeof(*w));
	pthread_t ids[MOST_THREADS];
	assert_non_null(w);
	assert_ok(sherd_rows_dispenser_open(&w->dispenser, rows, o, err));
	for (unsigned i = 0; i < threads; i++)
		assert_int_equal(pthread_create(&ids[i], NULL, pull, w), 0);
	for (unsigned i = 0; i < threads; i++)
		assert_int_equal(pthread_join(ids[i], NULL), 0);
	assert_int_equal(w->wrong, 0);
	for (size_t i = 0; i < TOTAL; i++)
		assert_int_equal(w->had[i], 1);
	bool ended = false; /* numbers without a gap */
	for (size_t i = 0; i < TOTAL; i++) {
		assert_in_range(w->numbers[i], 0, ended ? 0 : 1);
		ended = w->numbers[i] == 0;
	}
	sherd_rows_dispenser_close(w->dispenser);
	free(w);
}

TEST(threads_get_every_batch_once)
{
	for (unsigned threads = 1; threads <= MOST_THREADS; threads++)
		for (int i = 0; i < 2; i++)
			for (sherd_rows_access access = SHERD_ROWS_MAP; access <= SHERD_ROWS_DIRECT; access++) {
				sherd_rows_stream_options o = {.batch_rows = 7, .access = access, .window_bytes = 2000};
				o.dtype = threads % 2 ? SHERD_F64 : SHERD_F32;
				run_crowd(sets[i], &o, threads);
				o.shuffle = true;
				o.seed = threads;
				run_crowd(sets[i], &o, threads);
			}
}

typedef struct loner {
	const sherd_rows *rows;
	uint32_t rank;
	_Atomic int *wrong;
	_Atomic int *rows_had;
} loner;

static void *stream(void *arg)
{
	const loner *l = arg;
	sherd_rows_cursor *c = NULL;
	sherd_rows_batch b;
	double row[WIDTH];
	const sherd_rows_stream_options o = {.batch_rows = 10, .rank = l->rank, .world = MOST_THREADS};
	if (sherd_rows_cursor_open(&c, l->rows, &o, NULL) < 0) {
		atomic_fetch_add(l->wrong, 1);
		return NULL;
	}
	while (sherd_rows_next(&b, c, NULL) > 0) {
		for (size_t i = 0; i < b.rows; i++)
			if (!rows_set_is_row(&b, i, b.first_id + i))
				atomic_fetch_add(l->wrong, 1);
		atomic_fetch_add(l->rows_had, (int)b.rows);
		uint64_t id = sherd_rows_hash(b.first_id) % TOTAL;
		sherd_rows_batch one = {.width = WIDTH, .dtype = SHERD_F64, .data = row};
		if (sherd_rows_gather(c, &id, 1, row, NULL) < 0 || !rows_set_is_row(&one, 0, id))
			atomic_fetch_add(l->wrong, 1);
	}
	sherd_rows_cursor_close(c);
	return NULL;
}

TEST(cursors_share_a_set)
{
	for (int i = 0; i < 2; i++) {
		pthread_t ids[MOST_THREADS];
		loner loners[MOST_THREADS];
		_Atomic int wrong = 0, rows_had = 0;
		for (uint32_t t = 0; t < MOST_THREADS; t++) {
			loners[t] = (loner){sets[i], t, &wrong, &rows_had};
			assert_int_equal(pthread_create(&ids[t], NULL, stream, &loners[t]), 0);
		}
		for (uint32_t t = 0; t < MOST_THREADS; t++)
			assert_int_equal(pthread_join(ids[t], NULL), 0);
		assert_int_equal(wrong, 0);
		assert_int_equal(rows_had, TOTAL);
	}
}

/* ---- told and begun anew meanwhile */

typedef struct relay {
	sherd_rows_dispenser *dispenser;
	_Atomic uint64_t handed; /* batches of the epoch that the last begin made, at least */
	_Atomic bool done;
	_Atomic int wrong;
} relay;

static void *pull_for_ever(void *arg)
{
	relay *r = arg;
	sherd_rows_batch b;
	while (!atomic_load(&r->done)) {
		/* Slots come and go: what one of them owes is another's. */
		sherd_rows_slot *slot = NULL;
		if (sherd_rows_slot_open(&slot, r->dispenser, NULL) < 0) {
			atomic_fetch_add(&r->wrong, 1);
			return NULL;
		}
		for (int i = 0; i < 20 && !atomic_load(&r->done); i++) {
			int rc = sherd_rows_slot_next(&b, slot, NULL);
			bool fine = rc == 0 || (rc > 0 && rows_set_is_row(&b, 0, rows_batch_id(&b, 0)));
			if (!fine)
				atomic_fetch_add(&r->wrong, 1);
			if (rc > 0)
				atomic_fetch_add(&r->handed, 1);
		}
		sherd_rows_slot_close(slot);
	}
	return NULL;
}

/* Every text that is told can be resumed, and lies in the epoch that was begun last. */
TEST(a_dispenser_is_told_and_begun_anew_while_threads_pull)
{
	for (int i = 0; i < 2; i++) {
		relay r = {0};
		pthread_t ids[4];
		const sherd_rows_stream_options o = {.batch_rows = 11, .shuffle = true, .seed = 3};
		assert_ok(sherd_rows_dispenser_open(&r.dispenser, sets[i], &o, err));
		for (size_t t = 0; t < COUNT_OF(ids); t++)
			assert_int_equal(pthread_create(&ids[t], NULL, pull_for_ever, &r), 0);
		for (uint64_t epoch = 1; epoch <= 40; epoch++) {
			char text[SHERD_ROWS_CURSOR_TEXT];
			sherd_rows_cursor *c = NULL;
			sherd_rows_stream_options from = o;
			if (epoch % 4)
				sherd_rows_dispenser_begin_epoch(r.dispenser, epoch);
			else
				sherd_rows_dispenser_reset(r.dispenser);
			for (uint64_t until = atomic_load(&r.handed) + 3; atomic_load(&r.handed) < until;)
				(void)sched_yield();
			assert_ok(sherd_rows_dispenser_tell(text, r.dispenser, err));
			from.resume = text;
			assert_ok(sherd_rows_cursor_open(&c, sets[i], &from, err));
			assert_int_equal(sherd_rows_epoch(c), epoch % 4 ? epoch : epoch - 1);
			sherd_rows_cursor_close(c);
		}
		atomic_store(&r.done, true);
		for (size_t t = 0; t < COUNT_OF(ids); t++)
			assert_int_equal(pthread_join(ids[t], NULL), 0);
		assert_int_equal(r.wrong, 0);
		sherd_rows_dispenser_close(r.dispenser);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_get_every_batch_once),
		cmocka_unit_test(cursors_share_a_set),
		cmocka_unit_test(a_dispenser_is_told_and_begun_anew_while_threads_pull),
	};
	return cmocka_run_group_tests_name("rows threads", tests, make_sets, close_sets);
}
