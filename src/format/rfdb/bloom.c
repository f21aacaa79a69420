#include "format/rfdb/bloom.h"

#include <inttypes.h>

/* Probes are (h1 + i * h2 mod 2^64) mod bits. They are found by adding remainders, since dividing seven times for each
 * id would cost more than all else that is done with it. */
typedef struct walk {
	uint64_t sum, step;    /* of 64 bits, for the carry */
	uint64_t at, by, wrap; /* remainders: of sum, of step, of 2^64 */
	uint64_t bits;
} walk;

static inline walk walk_of(shd_u128 id, uint64_t bits, uint64_t wrap)
{
	walk w = {.sum = (uint64_t)id, .step = (uint64_t)(id >> 64) | 1, .wrap = wrap, .bits = bits};
	w.at = w.sum % bits;
	w.by = w.step % bits;
	return w;
}

static inline void walk_on(walk *w)
{
	uint64_t next = w->at + w->by; /* below 2^63: bits is bounded by the bytes there are */
	if (next >= w->bits)
		next -= w->bits;
	if (__builtin_add_overflow(w->sum, w->step, &w->sum))
		next = next >= w->wrap ? next - w->wrap : next + w->bits - w->wrap;
	w->at = next;
}

static uint64_t wrap_of(uint64_t bits)
{
	return (UINT64_MAX % bits + 1) % bits;
}

int shd_rfdb_bloom_decode(shd_cursor *c, shd_rfdb_bloom *out, sherd_error *err)
{
	shd_rfdb_bloom b;
	size_t at = c->pos;
	b.bits = shd_cursor_u64(c);
	b.probes = shd_cursor_u32(c);
	(void)shd_cursor_u32(c);
	if (!c->failed && (!b.bits || b.bits % 64 || !b.probes || b.probes > 64))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-index", at,
		                   "a Bloom filter of %" PRIu64 " bits and %" PRIu32 " probes", b.bits, b.probes);
	b.words = shd_cursor_bytes(c, b.bits / 8);
	TRY(shd_cursor_check(c, "the Bloom filter", err));
	b.wrap = wrap_of(b.bits);
	*out = b;
	return SHERD_OK;
}

static inline unsigned bit_at(const shd_rfdb_bloom *bloom, uint64_t at)
{
	return (unsigned)bloom->words[at / 8] >> at % 8 & 1u;
}

/* The first probes without a branch on each: whether a bit is set is a coin toss, and guessing it wrong costs the
 * processor more than to look at the next one. */
bool shd_rfdb_bloom_has(const shd_rfdb_bloom *bloom, shd_u128 id)
{
	walk w = walk_of(id, bloom->bits, bloom->wrap);
	unsigned set = bit_at(bloom, w.at);
	uint32_t blind = bloom->probes < 4 ? bloom->probes : 4, i;
	for (i = 1; i < blind; i++) {
		walk_on(&w);
		set &= bit_at(bloom, w.at);
	}
	if (!set)
		return false;
	for (; i < bloom->probes; i++) {
		walk_on(&w);
		if (!(bloom->words[w.at / 8] & 1u << w.at % 8))
			return false;
	}
	return true;
}

static uint64_t bits_of(uint64_t rows)
{
	uint64_t bits = rows * 10 > 64 ? rows * 10 : 64;
	return (bits + 63) / 64 * 64;
}

uint64_t shd_rfdb_bloom_size(uint64_t rows)
{
	return SHD_RFDB_BLOOM_HEAD + bits_of(rows) / 8;
}

void shd_rfdb_bloom_encode(const uint8_t *ids, uint64_t rows, uint8_t *out)
{
	uint64_t bits = bits_of(rows), wrap = wrap_of(bits);
	uint8_t *words = out + SHD_RFDB_BLOOM_HEAD;
	shd_put_u64(out, bits);
	shd_put_u32(out + 8, SHD_RFDB_BLOOM_PROBES);
	shd_put_u32(out + 12, 0);
	memset(words, 0, bits / 8);
	for (uint64_t r = 0; r < rows; r++) {
		/* Edges of one source stand together. */
		if (r && memcmp(ids + 16 * r, ids + 16 * r - 16, 16) == 0)
			continue;
		walk w = walk_of(shd_get_u128(ids + 16 * r), bits, wrap);
		for (int i = 0;; walk_on(&w)) {
			words[w.at / 8] |= (uint8_t)(1u << w.at % 8);
			if (++i == SHD_RFDB_BLOOM_PROBES)
				break;
		}
	}
}
