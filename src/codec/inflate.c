#include "codec/inflate.h"

#include "codec/igzip_lib.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define MOST (1u << 30) /* of one call: the library counts in 32 bits */

struct shd_inflate {
	struct inflate_state state;
};

static_assert(sizeof(shd_inflate) <= SHD_INFLATE_BYTES, "the memory that is promised");

int shd_inflate_open(shd_inflate **out, sherd_error *err)
{
	shd_inflate *z = calloc(1, sizeof(*z));
	if (!z)
		return shd_fail_nomem(err);
	isal_inflate_init(&z->state);
	*out = z;
	return SHERD_OK;
}

int shd_inflate_copy(shd_inflate **out, const shd_inflate *from, sherd_error *err)
{
	shd_inflate *z = malloc(sizeof(*z));
	if (!z)
		return shd_fail_nomem(err);
	memcpy(z, from, sizeof(*z));
	*out = z;
	return SHERD_OK;
}

void shd_inflate_close(shd_inflate *z)
{
	free(z);
}

int shd_inflate_run(shd_inflate *z, shd_inflate_io *io, sherd_error *err)
{
	struct inflate_state *s = &z->state;
	uint32_t in = io->in_len < MOST ? (uint32_t)io->in_len : MOST;
	uint32_t out = io->out_len < MOST ? (uint32_t)io->out_len : MOST;
	s->next_in = (uint8_t *)io->in; /* only read */
	s->avail_in = in;
	s->next_out = io->out;
	s->avail_out = out;
	int rc = isal_inflate(s);
	if (rc < 0)
		return shd_fail(err, SHERD_ECORRUPT, "bad-deflate", "%s",
		                rc == ISAL_INVALID_LOOKBACK ? "the compressed data refers to what is not there"
		                                            : "the compressed data is damaged");
	io->in += in - s->avail_in;
	io->in_len -= in - s->avail_in;
	io->out += out - s->avail_out;
	io->out_len -= out - s->avail_out;
	return SHERD_OK;
}

bool shd_inflate_ended(const shd_inflate *z)
{
	return z->state.block_state == ISAL_BLOCK_FINISH;
}

size_t shd_inflate_unused(const shd_inflate *z)
{
	return z->state.read_in_length > 0 ? (size_t)z->state.read_in_length / 8 : 0;
}
