/* format/samediff/encode.h - a graph to FlatBuffers (docs/formats/samediff-legacy.md, Writer's duties).
 *
 * The elements of arrays are not needed for that, and not held: the result is bytes with arrays between them. */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "format/samediff/style.h"

#include <sherd/model_graph.h>

/* What is to be written. Indices of arrays in the graph are below array_count. */
typedef struct shd_samediff_source {
	const sherd_model_graph *graph;
	const sherd_tensor *arrays; /* dtype, shape and bytes of each; names are for messages only */
	size_t array_count;
	const sherd_pair *pairs; /* SDNB only */
	size_t pair_count;
	bool without_updater;
} shd_samediff_source;

/* Bytes, and after them the elements of an array. */
typedef struct shd_samediff_piece {
	const uint8_t *bytes;
	size_t len;
	size_t array;   /* SHERD_NO_ARRAY: none follows */
	uint64_t extra; /* so many bytes of the array follow: all of it */
	bool fortran;   /* the first dimension varies fastest */
	bool swap;      /* elements big-endian; the offsets of texts never are */
} shd_samediff_piece;

/* The whole, from its first byte to its last: one piece after the other. In the style of a container it is one piece
 * without an array; of other styles the last piece has none. */
typedef struct shd_samediff_encoding {
	uint64_t size; /* a multiple of 8, below 2 GiB */
	size_t piece_count;
	const shd_samediff_piece *pieces;
} shd_samediff_encoding;

/* The result lives in the arena. SHERD_EUNSUPPORTED: "cannot-hold", naming what the style has no place for (a type of
 * array, a sub-graph, a sequence, a pair); "too-large" from 2 GiB on. In the style SDNB, arrays that lie outside are
 * those of variables of the outermost graph with SHD_SAMEDIFF_INLINE bytes or more; the caller writes them. */
int shd_samediff_encode(const shd_samediff_source *source, shd_samediff_style style, shd_arena *arena,
                        shd_samediff_encoding *out, sherd_error *err);
