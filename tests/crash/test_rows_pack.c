/* What a power loss, or a kill, leaves of a pack: nothing that looks complete and is not. */
#include "support/test.h"

#include "base/error.h"
#include "store/local.h"
#include "support/crash_sys.h"
#include "support/scratch.h"

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
	assert_ok(sherd_rows_cursor_open(&cursor, set, &(sherd_rows_stream){.dtype = SHERD_F32}, err));
	while (sherd_rows_next(cursor, &b, NULL) > 0)
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
	if (sherd_detect(store, folder, &format, NULL) < 0)
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

typedef struct exploration {
	const char *folder;
	uint64_t rows;
	bool committed;
	size_t states, wrong;
	bool saw[4];
} exploration;

static void check_state(const char *root, void *arg)
{
	exploration *x = arg;
	sherd_store *store = NULL;
	sherd_error e = {0};
	assert_ok(sherd_store_open_local(&store, root, NULL, err));
	verdict s = look(store, x->folder, x->rows);
	x->states++;
	x->saw[s] = true;
	x->wrong += s == WRONG || (x->committed && s != WHOLE);
	/* Whatever was left, a pack afterwards gives a whole set, of its own rows if there was none. */
	int rc = pack(store, x->folder, ROWS, &e);
	if (rc != (s == WHOLE ? SHERD_EEXIST : SHERD_OK))
		x->wrong++;
	x->wrong += look(store, x->folder, s == WHOLE ? x->rows : ROWS) != WHOLE;
	sherd_store_close(store);
}

static exploration explore(const char *folder, uint64_t rows, bool after_death, bool drop_syncs)
{
	char *root = scratch_make();
	sherd_store *store = NULL;
	assert_ok(sherd_store_open_local(&store, root, NULL, err));
	if (after_death) {
		char key[64];
		(void)snprintf(key, sizeof(key), "%s/rows.packing", folder);
		assert_ok(sherd_store_put(store, key, SHERD_WRITE_NEW, "", 0, err));
		(void)snprintf(key, sizeof(key), "%s/part-00002.shard", folder);
		assert_ok(sherd_store_put(store, key, SHERD_WRITE_NEW, "old", 3, err));
	}
	sherd_store_close(store);
	crash_sys *c = crash_sys_new(root);
	crash_sys_drop_syncs(c, drop_syncs, drop_syncs);
	assert_ok(sherd_store_open_local_sys(&store, root, NULL, crash_sys_table(c), err));
	assert_ok(pack(store, folder, rows, err));
	sherd_store_close(store);
	exploration x = {.folder = folder, .rows = rows};
	size_t points = crash_sys_points(c);
	for (size_t k = 0; k <= points; k++) {
		size_t before = x.wrong;
		x.committed = k == points;
		assert_true(crash_sys_states(c, k, check_state, &x) > 0);
		if (x.wrong > before && !drop_syncs)
			print_error("wrong state after \"%s\"\n", crash_sys_describe(c, k ? k - 1 : 0));
	}
	crash_sys_free(c);
	scratch_remove(root);
	return x;
}

TEST(no_power_loss_leaves_what_looks_complete_and_is_not)
{
	exploration x = explore("d", 3, false, false);
	assert_int_equal(x.wrong, 0);
	assert_true(x.saw[ABSENT] && x.saw[INCOMPLETE] && x.saw[WHOLE]);
	assert_true(x.states > 20);
}

TEST(so_it_is_when_what_a_dead_pack_left_is_cleared_first)
{
	exploration x = explore("d", 3, true, false);
	assert_int_equal(x.wrong, 0);
	assert_true(x.saw[INCOMPLETE] && x.saw[WHOLE]);
}

TEST(a_disk_that_does_not_sync_is_caught)
{
	assert_true(explore("d", 3, false, true).wrong > 0);
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
	const char *wish = getenv("SHERD_KILLS");
	long kills = wish ? strtol(wish, NULL, 10) : 20;
	bool saw[4] = {false};
	for (long i = 0; i < kills; i++) {
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
