/* Parts of many items: what is held at once stays small whatever an item's size is said to be. */
#include "support/test.h"

#include "engine/tensors/sweep.h"

#include <sherd/pool.h>

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_HELD = 1024, ITEMS = 4 };

typedef struct watching {
	uint64_t sizes[ITEMS];
	uint32_t block;
	uint64_t fail_at; /* part that fails; 0: none */
	_Atomic uint64_t parts;
	uint64_t *held[ITEMS]; /* one of each part: its offset and length */
	size_t count[ITEMS];
	uint64_t next[ITEMS]; /* bytes that were merged, in order */
	size_t ended;
	bool disorder;
} watching;

static uint64_t watch_bytes(const void *arg, size_t item, uint32_t *block)
{
	const watching *w = arg;
	*block = w->block;
	return w->sizes[item];
}

static int watch_begin(void *arg, size_t item, size_t parts, sherd_error *err)
{
	watching *w = arg;
	(void)err;
	assert_in_range(parts, 0, MOST_HELD);
	w->count[item] = parts;
	w->held[item] = calloc(2 * parts + 1, sizeof(uint64_t));
	return SHERD_OK;
}

static int watch_part(void *arg, const shd_sweep_part *part, void *scratch, sherd_error *err)
{
	watching *w = arg;
	(void)scratch;
	if (atomic_fetch_add(&w->parts, 1) + 1 == w->fail_at)
		return shd_fail(err, SHERD_ECANCELLED, "cancelled", "enough");
	if (part->number >= w->count[part->item] || part->len > SHD_SWEEP_PART ||
	    w->held[part->item][2 * part->number + 1])
		return shd_fail(err, SHERD_EINVAL, "bad-range", "a part that cannot be");
	w->held[part->item][2 * part->number] = part->offset;
	w->held[part->item][2 * part->number + 1] = part->len;
	return SHERD_OK;
}

static void watch_merge(void *arg, size_t item)
{
	watching *w = arg;
	for (size_t i = 0; i < w->count[item]; i++) {
		uint64_t *held = &w->held[item][2 * i];
		w->disorder |= held[1] && held[0] != w->next[item];
		w->next[item] += held[1];
		held[0] = held[1] = 0;
	}
}

static int watch_end(void *arg, size_t item, sherd_error *err)
{
	watching *w = arg;
	(void)err;
	w->disorder |= item != w->ended;
	w->ended++;
	watch_merge(w, item);
	return SHERD_OK;
}

static int sweep_over(watching *w, unsigned workers)
{
	sherd_pool *pool = NULL;
	sherd_error e = {0};
	if (workers)
		assert_ok(sherd_pool_open(&pool, workers, err));
	const shd_sweep sweep = {.pool = pool,
	                         .count = ITEMS,
	                         .scratch = 64,
	                         .arg = w,
	                         .bytes = watch_bytes,
	                         .begin = watch_begin,
	                         .part = watch_part,
	                         .merge = watch_merge,
	                         .end = watch_end};
	int rc = shd_sweep_run(&sweep, &e);
	for (size_t i = 0; i < ITEMS; i++)
		free(w->held[i]);
	sherd_pool_close(pool);
	return rc;
}

TEST(a_large_item_comes_in_windows_and_in_order)
{
	(void)state;
	for (unsigned workers = 0; workers <= 4; workers += 2) {
		watching w = {.sizes = {1000, ((uint64_t)3 << 30) + 18, 0, ((uint64_t)256 << 20) - 14}, .block = 18};
		for (size_t i = 0; i < ITEMS; i++)
			w.sizes[i] -= w.sizes[i] % w.block;
		assert_int_equal(sweep_over(&w, workers), SHERD_OK);
		assert_false(w.disorder);
		assert_int_equal(w.ended, ITEMS);
		for (size_t i = 0; i < ITEMS; i++)
			assert_int_equal(w.next[i], w.sizes[i]);
	}
}

TEST(what_ends_it_is_asked_long_before_the_end)
{
	(void)state;
	watching w = {.sizes = {10, (uint64_t)1 << 48, 10, 10}, .block = 4, .fail_at = 2000};
	assert_int_equal(sweep_over(&w, 2), SHERD_ECANCELLED);
	assert_in_range(w.parts, 2000, 2000 + MOST_HELD);
	assert_int_equal(w.ended, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_large_item_comes_in_windows_and_in_order),
		cmocka_unit_test(what_ends_it_is_asked_long_before_the_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
