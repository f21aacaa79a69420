#include "support/test.h"

#include <sherd/store.h>

#include "store/local/local.h"
#include "support/fail_sys.h"
#include "support/scratch.h"

#include <fcntl.h>
#include <stdlib.h>

enum { PIECE = 4 << 20, PIECES = 3, TAIL = 5000 };

/* A table that counts and may refuse what goes past the page cache; all else is fail_sys. */
typedef struct direct_sys {
	fail_sys fail;
	int opened, refuse_open;
} direct_sys;

static int (*open_below)(const shd_sys *sys, int dir, const char *path, int flags, mode_t mode, uint64_t resolve);

static int open_counted(const shd_sys *sys, int dir, const char *path, int flags, mode_t mode, uint64_t resolve)
{
	direct_sys *d = (direct_sys *)(uintptr_t)sys;
	if (flags & O_DIRECT) {
		if (d->refuse_open) {
			errno = EINVAL;
			return -1;
		}
		d->opened++;
	}
	return open_below(sys, dir, path, flags, mode, resolve);
}

typedef struct fixture {
	char *folder;
	direct_sys sys;
	sherd_store *store;
	uint8_t *bytes;
} fixture;

static int begin(void **state)
{
	fixture *f = calloc(1, sizeof(*f));
	f->folder = scratch_make();
	fail_sys_init(&f->sys.fail);
	open_below = f->sys.fail.sys.open;
	f->sys.fail.sys.open = open_counted;
	assert_ok(shd_store_open_local_sys(&f->store, f->folder, NULL, &f->sys.fail.sys, err));
	f->bytes = aligned_alloc(4096, PIECE);
	for (size_t i = 0; i < PIECE; i++)
		f->bytes[i] = (uint8_t)(i * 2654435761u >> 11);
	*state = f;
	return 0;
}

static int end(void **state)
{
	fixture *f = *state;
	sherd_store_close(f->store);
	scratch_remove(f->folder);
	free(f->bytes);
	free(f);
	return 0;
}

static int write_object_of(fixture *f, size_t first, uint64_t hint, sherd_error *err)
{
	sherd_writer *w;
	int rc = SHERD_OK;
	TRY(sherd_store_write(&w, f->store, "o",
	                      &(sherd_write_options){.mode = SHERD_WRITE_REPLACE, .head = 100, .size_hint = hint},
	                      err));
	if (first)
		rc = sherd_writer_append(w, f->bytes, first, err);
	for (int i = 0; rc == SHERD_OK && i < PIECES; i++)
		rc = sherd_writer_append(w, f->bytes, PIECE, err);
	if (rc == SHERD_OK)
		rc = sherd_writer_append(w, f->bytes, TAIL, err);
	if (rc == SHERD_OK)
		rc = sherd_writer_fill(w, 3, "head", 4, err);
	if (rc == SHERD_OK)
		return sherd_writer_commit(w, err);
	sherd_writer_abort(w);
	return rc;
}

static int write_object(fixture *f, size_t first, sherd_error *err)
{
	return write_object_of(f, first, first + (uint64_t)PIECES * PIECE + TAIL, err);
}

static void check(fixture *f, size_t first)
{
	char *data;
	size_t len, at = first;
	assert_ok(sherd_store_get(&data, &len, f->store, "o", 1u << 30, err));
	assert_int_equal(len, first + PIECES * PIECE + TAIL);
	assert_memory_equal(data + 3, "head", 4);
	memcpy(data + 3, f->bytes + 3, 4);
	assert_memory_equal(data, f->bytes, first);
	for (int i = 0; i < PIECES; i++, at += PIECE)
		assert_memory_equal(data + at, f->bytes, PIECE);
	assert_memory_equal(data + at, f->bytes, TAIL);
	sherd_free(data);
}

TEST(large_objects_go_past_the_cache_and_all_bytes_arrive)
{
	fixture *f = *state;
	assert_ok(write_object(f, 0, err));
	assert_int_equal(f->sys.opened, 1);
	check(f, 0);
	assert_ok(write_object(f, 88, err));
	assert_int_equal(f->sys.opened, 2);
	check(f, 88);
}

TEST(objects_of_unknown_size_go_through_the_cache)
{
	fixture *f = *state;
	assert_ok(write_object_of(f, 88, 0, err));
	assert_int_equal(f->sys.opened, 0);
	check(f, 88);
}

TEST(where_it_is_refused_the_cache_is_used)
{
	fixture *f = *state;
	f->sys.refuse_open = 1;
	assert_ok(write_object(f, 0, err));
	check(f, 0);
	/* Writes of a few bytes are not whole pages. */
	f->sys.refuse_open = 0;
	f->sys.fail.stutter = true;
	assert_ok(write_object(f, 0, err));
	f->sys.fail.stutter = false;
	check(f, 0);
	fail_sys_at(&f->sys.fail, 2, "pwrite", EINVAL);
	assert_ok(write_object(f, 0, err));
	check(f, 0);
}

TEST(a_disk_that_fails_is_reported)
{
	fixture *f = *state;
	for (long nth = 1; nth <= PIECES + 2; nth++) {
		fail_sys_at(&f->sys.fail, nth, "pwrite", ENOSPC);
		assert_refused(SHERD_EIO, "no-space", write_object(f, 0, err));
	}
	sherd_stat stat;
	assert_refused(SHERD_ENOTFOUND, "not-found", sherd_store_stat(&stat, f->store, "o", err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(large_objects_go_past_the_cache_and_all_bytes_arrive, begin, end),
		cmocka_unit_test_setup_teardown(objects_of_unknown_size_go_through_the_cache, begin, end),
		cmocka_unit_test_setup_teardown(where_it_is_refused_the_cache_is_used, begin, end),
		cmocka_unit_test_setup_teardown(a_disk_that_fails_is_reported, begin, end),
	};
	return cmocka_run_group_tests_name("local direct", tests, NULL, NULL);
}
