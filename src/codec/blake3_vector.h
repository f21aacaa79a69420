/* codec/blake3_vector.h - BLAKE3 in LANES lanes; included once for each width, with
 *   LANES         4, 8 or 16
 *   LANES_TARGET  the attribute that lets a function use the instructions
 *   LANES_LOW     indexes that take the lower halves of two vectors in turns
 *   LANES_HIGH    and the upper halves */

#define V LANES_NAME(blake3_vector)
#define LANES_INLINE LANES_TARGET __attribute__((always_inline))

typedef uint32_t V __attribute__((vector_size(4 * LANES)));

LANES_INLINE static inline V LANES_NAME(blake3_rotate)(V x, int by)
{
	return x >> by | x << (32 - by);
}

LANES_INLINE static inline void LANES_NAME(blake3_mix)(V *s, int a, int b, int c, int d, V x, V y)
{
	s[a] += s[b] + x;
	s[d] = LANES_NAME(blake3_rotate)(s[d] ^ s[a], 16);
	s[c] += s[d];
	s[b] = LANES_NAME(blake3_rotate)(s[b] ^ s[c], 12);
	s[a] += s[b] + y;
	s[d] = LANES_NAME(blake3_rotate)(s[d] ^ s[a], 8);
	s[c] += s[d];
	s[b] = LANES_NAME(blake3_rotate)(s[b] ^ s[c], 7);
}

LANES_INLINE static inline void LANES_NAME(blake3_round)(V *s, const V *m, const uint8_t *w)
{
	LANES_NAME(blake3_mix)(s, 0, 4, 8, 12, m[w[0]], m[w[1]]);
	LANES_NAME(blake3_mix)(s, 1, 5, 9, 13, m[w[2]], m[w[3]]);
	LANES_NAME(blake3_mix)(s, 2, 6, 10, 14, m[w[4]], m[w[5]]);
	LANES_NAME(blake3_mix)(s, 3, 7, 11, 15, m[w[6]], m[w[7]]);
	LANES_NAME(blake3_mix)(s, 0, 5, 10, 15, m[w[8]], m[w[9]]);
	LANES_NAME(blake3_mix)(s, 1, 6, 11, 12, m[w[10]], m[w[11]]);
	LANES_NAME(blake3_mix)(s, 2, 7, 8, 13, m[w[12]], m[w[13]]);
	LANES_NAME(blake3_mix)(s, 3, 4, 9, 14, m[w[14]], m[w[15]]);
}

/* Makes LANES rows of as many words columns: log2(LANES) times, rows of the two halves are interleaved. */
LANES_INLINE static inline void LANES_NAME(blake3_transpose)(V *rows)
{
	LANES_UNROLL
	for (int step = 1; step < LANES; step *= 2) {
		V next[LANES];
		LANES_UNROLL
		for (size_t i = 0; i < LANES / 2; i++) {
			next[2 * i] = __builtin_shufflevector(rows[i], rows[i + LANES / 2], LANES_LOW);
			next[2 * i + 1] = __builtin_shufflevector(rows[i], rows[i + LANES / 2], LANES_HIGH);
		}
		LANES_UNROLL
		for (int i = 0; i < LANES; i++)
			rows[i] = next[i];
	}
}

/* Word i of the block of every lane, for all 16. */
LANES_INLINE static inline void LANES_NAME(blake3_load)(V *m, const uint8_t *block, size_t stride)
{
	LANES_UNROLL
	for (int from = 0; from < 16; from += LANES) {
		LANES_UNROLL
		for (int lane = 0; lane < LANES; lane++)
			memcpy(&m[from + lane], block + (size_t)lane * stride + 4 * (size_t)from, sizeof(V));
		LANES_NAME(blake3_transpose)(m + from);
	}
}

LANES_TARGET static void LANES_NAME(blake3_hash)(const shd_blake3_inputs *in, uint32_t (*chains)[8])
{
	const size_t stride = in->blocks * SHD_BLAKE3_BLOCK;
	V chain[8], low, high;
	for (int i = 0; i < 8; i++)
		chain[i] = (V){0} + shd_blake3_initial[i];
	for (int lane = 0; lane < LANES; lane++) {
		const uint64_t counter = in->counter + (uint64_t)lane * in->step;
		low[lane] = (uint32_t)counter;
		high[lane] = (uint32_t)(counter >> 32);
	}
	for (size_t b = 0; b < in->blocks; b++) {
		const uint32_t flags =
			in->flags | (b == 0 ? in->first_flags : 0) | (b == in->blocks - 1 ? in->last_flags : 0);
		V m[16], s[16];
		LANES_NAME(blake3_load)(m, in->data + b * SHD_BLAKE3_BLOCK, stride);
		for (int i = 0; i < 8; i++)
			s[i] = chain[i];
		for (int i = 0; i < 4; i++)
			s[8 + i] = (V){0} + shd_blake3_initial[i];
		s[12] = low;
		s[13] = high;
		s[14] = (V){0} + SHD_BLAKE3_BLOCK;
		s[15] = (V){0} + flags;
		/* Written out: with constant indexes the schedule costs nothing. */
		LANES_NAME(blake3_round)(s, m, shd_blake3_schedule[0]);
		LANES_NAME(blake3_round)(s, m, shd_blake3_schedule[1]);
		LANES_NAME(blake3_round)(s, m, shd_blake3_schedule[2]);
		LANES_NAME(blake3_round)(s, m, shd_blake3_schedule[3]);
		LANES_NAME(blake3_round)(s, m, shd_blake3_schedule[4]);
		LANES_NAME(blake3_round)(s, m, shd_blake3_schedule[5]);
		LANES_NAME(blake3_round)(s, m, shd_blake3_schedule[6]);
		for (int i = 0; i < 8; i++)
			chain[i] = s[i] ^ s[i + 8];
	}
	for (int lane = 0; lane < LANES; lane++)
		for (int i = 0; i < 8; i++)
			chains[lane][i] = chain[i][lane];
}

#undef V
#undef LANES_INLINE
#undef LANES
#undef LANES_TARGET
#undef LANES_LOW
#undef LANES_HIGH
