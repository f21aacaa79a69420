/* Objects read past the cache, several pieces under way. */
#include "support/scratch.h"
#include "support/fail_sys.h"
#include "support/test.h"

#include <sherd/store.h>

#include "base/error.h"
#include "base/rng.h"
#include "store/local/local.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

SHD_AUTO_DEFINE(sherd_reader, sherd_reader_close)
SHD_AUTO_DEFINE(sherd_queue, sherd_queue_close)
SHD_AUTO_DEFINE(sherd_store, sherd_store_close)
#define READER SHD_AUTO(sherd_reader, sherd_reader_close)
#define QUEUE SHD_AUTO(sherd_queue, sherd_queue_close)
#define STORE SHD_AUTO(sherd_store, sherd_store_close)

enum { SIZE = 300000 };

static uint8_t bytes[SIZE];
static char *folder;

static int begin(void **state)
{
	(void)state;
	for (size_t i = 0; i < SIZE; i++)
		bytes[i] = (uint8_t)shd_splitmix64(i);
	folder = scratch_make();
	return 0;
}

static int end(void **state)
{
	(void)state;
	scratch_remove(folder);
	return 0;
}

static sherd_store *open_with(const shd_sys *sys)
{
	sherd_store *store = NULL;
	assert_ok(shd_store_open_local_sys(&store, folder, NULL, sys, err));
	return store;
}

/* All bytes from there on, in pieces that are not empty; as many asked for at a time as it takes. */
static int read_all(sherd_store *store, const sherd_reader *reader, uint64_t offset, uint64_t ahead, sherd_error *err)
{
	QUEUE q = NULL;
	const void *data;
	size_t len, taken;
	int rc;
	uint64_t at = offset, asked = offset, size = sherd_reader_size(reader);
	TRY(sherd_store_queue(&q, store, ahead, err));
	do {
		do {
			TRY(sherd_queue_ask(&taken, q, reader, asked, (size_t)(size - asked), err));
			asked += taken;
		} while (taken);
		rc = sherd_queue_next(&data, &len, q, err);
		if (rc > 0) {
			assert_true(len > 0 && len <= size - at);
			assert_memory_equal(data, bytes + at, len);
			at += len;
		}
	} while (rc > 0);
	TRY(rc);
	assert_int_equal(at, size);
	return sherd_queue_next(&data, &len, q, err);
}

static void read_sizes(sherd_store *store)
{
	static const size_t sizes[] = {0, 1, 4095, 4096, 4097, 16384, SIZE};
	static const uint64_t aheads[] = {0, 1, 4096, 70000, 8 << 20, UINT64_MAX};
	for (size_t i = 0; i < COUNT_OF(sizes); i++) {
		READER r = NULL;
		assert_ok(sherd_store_put(store, "a", SHERD_WRITE_REPLACE, bytes, sizes[i], err));
		assert_ok(sherd_store_read(&r, store, "a", err));
		const uint64_t offsets[] = {0, 1, 32, 4096, 5000, sizes[i] / 2, sizes[i]};
		for (size_t o = 0; o < COUNT_OF(offsets); o++)
			for (size_t a = 0; a < COUNT_OF(aheads); a++)
				if (offsets[o] <= sizes[i])
					assert_ok(read_all(store, r, offsets[o], aheads[a], err));
		QUEUE q = NULL;
		size_t taken;
		assert_ok(sherd_store_queue(&q, store, 0, err));
		assert_refused(SHERD_ECORRUPT, "truncated", sherd_queue_ask(&taken, q, r, sizes[i], 1, err));
	}
}

TEST(a_queue_gives_every_byte_in_order)
{
	STORE store = open_with(&shd_sys_linux);
	read_sizes(store);
}

TEST(so_it_does_without_a_queue_and_with_calls_that_stutter)
{
	fail_sys sys;
	fail_sys_init(&sys);
	STORE store = open_with(&sys.sys);
	read_sizes(store);
	sys.stutter = true;
	read_sizes(store);
}

/* A table whose queue refuses, or fails, some of what is asked of it. */
static shd_sys odd;
static unsigned odd_turn;

static int odd_open(const shd_sys *sys, unsigned depth, unsigned long *queue)
{
	(void)sys;
	return shd_sys_linux.queue_open(&shd_sys_linux, depth, queue);
}

static int odd_read(const shd_sys *sys, unsigned long queue, uint64_t tag, int fd, void *buf, size_t len, off_t offset)
{
	(void)sys;
	if (odd_turn++ % 3 == 0) {
		errno = EAGAIN;
		return -1;
	}
	return shd_sys_linux.queue_read(&shd_sys_linux, queue, tag, fd, buf, len, offset);
}

static int odd_wait(const shd_sys *sys, unsigned long queue, uint64_t *tag, int64_t *result)
{
	(void)sys;
	int rc = shd_sys_linux.queue_wait(&shd_sys_linux, queue, tag, result);
	if (odd_turn++ % 4 == 0)
		*result = -EINVAL;
	else if (odd_turn % 4 == 1 && *result > 100)
		*result = 100;
	return rc;
}

TEST(what_does_not_come_directly_comes_the_usual_way)
{
	odd = shd_sys_linux;
	odd.queue_open = odd_open;
	odd.queue_read = odd_read;
	odd.queue_wait = odd_wait;
	STORE store = open_with(&odd);
	read_sizes(store);
}

TEST(a_queue_may_be_left_in_the_middle)
{
	STORE store = open_with(&shd_sys_linux);
	READER r = NULL;
	assert_ok(sherd_store_put(store, "a", SHERD_WRITE_REPLACE, bytes, SIZE, err));
	assert_ok(sherd_store_read(&r, store, "a", err));
	for (int steps = 0; steps < 4; steps++) {
		QUEUE q = NULL;
		const void *data;
		size_t len, taken;
		assert_ok(sherd_store_queue(&q, store, 1 << 20, err));
		for (int i = 0; i < 3; i++) {
			assert_ok(sherd_queue_ask(&taken, q, r, (uint64_t)i * 90000, 90000, err));
			assert_true(taken > 0);
		}
		for (int i = 0; i < steps; i++)
			assert_int_equal(sherd_queue_next(&data, &len, q, NULL), i < 3);
	}
}

TEST(pieces_of_several_objects_come_in_the_order_in_which_they_were_asked_for)
{
	enum { OBJECTS = 3, TURNS = 500 };
	STORE store = open_with(&shd_sys_linux);
	sherd_reader *readers[OBJECTS] = {NULL};
	QUEUE q = NULL;
	struct {
		uint64_t at;
		size_t len;
	} asked[TURNS];
	size_t count = 0, came = 0, len;
	const void *data;
	for (size_t i = 0; i < OBJECTS; i++) {
		char key[2] = {(char)('a' + i), 0};
		assert_ok(sherd_store_put(store, key, SHERD_WRITE_REPLACE, bytes + 1000 * i, SIZE - 1000 * i, err));
		assert_ok(sherd_store_read(&readers[i], store, key, err));
	}
	assert_ok(sherd_store_queue(&q, store, 64 << 10, err));
	while (came < TURNS) {
		size_t taken = count < TURNS;
		while (taken && count < TURNS) {
			uint64_t which = shd_splitmix64(count) % OBJECTS, at = shd_splitmix64(count + 7) % 250000;
			assert_ok(sherd_queue_ask(&taken, q, readers[which], at, 1 + shd_splitmix64(count + 9) % 20000,
			                          err));
			asked[count].at = 1000 * which + at;
			asked[count].len = taken;
			count += taken > 0;
		}
		assert_int_equal(sherd_queue_next(&data, &len, q, NULL), 1);
		assert_int_equal(len, asked[came].len);
		assert_memory_equal(data, bytes + asked[came].at, len);
		came++;
	}
	for (int i = 0; i < OBJECTS; i++)
		sherd_reader_close(readers[i]);
}

/* Whether what was dropped is gone depends on the file system; what was just written or read is there on all. */
TEST(what_was_just_read_is_in_memory)
{
	STORE store = open_with(&shd_sys_linux);
	READER r = NULL;
	static uint8_t back[SIZE];
	assert_ok(sherd_store_put(store, "a", SHERD_WRITE_REPLACE, bytes, SIZE, err));
	assert_ok(sherd_store_read(&r, store, "a", err));
	assert_ok(sherd_reader_at(r, 0, back, SIZE, err));
	assert_true(sherd_reader_cached(r, 0, SIZE));
	assert_true(sherd_reader_cached(r, 4095, 2));
	assert_true(sherd_reader_cached(r, SIZE - 1, UINT64_MAX));
	assert_true(sherd_reader_cached(r, SIZE, 1));
}

TEST(every_system_call_of_a_queue_may_fail)
{
	fail_sys sys;
	fail_sys_init(&sys);
	STORE store = open_with(&sys.sys);
	assert_ok(sherd_store_put(store, "a", SHERD_WRITE_REPLACE, bytes, SIZE, err));
	long nth = 0;
	do {
		READER r = NULL;
		sherd_error e = {0};
		assert_ok(sherd_store_read(&r, store, "a", err));
		fail_sys_at(&sys, ++nth, NULL, EIO);
		int rc = read_all(store, r, 0, 40000, &e);
		/* A failed direct read is tried the usual way. */
		assert_true(rc == SHERD_OK || rc == SHERD_EUNSUPPORTED);
		assert_int_equal(e.code, rc);
	} while (sys.hit);
	assert_true(nth > 10);
}

TEST(a_file_that_became_shorter_is_truncated)
{
	STORE store = open_with(&shd_sys_linux);
	READER r = NULL;
	char path[4096];
	assert_ok(sherd_store_put(store, "a", SHERD_WRITE_REPLACE, bytes, SIZE, err));
	assert_ok(sherd_store_read(&r, store, "a", err));
	(void)snprintf(path, sizeof(path), "%s/a", folder);
	assert_int_equal(truncate(path, 100001), 0);
	assert_fails(SHERD_ECORRUPT, 100001, read_all(store, r, 0, 1 << 20, err));
}

TEST(a_store_without_queues_says_so_and_its_readers_are_refused)
{
	STORE store = NULL;
	STORE local = open_with(&shd_sys_linux);
	READER r = NULL;
	QUEUE q = NULL;
	size_t taken;
	assert_ok(sherd_store_open_memory(&store, err));
	assert_ok(sherd_store_put(store, "a", SHERD_WRITE_NEW, "x", 1, err));
	assert_ok(sherd_store_read(&r, store, "a", err));
	assert_refused(SHERD_EUNSUPPORTED, "no-direct", sherd_store_queue(&q, store, 0, err));
	assert_ok(sherd_store_queue(&q, local, 0, err));
	assert_refused(SHERD_EUNSUPPORTED, "no-direct", sherd_queue_ask(&taken, q, r, 0, 1, err));
	assert_true(sherd_reader_cached(r, 0, 1));
	sherd_queue_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_queue_gives_every_byte_in_order),
		cmocka_unit_test(so_it_does_without_a_queue_and_with_calls_that_stutter),
		cmocka_unit_test(what_does_not_come_directly_comes_the_usual_way),
		cmocka_unit_test(a_queue_may_be_left_in_the_middle),
		cmocka_unit_test(pieces_of_several_objects_come_in_the_order_in_which_they_were_asked_for),
		cmocka_unit_test(what_was_just_read_is_in_memory),
		cmocka_unit_test(every_system_call_of_a_queue_may_fail),
		cmocka_unit_test(a_file_that_became_shorter_is_truncated),
		cmocka_unit_test(a_store_without_queues_says_so_and_its_readers_are_refused),
	};
	return cmocka_run_group_tests_name("queue", tests, begin, end);
}
