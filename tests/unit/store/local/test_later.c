/* Large objects, whose writes go on while the caller does, over tables whose queues misbehave. */
#include "support/test.h"

#include "base/large.h"
#include "store/local/local.h"
#include "support/place_all.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 4 << 20, PIECES = 10, TAIL = 12345, THREADS = 8 };

typedef enum fault { NONE, SHORT, REFUSED, BROKEN, NO_QUEUE, NOT_BEGUN, NO_ROOM, NEVER_BEGUN } fault;

/* The real calls, but for what the fault says. */
typedef struct faulty_sys {
	shd_sys sys;
	fault fault;
	_Atomic int queued, allocated, plain;
	_Atomic bool waited;
} faulty_sys;

static int queue_open(const shd_sys *sys, unsigned depth, unsigned long *queue)
{
	const faulty_sys *f = (const faulty_sys *)sys;
	return f->fault == NO_QUEUE ? -1 : shd_sys_linux.queue_open(sys, depth, queue);
}

static int queue_write(const shd_sys *sys, unsigned long queue, uint64_t tag, int fd, const void *buf, size_t len,
                       off_t offset)
{
	faulty_sys *f = (faulty_sys *)(uintptr_t)sys;
	f->queued++;
	if (f->fault == NEVER_BEGUN || (f->fault == NOT_BEGUN && f->queued > 3)) {
		errno = EAGAIN;
		return -1;
	}
	return shd_sys_linux.queue_write(sys, queue, tag, fd, buf, len, offset);
}

static int queue_wait(const shd_sys *sys, unsigned long queue, uint64_t *tag, int64_t *result)
{
	faulty_sys *f = (faulty_sys *)(uintptr_t)sys;
	if (f->fault == NEVER_BEGUN) { /* the system would wait for ever */
		f->waited = true;
		errno = EDEADLK;
		return -1;
	}
	int rc = shd_sys_linux.queue_wait(sys, queue, tag, result);
	if (f->fault == SHORT)
		*result = 8192;
	else if (f->fault == REFUSED)
		*result = -EINVAL;
	else if (f->fault == BROKEN)
		*result = -EIO;
	return rc;
}

static int allocate(const shd_sys *sys, int fd, off_t len)
{
	faulty_sys *f = (faulty_sys *)(uintptr_t)sys;
	if (f->fault == NO_ROOM) {
		errno = ENOSPC;
		return -1;
	}
	f->allocated++;
	return shd_sys_linux.allocate(sys, fd, len);
}

/* Comes back when all threads but one write like this: that one asked for room meanwhile. */
static ssize_t pwrite_slowly(const shd_sys *sys, int fd, const void *buf, size_t len, off_t offset)
{
	faulty_sys *f = (faulty_sys *)(uintptr_t)sys;
	f->plain++;
	while (f->plain < THREADS - 1 && !f->waited)
		(void)usleep(1000);
	return shd_sys_linux.pwrite(sys, fd, buf, len, offset);
}

static void init(faulty_sys *f, fault what)
{
	*f = (faulty_sys){.sys = shd_sys_linux, .fault = what};
	f->sys.queue_open = queue_open;
	f->sys.queue_write = queue_write;
	f->sys.queue_wait = queue_wait;
	f->sys.allocate = allocate;
	if (what == NEVER_BEGUN)
		f->sys.pwrite = pwrite_slowly;
}

/* By as many threads; none: by appends. */
static int write_all(sherd_store *store, uint8_t *bytes, uint64_t hint, unsigned threads, sherd_error *err)
{
	/* All threads write whole quarters: nobody has a share of a part that another one waits for. */
	const size_t unit = threads == THREADS ? PIECE / 4 : 1000003;
	const placing placed = {bytes, (size_t)PIECES * PIECE, unit, threads, false};
	sherd_writer *w;
	TRY(sherd_store_write(&w, store, "o", &(sherd_write_options){.head = 100, .size_hint = hint}, err));
	int rc = SHERD_OK;
	if (threads)
		rc = place_all(w, &placed, err);
	for (size_t i = 0; i < PIECES && rc == SHERD_OK && !threads; i++)
		rc = sherd_writer_append(w, bytes + i * PIECE, PIECE, err);
	if (rc == SHERD_OK)
		rc = sherd_writer_append(w, bytes + (size_t)PIECES * PIECE, TAIL, err);
	if (rc == SHERD_OK)
		rc = sherd_writer_fill(w, 7, bytes + 7, 50, err);
	if (rc == SHERD_OK)
		return sherd_writer_commit(w, err);
	sherd_writer_abort(w);
	return rc;
}

/* The object is there whole, or (BROKEN) not at all. */
static void check_fault(fault what, uint64_t hint, unsigned threads)
{
	sherd_error failure;
	faulty_sys f;
	sherd_store *store;
	char folder[] = "later.XXXXXX", *data;
	size_t len, size = (size_t)PIECES * PIECE + TAIL;
	uint8_t *bytes = shd_large_alloc(size);
	assert_non_null(bytes);
	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)(i * 2654435761u >> 11);
	init(&f, what);
	assert_non_null(mkdtemp(folder));
	assert_ok(shd_store_open_local_sys(&store, folder, NULL, &f.sys, err));
	int rc = write_all(store, bytes, hint, threads, &failure);
	if (what == BROKEN && f.queued) {
		assert_int_equal(rc, SHERD_EIO);
		assert_int_equal(sherd_store_get(&data, &len, store, "o", size, NULL), SHERD_ENOTFOUND);
	} else {
		assert_int_equal(rc, SHERD_OK);
		assert_ok(sherd_store_get(&data, &len, store, "o", 2 * size, err));
		assert_int_equal(len, size);
		assert_memory_equal(data, bytes, size);
		sherd_free(data);
		assert_ok(sherd_store_remove(store, "o", err));
	}
	if (what == NONE && f.allocated)
		assert_true(f.queued > 0);
	sherd_store_close(store);
	assert_int_equal(rmdir(folder), 0);
	free(bytes);
}

TEST(an_object_arrives_whole_whatever_its_queue_does)
{
	for (fault f = NONE; f <= NO_ROOM; f++)
		for (unsigned threads = 0; threads <= 3; threads += 3)
			check_fault(f, (uint64_t)PIECES * PIECE + TAIL, threads);
}

TEST(nobody_waits_for_what_could_not_be_begun)
{
	check_fault(NEVER_BEGUN, (uint64_t)PIECES * PIECE + TAIL, THREADS);
}

TEST(a_hint_need_not_be_right)
{
	for (unsigned threads = 0; threads <= 2; threads += 2) {
		check_fault(NONE, 0, threads);
		check_fault(NONE, 3 * PIECE, threads);
		check_fault(NONE, (uint64_t)100 * PIECE, threads);
	}
}

TEST(a_writer_may_be_dropped_with_appends_under_way)
{
	sherd_store *store;
	char folder[] = "later.XXXXXX";
	uint8_t *bytes = shd_large_alloc(PIECE);
	assert_non_null(bytes);
	memset(bytes, 3, PIECE);
	assert_non_null(mkdtemp(folder));
	assert_ok(sherd_store_open_local(&store, folder, NULL, err));
	for (int n = 0; n < 12; n++) {
		sherd_writer *w;
		assert_ok(sherd_store_write(&w, store, "o", &(sherd_write_options){.size_hint = 12 * (uint64_t)PIECE},
		                            err));
		for (int i = 0; i < n; i++)
			assert_ok(sherd_writer_append(w, bytes, PIECE, err));
		sherd_writer_abort(w);
	}
	sherd_store_close(store);
	assert_int_equal(rmdir(folder), 0);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_object_arrives_whole_whatever_its_queue_does),
		cmocka_unit_test(nobody_waits_for_what_could_not_be_begun),
		cmocka_unit_test(a_hint_need_not_be_right),
		cmocka_unit_test(a_writer_may_be_dropped_with_appends_under_way),
	};
	return cmocka_run_group_tests_name("later", tests, NULL, NULL);
}
