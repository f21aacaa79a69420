/* codec/inflate.h - raw deflate streams (RFC 1951) of any length, piece by piece, by ISA-L.
 *
 * A stream keeps the history that it looks back into, so that neither input nor output of earlier calls is needed any
 * more, and a copy of it goes on from the same place: that is what makes a long stream readable in the middle. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct shd_inflate shd_inflate;

/* About what one takes. */
#define SHD_INFLATE_BYTES (128u << 10)

int shd_inflate_open(shd_inflate **out, sherd_error *err);
int shd_inflate_copy(shd_inflate **out, const shd_inflate *from, sherd_error *err);
void shd_inflate_close(shd_inflate *z); /* NULL is fine */

/* Input that is not yet used, and room that is not yet filled. A call moves both on, by at most 2 GiB. */
typedef struct shd_inflate_io {
	const uint8_t *in;
	size_t in_len;
	uint8_t *out;
	size_t out_len;
} shd_inflate_io;

/* Goes on until input or room is used up, or the stream ends. SHERD_ECORRUPT, "bad-deflate". */
int shd_inflate_run(shd_inflate *z, shd_inflate_io *io, sherd_error *err);
/* The last byte of output was handed out. */
bool shd_inflate_ended(const shd_inflate *z);
/* Bytes of input that were taken and do not belong to the stream, once it has ended. */
size_t shd_inflate_unused(const shd_inflate *z);
