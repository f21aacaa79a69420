/* M-6: who may use an object does not change when it is written anew, and nobody else may in the meantime. */
#include "support/fail_sys.h"
#include "support/scratch.h"
#include "support/test.h"

#include "base/error.h"
#include "store/local/local.h"

#include <sherd/store.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char *folder;
static int dir;
static fail_sys sys;
static sherd_store *store;

static int begin(void **state)
{
	(void)state;
	(void)umask(022);
	folder = scratch_make();
	dir = open(folder, O_RDONLY | O_DIRECTORY);
	fail_sys_init(&sys);
	return shd_store_open_local_sys(&store, folder, NULL, &sys.sys, NULL);
}

static int end(void **state)
{
	(void)state;
	sherd_store_close(store);
	close(dir);
	scratch_remove(folder);
	return 0;
}

static struct stat stat_of(const char *name)
{
	struct stat st;
	assert_int_equal(fstatat(dir, name, &st, 0), 0);
	return st;
}

static unsigned mode_of(const char *name)
{
	return stat_of(name).st_mode & 07777;
}

static void put(const char *name, mode_t mode)
{
	assert_ok(sherd_store_put(store, name, SHERD_WRITE_REPLACE, "a", 1, err));
	assert_int_equal(fchmodat(dir, name, mode, 0), 0);
}

TEST(a_replaced_object_keeps_its_mode)
{
	static const mode_t modes[] = {0600, 0640, 0644, 0664, 0444, 0400, 0755, 0};
	for (size_t i = 0; i < COUNT_OF(modes); i++) {
		put("x", modes[i]);
		assert_ok(sherd_store_put(store, "x", SHERD_WRITE_REPLACE, "b", 1, err));
		assert_int_equal(mode_of("x"), modes[i]);
	}
}

TEST(a_new_object_has_the_mode_of_the_process)
{
	assert_ok(sherd_store_put(store, "new", SHERD_WRITE_NEW, "a", 1, err));
	assert_ok(sherd_store_put(store, "over nothing", SHERD_WRITE_REPLACE, "a", 1, err));
	assert_int_equal(mode_of("new"), 0644);
	assert_int_equal(mode_of("over nothing"), 0644);
}

/* With and without files that have no name. */
static void write_like(const char *key, const char *like, sherd_write_mode mode)
{
	sherd_writer *w;
	const sherd_write_options options = {.mode = mode, .like = like};
	assert_ok(sherd_store_write(&w, store, key, &options, err));
	assert_ok(sherd_writer_append(w, "abc", 3, err));
	assert_ok(sherd_writer_commit(w, err));
}

TEST(a_new_object_takes_the_mode_of_the_one_whose_place_it_takes)
{
	put("old", 0600);
	for (unsigned refuse = 0; refuse <= FAIL_SYS_NO_LINK; refuse += FAIL_SYS_NO_LINK) {
		sys.refuse = refuse;
		write_like(refuse ? "a" : "b", "old", SHERD_WRITE_NEW);
		write_like(refuse ? "c" : "d", "nothing", SHERD_WRITE_NEW);
		assert_int_equal(mode_of(refuse ? "a" : "b"), 0600);
		assert_int_equal(mode_of(refuse ? "c" : "d"), 0644);
	}
	write_like("e", "old", SHERD_WRITE_REPLACE);
	assert_int_equal(mode_of("e"), 0600);
	assert_refused(
		SHERD_EINVAL, "bad-key",
		sherd_store_write(&(sherd_writer *){0}, store, "f", &(sherd_write_options){.like = "../x"}, err));
}

static bool see(const char *name, unsigned char type, void *arg)
{
	(void)type;
	if (name[0] == '.')
		*(unsigned *)arg |= mode_of(name);
	return true;
}

TEST(a_file_on_its_way_is_never_open_to_more_than_the_object)
{
	sherd_writer *w;
	unsigned seen = 0;
	const sherd_write_options options = {.mode = SHERD_WRITE_REPLACE};
	put("x", 0640);
	assert_ok(sherd_store_write(&w, store, "x", &options, err));
	assert_ok(shd_local_entries(&shd_sys_linux, dir, see, &seen, err));
	assert_int_equal(seen, 0600);
	assert_int_equal(fchmodat(dir, "x", 0600, 0), 0); /* which counts: it is what is replaced */
	assert_ok(sherd_writer_commit(w, err));
	assert_int_equal(mode_of("x"), 0600);
}

TEST(an_object_that_went_meanwhile_still_counts)
{
	sherd_writer *w;
	put("x", 0600);
	assert_ok(sherd_store_write(&w, store, "x", &(sherd_write_options){.mode = SHERD_WRITE_REPLACE}, err));
	assert_ok(sherd_store_remove(store, "x", err));
	assert_ok(sherd_writer_commit(w, err));
	assert_int_equal(mode_of("x"), 0600);
}

/* Who may not give files away leaves the rights of a foreign group to nobody. */
TEST(owner_and_group_are_kept_where_the_system_permits)
{
	if (geteuid() != 0)
		skip();
	put("x", 0640);
	assert_int_equal(fchownat(dir, "x", 12, 34, 0), 0);
	assert_ok(sherd_store_put(store, "x", SHERD_WRITE_REPLACE, "b", 1, err));
	assert_int_equal(stat_of("x").st_uid, 12);
	assert_int_equal(stat_of("x").st_gid, 34);
	assert_int_equal(mode_of("x"), 0640);
	sys.refuse = FAIL_SYS_NO_CHOWN;
	assert_ok(sherd_store_put(store, "x", SHERD_WRITE_REPLACE, "c", 1, err));
	assert_int_equal(stat_of("x").st_gid, getegid());
	assert_int_equal(mode_of("x"), 0600);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		CASE(a_replaced_object_keeps_its_mode),
		CASE(a_new_object_has_the_mode_of_the_process),
		CASE(a_new_object_takes_the_mode_of_the_one_whose_place_it_takes),
		CASE(a_file_on_its_way_is_never_open_to_more_than_the_object),
		CASE(an_object_that_went_meanwhile_still_counts),
		CASE(owner_and_group_are_kept_where_the_system_permits),
	};
	return cmocka_run_group_tests_name("mode", tests, NULL, NULL);
}
