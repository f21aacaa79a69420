#include "support/test.h"

#include "base/rng.h"
#include "format/rfdb/bloom.h"

#include <stdlib.h>

static shd_u128 id_of(uint64_t i)
{
	return (shd_u128)shd_splitmix64(i) << 64 | shd_splitmix64(i + 1000000);
}

static shd_rfdb_bloom make(uint64_t rows, shd_u128 (*id)(uint64_t), uint8_t **raw)
{
	shd_rfdb_bloom bloom;
	uint8_t *ids = malloc(16 * rows + 1);
	size_t size = shd_rfdb_bloom_size(rows);
	*raw = malloc(size);
	assert_true(ids && *raw);
	for (uint64_t i = 0; i < rows; i++)
		shd_put_u128(ids + 16 * i, id(i));
	shd_rfdb_bloom_encode(ids, rows, *raw);
	free(ids);
	shd_cursor c = shd_cursor_over(*raw, size);
	assert_ok(shd_rfdb_bloom_decode(&c, &bloom, err));
	assert_int_equal(c.pos, size);
	return bloom;
}

/* The rule as it is written in the document. */
static bool plainly_has(const shd_rfdb_bloom *b, shd_u128 id)
{
	uint64_t h1 = (uint64_t)id, h2 = (uint64_t)(id >> 64) | 1;
	for (uint64_t i = 0; i < 7; i++) {
		uint64_t p = (h1 + i * h2) % b->bits;
		if (!(shd_get_u64(b->words + p / 64 * 8) >> p % 64 & 1))
			return false;
	}
	return true;
}

TEST(sizes_follow_the_rows)
{
	assert_int_equal(shd_rfdb_bloom_size(0), 24);
	assert_int_equal(shd_rfdb_bloom_size(6), 24);
	assert_int_equal(shd_rfdb_bloom_size(7), 16 + 16);
	assert_int_equal(shd_rfdb_bloom_size(1000), 16 + 157 * 8);
}

TEST(every_id_is_found_and_few_others)
{
	uint8_t *raw;
	shd_rfdb_bloom bloom = make(5000, id_of, &raw);
	size_t wrong = 0;
	for (uint64_t i = 0; i < 5000; i++)
		assert_true(shd_rfdb_bloom_has(&bloom, id_of(i)));
	for (uint64_t i = 5000; i < 25000; i++)
		wrong += shd_rfdb_bloom_has(&bloom, id_of(i));
	assert_true(wrong < 400); /* one in a hundred is to be expected */
	free(raw);
}

TEST(probes_are_those_of_the_rule_also_where_they_wrap)
{
	for (uint64_t rows = 0; rows < 40; rows += 3) {
		uint8_t *raw;
		shd_rfdb_bloom bloom = make(rows, id_of, &raw);
		for (uint64_t i = 0; i < 2000; i++) {
			shd_u128 id = i % 2 ? id_of(i) : id_of(i) | (shd_u128)UINT64_MAX << 64;
			assert_int_equal(shd_rfdb_bloom_has(&bloom, id), plainly_has(&bloom, id));
		}
		assert_false(rows == 0 && shd_rfdb_bloom_has(&bloom, 0));
		free(raw);
	}
}

static int decode(uint64_t bits, uint32_t probes, size_t words, sherd_error *err)
{
	uint8_t raw[256] = {0};
	shd_rfdb_bloom bloom;
	shd_put_u64(raw, bits);
	shd_put_u32(raw + 8, probes);
	shd_cursor c = shd_cursor_over(raw, 16 + 8 * words);
	return shd_rfdb_bloom_decode(&c, &bloom, err);
}

TEST(impossible_filters_are_refused)
{
	assert_ok(decode(128, 7, 2, err));
	assert_refused(SHERD_ECORRUPT, "truncated", decode(128, 7, 1, err));
	assert_refused(SHERD_ECORRUPT, "truncated", decode(UINT64_MAX & ~63ull, 7, 4, err));
	assert_refused(SHERD_ECORRUPT, "bad-index", decode(0, 7, 2, err));
	assert_refused(SHERD_ECORRUPT, "bad-index", decode(100, 7, 2, err));
	assert_refused(SHERD_ECORRUPT, "bad-index", decode(128, 0, 2, err));
	assert_refused(SHERD_ECORRUPT, "bad-index", decode(128, UINT32_MAX, 2, err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_follow_the_rows),
		cmocka_unit_test(every_id_is_found_and_few_others),
		cmocka_unit_test(probes_are_those_of_the_rule_also_where_they_wrap),
		cmocka_unit_test(impossible_filters_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
