#include "support/test.h"

#include "base/rng.h"
#include "format/rfdb/sort.h"

#include <stdlib.h>

enum { MANY = 20000 };

static void expect_sorted(const shd_rfdb_keyed *items, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		const shd_rfdb_keyed *a = &items[i - 1], *b = &items[i];
		bool ascends = a->high != b->high ? a->high < b->high
		               : a->low != b->low ? a->low < b->low
		                                  : a->row < b->row;
		assert_true(ascends);
	}
}

/* The order of a column with these keys is that of the sorted rows. */
static void check_order(const shd_rfdb_keyed *sorted, size_t count, shd_u128 (*key)(uint64_t row))
{
	uint8_t *ids = malloc(16 * count + 1), *order = malloc(4 * count + 1);
	assert_true(ids && order);
	for (uint64_t i = 0; i < count; i++)
		shd_put_u128(ids + 16 * i, key(i));
	assert_ok(shd_rfdb_order(ids, (uint32_t)count, order, err));
	for (size_t i = 0; i < count; i++)
		assert_int_equal(shd_get_u32(order + 4 * i), sorted[i].row);
	free(ids);
	free(order);
}

/* Keys by their own rule, rows as they come; afterwards each row is there once, with its key. */
static void sort_and_check(size_t count, shd_u128 (*key)(uint64_t row))
{
	shd_rfdb_keyed *items = malloc((count + 1) * sizeof(*items));
	bool *seen = calloc(count + 1, sizeof(*seen));
	assert_true(items && seen);
	for (uint64_t i = 0; i < count; i++)
		items[i] = shd_rfdb_keyed_of(key(i), i);
	assert_ok(shd_rfdb_sort(items, count, err));
	expect_sorted(items, count);
	for (size_t i = 0; i < count; i++) {
		shd_u128 want = key(items[i].row);
		assert_true(items[i].high == (uint64_t)(want >> 64) && items[i].low == (uint64_t)want);
		assert_false(seen[items[i].row]);
		seen[items[i].row] = true;
	}
	check_order(items, count, key);
	free(items);
	free(seen);
}

static shd_u128 hashed(uint64_t row)
{
	return (shd_u128)shd_splitmix64(row) << 64 | shd_splitmix64(~row);
}

static shd_u128 counted(uint64_t row)
{
	return MANY - row;
}

static shd_u128 few(uint64_t row)
{
	return hashed(row % 7);
}

static shd_u128 same(uint64_t row)
{
	(void)row;
	return 7;
}

static shd_u128 crowded(uint64_t row)
{
	return row % 100 ? (shd_u128)(row * 7919 % MANY) << 64 : ~(shd_u128)0 - row;
}

TEST(rows_and_columns_come_out_by_key_then_by_row)
{
	static const size_t counts[] = {0, 1, 2, 31, 32, 33, 64, 1000, MANY};
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		sort_and_check(counts[i], hashed);
		sort_and_check(counts[i], counted);
		sort_and_check(counts[i], few);
		sort_and_check(counts[i], same);
		sort_and_check(counts[i], crowded);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(rows_and_columns_come_out_by_key_then_by_row)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
