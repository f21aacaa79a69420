/* engine/tensors/diff.h - the values of two tensors that are not the same. */
#pragma once

#include "base/meter.h"
#include "codec/numbers.h"
#include "engine/tensors/bundle.h"

#include <sherd/diff.h>

typedef struct shd_diff_sides {
	const sherd_bundle *left;
	size_t left_index;
	const sherd_bundle *right;
	size_t right_index;
} shd_diff_sides;

/* Tensors of one shape, of one type or both of numbers. The meter is only asked whether to go on. */
int shd_diff_values(const shd_diff_sides *sides, const sherd_diff_options *options, shd_meter *meter,
                    sherd_diff_values *out, sherd_error *err);
