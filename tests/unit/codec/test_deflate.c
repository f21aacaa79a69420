#include "codec/deflate.h"

#include "base/rng.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

enum { SIZE = 100000 };

static void fill(uint8_t *p, size_t len, unsigned kinds)
{
	for (size_t i = 0; i < len; i++)
		p[i] = (uint8_t)(shd_splitmix64(i) % kinds);
}

TEST(every_level_gives_back_what_it_was_given)
{
	static uint8_t raw[SIZE], packed[2 * SIZE], back[SIZE];
	fill(raw, sizeof(raw), 5);
	for (int level = 1; level <= SHD_DEFLATE_LEVELS; level++) {
		shd_deflate *d;
		assert_ok(shd_deflate_open(&d, level, err));
		for (size_t len = 1; len <= SIZE; len = len * 3 + 1) {
			size_t n = shd_deflate_pack(d, raw, len, packed, sizeof(packed));
			assert_true(n > 0);
			memset(back, 0xee, sizeof(back));
			assert_ok(shd_deflate_unpack(packed, n, back, len, err));
			assert_memory_equal(back, raw, len);
		}
		size_t n = shd_deflate_pack(d, raw, SIZE, packed, sizeof(packed));
		assert_true(n < SIZE / 2);
		shd_deflate_close(d);
	}
}

/* Noise, then much of the same, then noise, then a rest. */
TEST(parts_give_one_stream_whatever_they_are)
{
	enum { PART = 200000, LEN = 3 * PART + 7 };
	uint8_t *raw = malloc(LEN), *packed = malloc(LEN), *back = malloc(LEN);
	fill(raw, LEN, 256);
	memset(raw + PART, 7, PART);
	for (int level = 1; level <= 2; level++) {
		static const size_t parts[] = {PART, LEN, 1000, 40000};
		shd_deflate *d;
		assert_ok(shd_deflate_open(&d, level, err));
		for (size_t i = 0; i < COUNT_OF(parts); i++) {
			size_t n = shd_deflate_pack_parts(d, raw, LEN, parts[i], packed, LEN);
			assert_true(n > 2 * PART && n < 2 * PART + PART / 2);
			assert_ok(shd_deflate_unpack(packed, n, back, LEN, err));
			assert_memory_equal(back, raw, LEN);
			assert_int_equal(shd_deflate_pack_parts(d, raw, LEN, parts[i], packed, 2 * PART), 0);
		}
		shd_deflate_close(d);
	}
	free(raw);
	free(packed);
	free(back);
}

TEST(what_does_not_fit_is_not_packed)
{
	static uint8_t raw[SIZE], packed[SIZE];
	fill(raw, sizeof(raw), 256);
	for (int level = 1; level <= 6; level += 5) {
		shd_deflate *d;
		assert_ok(shd_deflate_open(&d, level, err));
		assert_int_equal(shd_deflate_pack(d, raw, SIZE, packed, SIZE - 1), 0);
		assert_int_equal(shd_deflate_pack(d, raw, SIZE, packed, 1), 0);
		shd_deflate_close(d);
	}
}

TEST(a_stream_that_is_cut_off_or_too_long_or_of_another_length_is_refused)
{
	static uint8_t raw[1000], packed[2000], back[1001];
	shd_deflate *d;
	fill(raw, sizeof(raw), 3);
	assert_ok(shd_deflate_open(&d, 1, err));
	size_t n = shd_deflate_pack(d, raw, sizeof(raw), packed, sizeof(packed));
	shd_deflate_close(d);
	for (size_t len = 0; len < n; len++)
		assert_refused(SHERD_ECORRUPT, "bad-deflate", shd_deflate_unpack(packed, len, back, 1000, err));
	packed[n] = 0;
	assert_refused(SHERD_ECORRUPT, "bad-deflate", shd_deflate_unpack(packed, n + 1, back, 1000, err));
	assert_refused(SHERD_ECORRUPT, "bad-deflate", shd_deflate_unpack(packed, n, back, 999, err));
	assert_refused(SHERD_ECORRUPT, "bad-deflate", shd_deflate_unpack(packed, n, back, 1001, err));
	assert_ok(shd_deflate_unpack(packed, n, back, 1000, err));
}

TEST(no_stream_grows_more_than_is_plausible)
{
	size_t len = (size_t)8 << 20;
	uint8_t *raw = calloc(1, len), *packed = malloc(len);
	shd_deflate *d;
	assert_ok(shd_deflate_open(&d, 12, err));
	size_t n = shd_deflate_pack(d, raw, len, packed, len);
	shd_deflate_close(d);
	assert_true(n > 0 && len / n > 900);
	assert_true(shd_deflate_plausible(n, len));
	assert_false(shd_deflate_plausible(n, 2 * len));
	assert_true(shd_deflate_plausible(0, 0));
	free(raw);
	free(packed);
}

TEST(there_are_twelve_levels)
{
	shd_deflate *d;
	assert_refused(SHERD_EINVAL, "bad-argument", shd_deflate_open(&d, 0, err));
	assert_refused(SHERD_EINVAL, "bad-argument", shd_deflate_open(&d, 13, err));
	shd_deflate_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_level_gives_back_what_it_was_given),
		cmocka_unit_test(parts_give_one_stream_whatever_they_are),
		cmocka_unit_test(what_does_not_fit_is_not_packed),
		cmocka_unit_test(a_stream_that_is_cut_off_or_too_long_or_of_another_length_is_refused),
		cmocka_unit_test(no_stream_grows_more_than_is_plausible),
		cmocka_unit_test(there_are_twelve_levels),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
