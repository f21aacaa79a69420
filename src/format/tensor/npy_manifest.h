/* format/tensor/npy_manifest.h - the JSON that makes a folder of NumPy files a set (docs/formats/npy.md, "Folders").
 *
 * npy.manifest.json names each array, its file and the file's checksum; npy.saving stands there while a set is being
 * written. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"

#include <sherd/limits.h>
#include <sherd/tensor.h>

#define SHD_NPY_MANIFEST "npy.manifest.json"
#define SHD_NPY_SAVING "npy.saving"
#define SHD_NPY_SUFFIX ".npy"

typedef struct shd_npy_entry {
	const char *name; /* of the array, any text */
	const char *file; /* a plain name that ends in .npy */
	uint64_t bytes;   /* of the file */
	uint32_t crc32;   /* of the file */
} shd_npy_entry;

/* Everything in it belongs to the arena it was decoded into. */
typedef struct shd_npy_manifest {
	size_t count;
	const shd_npy_entry *arrays;
	size_t pair_count;
	const sherd_pair *pairs;
} shd_npy_manifest;

/* Reasons beside those of JSON: "bad-seal", "unknown-format", "bad-version" (SHERD_EVERSION), "bad-path", "bad-name",
 * "bad-text", "duplicate-name" (of files), "missing-key", "too-many-shards". */
int shd_npy_manifest_decode(const void *data, size_t len, const sherd_limits *limits, shd_arena *arena,
                            shd_npy_manifest *out, sherd_error *err);
/* Writes the sealed document into an empty buffer. SHERD_EINVAL, "bad-utf8", names a text that JSON cannot hold. */
int shd_npy_manifest_encode(const shd_npy_manifest *manifest, shd_buf *out, sherd_error *err);

/* Appends the name of a file for an array: bytes other than letters, digits, '_', '-' and '.' (and a leading '.')
 * become %XX; what is longer than a file's name may be is cut. Different arrays may get one name. */
void shd_npy_file_name(shd_buf *out, const char *array);
