/* What a power loss, or a kill, leaves of an append: the set as it was, or as far as it was flushed; never less, never
 * anything else. */
#include "support/crash_walk.h"
#include "support/environment.h"
#include "support/scratch.h"
#include "support/test.h"

#include <sherd/rows.h>
#include <sherd/verify.h>

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WIDTH = 300, BEFORE = 3, STEP = 3 }; /* a shard of two rows is larger than half a page */

static const sherd_rows_writer_options fresh = {.rows_per_shard = 2, .time_ns = 1};
static const sherd_rows_writer_options more = {.append = true, .rows_per_shard = 2, .time_ns = 1};

/* Rows [first, first+count), each in a call of its own. */
static int append(sherd_rows_writer *w, uint64_t first, uint64_t count, sherd_error *err)
{
	float row[WIDTH];
	int rc = SHERD_OK;
	for (uint64_t i = 0; i < count && rc == SHERD_OK; i++) {
		for (uint64_t c = 0; c < WIDTH; c++)
			row[c] = (float)((first + i) * WIDTH + c);
		rc = sherd_rows_writer_append(w, SHERD_F32, row, 1, err);
	}
	return rc;
}

/* How many rows are there and right; -1 when something is wrong, -2 when there is no set, or none yet. */
static int look(sherd_store *store)
{
	sherd_rows *set = NULL;
	sherd_report *report = NULL;
	sherd_rows_cursor *cursor;
	sherd_rows_batch b;
	uint64_t seen = 0;
	bool right = true;
	int rc = sherd_rows_open_folder(&set, store, "d", NULL, NULL);
	if (rc == SHERD_EINCOMPLETE || (rc < 0 && sherd_verify(&report, store, "d", NULL, NULL) == SHERD_ENOTFOUND))
		return -2;
	if (rc < 0)
		return -1;
	assert_ok(sherd_verify(&report, store, "d", NULL, err));
	right = sherd_report_errors(report) == 0;
	sherd_report_close(report);
	assert_ok(sherd_rows_cursor_open(&cursor, set, &(sherd_rows_stream_options){.dtype = SHERD_F32}, err));
	while (sherd_rows_next(&b, cursor, NULL) > 0)
		for (size_t i = 0; i < b.rows * WIDTH; i++)
			right &= ((const float *)b.data)[i] == (float)seen++;
	sherd_rows_cursor_close(cursor);
	right &= seen == sherd_rows_total(set) * WIDTH;
	sherd_rows_close(set);
	return right ? (int)(seen / WIDTH) : -1;
}

/* Appends, flushes, appends and commits. */
static int grow(sherd_store *store, uint64_t from, sherd_error *err)
{
	sherd_rows_writer *w;
	int rc = sherd_rows_writer_open(&w, store, "d", WIDTH, from ? &more : &fresh, err);
	if (rc < 0)
		return rc;
	rc = append(w, from, STEP, err);
	if (rc == SHERD_OK)
		rc = sherd_rows_writer_flush(w, err);
	if (rc == SHERD_OK)
		rc = append(w, from + STEP, STEP, err);
	if (rc == SHERD_OK)
		return sherd_rows_writer_commit(w, err);
	sherd_rows_writer_abort(w);
	return rc;
}

/* ---- power loss */

typedef struct growing {
	uint64_t from;
	bool saw[32];
} growing;

static void begin(crash_walk *w, sherd_store *store)
{
	sherd_rows_writer *writer;
	if (!((const growing *)w->arg)->from)
		return;
	assert_ok(sherd_rows_writer_open(&writer, store, "d", WIDTH, &fresh, err));
	assert_ok(append(writer, 0, BEFORE, err));
	assert_ok(sherd_rows_writer_commit(writer, err));
}

static void act(crash_walk *w, sherd_store *store)
{
	assert_ok(grow(store, ((const growing *)w->arg)->from, err));
}

static void check(crash_walk *w, sherd_store *store)
{
	growing *g = w->arg;
	sherd_error e = {0};
	int rows = look(store), from = (int)g->from;
	bool known = rows == (from ? from : -2) || rows == from + STEP || rows == from + 2 * STEP;
	if (!known || (w->finished && rows != from + 2 * STEP))
		crash_walk_complain(w, "%d rows", rows);
	g->saw[rows < 0 ? 0 : rows] = true;
	/* Whatever was left, the next one goes on from there, and nothing is left over. */
	int rc = grow(store, rows < 0 ? 0 : (uint64_t)rows, &e);
	if (rc < 0)
		crash_walk_complain(w, "after %d rows the next append: %d %s", rows, rc, e.message);
	int now = look(store);
	if (now != (rows < 0 ? 0 : rows) + 2 * STEP)
		crash_walk_complain(w, "%d rows have become %d", rows, now);
	sherd_report *report = NULL;
	assert_ok(sherd_verify(&report, store, "d", NULL, err));
	if (sherd_report_warnings(report))
		crash_walk_complain(w, "left over: %s", sherd_report_warning(report, 0)->object);
	sherd_report_close(report);
}

static crash_walk walk(growing *g)
{
	return (crash_walk){.name = "append", .arg = g, .before = begin, .act = act, .check = check};
}

TEST(no_power_loss_takes_what_was_committed)
{
	growing g = {.from = BEFORE};
	crash_walk w = walk(&g);
	crash_walk_assert(&w);
	assert_true(g.saw[BEFORE] && g.saw[BEFORE + STEP] && g.saw[BEFORE + 2 * STEP]);
	assert_true(w.states > 30);
}

TEST(nor_of_a_new_set_what_was_flushed)
{
	growing g = {0};
	crash_walk w = walk(&g);
	crash_walk_assert(&w);
	assert_true(g.saw[0] && g.saw[STEP] && g.saw[2 * STEP]);
}

TEST(a_disk_that_does_not_sync_is_caught)
{
	growing g = {.from = BEFORE};
	crash_walk w = walk(&g);
	crash_walk_assert_caught(&w, true, true);
}

/* ---- kills */

TEST(a_kill_at_any_moment_loses_nothing_that_was_flushed)
{
	uint64_t kills = environment_number("SHERD_KILLS", 20);
	char *root = scratch_make();
	sherd_store *store;
	int rows = 0;
	assert_ok(sherd_store_open_local(&store, root, NULL, err));
	for (uint64_t i = 0; i < kills; i++) {
		int ready[2];
		assert_int_equal(pipe(ready), 0);
		pid_t child = fork();
		assert_true(child >= 0);
		if (child == 0) {
			sherd_store *own;
			if (sherd_store_open_local(&own, root, NULL, NULL) < 0)
				_exit(1);
			(void)!write(ready[1], "x", 1);
			for (uint64_t at = (uint64_t)rows;; at += 2 * STEP)
				if (grow(own, at, NULL) < 0)
					_exit(1);
		}
		char c;
		assert_int_equal(read(ready[0], &c, 1), 1);
		(void)usleep((useconds_t)(i * 1009 % 20000));
		(void)kill(child, SIGKILL);
		assert_int_equal(waitpid(child, NULL, 0), child);
		(void)close(ready[0]);
		(void)close(ready[1]);
		int now = look(store);
		assert_true(now == -2 ? rows == 0 : now >= rows);
		rows = now < 0 ? 0 : now;
		assert_int_equal(rows % STEP, 0);
	}
	assert_ok(grow(store, (uint64_t)rows, err));
	assert_int_equal(look(store), rows + 2 * STEP);
	sherd_store_close(store);
	scratch_remove(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_power_loss_takes_what_was_committed),
		cmocka_unit_test(nor_of_a_new_set_what_was_flushed),
		cmocka_unit_test(a_disk_that_does_not_sync_is_caught),
		cmocka_unit_test(a_kill_at_any_moment_loses_nothing_that_was_flushed),
	};
	return cmocka_run_group_tests_name("crash/rows_append", tests, NULL, NULL);
}
