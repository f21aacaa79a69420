#include "codec/apart.h"

#include <math.h>
#include <string.h>

enum { LANES = 8, STRETCH = 512 };

/* Eight lanes by place, so that sums have the same bits whatever the width of the processor's vectors. */
typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));

static void note_different(shd_apart *a, uint64_t at)
{
	if (!a->different++)
		a->first = at;
}

static bool same_number(double x, double y, const shd_apart_rule *rule)
{
	if (isnan(x) || isnan(y))
		return isnan(x) && isnan(y);
	return x == y || fabs(x - y) <= rule->tolerance + rule->relative * fabs(x);
}

static void note_distance(shd_apart *a, double d, uint64_t at)
{
	if (fabs(d) > a->largest) {
		a->largest = fabs(d);
		a->largest_at = at;
	}
}

static void count_numbers(shd_apart *a, const double *x, const double *y, size_t count, uint64_t at,
                          const shd_apart_rule *rule)
{
	for (size_t i = 0; i < count; i++)
		if (!same_number(x[i], y[i], rule))
			note_different(a, at + i);
}

static double sum_of(const lanes *v)
{
	double at[LANES], sum = 0;
	memcpy(at, v, sizeof(at));
	for (int i = 0; i < LANES; i++)
		sum += at[i];
	return sum;
}

/* 0, unless something in them is not finite. */
static inline void stretch_sums(shd_apart *a, const double *x, const double *y)
{
	lanes left = {0}, right = {0}, both = {0}, difference = {0};
	for (size_t i = 0; i < STRETCH; i += LANES) {
		lanes u, v;
		memcpy(&u, x + i, sizeof(u));
		memcpy(&v, y + i, sizeof(v));
		lanes d = u - v;
		left += u * u;
		right += v * v;
		both += u * v;
		difference += d * d;
	}
	a->left += sum_of(&left);
	a->right += sum_of(&right);
	a->both += sum_of(&both);
	a->difference += sum_of(&difference);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void stretch_avx2(shd_apart *a, const double *x, const double *y)
{
	stretch_sums(a, x, y);
}

static void stretch(shd_apart *a, const double *x, const double *y)
{
	if (__builtin_cpu_supports("avx2"))
		stretch_avx2(a, x, y);
	else
		stretch_sums(a, x, y);
}
#else
static void stretch(shd_apart *a, const double *x, const double *y)
{
	stretch_sums(a, x, y);
}
#endif

static bool all_finite(const double *x, const double *y, size_t count)
{
	double zero = 0; /* NaN as soon as one is not */
	for (size_t i = 0; i < count; i++)
		zero += x[i] * 0 + y[i] * 0;
	return zero == 0;
}

static void add_each(shd_apart *a, const double *x, const double *y, size_t count, uint64_t at)
{
	for (size_t i = 0; i < count; i++) {
		if (!isfinite(x[i]) || !isfinite(y[i])) {
			a->not_finite++;
			continue;
		}
		double d = x[i] - y[i];
		a->left += x[i] * x[i];
		a->right += y[i] * y[i];
		a->both += x[i] * y[i];
		a->difference += d * d;
		note_distance(a, d, at + i);
	}
}

void shd_apart_add(shd_apart *a, const double *left, const double *right, size_t count, uint64_t at,
                   const shd_apart_rule *rule)
{
	a->count += count;
	if (!rule->bits)
		count_numbers(a, left, right, count, at, rule);
	for (size_t i = 0; i < count; i += STRETCH) {
		size_t n = count - i < STRETCH ? count - i : STRETCH;
		if (n < STRETCH || !all_finite(left + i, right + i, n)) {
			add_each(a, left + i, right + i, n, at + i);
			continue;
		}
		stretch(a, left + i, right + i);
		for (size_t k = i; k < i + n; k++)
			note_distance(a, left[k] - right[k], at + k);
	}
}

void shd_apart_bits(shd_apart *a, const void *left, const void *right, size_t count, size_t size, uint64_t at)
{
	enum { RUN = 64 };
	const uint8_t *x = left, *y = right;
	for (size_t i = 0; i < count; i += RUN) {
		size_t n = count - i < RUN ? count - i : RUN;
		if (memcmp(x + i * size, y + i * size, n * size) == 0)
			continue;
		for (size_t k = i; k < i + n; k++)
			if (memcmp(x + k * size, y + k * size, size) != 0)
				note_different(a, at + k);
	}
}

void shd_apart_merge(shd_apart *a, const shd_apart *other)
{
	if (!a->different)
		a->first = other->first;
	if (other->largest > a->largest) {
		a->largest = other->largest;
		a->largest_at = other->largest_at;
	}
	a->count += other->count;
	a->not_finite += other->not_finite;
	a->different += other->different;
	a->left += other->left;
	a->right += other->right;
	a->both += other->both;
	a->difference += other->difference;
}
