/* What a power loss, or a kill, leaves of a pack: nothing that looks complete and is not. */
#include "support/crash_walk.h"
#include "support/environment.h"
#include "support/scratch.h"
#include "support/test.h"

#include "base/error.h"

#include <sherd/rows.h>
#include <sherd/verify.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROWS = 5, WIDTH = 300 }; /* a shard of two rows is larger than half a page */

static int feed_rows(void *arg, uint64_t first, size_t count, float *out, sherd_error *err)
{
	(void)arg, (void)err;
	for (size_t i = 0; i < WIDTH * count; i++)
		out[i] = (float)(first * WIDTH + i);
	return SHERD_OK;
}

static int pack(sherd_store *store, const char *folder, uint64_t rows, sherd_error *err)
{
	const sherd_rows_pack_options options = {.rows_per_shard = 2, .time_ns = 1};
	return sherd_rows_pack(store, folder, rows, WIDTH, feed_rows, NULL, &options, err);
}

typedef enum verdict { ABSENT, INCOMPLETE, WHOLE, WRONG } verdict;

static bool rows_are_right(sherd_rows *set, uint64_t rows)
{
	sherd_rows_cursor *cursor;
	sherd_rows_batch b;
	uint64_t seen = 0;
	bool right = sherd_rows_total(set) == rows;
	assert_ok(sherd_rows_cursor_open(&cursor, set, &(sherd_rows_stream_options){.dtype = SHERD_F32}, err));
	while (sherd_rows_next(&b, cursor, NULL) > 0)
		for (size_t i = 0; i < b.rows * WIDTH; i++)
			right &= ((const float *)b.data)[i] == (float)seen++;
	sherd_rows_cursor_close(cursor);
	return right && seen == rows * WIDTH;
}

/* Verify and the reader must agree about it. */
static verdict look(sherd_store *store, const char *folder, uint64_t rows)
{
	sherd_rows *set = NULL;
	sherd_report *report = NULL;
	sherd_format format;
	if (sherd_detect(&format, store, folder, NULL) < 0)
		return ABSENT;
	assert_int_equal(format, SHERD_FORMAT_ROWS);
	assert_ok(sherd_verify(&report, store, folder, NULL, err));
	size_t errors = sherd_report_errors(report);
	bool incomplete = errors && sherd_report_error(report, 0)->code == SHERD_EINCOMPLETE;
	sherd_report_close(report);
	int rc = sherd_rows_open_folder(&set, store, folder, NULL, NULL);
	if (rc == SHERD_EINCOMPLETE && incomplete)
		return INCOMPLETE;
	bool whole = rc == SHERD_OK && !errors && sherd_rows_has_manifest(set) && rows_are_right(set, rows);
	sherd_rows_close(set);
	return whole ? WHOLE : WRONG;
}

/* ---- power loss */

typedef struct packing {
	bool after_death; /* a dead pack left something */
	bool saw[4];
} packing;

enum { PACKED = 3 }; /* rows, while the power goes */

static void die(crash_walk *w, sherd_store *store)
{
	if (!((const packing *)w->arg)->after_death)
		return;
	assert_ok(sherd_store_put(store, "d/rows.packing", SHERD_WRITE_NEW, "", 0, err));
	assert_ok(sherd_store_put(store, "d/part-00002.shard", SHERD_WRITE_NEW, "old", 3, err));
}

static void pack_some(crash_walk *w, sherd_store *store)
{
	(void)w;
	assert_ok(pack(store, "d", PACKED, err));
}

static void check_state(crash_walk *w, sherd_store *store)
{
	sherd_error e = {0};
	verdict s = look(store, "d", PACKED);
	((packing *)w->arg)->saw[s] = true;
	if (s == WRONG || (w->finished && s != WHOLE))
		crash_walk_complain(w, "verdict %d", s);
	/* Whatever was left, a pack afterwards gives a whole set, of its own rows if there was none. */
	int rc = pack(store, "d", ROWS, &e);
	if (rc != (s == WHOLE ? SHERD_EEXIST : SHERD_OK))
		crash_walk_complain(w, "the next pack: %d %s", rc, e.message);
	if (look(store, "d", s == WHOLE ? PACKED : ROWS) != WHOLE)
		crash_walk_complain(w, "the next pack does not give a whole set");
}

static crash_walk walk(packing *p)
{
	return (crash_walk){.name = "pack", .arg = p, .before = die, .act = pack_some, .check = check_state};
}

TEST(no_power_loss_leaves_what_looks_complete_and_is_not)
{
	packing p = {0};
	crash_walk w = walk(&p);
	crash_walk_assert(&w);
	assert_true(p.saw[ABSENT] && p.saw[INCOMPLETE] && p.saw[WHOLE]);
	assert_true(w.states > 20);
}

TEST(so_it_is_when_what_a_dead_pack_left_is_cleared_first)
{
	packing p = {.after_death = true};
	crash_walk w = walk(&p);
	crash_walk_assert(&w);
	assert_true(p.saw[INCOMPLETE] && p.saw[WHOLE]);
}

TEST(a_disk_that_does_not_sync_is_caught)
{
	packing p = {0};
	crash_walk w = walk(&p);
	crash_walk_assert_caught(&w, true, true);
}

/* ---- kills */

/* Packs, and is killed before the nth row is handed out; never returns. */
static int kill_at;

static int feed_and_die(void *arg, uint64_t first, size_t count, float *out, sherd_error *err)
{
	if ((int)first >= kill_at)
		(void)kill(getpid(), SIGKILL);
	return feed_rows(arg, first, count, out, err);
}

static void pack_and_die(const char *root, int at)
{
	const sherd_rows_pack_options options = {.rows_per_shard = 1};
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		sherd_store *store;
		kill_at = at;
		if (sherd_store_open_local(&store, root, NULL, NULL) == SHERD_OK)
			(void)sherd_rows_pack(store, "d", ROWS, WIDTH, feed_and_die, NULL, &options, NULL);
		_exit(1);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
}

TEST(a_pack_that_was_killed_is_incomplete_and_the_next_one_starts_over)
{
	for (int at = 0; at < ROWS; at++) {
		char *root = scratch_make();
		sherd_store *store;
		pack_and_die(root, at);
		assert_ok(sherd_store_open_local(&store, root, NULL, err));
		assert_int_equal(look(store, "d", ROWS), INCOMPLETE);
		if (at) /* a second one dies in the same way */
			pack_and_die(root, at - 1);
		assert_int_equal(look(store, "d", ROWS), INCOMPLETE);
		assert_ok(pack(store, "d", 3, err));
		assert_int_equal(look(store, "d", 3), WHOLE);
		sherd_store_close(store);
		scratch_remove(root);
	}
}

/* At any moment, by the clock. */
TEST(so_it_is_whenever_the_kill_comes)
{
	uint64_t kills = environment_number("SHERD_KILLS", 20);
	bool saw[4] = {false};
	for (uint64_t i = 0; i < kills; i++) {
		char *root = scratch_make();
		pid_t child = fork();
		assert_true(child >= 0);
		if (child == 0) {
			sherd_store *store;
			int rc = sherd_store_open_local(&store, root, NULL, NULL);
			_exit(rc == SHERD_OK && pack(store, "d", 40, NULL) == SHERD_OK ? 0 : 1);
		}
		(void)usleep((useconds_t)(i * 1009 % 40000));
		(void)kill(child, SIGKILL);
		assert_int_equal(waitpid(child, NULL, 0), child);
		sherd_store *store;
		assert_ok(sherd_store_open_local(&store, root, NULL, err));
		verdict s = look(store, "d", 40);
		saw[s] = true;
		assert_int_equal(pack(store, "d", 40, NULL), s == WHOLE ? SHERD_EEXIST : SHERD_OK);
		assert_int_equal(look(store, "d", 40), WHOLE);
		sherd_store_close(store);
		scratch_remove(root);
	}
	assert_false(saw[WRONG]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_power_loss_leaves_what_looks_complete_and_is_not),
		cmocka_unit_test(so_it_is_when_what_a_dead_pack_left_is_cleared_first),
		cmocka_unit_test(a_disk_that_does_not_sync_is_caught),
		cmocka_unit_test(a_pack_that_was_killed_is_incomplete_and_the_next_one_starts_over),
		cmocka_unit_test(so_it_is_whenever_the_kill_comes),
	};
	return cmocka_run_group_tests_name("crash/rows_pack", tests, NULL, NULL);
}
