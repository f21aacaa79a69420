#include "codec/blake3_lanes.h"

#include <string.h>

/* Each width has its own names. */
#define LANES_JOIN(name, lanes) name##_##lanes
#define LANES_JOINED(name, lanes) LANES_JOIN(name, lanes)
#define LANES_NAME(name) LANES_JOINED(name, LANES)

/* Vectors stay in registers only where no index is a variable. */
#ifdef __clang__
#define LANES_UNROLL _Pragma("unroll")
#else
#define LANES_UNROLL _Pragma("GCC unroll 16")
#endif

/* What every processor of the kind has: SSE2, NEON. */
#define LANES 4
#define LANES_TARGET
#define LANES_LOW 0, 4, 1, 5
#define LANES_HIGH 2, 6, 3, 7
#include "codec/blake3_vector.h"

#ifdef __x86_64__

#define LANES 8
#define LANES_TARGET __attribute__((target("avx2")))
#define LANES_LOW 0, 8, 1, 9, 2, 10, 3, 11
#define LANES_HIGH 4, 12, 5, 13, 6, 14, 7, 15
#include "codec/blake3_vector.h"

#define LANES 16
#define LANES_TARGET __attribute__((target("avx512f")))
#define LANES_LOW 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define LANES_HIGH 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#include "codec/blake3_vector.h"

#endif

const shd_blake3_width *shd_blake3_width_at(size_t index)
{
	static const shd_blake3_width widths[] = {
#ifdef __x86_64__
		{"AVX-512", 16, blake3_hash_16},
		{"AVX2", 8, blake3_hash_8},
#endif
		{"128 bits", 4, blake3_hash_4},
	};
	const size_t count = sizeof(widths) / sizeof(*widths);
#ifdef __x86_64__
	index += __builtin_cpu_supports("avx512f") ? 0 : __builtin_cpu_supports("avx2") ? 1 : 2;
#endif
	return index < count ? &widths[index] : NULL;
}
