/* codec/halves.h - F16 and BF16 from and to floats, many at a time. Every way gives the same bits.
 *
 * Half-size values are little-endian and need no alignment; floats do. Narrowing
 * rounds to nearest, ties to even; what is too large becomes an infinity; a NaN
 * keeps its sign and the upper bits of its payload, and is quiet. Widening is
 * exact and keeps NaNs as they are. */
#pragma once

#include <stddef.h>
#include <stdint.h>

void shd_halves_widen_f16(const void *in, float *out, size_t count);
void shd_halves_widen_bf16(const void *in, float *out, size_t count);
void shd_halves_narrow_f16(const float *in, void *out, size_t count);
void shd_halves_narrow_bf16(const float *in, void *out, size_t count);
