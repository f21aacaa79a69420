/* Objects read in order and past the cache. */
#include "support/scratch.h"
#include "support/fail_sys.h"
#include "support/test.h"

#include <sherd/store.h>

#include "base/error.h"
#include "base/rng.h"
#include "store/local.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

SHERD_AUTO_DEFINE(sherd_reader, sherd_reader_close)
SHERD_AUTO_DEFINE(sherd_scan, sherd_scan_close)
SHERD_AUTO_DEFINE(sherd_store, sherd_store_close)
#define READER SHERD_AUTO(sherd_reader, sherd_reader_close)
#define SCAN SHERD_AUTO(sherd_scan, sherd_scan_close)
#define STORE SHERD_AUTO(sherd_store, sherd_store_close)

enum { SIZE = 300000 };

static uint8_t bytes[SIZE];
static char *folder;

static int begin(void **state)
{
	(void)state;
	for (size_t i = 0; i < SIZE; i++)
		bytes[i] = (uint8_t)sherd_splitmix64(i);
	folder = scratch_make();
	return 0;
}

static int end(void **state)
{
	(void)state;
	scratch_remove(folder);
	return 0;
}

static sherd_store *open_with(const sherd_sys *sys)
{
	sherd_store *store = NULL;
	assert_ok(sherd_store_open_local_sys(&store, folder, NULL, sys, err));
	return store;
}

/* All bytes from there on, in pieces that are not empty. */
static int scan_all(const sherd_reader *reader, uint64_t offset, uint64_t ahead, sherd_error *err)
{
	SCAN s = NULL;
	const void *data;
	size_t len;
	int rc;
	uint64_t at = offset;
	TRY(sherd_reader_scan(reader, offset, ahead, &s, err));
	while ((rc = sherd_scan_next(s, &data, &len, err)) > 0) {
		assert_true(len > 0 && len <= sherd_reader_size(reader) - at);
		assert_memory_equal(data, bytes + at, len);
		at += len;
	}
	TRY(rc);
	assert_int_equal(at, sherd_reader_size(reader));
	return sherd_scan_next(s, &data, &len, err);
}

static void scan_sizes(sherd_store *store)
{
	static const size_t sizes[] = {0, 1, 4095, 4096, 4097, 16384, SIZE};
	static const uint64_t aheads[] = {0, 1, 4096, 70000, 8 << 20, UINT64_MAX};
	for (size_t i = 0; i < COUNT_OF(sizes); i++) {
		READER r = NULL;
		assert_ok(sherd_store_put(store, "a", SHERD_WRITE_REPLACE, bytes, sizes[i], err));
		assert_ok(sherd_store_read(store, "a", &r, err));
		const uint64_t offsets[] = {0, 1, 32, 4096, 5000, sizes[i] / 2, sizes[i]};
		for (size_t o = 0; o < COUNT_OF(offsets); o++)
			for (size_t a = 0; a < COUNT_OF(aheads); a++)
				if (offsets[o] <= sizes[i])
					assert_ok(scan_all(r, offsets[o], aheads[a], err));
		sherd_scan *none = NULL;
		assert_refused(SHERD_ECORRUPT, "truncated", sherd_reader_scan(r, sizes[i] + 1, 0, &none, err));
	}
}

TEST(a_scan_gives_every_byte_in_order)
{
	STORE store = open_with(&sherd_sys_linux);
	scan_sizes(store);
}

TEST(so_it_does_without_a_queue_and_with_calls_that_stutter)
{
	fail_sys sys;
	fail_sys_init(&sys);
	STORE store = open_with(&sys.sys);
	scan_sizes(store);
	sys.stutter = true;
	scan_sizes(store);
}

/* A table whose queue refuses, or fails, some of what is asked of it. */
static sherd_sys odd;
static unsigned odd_turn;

static int odd_open(const sherd_sys *sys, unsigned depth, unsigned long *queue)
{
	(void)sys;
	return sherd_sys_linux.queue_open(&sherd_sys_linux, depth, queue);
}

static int odd_read(const sherd_sys *sys, unsigned long queue, uint64_t tag, int fd, void *buf, size_t len,
                    off_t offset)
{
	(void)sys;
	if (odd_turn++ % 3 == 0) {
		errno = EAGAIN;
		return -1;
	}
	return sherd_sys_linux.queue_read(&sherd_sys_linux, queue, tag, fd, buf, len, offset);
}

static int odd_wait(const sherd_sys *sys, unsigned long queue, uint64_t *tag, int64_t *result)
{
	(void)sys;
	int rc = sherd_sys_linux.queue_wait(&sherd_sys_linux, queue, tag, result);
	if (odd_turn++ % 4 == 0)
		*result = -EINVAL;
	else if (odd_turn % 4 == 1 && *result > 100)
		*result = 100;
	return rc;
}

TEST(what_does_not_come_directly_comes_the_usual_way)
{
	odd = sherd_sys_linux;
	odd.queue_open = odd_open;
	odd.queue_read = odd_read;
	odd.queue_wait = odd_wait;
	STORE store = open_with(&odd);
	scan_sizes(store);
}

TEST(a_scan_may_be_left_in_the_middle)
{
	STORE store = open_with(&sherd_sys_linux);
	READER r = NULL;
	assert_ok(sherd_store_put(store, "a", SHERD_WRITE_REPLACE, bytes, SIZE, err));
	assert_ok(sherd_store_read(store, "a", &r, err));
	for (int steps = 0; steps < 4; steps++) {
		SCAN s = NULL;
		const void *data;
		size_t len;
		assert_ok(sherd_reader_scan(r, 0, 1 << 20, &s, err));
		for (int i = 0; i < steps; i++)
			assert_int_equal(sherd_scan_next(s, &data, &len, NULL), i * (256 << 10) < SIZE);
	}
}

TEST(every_system_call_of_a_scan_may_fail)
{
	fail_sys sys;
	fail_sys_init(&sys);
	STORE store = open_with(&sys.sys);
	READER r = NULL;
	assert_ok(sherd_store_put(store, "a", SHERD_WRITE_REPLACE, bytes, SIZE, err));
	assert_ok(sherd_store_read(store, "a", &r, err));
	long nth = 0;
	do {
		sherd_error e = {0};
		fail_sys_at(&sys, ++nth, NULL, EIO);
		int rc = scan_all(r, 0, 40000, &e);
		/* A failed direct read is tried the usual way. */
		assert_true(rc == SHERD_OK || rc == SHERD_EUNSUPPORTED);
		assert_int_equal(e.code, rc);
	} while (sys.hit);
	assert_true(nth > 10);
}

TEST(a_file_that_became_shorter_is_truncated)
{
	STORE store = open_with(&sherd_sys_linux);
	READER r = NULL;
	char path[4096];
	assert_ok(sherd_store_put(store, "a", SHERD_WRITE_REPLACE, bytes, SIZE, err));
	assert_ok(sherd_store_read(store, "a", &r, err));
	(void)snprintf(path, sizeof(path), "%s/a", folder);
	assert_int_equal(truncate(path, 100001), 0);
	assert_fails(SHERD_ECORRUPT, 100001, scan_all(r, 0, 1 << 20, err));
}

TEST(a_store_without_scans_says_so)
{
	STORE store = NULL;
	READER r = NULL;
	sherd_scan *s = NULL;
	assert_ok(sherd_store_open_memory(&store, err));
	assert_ok(sherd_store_put(store, "a", SHERD_WRITE_NEW, "x", 1, err));
	assert_ok(sherd_store_read(store, "a", &r, err));
	assert_refused(SHERD_EUNSUPPORTED, "no-direct", sherd_reader_scan(r, 0, 0, &s, err));
	sherd_scan_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_scan_gives_every_byte_in_order),
		cmocka_unit_test(so_it_does_without_a_queue_and_with_calls_that_stutter),
		cmocka_unit_test(what_does_not_come_directly_comes_the_usual_way),
		cmocka_unit_test(a_scan_may_be_left_in_the_middle),
		cmocka_unit_test(every_system_call_of_a_scan_may_fail),
		cmocka_unit_test(a_file_that_became_shorter_is_truncated),
		cmocka_unit_test(a_store_without_scans_says_so),
	};
	return cmocka_run_group_tests_name("scan", tests, begin, end);
}
