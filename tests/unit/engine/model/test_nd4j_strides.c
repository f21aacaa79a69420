#include "support/memory_store.h"
#include "support/nd4j_make.h"
#include "support/test.h"

#include "base/error.h"

#include <sherd/bundle.h>
#include <sherd/limits.h>

#include <stdlib.h>

SHD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)

enum { MOST = 5 };

/* An array whose dimensions lie in the file in another order: axes[0] varies slowest, the last one fastest. */
typedef struct layout {
	uint32_t rank;
	int64_t dims[MOST], strides[MOST];
	uint64_t count;
} layout;

static layout layout_of(uint32_t rank, const int64_t *dims, const uint32_t *axes)
{
	layout l = {.rank = rank, .count = 1};
	for (uint32_t k = rank; k-- > 0;) {
		l.dims[axes[k]] = dims[axes[k]];
		l.strides[axes[k]] = (int64_t)l.count;
		l.count *= (uint64_t)dims[axes[k]];
	}
	return l;
}

/* Where element i of C order lies, by the plain definition of strides. */
static uint64_t place_of(const layout *l, uint64_t i)
{
	uint64_t place = 0;
	for (uint32_t d = l->rank; d-- > 0; i /= (uint64_t)l->dims[d])
		place += i % (uint64_t)l->dims[d] * (uint64_t)l->strides[d];
	return place;
}

static uint16_t value_at(uint64_t place)
{
	return (uint16_t)(place * 40503 + (place >> 16));
}

static void put(const layout *l, const char *letter)
{
	SHD_AUTO_BUF b = {0};
	int64_t info[2 * MOST + 4] = {l->rank};
	for (uint32_t d = 0; d < l->rank; d++) {
		info[1 + d] = l->dims[d];
		info[1 + l->rank + d] = l->strides[d];
	}
	info[2 * l->rank + 1] = 65536;
	info[2 * l->rank + 3] = (uint8_t)letter[0];
	uint16_t *values = malloc(l->count * sizeof(*values));
	assert_non_null(values);
	for (uint64_t i = 0; i < l->count; i++)
		values[i] = value_at(i);
	nd4j_put_part(&b, "LONG", 2 * (uint64_t)l->rank + 4, info, 8);
	nd4j_put_part(&b, "SHORT", l->count, values, 2);
	free(values);
	assert_ok(sherd_store_put(store, "a.bin", SHERD_WRITE_REPLACE, b.data, b.len, err));
}

static void check_range(const sherd_bundle *b, const layout *l, uint64_t offset, size_t len)
{
	uint8_t *got = malloc(len + !len);
	assert_non_null(got);
	assert_ok(sherd_bundle_read(b, 0, offset, got, len, err));
	for (size_t i = 0; i < len; i++) {
		uint16_t want = value_at(place_of(l, (offset + i) / 2));
		if (got[i] != (uint8_t)(want >> 8 * ((offset + i) % 2)))
			fail_msg("byte %llu of a range at %llu", (unsigned long long)(offset + i),
			         (unsigned long long)offset);
	}
	free(got);
}

static bool next_permutation(uint32_t *axes, uint32_t rank)
{
	uint32_t i = rank - 1, j = rank - 1;
	while (i > 0 && axes[i - 1] > axes[i])
		i--;
	if (i == 0)
		return false;
	while (axes[j] < axes[i - 1])
		j--;
	uint32_t swapped = axes[i - 1];
	axes[i - 1] = axes[j];
	axes[j] = swapped;
	for (j = rank - 1; i < j; i++, j--) {
		swapped = axes[i];
		axes[i] = axes[j];
		axes[j] = swapped;
	}
	return true;
}

TEST(every_permutation_of_two_to_five_dimensions_is_read)
{
	static const int64_t shapes[][MOST] = {{3, 2, 4, 2, 3}, {1, 3, 2, 1, 5}, {2, 1, 1, 3, 2}};
	for (size_t s = 0; s < COUNT_OF(shapes); s++)
		for (uint32_t rank = 2; rank <= MOST; rank++) {
			uint32_t axes[MOST] = {0, 1, 2, 3, 4};
			do {
				SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
				layout l = layout_of(rank, shapes[s], axes);
				put(&l, axes[0] & 1 ? "f" : "c");
				assert_ok(sherd_bundle_open(&b, store, "a.bin", NULL, err));
				check_range(b, &l, 0, l.count * 2);
				for (uint64_t from = 1; from < l.count * 2; from += 7)
					check_range(b, &l, from, (size_t)(l.count * 2 - from) / 2);
			} while (next_permutation(axes, rank));
		}
}

/* Longer than what is read at once, in each of the ways that an array can be. */
TEST(large_permuted_arrays_are_read_in_parts)
{
	static const struct {
		int64_t dims[MOST];
		uint32_t axes[MOST], rank;
	} cases[] = {
		{{2, 700, 3, 500}, {0, 3, 1, 2}, 4}, /* the first dimension is fixed */
		{{3, 2, 300000}, {1, 0, 2}, 3},      /* long blocks stay whole */
		{{5, 3, 70000}, {2, 0, 1}, 3},        {{2, 3, 400000, 1}, {1, 2, 3, 0}, 4},
		{{2, 2, 2, 300000}, {1, 0, 3, 2}, 4}, {{40, 30, 1000}, {1, 2, 0}, 3},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
		layout l = layout_of(cases[i].rank, cases[i].dims, cases[i].axes);
		put(&l, "c");
		assert_ok(sherd_bundle_open(&b, store, "a.bin", NULL, err));
		check_range(b, &l, 0, l.count * 2);
		check_range(b, &l, 12345, 100);
		check_range(b, &l, 54321, 67891);
		check_range(b, &l, l.count * 2 - 99999, 99999);
		check_range(b, &l, l.count - 1, 1);
	}
}

TEST(strides_that_are_not_dense_are_refused_with_their_byte)
{
	static const struct {
		int64_t dims[MOST], strides[MOST];
		uint32_t bad; /* the first dimension whose stride does not fit */
	} cases[] = {
		{{2, 3, 4}, {12, 4, 0}, 0}, /* all the same */
		{{2, 3, 4}, {1, 1, 6}, 1},  /* overlap */
		{{2, 3, 4}, {24, 8, 2}, 0}, /* gaps everywhere */
		{{2, 3, 4}, {16, 4, 1}, 0}, /* a gap between rows */
		{{2, 3, 4}, {4, 8, -1}, 0}, /* backwards */
		{{2, 3, 4}, {INT64_MIN, 1, 3}, 0}, {{2, 3, 4}, {INT64_MAX, 4, 1}, 0}, {{2, 2, 4}, {8, 8, 1}, 0},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		sherd_bundle *b = NULL;
		sherd_error e = {0};
		layout l = {.rank = 3, .count = 1};
		for (uint32_t d = 0; d < 3; d++) {
			l.dims[d] = cases[i].dims[d];
			l.strides[d] = cases[i].strides[d];
			l.count *= (uint64_t)l.dims[d];
		}
		put(&l, "c");
		assert_int_equal(sherd_bundle_open(&b, store, "a.bin", NULL, &e), SHERD_EUNSUPPORTED);
		assert_string_equal(e.reason, "bad-strides");
		assert_int_equal(e.offset, 18 + 8 + 6 + 8 * (4 + cases[i].bad));
		assert_null(b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_permutation_of_two_to_five_dimensions_is_read),
		cmocka_unit_test(large_permuted_arrays_are_read_in_parts),
		cmocka_unit_test(strides_that_are_not_dense_are_refused_with_their_byte),
	};
	return cmocka_run_group_tests_name("nd4j_strides", tests, memory_store_open, memory_store_close);
}
