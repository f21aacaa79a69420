#include "codec/inflate.h"

#include "codec/igzip_lib.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define MOST (1u << 30) /* of one call: the library counts in 32 bits */

struct sherd_inflate {
	struct inflate_state state;
};

static_assert(sizeof(sherd_inflate) <= SHERD_INFLATE_BYTES, "the memory that is promised");

int sherd_inflate_open(sherd_inflate **out, sherd_error *err)
{
	sherd_inflate *z = calloc(1, sizeof(*z));
	if (!z)
		return sherd_fail_nomem(err);
	isal_inflate_init(&z->state);
	*out = z;
	return SHERD_OK;
}

int sherd_inflate_copy(sherd_inflate **out, const sherd_inflate *from, sherd_error *err)
{
	sherd_inflate *z = malloc(sizeof(*z));
	if (!z)
		return sherd_fail_nomem(err);
	memcpy(z, from, sizeof(*z));
	*out = z;
	return SHERD_OK;
}

void sherd_inflate_close(sherd_inflate *z)
{
	free(z);
}

int sherd_inflate_run(sherd_inflate *z, sherd_inflate_io *io, sherd_error *err)
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
		return sherd_fail(err, SHERD_ECORRUPT, "bad-deflate", "%s",
		                  rc == ISAL_INVALID_LOOKBACK ? "the compressed data refers to what is not there"
		                                              : "the compressed data is damaged");
	io->in += in - s->avail_in;
	io->in_len -= in - s->avail_in;
	io->out += out - s->avail_out;
	io->out_len -= out - s->avail_out;
	return SHERD_OK;
}

bool sherd_inflate_ended(const sherd_inflate *z)
{
	return z->state.block_state == ISAL_BLOCK_FINISH;
}

size_t sherd_inflate_unused(const sherd_inflate *z)
{
	return z->state.read_in_length > 0 ? (size_t)z->state.read_in_length / 8 : 0;
}
