/* codec/floats.h - floating-point numbers of one type into another, many at a time. */
#pragma once

#include <sherd/dtype.h>

#include <stddef.h>
#include <stdint.h>

/* Exact. in needs the alignment of a float only; out that of a double. Every way gives the same bits. */
void shd_floats_widen(const float *in, double *out, size_t count);

/* Rounded to nearest, ties to even; in is little-endian and need not be aligned. */
void shd_floats_from_f64(const void *in, float *out, size_t count);

/* From and to any of F16, BF16, F32 and F64: exact where the value can be held, else rounded once, to nearest, ties to
 * even. Both sides are little-endian; floats and doubles need their alignment. in and out do not overlap. */
void shd_floats_convert(sherd_dtype from, const void *in, sherd_dtype to, void *out, size_t count);

/* How many of the numbers are infinite; in is little-endian and need not be aligned. */
size_t shd_floats_infinite(sherd_dtype dtype, const void *in, size_t count);
