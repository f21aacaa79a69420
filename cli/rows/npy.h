/* cli/rows/npy.h - rows into a NumPy file whose number of rows is known at its end. */
#pragma once

#include "base/place.h"

#include <sherd/rows.h>

typedef struct cli_npy_out {
	const char *path; /* as the user wrote it */
	cli_place place;
	sherd_writer *writer;
	sherd_dtype dtype;
	uint64_t rows, width;
} cli_npy_out;

/* NumPy's name for an element type; NULL where it has none. */
const char *cli_npy_name(sherd_dtype dtype);
/* The bytes that NumPy writes: magic, version 1.0, length of the text, the text padded to a multiple of 64. Returns how
 * many of the CLI_NPY_HEAD they are. */
enum { CLI_NPY_HEAD = 2048 };
size_t cli_npy_head(char *out, const char *name, const uint64_t *shape, uint32_t ndim);

/* Fails where NumPy has no such type. Nothing is seen of the file before its end. */
int cli_npy_begin(cli_npy_out *n, const char *path, bool replace, sherd_dtype dtype, uint64_t width, sherd_error *err);
int cli_npy_add(cli_npy_out *n, const void *data, size_t rows, sherd_error *err);
/* Commits when rc is no failure, else forgets what was written. */
int cli_npy_end(cli_npy_out *n, int rc, sherd_error *err);
