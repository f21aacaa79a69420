#include "codec/sha1.h"

#include <string.h>

enum { BLOCK = 64, LENGTH_AT = 56 };

void shd_sha1_init(shd_sha1 *h)
{
	static const uint32_t start[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
	memcpy(h->state, start, sizeof(start));
	h->len = 0;
}

static uint32_t turn(uint32_t v, int bits)
{
	return v << bits | v >> (32 - bits);
}

static void spread_block(const uint8_t *p, uint32_t w[80])
{
	for (size_t i = 0; i < 16; i++)
		w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 | (uint32_t)p[4 * i + 2] << 8 |
		       p[4 * i + 3];
	for (size_t i = 16; i < 80; i++)
		w[i] = turn(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
}

static void add_block(uint32_t state[5], const uint8_t *p)
{
	static const uint32_t constants[4] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
	uint32_t w[80], a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
	spread_block(p, w);
	for (size_t i = 0; i < 80; i++) {
		uint32_t mixed = i < 20              ? (b & c) | (~b & d)
		                 : i >= 40 && i < 60 ? (b & c) | (b & d) | (c & d)
		                                     : b ^ c ^ d;
		uint32_t next = turn(a, 5) + mixed + e + constants[i / 20] + w[i];
		e = d;
		d = c;
		c = turn(b, 30);
		b = a;
		a = next;
	}
	state[0] += a;
	state[1] += b;
	state[2] += c;
	state[3] += d;
	state[4] += e;
}

void shd_sha1_add(shd_sha1 *h, const void *data, size_t len)
{
	const uint8_t *p = data;
	size_t used = (size_t)(h->len % BLOCK);
	h->len += len;
	if (used + len >= BLOCK && used) {
		memcpy(h->rest + used, p, BLOCK - used);
		add_block(h->state, h->rest);
		p += BLOCK - used;
		len -= BLOCK - used;
		used = 0;
	}
	for (; len >= BLOCK; p += BLOCK, len -= BLOCK)
		add_block(h->state, p);
	if (len)
		memcpy(h->rest + used, p, len);
}

void shd_sha1_finish(shd_sha1 *h, uint8_t out[SHD_SHA1_BYTES])
{
	static const uint8_t padding[BLOCK] = {0x80};
	uint64_t bits = h->len * 8;
	size_t used = (size_t)(h->len % BLOCK);
	uint8_t length[8];
	for (int i = 0; i < 8; i++)
		length[i] = (uint8_t)(bits >> (56 - 8 * i));
	shd_sha1_add(h, padding, used < LENGTH_AT ? LENGTH_AT - used : BLOCK + LENGTH_AT - used);
	shd_sha1_add(h, length, sizeof(length));
	for (size_t i = 0; i < SHD_SHA1_BYTES; i++)
		out[i] = (uint8_t)(h->state[i / 4] >> (24 - 8 * (i % 4)));
}
