/* cli/tensors/cat.h - a part of one tensor on its way to standard output. */
#pragma once

#include "base/args.h"
#include "tensors/slice.h"

#include <sherd/bundle.h>

/* Elements [first, last) of a tensor in C order. */
typedef struct cli_cat {
	cli_state *cli;
	const sherd_bundle *bundle;
	size_t index;
	const sherd_tensor *tensor;
	uint64_t first, last;
	uint64_t row;       /* elements of the innermost dimension */
	uint64_t rows[2];   /* as asked for, in units of --range */
	bool ranged;        /* --range was given */
	const char *format; /* "text", "raw", "npy" */
	bool sliced;        /* NAME had brackets: the slice counts, and not the range */
	bool elided;        /* only the ends of long rows, and the first and last of many rows */
	cli_slice slice;
} cli_cat;

/* Calls each() with runs of whole blocks, which are elements for most types, in order, until all have come.
 * SHERD_EUNSUPPORTED, "inside-block", when the range cuts one. */
typedef int cli_cat_fn(void *arg, const uint8_t *raw, size_t count, sherd_error *err);
int cli_cat_blocks(const cli_cat *cat, cli_cat_fn *each, void *arg, sherd_error *err);
/* Calls each() with every element of the range; one that shares its bytes with others is unpacked. */
typedef void cli_cat_value_fn(void *arg, const uint8_t *raw);
int cli_cat_values(const cli_cat *cat, cli_cat_value_fn *each, void *arg, sherd_error *err);

/* Calls each() with every string of a UTF8 tensor in the range. Offsets that contradict each other or the size of the
 * tensor are SHERD_ECORRUPT. */
typedef int cli_cat_string_fn(void *arg, const char *text, size_t len, sherd_error *err);
int cli_cat_strings(const cli_cat *cat, cli_cat_string_fn *each, void *arg, sherd_error *err);

/* The same of a slice, or of a tensor that is elided. */
int cli_cat_slice_text(const cli_cat *cat, sherd_error *err);
int cli_cat_slice_json(const cli_cat *cat, sherd_error *err);
int cli_cat_slice_raw(const cli_cat *cat, bool npy, sherd_error *err);

int cli_cat_text(const cli_cat *cat, sherd_error *err);
int cli_cat_json(const cli_cat *cat, sherd_error *err);
int cli_cat_raw(const cli_cat *cat, sherd_error *err);
int cli_cat_npy(const cli_cat *cat, sherd_error *err);
