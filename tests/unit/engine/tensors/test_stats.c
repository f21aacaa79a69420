#include "support/memory_store.h"
#include "support/test.h"

#include "base/error.h"
#include "format/tensor/safetensors.h"

#include <sherd/diff.h>
#include <sherd/stats.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Writes one file with these tensors, whose data is given. */
static sherd_bundle *bundle_of(const char *key, const sherd_tensor *tensors, const void *const *data, size_t count)
{
	SHD_AUTO_BUF out = {0};
	size_t order[8];
	sherd_bundle *b;
	assert_true(count <= COUNT_OF(order));
	assert_ok(shd_safetensors_encode(tensors, count, NULL, 0, &out, order, err));
	for (size_t i = 0; i < count; i++)
		shd_buf_append(&out, data[order[i]], (size_t)tensors[order[i]].bytes);
	assert_ok(shd_buf_check(&out, err));
	assert_ok(sherd_store_put(store, key, SHERD_WRITE_REPLACE, out.data, out.len, err));
	assert_ok(sherd_bundle_open(&b, store, key, NULL, err));
	return b;
}

typedef struct told {
	size_t count, order[64];
	sherd_stats stats[64];
	size_t stop_after;
} told;

static int keep_stats(void *arg, size_t tensor, const sherd_stats *stats, sherd_error *err)
{
	told *t = arg;
	t->order[t->count] = tensor;
	t->stats[t->count++] = *stats;
	if (t->stop_after && t->count == t->stop_after)
		return shd_fail(err, SHERD_EINVAL, "bad-argument", "enough");
	return SHERD_OK;
}

enum { LARGE = 3 << 20 };

static float *large_floats(void)
{
	float *values = malloc(LARGE * sizeof(*values));
	assert_non_null(values);
	for (size_t i = 0; i < LARGE; i++)
		values[i] = (float)(((double)((uint32_t)i * 2654435761u) / 4294967296.0) * 4 - 2);
	return values;
}

static sherd_bundle *sample_of(const float *large)
{
	static const uint64_t some[] = {4}, none[] = {0, 5}, many[] = {LARGE}, strings[] = {1};
	static const float few[] = {1, NAN, -3, INFINITY};
	static const uint64_t text[] = {0, 2, 0};
	const sherd_tensor tensors[] = {
		{"few", SHERD_F32, 1, some, sizeof(few)},
		{"none", SHERD_F32, 2, none, 0},
		{"many", SHERD_F32, 1, many, (uint64_t)LARGE * sizeof(float)},
		{"scalar", SHERD_F32, 0, NULL, 4},
		{"text", SHERD_OPAQUE, 1, strings, 18, "X9"},
	};
	const void *const data[] = {few, few, large, few, text};
	return bundle_of("s.safetensors", tensors, data, COUNT_OF(tensors));
}

TEST(statistics_are_told_in_order_and_do_not_depend_on_workers)
{
	float *large = large_floats();
	sherd_bundle *b = sample_of(large);
	sherd_pool *pool;
	told alone = {0}, together = {0};
	assert_ok(sherd_stats_bundle(b, NULL, 0, NULL, keep_stats, &alone, err));
	assert_int_equal(alone.count, sherd_bundle_count(b));
	for (size_t i = 0; i < alone.count; i++)
		assert_int_equal(alone.order[i], i);
	assert_ok(sherd_pool_open(&pool, 3, err));
	const sherd_stats_options options = {.pool = pool};
	assert_ok(sherd_stats_bundle(b, NULL, 0, &options, keep_stats, &together, err));
	assert_memory_equal(alone.stats, together.stats, sizeof(alone.stats));
	sherd_pool_close(pool);
	sherd_bundle_close(b);
	free(large);
}

TEST(statistics_are_those_of_the_values)
{
	float *large = large_floats();
	sherd_bundle *b = sample_of(large);
	told t = {0};
	size_t wanted[] = {sherd_bundle_find(b, "many"), sherd_bundle_find(b, "few"), sherd_bundle_find(b, "none"),
	                   sherd_bundle_find(b, "text")};
	assert_ok(sherd_stats_bundle(b, wanted, COUNT_OF(wanted), NULL, keep_stats, &t, err));
	const sherd_stats *many = &t.stats[0], *few = &t.stats[1], *none = &t.stats[2];
	double sum = 0, min = 9, max = -9;
	for (size_t i = 0; i < LARGE; i++) {
		sum += (double)large[i];
		min = (double)large[i] < min ? (double)large[i] : min;
		max = (double)large[i] > max ? (double)large[i] : max;
	}
	assert_int_equal(many->count, LARGE);
	assert_true(many->min == min && many->max == max);
	assert_true(fabs(many->mean - sum / LARGE) < 1e-9);
	assert_true(fabs(many->deviation - 4 / sqrt(12)) < 1e-4);
	assert_int_equal(many->sampled, LARGE / 16);
	for (size_t i = 0; i < SHERD_STATS_QUANTILES; i++) {
		double want = 4 * sherd_stats_share(i) - 2;
		assert_true(fabs(many->quantiles[i] - want) < fabs(want) / 32 + 0.02);
	}
	uint64_t binned = 0;
	for (size_t i = 0; i < SHERD_STATS_BINS; i++)
		binned += many->bins[i];
	assert_int_equal(binned, many->sampled);
	assert_true(few->count == 4 && few->nan == 1 && few->inf == 1 && few->finite == 2);
	assert_true(few->min == -3 && few->max == 1 && few->mean == -1 && few->deviation == 2);
	assert_true(few->quantiles[3] == -1);
	assert_true(none->known && !none->count && isnan(none->min) && isnan(none->mean) && isnan(none->quantiles[0]));
	assert_false(t.stats[3].known);
	sherd_bundle_close(b);
	free(large);
}

static bool stop(void *arg, uint64_t done, uint64_t total)
{
	(void)arg, (void)total;
	return done < LARGE;
}

TEST(statistics_can_be_cancelled_and_end_when_the_callback_says_so)
{
	float *large = large_floats();
	sherd_bundle *b = sample_of(large);
	told t = {0};
	const sherd_progress progress = {.update = stop};
	const sherd_stats_options options = {.progress = &progress};
	assert_refused(SHERD_ECANCELLED, "cancelled", sherd_stats_bundle(b, NULL, 0, &options, keep_stats, &t, err));
	told ended = {.stop_after = 2};
	assert_refused(SHERD_EINVAL, "bad-argument", sherd_stats_bundle(b, NULL, 0, NULL, keep_stats, &ended, err));
	assert_int_equal(ended.count, 2);
	const size_t missing = 99;
	assert_refused(SHERD_EINVAL, "out-of-range", sherd_stats_bundle(b, &missing, 1, NULL, keep_stats, &t, err));
	sherd_bundle_close(b);
	free(large);
}

/* ---- differences */

typedef struct differences {
	size_t count;
	char names[16][16];
	sherd_diff_kind kinds[16];
	bool has_values[16];
	sherd_diff_values values[16];
} differences;

static int keep_difference(void *arg, const sherd_diff_tensor *d, sherd_error *err)
{
	differences *all = arg;
	(void)err;
	(void)snprintf(all->names[all->count], sizeof(all->names[0]), "%s", (d->left ? d->left : d->right)->name);
	all->has_values[all->count] = d->values;
	if (d->values)
		all->values[all->count] = *d->values;
	all->kinds[all->count++] = d->kind;
	return SHERD_OK;
}

static const sherd_diff_values *values_of(const differences *all, const char *name, sherd_diff_kind kind)
{
	for (size_t i = 0; i < all->count; i++)
		if (strcmp(all->names[i], name) == 0) {
			assert_int_equal(all->kinds[i], kind);
			return all->has_values[i] ? &all->values[i] : NULL;
		}
	fail_msg("%s was not told", name);
	return NULL;
}

static sherd_bundle *one_of(const char *key, const char *name, sherd_dtype dtype, uint64_t count, const void *data)
{
	uint64_t bytes;
	assert_true(sherd_tensor_bytes(&bytes, dtype, 1, &count));
	const sherd_tensor t = {name, dtype, 1, &count, bytes};
	return bundle_of(key, &t, &data, 1);
}

static sherd_diff_values compare(sherd_diff_kind kind, sherd_dtype left_type, const void *left, sherd_dtype right_type,
                                 const void *right, uint64_t count, const sherd_diff_options *options)
{
	differences all = {0};
	sherd_diff_summary summary;
	sherd_bundle *a = one_of("a.safetensors", "t", left_type, count, left);
	sherd_bundle *b = one_of("b.safetensors", "t", right_type, count, right);
	assert_ok(sherd_diff_bundles(&summary, a, b, options, keep_difference, &all, err));
	assert_int_equal(summary.equal, kind == SHERD_DIFF_EQUAL);
	assert_int_equal(summary.tensors[kind], 1);
	const sherd_diff_values *v = values_of(&all, "t", kind);
	sherd_diff_values got = v ? *v : (sherd_diff_values){0};
	sherd_bundle_close(a);
	sherd_bundle_close(b);
	return got;
}

TEST(what_differs_is_measured)
{
	static const float a[] = {3, 4, 0, 1}, b[] = {3, 4.5f, 0, -1};
	sherd_diff_values v = compare(SHERD_DIFF_VALUES, SHERD_F32, a, SHERD_F32, b, 4, NULL);
	assert_true(v.numbers && v.count == 4 && v.different == 2 && v.first == 1);
	assert_true(v.largest == 2 && v.largest_at == 3);
	assert_true(fabs(v.relative - sqrt(4.25) / sqrt(26)) < 1e-12);
	assert_true(fabs(v.cosine - 26 / (sqrt(26) * sqrt(30.25))) < 1e-12);
	const sherd_diff_options loose = {.tolerance = 0.5};
	v = compare(SHERD_DIFF_VALUES, SHERD_F32, a, SHERD_F32, b, 4, &loose);
	assert_true(v.different == 1 && v.first == 3);
	const sherd_diff_options looser = {.tolerance = 2};
	v = compare(SHERD_DIFF_EQUAL, SHERD_F32, a, SHERD_F32, b, 4, &looser);
	assert_true(v.different == 0 && v.largest == 2);
	const sherd_diff_options relative = {.relative = 0.125};
	v = compare(SHERD_DIFF_VALUES, SHERD_F32, a, SHERD_F32, b, 4, &relative);
	assert_int_equal(v.different, 1);
}

TEST(without_a_tolerance_bits_count)
{
	static const float a[] = {0, NAN, 1}, b[] = {-0.0f, NAN, 1};
	sherd_diff_values v = compare(SHERD_DIFF_VALUES, SHERD_F32, a, SHERD_F32, b, 3, NULL);
	assert_true(v.different == 1 && v.first == 0 && v.largest == 0 && v.not_finite == 1);
	const sherd_diff_options loose = {.tolerance = 1e-9};
	(void)compare(SHERD_DIFF_EQUAL, SHERD_F32, a, SHERD_F32, b, 3, &loose);
	static const float c[] = {NAN, INFINITY, 1}, d[] = {1, -INFINITY, 1};
	v = compare(SHERD_DIFF_VALUES, SHERD_F32, c, SHERD_F32, d, 3, &loose);
	assert_true(v.different == 2 && v.not_finite == 2 && v.largest == 0);
}

TEST(numbers_of_two_types_are_compared_by_value)
{
	static const float a[] = {1, 2, 0.333f};
	static const double b[] = {1, 2, 0.333};
	static const uint16_t bf16[] = {0x3f80, 0x4000, 0x3eaa};
	sherd_diff_values v = compare(SHERD_DIFF_DTYPE, SHERD_F32, a, SHERD_F64, b, 3, NULL);
	assert_true(v.different == 1 && v.first == 2);
	v = compare(SHERD_DIFF_DTYPE, SHERD_BF16, bf16, SHERD_F64, b, 3, NULL);
	assert_true(v.different == 1 && v.largest < 0.002);
	const sherd_diff_options any = {.any_dtype = true, .relative = 0.01};
	(void)compare(SHERD_DIFF_EQUAL, SHERD_BF16, bf16, SHERD_F64, b, 3, &any);
	const sherd_diff_options strict = {.any_dtype = true};
	(void)compare(SHERD_DIFF_VALUES, SHERD_F64, b, SHERD_BF16, bf16, 3, &strict);
	static const uint8_t f4[] = {0x22, 0x22}, f4_other[] = {0x22, 0x32};
	v = compare(SHERD_DIFF_VALUES, SHERD_F4, f4, SHERD_F4, f4_other, 4, NULL);
	assert_true(v.different == 1 && v.first == 3 && v.count == 4);
}

TEST(a_difference_in_the_last_part_of_a_large_tensor_is_found)
{
	float *a = large_floats(), *b = large_floats();
	sherd_pool *pool;
	assert_ok(sherd_pool_open(&pool, 2, err));
	const sherd_diff_options options = {.pool = pool};
	(void)compare(SHERD_DIFF_EQUAL, SHERD_F32, a, SHERD_F32, b, LARGE, &options);
	b[LARGE - 2] += 1;
	sherd_diff_values v = compare(SHERD_DIFF_VALUES, SHERD_F32, a, SHERD_F32, b, LARGE, &options);
	assert_true(v.different == 1 && v.first == LARGE - 2 && fabs(v.largest - 1) < 1e-6);
	sherd_diff_values alone = compare(SHERD_DIFF_VALUES, SHERD_F32, a, SHERD_F32, b, LARGE, NULL);
	assert_memory_equal(&v, &alone, sizeof(v));
	sherd_pool_close(pool);
	free(a);
	free(b);
}

TEST(heads_tell_what_is_missing_and_what_has_another_shape)
{
	static const uint64_t two[] = {2}, pair_shape[] = {1, 2}, strings[] = {1};
	static const float values[] = {1, 2}, others[] = {1, 3};
	static const uint64_t text[] = {0, 2, 0x6161}, longer[] = {0, 3, 0x616161};
	const sherd_tensor left[] = {{"same", SHERD_F32, 1, two, 8},
	                             {"gone", SHERD_F32, 1, two, 8},
	                             {"shape", SHERD_F32, 1, two, 8},
	                             {"value", SHERD_F32, 1, two, 8},
	                             {"text", SHERD_OPAQUE, 1, strings, 18, "X9"}};
	const sherd_tensor right[] = {{"value", SHERD_F32, 1, two, 8},
	                              {"shape", SHERD_F32, 2, pair_shape, 8},
	                              {"new", SHERD_F32, 1, two, 8},
	                              {"same", SHERD_F32, 1, two, 8},
	                              {"text", SHERD_OPAQUE, 1, strings, 19, "X9"}};
	const void *const left_data[] = {values, values, values, values, text};
	const void *const right_data[] = {others, values, values, values, longer};
	sherd_bundle *a = bundle_of("a.safetensors", left, left_data, 5);
	sherd_bundle *b = bundle_of("b.safetensors", right, right_data, 5);
	sherd_diff_summary s;
	differences all = {0}, heads = {0}, some = {0};
	assert_ok(sherd_diff_bundles(&s, a, b, NULL, keep_difference, &all, err));
	(void)values_of(&all, "same", SHERD_DIFF_EQUAL);
	(void)values_of(&all, "gone", SHERD_DIFF_ONLY_LEFT);
	(void)values_of(&all, "new", SHERD_DIFF_ONLY_RIGHT);
	(void)values_of(&all, "shape", SHERD_DIFF_SHAPE);
	assert_int_equal(values_of(&all, "value", SHERD_DIFF_VALUES)->first, 1);
	assert_false(values_of(&all, "text", SHERD_DIFF_VALUES)->numbers);
	assert_string_equal(all.names[all.count - 1], "new");
	const sherd_diff_options heads_only = {.heads = true}, matching = {.match = "s*"};
	assert_ok(sherd_diff_bundles(&s, a, b, &heads_only, keep_difference, &heads, err));
	(void)values_of(&heads, "value", SHERD_DIFF_EQUAL);
	assert_int_equal(s.bytes, 0);
	assert_ok(sherd_diff_bundles(&s, a, b, &matching, keep_difference, &some, err));
	assert_int_equal(some.count, 2);
	const sherd_diff_options wrong = {.tolerance = -1}, nan = {.relative = NAN};
	assert_refused(SHERD_EINVAL, "bad-argument", sherd_diff_bundles(&s, a, b, &wrong, NULL, NULL, err));
	assert_refused(SHERD_EINVAL, "bad-argument", sherd_diff_bundles(&s, a, b, &nan, NULL, NULL, err));
	assert_ok(sherd_diff_bundles(&s, a, a, NULL, NULL, NULL, err));
	assert_true(s.equal);
	sherd_bundle_close(a);
	sherd_bundle_close(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, memory_store_open, memory_store_close)
		CASE(statistics_are_told_in_order_and_do_not_depend_on_workers),
		CASE(statistics_are_those_of_the_values),
		CASE(statistics_can_be_cancelled_and_end_when_the_callback_says_so),
		CASE(what_differs_is_measured),
		CASE(without_a_tolerance_bits_count),
		CASE(numbers_of_two_types_are_compared_by_value),
		CASE(a_difference_in_the_last_part_of_a_large_tensor_is_found),
		CASE(heads_tell_what_is_missing_and_what_has_another_shape),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
