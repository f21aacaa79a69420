#include "support/ckpt_place.h"
#include "support/test.h"

#include <sherd/store.h>

#include "store/local/local.h"
#include "support/fail_sys.h"
#include "support/scratch.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct fixture {
	char *folder;
	fail_sys sys;
	sherd_store *store;
} fixture;

static void reopen(fixture *f, unsigned refuse, bool follow)
{
	sherd_store_close(f->store);
	f->sys.refuse = refuse;
	assert_ok(shd_store_open_local_sys(&f->store, f->folder, &(sherd_local_options){.follow_symlinks = follow},
	                                   &f->sys.sys, err));
}

static int begin(void **state)
{
	fixture *f = calloc(1, sizeof(*f));
	f->folder = scratch_make();
	fail_sys_init(&f->sys);
	reopen(f, 0, false);
	*state = f;
	return 0;
}

static int end(void **state)
{
	fixture *f = *state;
	sherd_store_close(f->store);
	scratch_remove(f->folder);
	free(f);
	return 0;
}

static char *path_in(const fixture *f, const char *name)
{
	static char path[2][5000];
	static int turn;
	turn ^= 1;
	(void)snprintf(path[turn], sizeof(path[turn]), "%s/%s", f->folder, name);
	return path[turn];
}

static void make_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static bool exists(const char *path)
{
	return faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static int get(fixture *f, const char *key)
{
	char *data = NULL;
	size_t len;
	int rc = sherd_store_get(&data, &len, f->store, key, 100, NULL);
	sherd_free(data);
	return rc;
}

TEST(links_do_not_lead_out)
{
	fixture *f = *state;
	char *outside = scratch_make(), file[5000];
	(void)snprintf(file, sizeof(file), "%s/secret", outside);
	make_file(file, "secret");
	make_file(path_in(f, "inside"), "inside");
	assert_int_equal(symlink(file, path_in(f, "file")), 0);
	assert_int_equal(symlink(outside, path_in(f, "dir")), 0);
	assert_int_equal(symlink("inside", path_in(f, "near")), 0);
	assert_int_equal(symlink("nowhere", path_in(f, "dangling")), 0);
	for (int round = 0; round < 2; round++) {
		reopen(f, round ? FAIL_SYS_NO_OPENAT2 : 0, false);
		sherd_stat stat;
		sherd_reader *r = NULL;
		sherd_lock *l = NULL;
		assert_refused(SHERD_EUNSUPPORTED, "symlink", sherd_store_read(&r, f->store, "file", err));
		assert_refused(SHERD_EUNSUPPORTED, "symlink", sherd_store_stat(&stat, f->store, "file", err));
		assert_refused(SHERD_EUNSUPPORTED, "symlink", sherd_store_read(&r, f->store, "dir/secret", err));
		assert_refused(SHERD_EUNSUPPORTED, "symlink",
		               sherd_store_put(f->store, "dir/new", SHERD_WRITE_NEW, "", 0, err));
		assert_refused(SHERD_EUNSUPPORTED, "symlink", sherd_store_remove(f->store, "dir/secret", err));
		assert_refused(SHERD_EUNSUPPORTED, "symlink", sherd_store_mkdir(f->store, "dir/new", err));
		assert_refused(SHERD_EUNSUPPORTED, "symlink",
		               sherd_store_lock(&l, f->store, "file", SHERD_LOCK_SHARED, err));
		/* a link that stays inside is followed where the kernel can watch it */
		assert_int_equal(get(f, "near"), round ? SHERD_EUNSUPPORTED : SHERD_OK);
		assert_int_equal(object_count(f->store, ""), round ? 1 : 2);
	}
	reopen(f, 0, true);
	assert_int_equal(get(f, "file"), SHERD_OK);
	assert_int_equal(get(f, "dir/secret"), SHERD_OK);
	assert_int_equal(object_count(f->store, ""), 3);
	/* replacing and removing concern the link, never what it points to */
	assert_ok(sherd_store_put(f->store, "file", SHERD_WRITE_REPLACE, "mine", 4, err));
	assert_ok(sherd_store_remove(f->store, "file", err));
	assert_true(exists(file));
	scratch_remove(outside);
}

TEST(special_files_are_refused_without_waiting)
{
	fixture *f = *state;
	assert_int_equal(mkfifo(path_in(f, "pipe"), 0600), 0);
	sherd_reader *r = NULL;
	sherd_stat stat;
	sherd_lock *l = NULL;
	assert_refused(SHERD_EUNSUPPORTED, "not-a-file", sherd_store_read(&r, f->store, "pipe", err));
	assert_refused(SHERD_EUNSUPPORTED, "not-a-file", sherd_store_stat(&stat, f->store, "pipe", err));
	assert_refused(SHERD_EUNSUPPORTED, "not-a-file",
	               sherd_store_lock(&l, f->store, "pipe", SHERD_LOCK_SHARED, err));
	assert_refused(SHERD_EUNSUPPORTED, "not-a-file",
	               sherd_store_put(f->store, "pipe", SHERD_WRITE_REPLACE, "x", 1, err));
	assert_refused(SHERD_EEXIST, "exists", sherd_store_put(f->store, "pipe", SHERD_WRITE_NEW, "x", 1, err));
	assert_int_equal(symlink("pipe", path_in(f, "link")), 0);
	assert_refused(SHERD_EUNSUPPORTED, "not-a-file",
	               sherd_store_put(f->store, "link", SHERD_WRITE_REPLACE, "x", 1, err));
	assert_int_equal(object_count(f->store, ""), 0);
	struct stat st;
	assert_int_equal(lstat(path_in(f, "pipe"), &st), 0);
	assert_true(S_ISFIFO(st.st_mode));
}

TEST(a_file_that_became_shorter_is_truncated)
{
	fixture *f = *state;
	make_file(path_in(f, "x"), "0123456789");
	sherd_reader *r = NULL;
	char buf[10];
	assert_ok(sherd_store_read(&r, f->store, "x", err));
	assert_int_equal(truncate(path_in(f, "x"), 4), 0);
	assert_fails(SHERD_ECORRUPT, 4, sherd_reader_at(r, 2, buf, 5, err));
	sherd_reader_close(r);
}

TEST(temporaries_of_the_dead_are_swept_and_those_of_the_living_are_not)
{
	fixture *f = *state;
	const char *dead = SHD_TEMP_PREFIX "dead", *live = SHD_TEMP_PREFIX "live";
	make_file(path_in(f, dead), "left over");
	make_file(path_in(f, live), "in the making");
	int fd = open(path_in(f, live), O_RDONLY);
	assert_int_equal(flock(fd, LOCK_SH), 0);
	assert_int_equal(object_count(f->store, ""), 0);
	assert_true(exists(path_in(f, dead)));
	assert_ok(sherd_store_put(f->store, "x", SHERD_WRITE_NEW, "", 0, err));
	assert_false(exists(path_in(f, dead)));
	assert_true(exists(path_in(f, live)));
	close(fd);
	reopen(f, 0, false);
	assert_ok(sherd_store_put(f->store, "x", SHERD_WRITE_REPLACE, "", 0, err));
	assert_false(exists(path_in(f, live)));
	assert_int_equal(object_count(f->store, ""), 1);
}

TEST(a_writer_in_another_process_is_not_swept)
{
	fixture *f = *state;
	sherd_writer *w = NULL;
	assert_ok(sherd_store_write(&w, f->store, "x", &(sherd_write_options){.mode = SHERD_WRITE_REPLACE}, err));
	pid_t pid = fork();
	if (pid == 0) {
		sherd_store *other = NULL;
		int rc = sherd_store_open_local(&other, f->folder, NULL, NULL);
		if (rc == SHERD_OK)
			rc = sherd_store_put(other, "y", SHERD_WRITE_NEW, "y", 1, NULL);
		_exit(rc == SHERD_OK ? 0 : 1);
	}
	int status = -1;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_ok(sherd_writer_append(w, "x", 1, err));
	assert_ok(sherd_writer_commit(w, err));
	assert_int_equal(get(f, "x"), SHERD_OK);
}

TEST(a_lock_ends_with_its_process)
{
	fixture *f = *state;
	int ready[2];
	char byte;
	assert_int_equal(pipe(ready), 0);
	pid_t pid = fork();
	if (pid == 0) {
		sherd_store *other = NULL;
		sherd_lock *lock = NULL;
		(void)sherd_store_open_local(&other, f->folder, NULL, NULL);
		int rc = sherd_store_create_locked(&lock, other, "claim", "", 0, SHERD_LOCK_EXCLUSIVE, NULL);
		_exit(rc == SHERD_OK && write(ready[1], "x", 1) == 1 ? pause() : 1);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	sherd_lock *lock = NULL;
	assert_refused(SHERD_ECONFLICT, "locked",
	               sherd_store_lock(&lock, f->store, "claim", SHERD_LOCK_EXCLUSIVE, err));
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_ok(sherd_store_lock(&lock, f->store, "claim", SHERD_LOCK_EXCLUSIVE, err));
	sherd_lock_release(lock);
}

TEST(a_file_system_without_exclusive_names_is_told)
{
	fixture *f = *state;
	reopen(f, FAIL_SYS_NO_LINK | FAIL_SYS_NO_NOREPLACE, false);
	assert_refused(SHERD_EUNSUPPORTED, "no-exclusive",
	               sherd_store_put(f->store, "x", SHERD_WRITE_NEW, "x", 1, err));
	assert_int_equal(object_count(f->store, ""), 0);
	assert_ok(sherd_store_put(f->store, "x", SHERD_WRITE_REPLACE, "x", 1, err));
}

TEST(without_file_locks_all_but_locking_works)
{
	fixture *f = *state;
	reopen(f, FAIL_SYS_NO_FLOCK | FAIL_SYS_NO_TMPFILE, false);
	assert_ok(sherd_store_put(f->store, "x", SHERD_WRITE_NEW, "x", 1, err));
	assert_ok(sherd_store_put(f->store, "x", SHERD_WRITE_REPLACE, "x", 1, err));
	sherd_stat stat;
	sherd_writer *w = NULL;
	sherd_lock *l = NULL;
	assert_ok(sherd_store_stat(&stat, f->store, "x", err));
	sherd_write_options options = {.mode = SHERD_WRITE_REPLACE, .if_identity = stat.identity};
	assert_ok(sherd_store_write(&w, f->store, "x", &options, err));
	assert_refused(SHERD_EUNSUPPORTED, "no-lock", sherd_writer_commit(w, err));
	assert_int_equal(sherd_store_lock(&l, f->store, "x", SHERD_LOCK_SHARED, NULL), SHERD_EIO);
	assert_int_equal(sherd_store_create_locked(&l, f->store, "y", "", 0, SHERD_LOCK_SHARED, NULL), SHERD_EIO);
	assert_ok(sherd_store_remove(f->store, "x", err));
	assert_int_equal(object_count(f->store, ""), 0);
}

TEST(the_folder_is_made_when_asked)
{
	fixture *f = *state;
	sherd_store *s = NULL;
	assert_refused(SHERD_ENOTFOUND, "not-found", sherd_store_open_local(&s, path_in(f, "a/b"), NULL, err));
	assert_refused(SHERD_EINVAL, "bad-path", sherd_store_open_local(&s, "", NULL, err));
	assert_ok(sherd_store_open_local(&s, path_in(f, "a//b/"), &(sherd_local_options){.create = true}, err));
	sherd_store_close(s);
	assert_true(exists(path_in(f, "a/b")));
	make_file(path_in(f, "file"), "");
	assert_refused(SHERD_ENOTFOUND, "not-found",
	               sherd_store_open_local(&s, path_in(f, "file/b"), &(sherd_local_options){.create = true}, err));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

static void object_is_empty(sherd_store *store, sherd_reader **out)
{
	assert_ok(sherd_store_put(store, "empty", SHERD_WRITE_NEW, "", 0, err));
	assert_ok(sherd_store_read(out, store, "empty", err));
	assert_ok(sherd_reader_at(*out, 0, NULL, 0, err));
}

static unsigned count_descriptors(void)
{
	unsigned n = 0;
	for (int fd = 0; fd < 4096; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* Every object is its number, 1,000 times. Written past the store, which would sync each of them. */
static void put_number(const fixture *f, const char *key, unsigned number)
{
	unsigned bytes[1000];
	for (size_t k = 0; k < 1000; k++)
		bytes[k] = number;
	FILE *file = fopen(path_in(f, "next"), "w");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, sizeof(bytes), 1, file), 1);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(rename(path_in(f, "next"), path_in(f, key)), 0);
}

static void assert_number(const sherd_reader *r, unsigned number)
{
	unsigned got[1000];
	const void *map;
	assert_ok(sherd_reader_at(r, 0, got, sizeof(got), err));
	for (size_t k = 0; k < 1000; k++)
		assert_int_equal(got[k], number);
	assert_ok(sherd_reader_at(r, sizeof(got) - 4, got, 4, err));
	assert_int_equal(got[0], number);
	assert_ok(sherd_reader_map(&map, r, 0, sizeof(got), err));
	assert_int_equal(((const unsigned *)map)[999], number);
	sherd_reader_advise(r, 0, sizeof(got), SHERD_ADVICE_SOON);
	sherd_reader_advise(r, 0, sizeof(got), SHERD_ADVICE_DONE);
}

/* More than a process may have open: removed and replaced ones are read as they were all the same. */
TEST(readers_hold_a_bounded_number_of_descriptors_and_their_objects)
{
	enum { MANY = SHD_LOCAL_DESCRIPTORS + 200 };
	fixture *f = *state;
	sherd_reader *readers[MANY + 1];
	unsigned before = count_descriptors();
	for (unsigned i = 0; i < MANY; i++) {
		char key[16];
		(void)snprintf(key, sizeof(key), "o%u", i);
		put_number(f, key, i);
		assert_ok(sherd_store_read(&readers[i], f->store, key, err));
	}
	object_is_empty(f->store, &readers[MANY]);
	assert_true(count_descriptors() - before <= SHD_LOCAL_DESCRIPTORS);
	for (unsigned i = 0; i < MANY; i++)
		assert_number(readers[i], i);
	for (unsigned i = 0; i < MANY; i++) {
		char key[16];
		(void)snprintf(key, sizeof(key), "o%u", i);
		if (i % 3 == 0)
			assert_int_equal(unlink(path_in(f, key)), 0);
		if (i % 3 == 1)
			put_number(f, key, i + 1);
	}
	for (unsigned i = 0; i < MANY; i++)
		assert_number(readers[i], i);
	for (unsigned i = 0; i <= MANY; i++)
		sherd_reader_close(readers[i]);
	assert_int_equal(count_descriptors(), before);
}

/* The limit in force when the store is opened counts, not only ours. */
TEST(readers_leave_room_below_the_limit_of_the_process)
{
	enum { MANY = 120 };
	fixture *f = *state;
	sherd_reader *readers[MANY];
	struct rlimit was, low;
	unsigned before = count_descriptors();
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	low = (struct rlimit){.rlim_cur = before + 64, .rlim_max = was.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	reopen(f, 0, false);
	for (unsigned i = 0; i < MANY; i++) {
		char key[16];
		(void)snprintf(key, sizeof(key), "o%u", i);
		put_number(f, key, i);
		assert_ok(sherd_store_read(&readers[i], f->store, key, err));
	}
	assert_true(count_descriptors() - before <= (before + 64) / 4);
	for (unsigned i = 0; i < MANY; i++) {
		assert_number(readers[i], i);
		sherd_reader_close(readers[i]);
	}
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
}

/* The system gives only so many maps: what is small is copied then, and is read and borrowed as ever. */
TEST(where_no_more_maps_are_given_small_files_are_copied)
{
	enum { MANY = SHD_LOCAL_DESCRIPTORS + 20, LARGE = (1 << 20) + 1 };
	fixture *f = *state;
	sherd_reader *readers[MANY], *large = NULL;
	const void *map;
	char *data = calloc(1, LARGE);
	assert_non_null(data);
	assert_ok(sherd_store_put(f->store, "large", SHERD_WRITE_NEW, data, LARGE, err));
	free(data);
	put_number(f, "x", 7);
	reopen(f, FAIL_SYS_NO_MAP, false);
	unsigned before = count_descriptors();
	for (unsigned i = 0; i < MANY; i++)
		assert_ok(sherd_store_read(&readers[i], f->store, "x", err));
	assert_true(count_descriptors() - before <= SHD_LOCAL_DESCRIPTORS);
	put_number(f, "x", 8);
	for (unsigned i = 0; i < MANY; i++) {
		assert_number(readers[i], 7);
		assert_true(sherd_reader_peek(&map, readers[i], 4, 8));
		assert_int_equal(*(const unsigned *)map, 7);
		sherd_reader_close(readers[i]);
	}
	assert_ok(sherd_store_read(&large, f->store, "large", err));
	assert_refused(SHERD_ENOMEM, "no-memory", sherd_reader_map(&map, large, 0, 1, err));
	sherd_reader_close(large);
}

/* A file without a name that becomes shorter is an error, not a signal. */
TEST(a_file_that_shrinks_behind_its_map_is_an_error)
{
	enum { MANY = SHD_LOCAL_DESCRIPTORS + 1, LARGE = 1 << 16 };
	fixture *f = *state;
	sherd_reader *readers[MANY];
	char *large = calloc(1, LARGE);
	assert_ok(sherd_store_put(f->store, "large", SHERD_WRITE_NEW, large, LARGE, err));
	for (unsigned i = 0; i < MANY; i++)
		assert_ok(sherd_store_read(&readers[i], f->store, "large", err));
	int fd = open(path_in(f, "large"), O_RDWR);
	assert_true(fd >= 0);
	assert_ok(sherd_store_remove(f->store, "large", err));
	assert_int_equal(ftruncate(fd, 0), 0);
	sherd_error e = {0};
	assert_int_equal(sherd_reader_at(readers[MANY - 1], 0, large, LARGE, &e), SHERD_EIO);
	assert_int_equal(e.offset, 0);
	for (unsigned i = 0; i < MANY; i++)
		sherd_reader_close(readers[i]);
	(void)close(fd);
	free(large);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(links_do_not_lead_out),
		CASE(readers_leave_room_below_the_limit_of_the_process),
		CASE(special_files_are_refused_without_waiting),
		CASE(a_file_that_became_shorter_is_truncated),
		CASE(temporaries_of_the_dead_are_swept_and_those_of_the_living_are_not),
		CASE(a_writer_in_another_process_is_not_swept),
		CASE(a_lock_ends_with_its_process),
		CASE(a_file_system_without_exclusive_names_is_told),
		CASE(without_file_locks_all_but_locking_works),
		CASE(the_folder_is_made_when_asked),
		CASE(readers_hold_a_bounded_number_of_descriptors_and_their_objects),
		CASE(where_no_more_maps_are_given_small_files_are_copied),
		CASE(a_file_that_shrinks_behind_its_map_is_an_error),
	};
	return cmocka_run_group_tests_name("unit/store/local/files", tests, NULL, NULL);
}
