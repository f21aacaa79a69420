/* sherd/stats.h - what the values of tensors are like. */
#ifndef SHERD_STATS_H
#define SHERD_STATS_H

#include <sherd/bundle.h>

SHERD_BEGIN_DECLS

#define SHERD_STATS_QUANTILES 7
/* The share of values that lie below a quantile: 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99; NaN past the last. */
SHERD_API double sherd_stats_share(size_t quantile);
#define SHERD_STATS_BINS 64

/* Of one tensor. The same whatever the number of workers. */
typedef struct sherd_stats {
	bool known;     /* its elements are numbers that can be had here (sherd/number.h); else all is 0 */
	uint64_t count; /* elements; of C64 two each, the real and the imaginary part */
	uint64_t nan, inf, zeros;
	uint64_t finite;
	/* Of the finite ones; NaN where there are none. The deviation is that of the whole, not of a sample. 64-bit
	 * integers beyond 2^53 are rounded. */
	double min, max, mean, deviation;
	double norm; /* the root of the sum of squares */
	/* Exact of up to 1024 elements. Of more by a sketch of fixed size: a quantile is off by less than 1/32 of its
	 * value. Of more than 2^21 elements one in 16 is looked at, in runs spread at random, the same each time:
	 * the share is off by less than 0.005 too, almost always. */
	uint64_t sampled;
	double quantiles[SHERD_STATS_QUANTILES];
	uint64_t bins[SHERD_STATS_BINS]; /* sampled values in each of so many equal parts of [min, max] */
} sherd_stats;

typedef struct sherd_stats_options {
	bool without_sketch; /* no quantiles and no bins */
	sherd_pool *pool;
	const sherd_progress *progress; /* counts bytes */
} sherd_stats_options;

/* Told of one tensor, in the order in which they were asked for, on the caller's thread. A negative code ends the call
 * and is what it returns. */
typedef int sherd_stats_fn(void *arg, size_t tensor, const sherd_stats *stats, sherd_error *err);

/* Reads these tensors (NULL: all) once, on all workers of the pool, and tells what each is like. Memory does not grow
 * with them: some 40 MiB and 2 MiB a worker at most. */
SHERD_API int sherd_stats_bundle(const sherd_bundle *bundle, const size_t *tensors, size_t count,
                                 const sherd_stats_options *options, sherd_stats_fn *each, void *arg, sherd_error *err);

SHERD_END_DECLS

#endif
