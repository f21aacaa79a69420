/* One thread appends, gives up and appends again; others read the set and verify it meanwhile. Nobody sees anything but
 * a set that was committed. */
#include "support/test.h"

#include <sherd/rows.h>
#include <sherd/verify.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { READERS = 3, ROUNDS = 60, WIDTH = 2, STEP = 5 };

typedef struct scene {
	sherd_store *store;
	_Atomic bool over;
	_Atomic int wrong;
	_Atomic uint64_t committed; /* rows that must be seen by who looks now */
	_Atomic uint64_t looks;
} scene;

/* Row i is 2i, 2i+1. */
static int append(sherd_rows_writer *w, uint64_t first)
{
	float values[STEP * WIDTH];
	for (size_t i = 0; i < STEP * WIDTH; i++)
		values[i] = (float)(first * WIDTH + i);
	return sherd_rows_writer_append(w, SHERD_F32, values, STEP, NULL);
}

/* Every other writer flushes once and then gives up. */
static int grow(scene *s, int round)
{
	const sherd_rows_writer_options options = {.append = round > 0, .rows_per_shard = 2};
	sherd_rows_writer *w;
	uint64_t rows = s->committed;
	if (sherd_rows_writer_open(&w, s->store, "d", WIDTH, &options, NULL) < 0 || append(w, rows) < 0 ||
	    sherd_rows_writer_flush(w, NULL) < 0 || append(w, rows + STEP) < 0)
		return -1;
	s->committed = rows + STEP;
	if (round % 2) {
		sherd_rows_writer_abort(w);
		return 0;
	}
	if (sherd_rows_writer_commit(w, NULL) < 0)
		return -1;
	s->committed = rows + 2 * STEP;
	return 0;
}

static bool read_rows(sherd_store *store, uint64_t least)
{
	sherd_rows *set;
	sherd_rows_cursor *cursor = NULL;
	sherd_rows_batch b;
	uint64_t seen = 0;
	bool right = true;
	int rc = -1;
	if (sherd_rows_open_folder(&set, store, "d", NULL, NULL) < 0)
		return false;
	if (sherd_rows_cursor_open(&cursor, set, &(sherd_rows_stream_options){.dtype = SHERD_F32}, NULL) == SHERD_OK)
		while ((rc = sherd_rows_next(&b, cursor, NULL)) > 0)
			for (size_t i = 0; i < b.rows * WIDTH; i++, seen++)
				right &= ((const float *)b.data)[i] == (float)seen;
	right &= rc == 0 && seen == sherd_rows_total(set) * WIDTH && seen >= least * WIDTH;
	sherd_rows_cursor_close(cursor);
	sherd_rows_close(set);
	return right;
}

static bool verify(sherd_store *store)
{
	sherd_report *report;
	if (sherd_verify(&report, store, "d", NULL, NULL) < 0)
		return false;
	bool right = sherd_report_errors(report) == 0;
	sherd_report_close(report);
	return right;
}

static void *look(void *arg)
{
	scene *s = arg;
	while (!s->over) {
		uint64_t least = s->committed;
		if (!read_rows(s->store, least) || !verify(s->store))
			s->wrong++;
		s->looks++;
	}
	return NULL;
}

TEST(readers_and_verify_see_only_what_was_committed)
{
	static scene s;
	pthread_t readers[READERS];
	assert_ok(sherd_store_open_memory(&s.store, err));
	assert_int_equal(grow(&s, 0), 0);
	for (int i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&readers[i], NULL, look, &s), 0);
	int rc = 0;
	for (int i = 1; i < ROUNDS && rc == 0; i++)
		rc = grow(&s, i);
	while (rc == 0 && s.looks < READERS)
		;
	s.over = true;
	for (int i = 0; i < READERS; i++)
		assert_int_equal(pthread_join(readers[i], NULL), 0);
	assert_int_equal(rc, 0);
	assert_int_equal(s.wrong, 0);
	sherd_store_close(s.store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(readers_and_verify_see_only_what_was_committed)};
	return cmocka_run_group_tests_name("thread/rows_append", tests, NULL, NULL);
}
