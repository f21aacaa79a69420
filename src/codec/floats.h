/* codec/floats.h - floating-point numbers of one size into another, many at a time. */
#ifndef SHERD_CODEC_FLOATS_H
#define SHERD_CODEC_FLOATS_H

#include <stddef.h>
#include <stdint.h>

/* Exact. in needs the alignment of a float only; out that of a double. Every way gives the same bits. */
void sherd_floats_widen(const float *in, double *out, size_t count);

/* Rounded to nearest, ties to even; in is little-endian and need not be aligned. */
void sherd_floats_from_f64(const void *in, float *out, size_t count);
/* Exact. */
void sherd_floats_from_f16(const void *in, float *out, size_t count);
void sherd_floats_from_bf16(const void *in, float *out, size_t count);
/* As sherd_floats_from_bf16(), then sherd_floats_widen(). */
void sherd_floats_widen_bf16(const void *in, double *out, size_t count);

#endif
