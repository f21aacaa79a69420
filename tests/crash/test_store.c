/* What a power loss leaves of a local store, at every point of every way to change it. */
#include "support/test.h"

#include <sherd/store.h>

#include "base/error.h"
#include "store/local.h"
#include "support/crash_sys.h"
#include "support/fail_sys.h"
#include "support/scratch.h"

#include <stdio.h>
#include <stdlib.h>

enum { OLD_SIZE = 6000, NEW_SIZE = 10000 }; /* more than a page, so that writes can tear */

typedef enum content { NOTHING, OLD, NEW, WRONG } content;

typedef struct scenario {
	const char *key;
	content before, after;
	int (*act)(sherd_store *store, const char *key);
} scenario;

static size_t size_of(content c)
{
	return c == OLD ? OLD_SIZE : NEW_SIZE;
}

static const char *bytes_of(content c)
{
	static char bytes[2][NEW_SIZE];
	for (size_t i = 0; i < NEW_SIZE; i++) {
		bytes[0][i] = (char)('A' + i % 23);
		bytes[1][i] = (char)('a' + i % 19);
	}
	return bytes[c == NEW];
}

static int put_new(sherd_store *store, const char *key)
{
	return sherd_store_put(store, key, SHERD_WRITE_NEW, bytes_of(NEW), NEW_SIZE, NULL);
}

static int put_over(sherd_store *store, const char *key)
{
	return sherd_store_put(store, key, SHERD_WRITE_REPLACE, bytes_of(NEW), NEW_SIZE, NULL);
}

static int put_if(sherd_store *store, const char *key)
{
	sherd_stat stat;
	TRY(sherd_store_stat(store, key, &stat, NULL));
	sherd_write_options options = {.mode = SHERD_WRITE_REPLACE, .if_identity = stat.identity, .head = 100};
	sherd_writer *w = NULL;
	char zero[100] = {0};
	TRY(sherd_store_write(store, key, &options, &w, NULL));
	(void)sherd_writer_append(w, zero, sizeof(zero), NULL);
	(void)sherd_writer_append(w, bytes_of(NEW) + 100, NEW_SIZE - 100, NULL);
	(void)sherd_writer_fill(w, 0, bytes_of(NEW), 100, NULL);
	return sherd_writer_commit(w, NULL);
}

static int take_away(sherd_store *store, const char *key)
{
	return sherd_store_remove(store, key, NULL);
}

static int make_and_put(sherd_store *store, const char *key)
{
	TRY(sherd_store_mkdir(store, "p/q", NULL));
	return put_new(store, key);
}

static int create_locked(sherd_store *store, const char *key)
{
	sherd_lock *lock = NULL;
	TRY(sherd_store_create_locked(store, key, bytes_of(NEW), NEW_SIZE, SHERD_LOCK_EXCLUSIVE, &lock, NULL));
	sherd_lock_release(lock);
	return SHERD_OK;
}

static const scenario scenarios[] = {
	{"x", NOTHING, NEW, put_new},
	{"p/q/x", NOTHING, NEW, put_new},
	{"x", OLD, NEW, put_over},
	{"x", NOTHING, NEW, put_over},
	{"p/x", OLD, NEW, put_over},
	{"x", OLD, NEW, put_if},
	{"x", OLD, NOTHING, take_away},
	{"p/x", OLD, NOTHING, take_away},
	{"p/q/r/x", NOTHING, NEW, make_and_put},
	{"x", NOTHING, NEW, create_locked},
	{"p/x", NOTHING, NEW, create_locked},
};

typedef struct checked {
	const scenario *scenario;
	bool committed;
	size_t states, wrong;
	bool saw[4];
} checked;

static content read_content(sherd_store *store, const char *key)
{
	char *data = NULL;
	size_t len = 0;
	int rc = sherd_store_get(store, key, 1 << 20, &data, &len, NULL);
	if (rc == SHERD_ENOTFOUND)
		return NOTHING;
	content c = WRONG;
	if (rc == SHERD_OK && len == OLD_SIZE && memcmp(data, bytes_of(OLD), len) == 0)
		c = OLD;
	if (rc == SHERD_OK && len == NEW_SIZE && memcmp(data, bytes_of(NEW), len) == 0)
		c = NEW;
	free(data);
	return c;
}

static bool count_foreign(const char *key, const sherd_stat *stat, void *arg)
{
	(void)stat;
	const scenario *s = ((checked *)arg)->scenario;
	if (strcmp(key, s->key) != 0)
		((checked *)arg)->wrong++;
	return true;
}

static void check_state(const char *folder, void *arg)
{
	checked *c = arg;
	const scenario *s = c->scenario;
	sherd_store *store = NULL;
	assert_ok(sherd_store_open_local(&store, folder, NULL, err));
	content got = read_content(store, s->key);
	c->states++;
	c->saw[got] = true;
	if (got != s->after && (c->committed || got != s->before))
		c->wrong++;
	assert_ok(sherd_store_list(store, "", "", count_foreign, c, err));
	/* and the store is as usable as ever */
	assert_ok(sherd_store_put(store, s->key, SHERD_WRITE_REPLACE, bytes_of(NEW), NEW_SIZE, err));
	assert_int_equal(read_content(store, s->key), NEW);
	sherd_store_close(store);
}

/* Runs one scenario over a table and looks at every state of every point. */
static checked explore(const scenario *s, unsigned refuse, bool drop_files, bool drop_folders)
{
	char *folder = scratch_make();
	sherd_store *store = NULL;
	if (s->before != NOTHING) {
		assert_ok(sherd_store_open_local(&store, folder, NULL, err));
		assert_ok(
			sherd_store_put(store, s->key, SHERD_WRITE_NEW, bytes_of(s->before), size_of(s->before), err));
		sherd_store_close(store);
	}
	fail_sys below;
	fail_sys_init(&below);
	below.refuse = refuse;
	crash_sys *c = crash_sys_new_over(folder, &below.sys);
	crash_sys_drop_syncs(c, drop_files, drop_folders);
	assert_ok(sherd_store_open_local_sys(&store, folder, NULL, crash_sys_table(c), err));
	assert_int_equal(s->act(store, s->key), SHERD_OK);
	sherd_store_close(store);
	checked result = {.scenario = s};
	size_t points = crash_sys_points(c);
	assert_true(points > 0);
	for (size_t k = 0; k <= points; k++) {
		result.committed = k == points;
		size_t before = result.wrong;
		assert_true(crash_sys_states(c, k, check_state, &result) > 0);
		if (result.wrong > before && !drop_files && !drop_folders)
			print_error("%s: wrong state after \"%s\"\n", s->key, crash_sys_describe(c, k ? k - 1 : 0));
	}
	crash_sys_free(c);
	scratch_remove(folder);
	return result;
}

static void explore_all(unsigned refuse)
{
	for (size_t i = 0; i < COUNT_OF(scenarios); i++) {
		checked result = explore(&scenarios[i], refuse, false, false);
		assert_int_equal(result.wrong, 0);
		assert_true(result.saw[scenarios[i].before]);
		assert_true(result.saw[scenarios[i].after]);
	}
}

TEST(every_state_shows_the_old_object_or_the_new_one)
{
	explore_all(0);
}

TEST(so_it_is_without_nameless_files)
{
	explore_all(FAIL_SYS_NO_TMPFILE);
}

TEST(so_it_is_without_links)
{
	explore_all(FAIL_SYS_NO_LINK);
}

TEST(so_it_is_without_exclusive_rename)
{
	explore_all(FAIL_SYS_NO_TMPFILE | FAIL_SYS_NO_NOREPLACE);
}

TEST(a_store_that_does_not_sync_files_is_caught)
{
	for (size_t i = 0; i < COUNT_OF(scenarios); i++)
		if (scenarios[i].after == NEW)
			assert_true(explore(&scenarios[i], 0, true, false).wrong > 0);
}

TEST(a_store_that_does_not_sync_folders_is_caught)
{
	for (size_t i = 0; i < COUNT_OF(scenarios); i++)
		assert_true(explore(&scenarios[i], 0, false, true).wrong > 0);
}

static void sweep_state(const char *folder, void *arg)
{
	sherd_store *store = NULL;
	*(size_t *)arg += scratch_temporaries(folder);
	assert_ok(sherd_store_open_local(&store, folder, NULL, err));
	assert_ok(sherd_store_put(store, "other", SHERD_WRITE_NEW, "", 0, err));
	sherd_store_close(store);
	assert_int_equal(scratch_temporaries(folder), 0);
}

TEST(what_a_dead_writer_leaves_is_swept_by_the_next)
{
	char *folder = scratch_make();
	sherd_store *store = NULL;
	crash_sys *c = crash_sys_new(folder);
	size_t met = 0;
	assert_ok(sherd_store_open_local_sys(&store, folder, NULL, crash_sys_table(c), err));
	assert_int_equal(put_over(store, "x"), SHERD_OK);
	sherd_store_close(store);
	for (size_t k = 0; k <= crash_sys_points(c); k++)
		crash_sys_states(c, k, sweep_state, &met);
	assert_true(met > 0);
	crash_sys_free(c);
	scratch_remove(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_state_shows_the_old_object_or_the_new_one),
		cmocka_unit_test(so_it_is_without_nameless_files),
		cmocka_unit_test(so_it_is_without_links),
		cmocka_unit_test(so_it_is_without_exclusive_rename),
		cmocka_unit_test(a_store_that_does_not_sync_files_is_caught),
		cmocka_unit_test(a_store_that_does_not_sync_folders_is_caught),
		cmocka_unit_test(what_a_dead_writer_leaves_is_swept_by_the_next),
	};
	return cmocka_run_group_tests_name("crash/store", tests, NULL, NULL);
}
