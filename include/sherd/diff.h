/* sherd/diff.h - what differs between two sets of tensors, whatever their formats and shards.
 *
 * Graphs are compared by sherd_graph_diff(). */
#ifndef SHERD_DIFF_H
#define SHERD_DIFF_H

#include <sherd/bundle.h>

SHERD_BEGIN_DECLS

typedef enum sherd_diff_kind {
	SHERD_DIFF_EQUAL = 0,
	SHERD_DIFF_ONLY_LEFT,
	SHERD_DIFF_ONLY_RIGHT,
	SHERD_DIFF_DTYPE, /* another type; values are compared all the same where both are numbers */
	SHERD_DIFF_SHAPE, /* another shape, whatever the type; values are not compared */
	SHERD_DIFF_VALUES
} sherd_diff_kind;
#define SHERD_DIFF_KINDS 6

/* "equal", "only-left", "only-right", "dtype", "shape", "values". NULL for other numbers. */
SHERD_API const char *sherd_diff_kind_name(sherd_diff_kind kind);

/* How elements differ. Sums are of the pairs in which both are finite. */
typedef struct sherd_diff_values {
	bool numbers;       /* elements are numbers; else blocks, or bytes of UTF8 and opaque types, are counted */
	uint64_t count;     /* elements of each side; of C64 two each */
	uint64_t different; /* how many of them differ */
	uint64_t first;     /* the first that does, in C order, counted from 0 */
	/* Of numbers only: */
	uint64_t not_finite; /* pairs in which one is NaN or infinite, and which the rest leaves out */
	double largest;      /* |left - right| */
	uint64_t largest_at; /* the first element with it */
	double norm_left, norm_right, norm_difference;
	double relative; /* norm_difference / norm_left: dW/W; infinite where only the left one is 0 */
	double cosine;   /* of the angle between both; NaN where one is 0 */
} sherd_diff_values;

typedef struct sherd_diff_tensor {
	sherd_diff_kind kind;
	const sherd_tensor *left, *right; /* NULL where it is missing */
	size_t left_index, right_index;   /* or SHERD_NO_TENSOR */
	const sherd_diff_values *values;  /* NULL: they were not compared, or their bytes are the same */
} sherd_diff_tensor;

typedef struct sherd_diff_options {
	bool heads; /* names, types and shapes only: no value is read, and what has those alike is told as equal */
	/* Numbers are equal when |left - right| <= tolerance + relative * |left|, and NaN equals NaN. With both 0,
	 * elements of one type are equal when their bits are; those of two types, or of several in a block, when they
	 * are the same number or both NaN. */
	double tolerance, relative;
	bool any_dtype;    /* another type is no difference: only values count */
	const char *match; /* only tensors whose names match, as sherd_name_matches() has it; NULL: all */
	sherd_pool *pool;
	const sherd_progress *progress; /* counts bytes that are compared, of one side */
} sherd_diff_options;

typedef struct sherd_diff_summary {
	uint64_t tensors[SHERD_DIFF_KINDS]; /* how many of each kind */
	uint64_t bytes;                     /* of the left side that were compared */
	bool equal;                         /* nothing but equal ones */
} sherd_diff_summary;

/* Told of one tensor, those of the left side in their order, then those that only the right one has; on the caller's
 * thread. A negative code ends the call and is what it returns. */
typedef int sherd_diff_fn(void *arg, const sherd_diff_tensor *tensor, sherd_error *err);

/* Compares tensors of the same name. Where each side has one only, and one of them is in a format whose tensors have no
 * names, those two. Equal bytes are compared as bytes, on all workers. An error tells in its store which side failed;
 * its index is 0 for the left one and 1 for the right one. SHERD_EINVAL of a tolerance that is negative or no number.
 */
SHERD_API int sherd_diff_bundles(sherd_diff_summary *out, const sherd_bundle *left, const sherd_bundle *right,
                                 const sherd_diff_options *options, sherd_diff_fn *each, void *arg, sherd_error *err);

SHERD_END_DECLS

#endif
