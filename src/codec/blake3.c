#include "codec/blake3.h"

#include <string.h>

enum { BLOCK = 64, CHUNK = 1024, ROUNDS = 7 };

enum { CHUNK_START = 1, CHUNK_END = 2, PARENT = 4, ROOT = 8 };

static const uint32_t initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

/* Which word of the block each step of a round takes: every round permutes those of the one before. */
static const uint8_t schedule[ROUNDS][16] = {
	{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8},
	{3, 4, 10, 12, 13, 2, 7, 14, 6, 5, 9, 0, 11, 15, 8, 1}, {10, 7, 12, 9, 14, 3, 13, 15, 4, 0, 11, 2, 5, 8, 1, 6},
	{12, 13, 9, 11, 15, 10, 14, 8, 7, 2, 5, 3, 0, 1, 6, 4}, {9, 14, 11, 5, 8, 12, 15, 1, 13, 3, 0, 10, 2, 6, 4, 7},
	{11, 15, 5, 0, 1, 9, 8, 6, 14, 10, 2, 12, 3, 4, 7, 13}};

/* The last compression of a chunk or of a pair, not yet done: only then it is known whether it is the root's. */
typedef struct node {
	uint32_t chain[8];
	uint32_t block[16];
	uint64_t counter; /* of the chunk */
	uint32_t len;     /* bytes of the block that are used */
	uint32_t flags;
} node;

static inline uint32_t turn(uint32_t x, int by)
{
	return x >> by | x << (32 - by);
}

static inline __attribute__((always_inline)) void blake3_mix(uint32_t *s, int a, int b, int c, int d, uint32_t x,
                                                             uint32_t y)
{
	s[a] += s[b] + x;
	s[d] = turn(s[d] ^ s[a], 16);
	s[c] += s[d];
	s[b] = turn(s[b] ^ s[c], 12);
	s[a] += s[b] + y;
	s[d] = turn(s[d] ^ s[a], 8);
	s[c] += s[d];
	s[b] = turn(s[b] ^ s[c], 7);
}

static inline __attribute__((always_inline)) void turn_round(uint32_t *s, const uint32_t *m, const uint8_t *w)
{
	blake3_mix(s, 0, 4, 8, 12, m[w[0]], m[w[1]]);
	blake3_mix(s, 1, 5, 9, 13, m[w[2]], m[w[3]]);
	blake3_mix(s, 2, 6, 10, 14, m[w[4]], m[w[5]]);
	blake3_mix(s, 3, 7, 11, 15, m[w[6]], m[w[7]]);
	blake3_mix(s, 0, 5, 10, 15, m[w[8]], m[w[9]]);
	blake3_mix(s, 1, 6, 11, 12, m[w[10]], m[w[11]]);
	blake3_mix(s, 2, 7, 8, 13, m[w[12]], m[w[13]]);
	blake3_mix(s, 3, 4, 9, 14, m[w[14]], m[w[15]]);
}

static void compress(const node *n, uint32_t flags, uint32_t out[8])
{
	uint32_t s[16];
	memcpy(s, n->chain, sizeof(n->chain));
	memcpy(s + 8, initial, 4 * sizeof(*initial));
	s[12] = (uint32_t)n->counter;
	s[13] = (uint32_t)(n->counter >> 32);
	s[14] = n->len;
	s[15] = n->flags | flags;
	/* Written out: with constant indexes the schedule costs nothing. */
	turn_round(s, n->block, schedule[0]);
	turn_round(s, n->block, schedule[1]);
	turn_round(s, n->block, schedule[2]);
	turn_round(s, n->block, schedule[3]);
	turn_round(s, n->block, schedule[4]);
	turn_round(s, n->block, schedule[5]);
	turn_round(s, n->block, schedule[6]);
	for (int i = 0; i < 8; i++)
		out[i] = s[i] ^ s[i + 8];
}

static void load_block(node *n, const uint8_t *p, size_t len)
{
	uint8_t raw[BLOCK] = {0};
	if (len)
		memcpy(raw, p, len);
	for (size_t i = 0; i < 16; i++)
		n->block[i] = (uint32_t)raw[4 * i] | (uint32_t)raw[4 * i + 1] << 8 | (uint32_t)raw[4 * i + 2] << 16 |
		              (uint32_t)raw[4 * i + 3] << 24;
	n->len = (uint32_t)len;
}

/* A chunk up to its last block, which stays in *n. */
static void begin_chunk(node *n, const uint8_t *p, size_t len, uint64_t counter)
{
	memcpy(n->chain, initial, sizeof(initial));
	n->counter = counter;
	n->flags = CHUNK_START;
	for (; len > BLOCK; p += BLOCK, len -= BLOCK) {
		load_block(n, p, BLOCK);
		compress(n, 0, n->chain);
		n->flags = 0;
	}
	load_block(n, p, len);
	n->flags |= CHUNK_END;
}

static void begin_parent(node *n, const uint32_t left[8], const uint32_t right[8])
{
	memcpy(n->chain, initial, sizeof(initial));
	memcpy(n->block, left, 8 * sizeof(*left));
	memcpy(n->block + 8, right, 8 * sizeof(*right));
	n->counter = 0;
	n->len = BLOCK;
	n->flags = PARENT;
}

void shd_blake3_of(const void *data, size_t len, uint8_t out[SHD_BLAKE3_BYTES])
{
	/* Whole subtrees to the left of the chunk at hand, largest first: one for each 1 in the number of chunks. */
	uint32_t stack[54][8], chain[8];
	const uint8_t *p = data;
	size_t depth = 0;
	uint64_t chunk = 0;
	node n;
	for (; len > CHUNK; p += CHUNK, len -= CHUNK) {
		begin_chunk(&n, p, CHUNK, chunk++);
		compress(&n, 0, chain);
		for (uint64_t done = chunk; !(done & 1); done >>= 1) {
			begin_parent(&n, stack[--depth], chain);
			compress(&n, 0, chain);
		}
		memcpy(stack[depth++], chain, sizeof(chain));
	}
	begin_chunk(&n, p, len, chunk);
	while (depth) {
		compress(&n, 0, chain);
		begin_parent(&n, stack[--depth], chain);
	}
	compress(&n, ROOT, chain);
	for (size_t i = 0; i < 8; i++)
		for (size_t b = 0; b < 4; b++)
			out[4 * i + b] = (uint8_t)(chain[i] >> (8 * b));
}
