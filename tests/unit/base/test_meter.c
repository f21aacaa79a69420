#include "base/meter.h"

#include "support/test.h"

typedef struct watcher {
	uint64_t last, total, stop_at;
	unsigned calls, inside;
	bool two_at_once;
} watcher;

static bool watch(void *arg, uint64_t done, uint64_t total)
{
	watcher *w = arg;
	w->two_at_once = w->two_at_once || w->inside;
	w->inside = 1;
	w->calls++;
	w->last = done > w->last ? done : w->last;
	w->total = total;
	w->inside = 0;
	return !w->stop_at || done < w->stop_at;
}

TEST(bytes_add_up_and_are_reported)
{
	watcher w = {0};
	sherd_progress p = {watch, &w};
	shd_meter m;
	shd_meter_init(&m, &p, 1000);
	for (int i = 0; i < 10; i++)
		assert_ok(shd_meter_add(&m, 100, err));
	shd_meter_done(&m);
	assert_int_equal(w.calls, 10);
	assert_int_equal(w.last, 1000);
	assert_int_equal(w.total, 1000);
}

TEST(nobody_needs_to_watch)
{
	sherd_progress silent = {0};
	const sherd_progress *none[] = {NULL, &silent};
	for (int i = 0; i < 2; i++) {
		shd_meter m;
		shd_meter_init(&m, none[i], 0);
		assert_ok(shd_meter_add(&m, 1, err));
		shd_meter_done(&m);
	}
}

TEST(once_told_to_stop_it_stays_cancelled_and_asks_no_more)
{
	watcher w = {.stop_at = 300};
	sherd_progress p = {watch, &w};
	shd_meter m;
	shd_meter_init(&m, &p, 0);
	assert_ok(shd_meter_add(&m, 200, err));
	assert_refused(SHERD_ECANCELLED, "cancelled", shd_meter_add(&m, 100, err));
	assert_refused(SHERD_ECANCELLED, "cancelled", shd_meter_add(&m, 0, err));
	assert_int_equal(w.calls, 2);
	shd_meter_done(&m);
}

static void *add_many(void *arg)
{
	for (int i = 0; i < 5000; i++)
		(void)shd_meter_add(arg, 3, NULL);
	return NULL;
}

TEST(threads_lose_no_bytes_and_never_report_at_once)
{
	enum { THREADS = 4 };
	watcher w = {0};
	sherd_progress p = {watch, &w};
	shd_meter m;
	pthread_t threads[THREADS];
	shd_meter_init(&m, &p, 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, add_many, &m), 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(m.done, THREADS * 5000 * 3);
	assert_false(w.two_at_once);
	assert_true(w.calls > 0);
	shd_meter_done(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_add_up_and_are_reported),
		cmocka_unit_test(nobody_needs_to_watch),
		cmocka_unit_test(once_told_to_stop_it_stays_cancelled_and_asks_no_more),
		cmocka_unit_test(threads_lose_no_bytes_and_never_report_at_once),
	};
	return cmocka_run_group_tests_name("meter", tests, NULL, NULL);
}
