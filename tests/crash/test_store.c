/* What a power loss leaves of a local store, at every point of every way to change it. */
#include "support/crash_walk.h"
#include "support/fail_sys.h"
#include "support/place_all.h"
#include "support/scratch.h"
#include "support/test.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

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
	TRY(sherd_store_stat(&stat, store, key, NULL));
	sherd_write_options options = {.mode = SHERD_WRITE_REPLACE, .if_identity = stat.identity, .head = 100};
	sherd_writer *w = NULL;
	char zero[100] = {0};
	TRY(sherd_store_write(&w, store, key, &options, NULL));
	(void)sherd_writer_append(w, zero, sizeof(zero), NULL);
	(void)sherd_writer_append(w, bytes_of(NEW) + 100, NEW_SIZE - 100, NULL);
	(void)sherd_writer_fill(w, 0, bytes_of(NEW), 100, NULL);
	return sherd_writer_commit(w, NULL);
}

/* Two parts, and the beginning of a third one. */
static int place_as(sherd_store *store, const char *key, sherd_write_mode mode)
{
	sherd_write_options options = {.mode = mode, .head = 100, .size_hint = NEW_SIZE};
	const placing p = {(const uint8_t *)bytes_of(NEW), NEW_SIZE - 200, 1500, 2, false};
	sherd_writer *w = NULL;
	TRY(sherd_store_write(&w, store, key, &options, NULL));
	(void)place_all(w, &p, NULL);
	(void)sherd_writer_append(w, bytes_of(NEW) + NEW_SIZE - 200, 200, NULL);
	(void)sherd_writer_fill(w, 0, bytes_of(NEW), 100, NULL);
	return sherd_writer_commit(w, NULL);
}

static int place_new(sherd_store *store, const char *key)
{
	return place_as(store, key, SHERD_WRITE_NEW);
}

static int place_over(sherd_store *store, const char *key)
{
	return place_as(store, key, SHERD_WRITE_REPLACE);
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
	TRY(sherd_store_create_locked(&lock, store, key, bytes_of(NEW), NEW_SIZE, SHERD_LOCK_EXCLUSIVE, NULL));
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
	{"x", NOTHING, NEW, place_new},
	{"p/x", OLD, NEW, place_over},
	{"x", OLD, NOTHING, take_away},
	{"p/x", OLD, NOTHING, take_away},
	{"p/q/r/x", NOTHING, NEW, make_and_put},
	{"x", NOTHING, NEW, create_locked},
	{"p/x", NOTHING, NEW, create_locked},
};

typedef struct checked {
	const scenario *scenario;
	bool saw[4];
} checked;

static content read_content(sherd_store *store, const char *key)
{
	char *data = NULL;
	size_t len = 0;
	int rc = sherd_store_get(&data, &len, store, key, 1 << 20, NULL);
	if (rc == SHERD_ENOTFOUND)
		return NOTHING;
	content c = WRONG;
	if (rc == SHERD_OK && len == OLD_SIZE && memcmp(data, bytes_of(OLD), len) == 0)
		c = OLD;
	if (rc == SHERD_OK && len == NEW_SIZE && memcmp(data, bytes_of(NEW), len) == 0)
		c = NEW;
	sherd_free(data);
	return c;
}

static bool find_foreign(void *arg, const char *key, const sherd_stat *stat)
{
	(void)stat;
	crash_walk *w = arg;
	if (strcmp(key, ((const checked *)w->arg)->scenario->key) != 0)
		crash_walk_complain(w, "there is a key %s", key);
	return true;
}

static void check_state(crash_walk *w, sherd_store *store)
{
	checked *c = w->arg;
	const scenario *s = c->scenario;
	content got = read_content(store, s->key);
	c->saw[got] = true;
	if (got != s->after && (w->finished || got != s->before))
		crash_walk_complain(w, "content %d", got);
	assert_ok(sherd_store_list(store, "", "", find_foreign, w, err));
	/* and the store is as usable as ever */
	assert_ok(sherd_store_put(store, s->key, SHERD_WRITE_REPLACE, bytes_of(NEW), NEW_SIZE, err));
	assert_int_equal(read_content(store, s->key), NEW);
}

static void prepare(crash_walk *w, sherd_store *store)
{
	const scenario *s = ((const checked *)w->arg)->scenario;
	if (s->before != NOTHING)
		assert_ok(
			sherd_store_put(store, s->key, SHERD_WRITE_NEW, bytes_of(s->before), size_of(s->before), err));
}

static void act(crash_walk *w, sherd_store *store)
{
	const scenario *s = ((const checked *)w->arg)->scenario;
	assert_int_equal(s->act(store, s->key), SHERD_OK);
}

static crash_walk walk(checked *c)
{
	return (crash_walk){.name = c->scenario->key, .arg = c, .before = prepare, .act = act, .check = check_state};
}

static void walk_all(unsigned refuse)
{
	for (size_t i = 0; i < COUNT_OF(scenarios); i++) {
		checked c = {.scenario = &scenarios[i]};
		crash_walk w = walk(&c);
		w.refuse = refuse;
		crash_walk_assert(&w);
		assert_true(c.saw[scenarios[i].before]);
		assert_true(c.saw[scenarios[i].after]);
	}
}

TEST(every_state_shows_the_old_object_or_the_new_one)
{
	walk_all(0);
}

TEST(so_it_is_without_nameless_files)
{
	walk_all(FAIL_SYS_NO_TMPFILE);
}

TEST(so_it_is_without_links)
{
	walk_all(FAIL_SYS_NO_LINK);
}

TEST(so_it_is_without_exclusive_rename)
{
	walk_all(FAIL_SYS_NO_TMPFILE | FAIL_SYS_NO_NOREPLACE);
}

TEST(a_store_that_does_not_sync_is_caught)
{
	for (size_t i = 0; i < COUNT_OF(scenarios); i++) {
		checked c = {.scenario = &scenarios[i]};
		crash_walk w = walk(&c);
		crash_walk_assert_caught(&w, false, true);
		if (scenarios[i].after == NEW)
			crash_walk_assert_caught(&w, true, false);
	}
}

static void sweep_state(crash_walk *w, sherd_store *store)
{
	*(size_t *)w->arg += scratch_temporaries(w->folder);
	assert_ok(sherd_store_put(store, "other", SHERD_WRITE_NEW, "", 0, err));
	assert_int_equal(scratch_temporaries(w->folder), 0);
}

static void do_nothing(crash_walk *w, sherd_store *store)
{
	(void)w, (void)store;
}

static void put_one(crash_walk *w, sherd_store *store)
{
	(void)w;
	assert_int_equal(put_over(store, "x"), SHERD_OK);
}

TEST(what_a_dead_writer_leaves_is_swept_by_the_next)
{
	size_t met = 0;
	crash_walk w = {.name = "sweep", .arg = &met, .before = do_nothing, .act = put_one, .check = sweep_state};
	crash_walk_assert(&w);
	assert_true(met > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_state_shows_the_old_object_or_the_new_one),
		cmocka_unit_test(so_it_is_without_nameless_files),
		cmocka_unit_test(so_it_is_without_links),
		cmocka_unit_test(so_it_is_without_exclusive_rename),
		cmocka_unit_test(a_store_that_does_not_sync_is_caught),
		cmocka_unit_test(what_a_dead_writer_leaves_is_swept_by_the_next),
	};
	return cmocka_run_group_tests_name("crash/store", tests, NULL, NULL);
}
