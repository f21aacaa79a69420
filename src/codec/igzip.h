/* codec/igzip.h - raw deflate at its fastest, by ISA-L. */
#pragma once

#include <stddef.h>

typedef struct shd_igzip shd_igzip;

/* NULL when memory is out. Serves one thread at a time. */
shd_igzip *shd_igzip_open(void);
void shd_igzip_close(shd_igzip *z); /* NULL is fine */
/* Compresses a whole piece; 0 when the result does not fit. Neither length is above SHD_DEFLATE_MOST. */
size_t shd_igzip_pack(shd_igzip *z, const void *in, size_t len, void *out, size_t room);
/* The same of parts of part bytes each, the last one as long as it is: those whose bytes look like noise are only
 * copied into the stream, which is much faster and hardly longer. */
size_t shd_igzip_pack_parts(shd_igzip *z, const void *in, size_t len, size_t part, void *out, size_t room);
/* A piece of a stream that goes on: never 0, where there is room for len + len / 256 + 64 bytes. */
size_t shd_igzip_pack_piece(shd_igzip *z, const void *in, size_t len, void *out, size_t room);
