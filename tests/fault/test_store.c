/* A store round trip with the nth allocation, operation or system call failing, for every n. */
#include "support/test.h"

#include <sherd/store.h>

#include "base/error.h"
#include "store/local/local.h"
#include "support/fail_malloc.h"
#include "support/fail_store.h"
#include "support/fail_sys.h"
#include "support/place_all.h"
#include "support/scratch.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

SHD_AUTO_DEFINE(sherd_reader, sherd_reader_close)
SHD_AUTO_DEFINE(sherd_writer, sherd_writer_abort)
SHD_AUTO_DEFINE(sherd_lock, sherd_lock_release)

enum { SIZE = 700000 };

static char bytes[2][SIZE];

static int write_all(sherd_store *s, const char *key, const sherd_write_options *options, const char *from,
                     sherd_error *err)
{
	SHD_AUTO(sherd_writer, sherd_writer_abort) w = NULL;
	TRY(sherd_store_write(&w, s, key, options, err));
	TRY(sherd_writer_append(w, from, 10, err));
	TRY(sherd_writer_append(w, from + 10, SIZE - 110, err));
	TRY(sherd_writer_append(w, from + SIZE - 100, 100, err));
	TRY(sherd_writer_fill(w, 2, from + 2, 3, err));
	return sherd_writer_commit(TAKE(w), err);
}

/* The same in places, of a small object and of a large one, whose parts go past the cache where they can. */
static int place_whole(sherd_store *s, const char *key, uint64_t hint, const char *from, sherd_error *err)
{
	SHD_AUTO(sherd_writer, sherd_writer_abort) w = NULL;
	TRY(sherd_store_write(&w, s, key, &(sherd_write_options){.head = 8, .size_hint = hint}, err));
	TRY(place_all(w, &(placing){(const uint8_t *)from, SIZE - 100, SIZE / 5, 1, false}, err));
	TRY(sherd_writer_append(w, from + SIZE - 100, 100, err));
	TRY(sherd_writer_fill(w, 2, from + 2, 3, err));
	return sherd_writer_commit(TAKE(w), err);
}

static bool stop_never(void *arg, const char *key, const sherd_stat *stat)
{
	(void)key, (void)stat, (void)arg;
	return true;
}

static int read_all(sherd_store *s, const char *key, sherd_error *err)
{
	SHD_AUTO(sherd_reader, sherd_reader_close) r = NULL;
	const void *map;
	char buf[100];
	TRY(sherd_store_read(&r, s, key, err));
	TRY(sherd_reader_at(r, 1000, buf, sizeof(buf), err));
	TRY(sherd_reader_map(&map, r, 1000, sizeof(buf), err));
	assert_memory_equal(buf, map, sizeof(buf));
	return SHERD_OK;
}

/* "old" stands there before. Every verb is used once. */
static int round_trip(sherd_store *s, sherd_error *err)
{
	sherd_stat stat;
	SHD_AUTO(sherd_lock, sherd_lock_release) lock = NULL;
	SHD_AUTO(sherd_lock, sherd_lock_release) claim = NULL;
	TRY(write_all(s, "d/e/new", &(sherd_write_options){.head = 8}, bytes[1], err));
	TRY(place_whole(s, "d/placed", SIZE, bytes[1], err));
	TRY(sherd_store_remove(s, "d/placed", err));
	TRY(place_whole(s, "d/placed", 0, bytes[1], err));
	TRY(sherd_store_remove(s, "d/placed", err));
	TRY(sherd_store_stat(&stat, s, "old", err));
	sherd_write_options over = {.mode = SHERD_WRITE_REPLACE, .head = 8, .if_identity = stat.identity};
	TRY(write_all(s, "old", &over, bytes[1], err));
	TRY(read_all(s, "old", err));
	TRY(sherd_store_list(s, "", "", stop_never, NULL, err));
	TRY(sherd_store_lock(&lock, s, "old", SHERD_LOCK_SHARED, err));
	TRY(sherd_store_create_locked(&claim, s, "claim", "me", 2, SHERD_LOCK_EXCLUSIVE, err));
	int linked = sherd_store_link(s, "claim", "claim too", err);
	if (linked != SHERD_EUNSUPPORTED)
		TRY(linked);
	TRY(sherd_store_remove(s, "claim too", err));
	TRY(sherd_store_remove(s, "claim", err));
	if (sherd_store_caps(s) & SHERD_CAP_MKDIR)
		TRY(sherd_store_mkdir(s, "d/f", err));
	if (sherd_store_caps(s) & SHERD_CAP_MKDIR)
		TRY(sherd_store_rmdir(s, "d/f", err));
	return SHERD_OK;
}

static size_t open_files(void)
{
	size_t count = 0;
	DIR *d = opendir("/proc/self/fd");
	while (readdir(d))
		count++;
	closedir(d);
	return count;
}

/* Absent or whole: 0 old bytes, 1 new bytes, -1 absent. */
static int whole(sherd_store *s, const char *key)
{
	char *data = NULL;
	size_t len = 0;
	int rc = sherd_store_get(&data, &len, s, key, SIZE, NULL);
	if (rc == SHERD_ENOTFOUND)
		return -1;
	assert_int_equal(rc, SHERD_OK);
	assert_int_equal(len, SIZE);
	int which = data[0] == bytes[1][0];
	assert_memory_equal(data, bytes[which], SIZE);
	sherd_free(data);
	return which;
}

static bool is_expected(void *arg, const char *key, const sherd_stat *stat)
{
	(void)stat, (void)arg;
	assert_true(strcmp(key, "old") == 0 || strcmp(key, "d/e/new") == 0 || strncmp(key, "claim", 5) == 0 ||
	            strcmp(key, "d/placed") == 0);
	return true;
}

typedef struct run {
	char *folder;
	fail_sys sys;
	sherd_store *store;
} run;

static void begin(run *r, bool local)
{
	*r = (run){.folder = scratch_make()};
	fail_sys_init(&r->sys);
	if (local)
		assert_ok(shd_store_open_local_sys(&r->store, r->folder, NULL, &r->sys.sys, err));
	else
		assert_ok(sherd_store_open_memory(&r->store, err));
	assert_ok(sherd_store_put(r->store, "old", SHERD_WRITE_NEW, bytes[0], SIZE, err));
}

/* After a failure: clear error, everything whole, nothing of a temporary left. */
static void end(run *r, int rc, const sherd_error *e, bool hit, size_t files)
{
	if (rc < 0) {
		assert_true(hit);
		assert_int_equal(e->code, rc);
		assert_non_null(e->reason);
		assert_true(e->message[0] != 0);
	}
	assert_int_equal(open_files(), files);
	assert_true(whole(r->store, "old") >= 0);
	assert_true(whole(r->store, "d/e/new") != 0);
	assert_true(whole(r->store, "d/placed") != 0);
	if (rc == SHERD_OK)
		assert_int_equal(whole(r->store, "old"), 1);
	assert_ok(sherd_store_list(r->store, "", "", is_expected, NULL, err));
	/* it works again */
	assert_ok(sherd_store_remove(r->store, "claim", err));
	assert_ok(sherd_store_remove(r->store, "claim too", err));
	assert_ok(sherd_store_remove(r->store, "d/e/new", err));
	assert_ok(sherd_store_remove(r->store, "d/placed", err));
	assert_ok(round_trip(r->store, err));
	sherd_store_close(r->store);
	scratch_remove(r->folder);
}

static void each_allocation(bool local)
{
	bool hit = true;
	for (long n = 1; hit; n++) {
		run r;
		sherd_error e = {0};
		begin(&r, local);
		size_t files = open_files();
		fail_malloc_at(n);
		int rc = round_trip(r.store, &e);
		hit = fail_malloc_hit();
		fail_malloc_at(0);
		if (rc < 0)
			assert_int_equal(rc, SHERD_ENOMEM);
		end(&r, rc, &e, hit, files);
	}
}

TEST(every_failed_allocation_of_the_memory_store_is_reported)
{
	each_allocation(false);
}

TEST(every_failed_allocation_of_the_local_store_is_reported)
{
	each_allocation(true);
}

static void each_operation(bool local)
{
	bool hit = true;
	long n = 1;
	for (; hit; n++) {
		run r;
		sherd_error e = {0};
		begin(&r, local);
		r.store = fail_store_over(r.store);
		size_t files = open_files();
		fail_store_at(r.store, n);
		int rc = round_trip(r.store, &e);
		hit = fail_store_hit(r.store);
		fail_store_at(r.store, 0);
		if (hit) {
			assert_int_equal(rc, SHERD_EIO);
			assert_string_equal(e.reason, "injected");
		}
		end(&r, rc, &e, hit, files);
	}
	assert_true(n > 15);
}

TEST(every_failed_operation_is_reported)
{
	each_operation(false);
	each_operation(true);
}

static void each_call(unsigned refuse, int os_errno)
{
	bool hit = true;
	for (long n = 1; hit; n++) {
		run r;
		sherd_error e = {0};
		begin(&r, true);
		r.sys.refuse = refuse;
		size_t files = open_files();
		fail_sys_at(&r.sys, n, NULL, os_errno);
		int rc = round_trip(r.store, &e);
		hit = atomic_load(&r.sys.hit);
		fail_sys_at(&r.sys, 0, NULL, 0);
		end(&r, rc, &e, hit, files);
	}
}

TEST(every_failed_system_call_leaves_whole_objects)
{
	each_call(0, EIO);
	each_call(0, ENOSPC);
}

TEST(so_it_is_on_a_poorer_file_system)
{
	each_call(FAIL_SYS_NO_TMPFILE, EIO);
	each_call(FAIL_SYS_NO_LINK, EACCES);
	each_call(FAIL_SYS_NO_TMPFILE | FAIL_SYS_NO_NOREPLACE | FAIL_SYS_NO_OPENAT2, EIO);
}

TEST(a_full_disk_is_named)
{
	run r;
	begin(&r, true);
	sherd_error e = {0};
	fail_sys_at(&r.sys, 1, "pwrite", ENOSPC);
	assert_int_equal(sherd_store_put(r.store, "x", SHERD_WRITE_NEW, bytes[1], SIZE, &e), SHERD_EIO);
	assert_string_equal(e.reason, "no-space");
	assert_int_equal(e.os_errno, ENOSPC);
	assert_string_equal(e.object, "x");
	fail_sys_at(&r.sys, 1, "fsync", EDQUOT);
	assert_refused(SHERD_EIO, "no-space", sherd_store_put(r.store, "x", SHERD_WRITE_NEW, "a", 1, err));
	fail_sys_at(&r.sys, 2, "fsync", EIO);
	assert_refused(SHERD_EIO, "io", sherd_store_put(r.store, "x", SHERD_WRITE_NEW, "a", 1, err));
	assert_int_equal(whole(r.store, "x"), -1);
	fail_sys_at(&r.sys, 1, "pread", EIO);
	char *data = NULL;
	size_t len = 0;
	assert_fails(SHERD_EIO, 0, sherd_store_get(&data, &len, r.store, "old", SIZE, err));
	sherd_store_close(r.store);
	scratch_remove(r.folder);
}

static int fill_bytes(void **state)
{
	(void)state;
	for (size_t i = 0; i < SIZE; i++) {
		bytes[0][i] = (char)(i % 97);
		bytes[1][i] = (char)(100 + i % 89);
	}
	return 0;
}

static char *named_root;

/* Opens something in folders that are not there, and writes nothing: they are gone whatever happened. */
static int open_by_name(sherd_error *err)
{
	char path[PATH_MAX];
	sherd_store *s = NULL;
	char *key = NULL;
	(void)snprintf(path, sizeof(path), "file://%s/u/v/new", named_root);
	int rc = sherd_store_open(&s, &key, path, &(sherd_store_options){.create = true}, err);
	if (rc == SHERD_OK) {
		sherd_free(key);
		sherd_store_close(s);
	} else {
		assert_null(s);
		assert_null(key);
	}
	(void)snprintf(path, sizeof(path), "%s/u", named_root);
	assert_int_equal(access(path, F_OK), -1);
	return rc;
}

static int open_in_memory(sherd_error *err)
{
	sherd_store *s = NULL;
	char *key = NULL;
	TRY(sherd_store_open(&s, &key, "mem://a/b", NULL, err));
	sherd_free(key);
	sherd_store_close(s);
	return SHERD_OK;
}

TEST(every_failed_allocation_of_opening_by_name_is_reported_and_leaves_no_folder)
{
	named_root = scratch_make();
	assert_true(fail_malloc_each(open_by_name) >= 4);
	assert_true(fail_malloc_each(open_in_memory) >= 2);
	scratch_remove(named_root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_failed_allocation_of_the_memory_store_is_reported),
		cmocka_unit_test(every_failed_allocation_of_the_local_store_is_reported),
		cmocka_unit_test(every_failed_operation_is_reported),
		cmocka_unit_test(every_failed_system_call_leaves_whole_objects),
		cmocka_unit_test(so_it_is_on_a_poorer_file_system),
		cmocka_unit_test(a_full_disk_is_named),
		cmocka_unit_test(every_failed_allocation_of_opening_by_name_is_reported_and_leaves_no_folder),
	};
	return cmocka_run_group_tests_name("fault/store", tests, fill_bytes, NULL);
}
