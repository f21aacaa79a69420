/* cli/tensors/slice.h - a part of a tensor in all its dimensions: w[0:4, :, -1]. */
#pragma once

#include "cli.h"

#include <sherd/bundle.h>

typedef struct cli_slice {
	/* Of every dimension of the tensor: which elements. One that was given as a number has one, and is not in the
	 * result. */
	uint64_t first[SHERD_MAX_DIMS], count[SHERD_MAX_DIMS], step[SHERD_MAX_DIMS];
	bool dropped[SHERD_MAX_DIMS];
	/* The result, and the same as rows of its last dimension. */
	uint32_t ndim;
	uint64_t shape[SHERD_MAX_DIMS];
	uint64_t rows, row;
} cli_slice;

/* What stands between the brackets, as NumPy has it: numbers, A:B and A:B:STEP, negative ones from the end, `...`; what
 * is left out is whole. SHERD_EINVAL, "bad-range", of a number that is not there, or of too many dimensions. */
int cli_slice_parse(cli_slice *out, const sherd_tensor *tensor, const char *text, sherd_error *err);
/* All of it. */
void cli_slice_whole(cli_slice *out, const sherd_tensor *tensor);

/* A slice that is read, in order. Values are taken out of stretches of the tensor: only those that are asked for are
 * read, and what lies less than a page apart with them. */
typedef struct cli_slice_reader {
	const sherd_bundle *bundle;
	size_t index;
	const sherd_tensor *tensor;
	const cli_slice *slice;
	uint8_t *buf;
	uint64_t at; /* bytes [at, at + len) are in buf */
	size_t len;
} cli_slice_reader;

int cli_slice_open(cli_slice_reader *out, const sherd_bundle *bundle, size_t index, const cli_slice *slice,
                   sherd_error *err);
void cli_slice_close(cli_slice_reader *reader);
#define CLI_AUTO_SLICE __attribute__((cleanup(cli_slice_close))) cli_slice_reader

/* Values [from, to) of a row, one by one; those that share their bytes with others are unpacked. */
typedef void cli_slice_fn(void *arg, const uint8_t *raw);
int cli_slice_read(cli_slice_reader *reader, uint64_t row, uint64_t from, uint64_t to, cli_slice_fn *each, void *arg,
                   sherd_error *err);
