/* format/tensor/npy.h - the head of a NumPy array file (docs/formats/npy.md).
 *
 *	0      6   93 'N' 'U' 'M' 'P' 'Y'
 *	6      2   version: 1.0, 2.0 or 3.0
 *	8      2   length of the text, little-endian (4 bytes from version 2.0 on)
 *	10     n   text: a Python dictionary with descr, fortran_order and shape
 *	10+n       data, to the end of the file
 */
#pragma once

#include "base/buf.h"

#include <sherd/limits.h>
#include <sherd/tensor.h>

#define SHD_NPY_MAGIC "\x93NUMPY"
#define SHD_NPY_MAGIC_BYTES 6
#define SHD_NPY_FIRST 12 /* bytes that tell how long the head is */

typedef struct shd_npy {
	sherd_dtype dtype;
	uint32_t ndim;
	uint64_t shape[SHERD_MAX_DIMS];
	uint64_t bytes; /* of data */
	uint64_t data;  /* where it begins in the file */
	bool swap;      /* data is big-endian: each element (each half of a C64) must be byte-swapped */
	bool fortran;   /* the first dimension is the one that varies fastest; only with two dimensions or more */
	uint8_t version;
} shd_npy;

/* Takes the first bytes of a file of file_size bytes (as many as there are, up to SHD_NPY_FIRST) and tells how many
 * bytes the whole head takes. */
int shd_npy_decode_length(const void *raw, size_t len, uint64_t file_size, uint64_t *head_len, sherd_error *err);

/* Decodes the whole head, from the file's first byte on. An element type we do not have, structured types and objects
 * among them, is SHERD_EUNSUPPORTED, "bad-dtype". */
int shd_npy_decode(const void *head, size_t len, uint64_t file_size, const sherd_limits *limits, shd_npy *out,
                   sherd_error *err);

/* Appends the head for a tensor, version 1.0, byte for byte as NumPy writes it; its data follows. (32 dimensions never
 * need the longer text of version 2.0.) SHERD_EUNSUPPORTED, "cannot-hold", for a type that NumPy has no name for. */
int shd_npy_encode(const sherd_tensor *tensor, shd_buf *out, sherd_error *err);
