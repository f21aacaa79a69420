/* Reading ahead: what is asked of the disk, when, and of which bytes. Nothing that is delivered depends on it. */
#include "support/fail_sys.h"
#include "support/rows_set.h"
#include "support/scratch.h"
#include "support/test.h"

#include "base/error.h"
#include "store/local/local.h"

#include <sherd/guard.h>
#include <sherd/rows.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

SHD_AUTO_DEFINE(sherd_rows, sherd_rows_close)
SHD_AUTO_DEFINE(sherd_rows_cursor, sherd_rows_cursor_close)
SHD_AUTO_DEFINE(sherd_reader, sherd_reader_close)
#define ROWS SHD_AUTO(sherd_rows, sherd_rows_close)
#define CURSOR SHD_AUTO(sherd_rows_cursor, sherd_rows_cursor_close)
#define READER SHD_AUTO(sherd_reader, sherd_reader_close)

enum { WIDTH = 1024, SHARDS = 12, EACH = 16, TOTAL = SHARDS * EACH, ROW = WIDTH * 4, SHARD = EACH * ROW };

/* ---- a table that writes down what is asked for past the cache */

static shd_sys counting;
static size_t asked, asked_bytes; /* since the last clear() */
static size_t files;
static int seen[64];

static void clear(void)
{
	asked = asked_bytes = files = 0;
}

static int note_read(const shd_sys *sys, unsigned long queue, uint64_t tag, int fd, void *buf, size_t len, off_t offset)
{
	(void)sys;
	bool known = false;
	for (size_t i = 0; i < files; i++)
		known = known || seen[i] == fd;
	if (!known && files < COUNT_OF(seen))
		seen[files++] = fd;
	asked++;
	asked_bytes += len;
	return shd_sys_linux.queue_read(&shd_sys_linux, queue, tag, fd, buf, len, offset);
}

/* ---- a set of small shards */

static char *folder;
static sherd_store *store;
static sherd_rows *rows;

static int set_up(void **state)
{
	uint64_t counts[SHARDS];
	(void)state;
	counting = shd_sys_linux;
	counting.queue_read = note_read;
	folder = scratch_make();
	for (size_t i = 0; i < SHARDS; i++)
		counts[i] = EACH;
	assert_ok(shd_store_open_local_sys(&store, folder, NULL, &counting, err));
	rows_set_make(store, "", counts, SHARDS, WIDTH);
	assert_ok(sherd_rows_open_folder(&rows, store, "", NULL, err));
	clear();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	sherd_rows_close(rows);
	sherd_store_close(store);
	scratch_remove(folder);
	return 0;
}

static sherd_rows_cursor *stream(const sherd_rows_stream_options *o)
{
	sherd_rows_cursor *c = NULL;
	assert_ok(sherd_rows_cursor_open(&c, rows, o, err));
	return c;
}

static size_t take(sherd_rows_cursor *c, uint64_t first, size_t count)
{
	sherd_rows_batch b;
	assert_int_equal(sherd_rows_next(&b, c, NULL), 1);
	assert_rows(&b, NULL, first, count);
	return b.rows;
}

static void take_all(sherd_rows_cursor *c, size_t batch)
{
	sherd_rows_batch b;
	for (uint64_t at = 0; at < TOTAL; at += batch)
		(void)take(c, at, batch);
	assert_int_equal(sherd_rows_next(&b, c, NULL), 0);
}

/* Out of the page cache with them; false where the file system keeps everything in memory. */
static bool cool(void)
{
	bool cold = true;
	for (size_t i = 0; i < SHARDS; i++) {
		READER r = NULL;
		char path[4096];
		(void)snprintf(path, sizeof(path), "%s/part-%05zu.shard", folder, i);
		int fd = open(path, O_RDONLY);
		assert_true(fd >= 0);
		(void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		assert_int_equal(close(fd), 0);
		assert_ok(sherd_store_read(&r, store, strrchr(path, '/') + 1, err));
		cold = cold && !sherd_reader_cached(r, 0, sherd_reader_size(r));
	}
	return cold;
}

static void warm(void)
{
	static uint8_t some[32 + SHARD];
	for (size_t i = 0; i < SHARDS; i++) {
		READER r = NULL;
		assert_ok(sherd_store_read(&r, store, sherd_rows_shard_at(rows, i)->key, err));
		assert_ok(sherd_reader_at(r, 0, some, sizeof(some), err));
	}
}

/* ---- directly */

TEST(reading_ahead_crosses_shards_and_keeps_to_the_window)
{
	enum { WINDOW = 4 * SHARD };
	CURSOR c = stream(
		&(sherd_rows_stream_options){.access = SHERD_ROWS_DIRECT, .batch_rows = 2, .window_bytes = WINDOW});
	uint64_t had = take(c, 0, 2);
	assert_in_range(files, 3, 5);
	assert_in_range(asked_bytes, WINDOW - SHARD, WINDOW + SHARD);
	for (; had < TOTAL; had += take(c, had, 2))
		assert_true(asked_bytes <= had * ROW + WINDOW + 2 * SHARD);
	assert_int_equal(files, SHARDS);
	/* Each byte once, but for blocks that the head makes two shards or pieces share. */
	assert_true(asked_bytes <= (size_t)SHARDS * (SHARD + 2 * 4096));
}

TEST(batches_of_one_row_are_not_read_one_by_one)
{
	CURSOR c = stream(
		&(sherd_rows_stream_options){.access = SHERD_ROWS_DIRECT, .batch_rows = 1, .window_bytes = 1 << 20});
	take_all(c, 1);
	assert_in_range(asked, SHARDS, 3 * SHARDS);
}

TEST(a_rank_reads_its_own_batches_ahead_and_no_others)
{
	for (uint32_t rank = 0; rank < 3; rank++) {
		const sherd_rows_stream_options o = {.access = SHERD_ROWS_DIRECT,
		                                     .batch_rows = 4,
		                                     .window_bytes = 8 * SHARD,
		                                     .rank = rank,
		                                     .world = 3};
		CURSOR c = stream(&o);
		clear();
		(void)take(c, 4 * rank, 4);
		assert_true(files > 4);
		for (uint64_t first = 4 * rank + 12; first < TOTAL; first += 12)
			(void)take(c, first, 4);
		assert_true(asked_bytes <= (size_t)TOTAL / 12 * (4 * ROW + 2 * 4096));
	}
}

TEST(a_gather_that_closes_shards_does_not_disturb_the_stream)
{
	enum { MANY = 150 };
	static uint64_t ones[MANY];
	static float out[MANY * 3];
	uint64_t ids[MANY];
	ROWS many = NULL;
	for (size_t i = 0; i < MANY; i++) {
		ones[i] = 1;
		ids[i] = i;
	}
	rows_set_make(store, "many", ones, MANY, 3);
	assert_ok(sherd_rows_open_folder(&many, store, "many", NULL, err));
	const sherd_rows_stream_options o = {.access = SHERD_ROWS_DIRECT, .dtype = SHERD_F32, .window_bytes = 100};
	sherd_rows_cursor *c = NULL;
	assert_ok(sherd_rows_cursor_open(&c, many, &o, err));
	for (uint64_t at = 0; at < MANY; at++) {
		sherd_rows_batch all = {.rows = MANY, .width = 3, .dtype = SHERD_F32, .data = out, .ids = ids};
		(void)take(c, at, 1);
		if (at % 3 == 0) {
			assert_ok(sherd_rows_gather(c, ids, MANY, out, err));
			assert_rows(&all, ids, 0, MANY);
		}
	}
	sherd_rows_cursor_close(c);
}

/* ---- automatically */

TEST(what_is_in_memory_is_not_read_past_it)
{
	for (int wide = 0; wide < 2; wide++) {
		CURSOR c = stream(&(sherd_rows_stream_options){
			.batch_rows = 8, .window_bytes = SHARD, .dtype = wide ? SHERD_F64 : SHERD_F32});
		warm();
		clear();
		take_all(c, 8);
		assert_int_equal(asked, 0);
	}
}

TEST(what_is_not_in_memory_is_read_past_it_on_a_first_pass)
{
	for (int wide = 0; wide < 2; wide++) {
		CURSOR c = stream(&(sherd_rows_stream_options){
			.batch_rows = 8, .window_bytes = SHARD, .dtype = wide ? SHERD_F64 : SHERD_F32});
		if (!cool())
			return;
		clear();
		take_all(c, 8);
		assert_true(asked >= SHARDS);
		/* Who comes again leaves it in memory for the third time. */
		sherd_rows_reset(c);
		clear();
		take_all(c, 8);
		assert_int_equal(asked, 0);
	}
}

TEST(shards_in_memory_and_others_take_turns)
{
	static uint8_t some[32 + SHARD];
	for (int wide = 0; wide < 2; wide++) {
		bool cold = cool();
		for (size_t i = 0; i < SHARDS; i += 2) {
			READER r = NULL;
			assert_ok(sherd_store_read(&r, store, sherd_rows_shard_at(rows, i)->key, err));
			assert_ok(sherd_reader_at(r, 0, some, sizeof(some), err));
		}
		clear();
		CURSOR c = stream(&(sherd_rows_stream_options){
			.batch_rows = 4, .window_bytes = 3 * SHARD, .dtype = wide ? SHERD_F64 : SHERD_F32});
		take_all(c, 4);
		if (cold)
			assert_in_range(asked_bytes, SHARDS / 2 * SHARD, SHARDS / 2 * (SHARD + 4 * 4096));
	}
}

static bool in_memory(uint64_t row)
{
	READER r = NULL;
	assert_ok(sherd_store_read(&r, store, sherd_rows_shard_at(rows, row / EACH)->key, err));
	return sherd_reader_cached(r, 32 + row % EACH * ROW, ROW);
}

/* Which rows come next is taken from a stream that runs before. */
TEST(shuffled_rows_are_on_their_way_before_they_are_asked_for)
{
	enum { AHEAD = 8 };
	const sherd_rows_stream_options o = {.batch_rows = 1,
	                                     .shuffle = true,
	                                     .seed = 3,
	                                     .access = SHERD_ROWS_READ,
	                                     .window_bytes = (uint64_t)AHEAD * ROW};
	uint64_t order[TOTAL];
	sherd_rows_batch b;
	CURSOR before = stream(&o);
	for (size_t i = 0; i < TOTAL; i++) {
		assert_int_equal(sherd_rows_next(&b, before, NULL), 1);
		order[i] = b.ids[0];
	}
	bool cold = cool();
	CURSOR c = stream(&o);
	assert_int_equal(sherd_rows_next(&b, c, NULL), 1);
	size_t there = 0, far = 0;
	for (size_t i = 1; i <= AHEAD; i++)
		there += in_memory(order[i]);
	for (size_t i = TOTAL / 2; i < TOTAL; i++)
		far += in_memory(order[i]);
	assert_int_equal(there, AHEAD);
	if (cold)
		assert_true(far < TOTAL / 4);
}

/* ---- when it fails */

/* Goes on after a failure. Returns how many there were. */
static size_t take_all_at_last(sherd_rows_cursor *c, int os_errno)
{
	size_t failures = 0;
	for (uint64_t at = 0; at < TOTAL;) {
		sherd_rows_batch b;
		sherd_error e;
		int rc = sherd_rows_next(&b, c, &e);
		if (rc < 0) {
			assert_int_equal(e.os_errno, os_errno);
			assert_true(++failures < 3);
			continue;
		}
		assert_int_equal(rc, 1);
		assert_rows(&b, NULL, at, b.rows);
		at += b.rows;
	}
	return failures;
}

TEST(every_system_call_may_fail_and_what_failed_comes_when_it_is_asked_for_again)
{
	for (sherd_rows_access access = SHERD_ROWS_AUTO; access <= SHERD_ROWS_DIRECT; access++) {
		fail_sys sys;
		sherd_store *failing = NULL;
		sherd_rows *set = NULL;
		size_t failures = 0;
		long nth = 0;
		bool hit;
		fail_sys_init(&sys);
		assert_ok(shd_store_open_local_sys(&failing, folder, NULL, &sys.sys, err));
		assert_ok(sherd_rows_open_folder(&set, failing, "", NULL, err));
		do {
			const sherd_rows_stream_options o = {
				.access = access, .batch_rows = 8, .window_bytes = 2 * SHARD};
			sherd_rows_cursor *c = NULL;
			(void)cool();
			assert_ok(sherd_rows_cursor_open(&c, set, &o, err));
			fail_sys_at(&sys, ++nth, NULL, EIO);
			failures += take_all_at_last(c, EIO);
			hit = sys.hit;
			fail_sys_at(&sys, 0, NULL, 0);
			sherd_rows_cursor_close(c);
		} while (hit);
		/* To open and map is first tried as a hint, whose failure nobody sees. */
		assert_true(nth > SHARDS && (failures > 0 || access == SHERD_ROWS_MAP));
		sherd_rows_close(set);
		sherd_store_close(failing);
	}
}

/* ---- whoever converts */

TEST(large_batches_are_the_same_whoever_converts_them)
{
	static const uint64_t counts[] = {5000, 1, 4000}, batch = 3000, width = 600;
	ROWS large = NULL;
	rows_set_make(store, "large", counts, COUNT_OF(counts), width);
	assert_ok(sherd_rows_open_folder(&large, store, "large", NULL, err));
	for (unsigned workers = 0; workers < 6; workers = 2 * workers + 1)
		for (sherd_rows_access access = SHERD_ROWS_AUTO; access <= SHERD_ROWS_DIRECT; access++) {
			sherd_rows_stream_options o = {.access = access, .batch_rows = batch, .window_bytes = 3 << 20};
			sherd_rows_cursor *c = NULL;
			if (workers)
				assert_ok(sherd_pool_open(&o.pool, workers, err));
			assert_ok(sherd_rows_cursor_open(&c, large, &o, err));
			(void)take(c, 0, 3000);
			(void)take(c, 3000, 2000);
			(void)take(c, 5000, 1);
			(void)take(c, 5001, 3000);
			(void)take(c, 8001, 1000);
			sherd_rows_cursor_close(c);
			sherd_pool_close(o.pool);
		}
}

/* As in the command: what is in memory is mapped. */
int main(void)
{
	if (sherd_guard_open(NULL) < 0)
		return 1;
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		CASE(reading_ahead_crosses_shards_and_keeps_to_the_window),
		CASE(batches_of_one_row_are_not_read_one_by_one),
		CASE(a_rank_reads_its_own_batches_ahead_and_no_others),
		CASE(a_gather_that_closes_shards_does_not_disturb_the_stream),
		CASE(what_is_in_memory_is_not_read_past_it),
		CASE(what_is_not_in_memory_is_read_past_it_on_a_first_pass),
		CASE(shards_in_memory_and_others_take_turns),
		CASE(shuffled_rows_are_on_their_way_before_they_are_asked_for),
		CASE(every_system_call_may_fail_and_what_failed_comes_when_it_is_asked_for_again),
		CASE(large_batches_are_the_same_whoever_converts_them),
	};
	return cmocka_run_group_tests_name("rows ahead", tests, NULL, NULL);
}
