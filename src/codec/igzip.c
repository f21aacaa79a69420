#include "codec/igzip.h"

#include "codec/igzip_lib.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
	MOST_STORED = 65535, /* bytes of one block that is not compressed */
	STORED_HEAD = 5,
	PIECES = 8, /* of a part that are looked at, */
	PIECE = 4096
};

struct shd_igzip {
	struct isal_zstream stream;
	uint8_t work[ISAL_DEF_LVL1_DEFAULT];
};

shd_igzip *shd_igzip_open(void)
{
	return malloc(sizeof(shd_igzip));
}

void shd_igzip_close(shd_igzip *z)
{
	free(z);
}

/* last: the stream ends here; else its blocks end at a byte. */
static size_t igzip_pack(shd_igzip *z, const uint8_t *in, size_t len, bool last, uint8_t *out, size_t room)
{
	struct isal_zstream *s = &z->stream;
	isal_deflate_stateless_init(s);
	s->level = 1;
	s->level_buf = z->work;
	s->level_buf_size = sizeof(z->work);
	s->end_of_stream = last;
	s->flush = last ? NO_FLUSH : FULL_FLUSH;
	s->next_in = (uint8_t *)(uintptr_t)in; /* ISA-L does not write through it */
	s->avail_in = (uint32_t)len;
	s->next_out = out;
	s->avail_out = (uint32_t)room;
	return isal_deflate_stateless(s) == COMP_OK ? s->total_out : 0;
}

size_t shd_igzip_pack(shd_igzip *z, const void *in, size_t len, void *out, size_t room)
{
	return igzip_pack(z, in, len, true, out, room);
}

/* Are the bytes spread so evenly that codes of different lengths gain less than some percent? */
static bool is_noise(const uint8_t *in, size_t len)
{
	uint32_t seen[256] = {0};
	uint64_t squares = 0, n = (uint64_t)PIECES * PIECE;
	if (len < n)
		return false;
	for (size_t p = 0; p < PIECES; p++)
		for (size_t i = 0, at = (len - PIECE) / (PIECES - 1) * p; i < PIECE; i++)
			seen[in[at + i]]++;
	for (size_t i = 0; i < 256; i++)
		squares += (uint64_t)seen[i] * seen[i];
	/* An even spread gives n^2 / 256 + n, about. */
	return 256 * squares < n * n + 512 * n;
}

static size_t igzip_copy(const uint8_t *in, size_t len, bool last, uint8_t *out, size_t room)
{
	size_t made = 0;
	for (size_t at = 0, n; at < len; at += n) {
		n = len - at < MOST_STORED ? len - at : MOST_STORED;
		if (room - made < n + STORED_HEAD)
			return 0;
		uint8_t *head = out + made;
		head[0] = last && at + n == len;
		head[1] = (uint8_t)n;
		head[2] = (uint8_t)(n >> 8);
		head[3] = (uint8_t)~head[1];
		head[4] = (uint8_t)~head[2];
		memcpy(head + STORED_HEAD, in + at, n);
		made += STORED_HEAD + n;
	}
	return made;
}

static size_t igzip_pack_part(shd_igzip *z, const uint8_t *in, size_t len, bool last, uint8_t *out, size_t room)
{
	return is_noise(in, len) ? igzip_copy(in, len, last, out, room) : igzip_pack(z, in, len, last, out, room);
}

size_t shd_igzip_pack_piece(shd_igzip *z, const void *in, size_t len, void *out, size_t room)
{
	size_t made = igzip_pack_part(z, in, len, false, out, room);
	return made ? made : igzip_copy(in, len, false, out, room);
}

size_t shd_igzip_pack_parts(shd_igzip *z, const void *in, size_t len, size_t part, void *out, size_t room)
{
	const uint8_t *from = in;
	uint8_t *to = out;
	size_t made = 0;
	for (size_t at = 0, n; at < len; at += n) {
		n = len - at < part ? len - at : part;
		bool last = at + n == len;
		size_t more = igzip_pack_part(z, from + at, n, last, to + made, room - made);
		if (!more)
			return 0;
		made += more;
	}
	return made;
}
