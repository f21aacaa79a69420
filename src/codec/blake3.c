#include "codec/blake3.h"

#include "codec/blake3_lanes.h"

#include <string.h>

enum { BLOCK = SHD_BLAKE3_BLOCK, CHUNK = 1024 };

enum { CHUNK_START = 1, CHUNK_END = 2, PARENT = 4, ROOT = 8 };

/* Chunks whose chains are made together, and lie on the stack. */
enum { GROUP_CHUNKS = 128 };

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
	memcpy(s + 8, shd_blake3_initial, 4 * sizeof(*shd_blake3_initial));
	s[12] = (uint32_t)n->counter;
	s[13] = (uint32_t)(n->counter >> 32);
	s[14] = n->len;
	s[15] = n->flags | flags;
	/* Written out: with constant indexes the schedule costs nothing. */
	turn_round(s, n->block, shd_blake3_schedule[0]);
	turn_round(s, n->block, shd_blake3_schedule[1]);
	turn_round(s, n->block, shd_blake3_schedule[2]);
	turn_round(s, n->block, shd_blake3_schedule[3]);
	turn_round(s, n->block, shd_blake3_schedule[4]);
	turn_round(s, n->block, shd_blake3_schedule[5]);
	turn_round(s, n->block, shd_blake3_schedule[6]);
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
	memcpy(n->chain, shd_blake3_initial, sizeof(shd_blake3_initial));
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
	memcpy(n->chain, shd_blake3_initial, sizeof(shd_blake3_initial));
	memcpy(n->block, left, 8 * sizeof(*left));
	memcpy(n->block + 8, right, 8 * sizeof(*right));
	n->counter = 0;
	n->len = BLOCK;
	n->flags = PARENT;
}

/* Chains of inputs of whole blocks, none of them the root's, by widths from `widest` on. */
static void blake3_chains(shd_blake3_inputs in, size_t count, size_t widest, uint32_t (*chains)[8])
{
	const size_t stride = in.blocks * BLOCK;
	const shd_blake3_width *width;
	for (; (width = shd_blake3_width_at(widest)); widest++)
		for (; count >= width->lanes; count -= width->lanes, chains += width->lanes) {
			width->hash(&in, chains);
			in.data += width->lanes * stride;
			in.counter += (uint64_t)width->lanes * in.step;
		}
	for (; count; count--, chains++, in.data += stride, in.counter += in.step) {
		node n = {.counter = in.counter, .flags = in.flags | in.first_flags};
		memcpy(n.chain, shd_blake3_initial, sizeof(n.chain));
		for (size_t b = 0; b < in.blocks; b++, n.flags = in.flags) {
			load_block(&n, in.data + b * BLOCK, BLOCK);
			compress(&n, b == in.blocks - 1 ? in.last_flags : 0, n.chain);
		}
		memcpy(*chains, n.chain, sizeof(n.chain));
	}
}

/* Joins neighbours until no more than two are left; who has none goes up alone. */
static size_t join_chains(uint32_t (*chains)[8], size_t count, size_t widest)
{
	while (count > 2) {
		uint32_t pairs[GROUP_CHUNKS][8];
		memcpy(pairs, chains, count * sizeof(*chains));
		blake3_chains((shd_blake3_inputs){.data = (const uint8_t *)pairs, .blocks = 1, .flags = PARENT},
		              count / 2, widest, chains);
		if (count % 2)
			memcpy(chains[count / 2], pairs[count - 1], sizeof(*chains));
		count = (count + 1) / 2;
	}
	return count;
}

/* The last compression of up to GROUP_CHUNKS chunks. */
static void begin_group(node *n, const uint8_t *p, size_t len, uint64_t chunk, size_t widest)
{
	uint32_t chains[GROUP_CHUNKS][8];
	size_t whole = len / CHUNK, rest = len % CHUNK;
	if (whole + (rest != 0) < 2) {
		begin_chunk(n, p, len, chunk);
		return;
	}
	blake3_chains((shd_blake3_inputs){.data = p,
	                                  .blocks = CHUNK / BLOCK,
	                                  .counter = chunk,
	                                  .step = 1,
	                                  .first_flags = CHUNK_START,
	                                  .last_flags = CHUNK_END},
	              whole, widest, chains);
	if (rest) {
		begin_chunk(n, p + whole * CHUNK, rest, chunk + whole);
		compress(n, 0, chains[whole++]);
	}
	join_chains(chains, whole, widest);
	begin_parent(n, chains[0], chains[1]);
}

/* The last compression of all of it. `from` is where it begins in the whole input: a multiple of a power of two of
 * chunks that is no smaller than len. */
static void begin_tree(node *n, const uint8_t *p, size_t len, uint64_t from, size_t widest)
{
	/* Whole subtrees to the left of the group at hand, largest first: one for each 1 in the number of groups. */
	const size_t group = (size_t)GROUP_CHUNKS * CHUNK;
	uint32_t stack[54][8], chain[8];
	size_t depth = 0;
	for (uint64_t groups = 1; len > group; p += group, len -= group, from += group, groups++) {
		begin_group(n, p, group, from / CHUNK, widest);
		compress(n, 0, chain);
		for (uint64_t done = groups; !(done & 1); done >>= 1) {
			begin_parent(n, stack[--depth], chain);
			compress(n, 0, chain);
		}
		memcpy(stack[depth++], chain, sizeof(chain));
	}
	begin_group(n, p, len, from / CHUNK, widest);
	while (depth) {
		compress(n, 0, chain);
		begin_parent(n, stack[--depth], chain);
	}
}

static void end_node(const node *n, uint32_t flags, uint8_t out[SHD_BLAKE3_BYTES])
{
	uint32_t chain[8];
	compress(n, flags, chain);
	memcpy(out, chain, SHD_BLAKE3_BYTES);
}

void shd_blake3_by(size_t widest, const void *data, size_t len, uint8_t out[SHD_BLAKE3_BYTES])
{
	node n;
	begin_tree(&n, data, len, 0, widest);
	end_node(&n, ROOT, out);
}

void shd_blake3_of(const void *data, size_t len, uint8_t out[SHD_BLAKE3_BYTES])
{
	shd_blake3_by(0, data, len, out);
}

void shd_blake3_part(const void *data, size_t len, uint64_t from, uint8_t out[SHD_BLAKE3_BYTES])
{
	node n;
	begin_tree(&n, data, len, from, 0);
	end_node(&n, 0, out);
}

void shd_blake3_root(const uint8_t (*parts)[SHD_BLAKE3_BYTES], size_t count, uint8_t out[SHD_BLAKE3_BYTES])
{
	uint32_t stack[54][8], chain[8];
	size_t depth = 0;
	node n;
	for (size_t i = 0; i + 1 < count; i++) {
		memcpy(chain, parts[i], sizeof(chain));
		for (size_t done = i + 1; !(done & 1); done >>= 1) {
			begin_parent(&n, stack[--depth], chain);
			compress(&n, 0, chain);
		}
		memcpy(stack[depth++], chain, sizeof(chain));
	}
	memcpy(chain, parts[count - 1], sizeof(chain));
	while (depth) {
		begin_parent(&n, stack[--depth], chain);
		if (depth)
			compress(&n, 0, chain);
	}
	end_node(&n, ROOT, out);
}
