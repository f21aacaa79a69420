/* cli/rows/stream.h - batches of a stream on their way to standard output. */
#pragma once

#include "base/args.h"
#include "base/place.h"

#include <sherd/rows.h>

typedef enum cli_streaming_as {
	CLI_STREAMING_LIST, /* one line a batch */
	CLI_STREAMING_TEXT, /* one line a row */
	CLI_STREAMING_RAW,  /* the values as delivered, little-endian */
	CLI_STREAMING_NPY,  /* a NumPy file */
	CLI_STREAMING_DIGEST,
	CLI_STREAMING_SET_DIGEST
} cli_streaming_as;

typedef struct cli_streaming {
	sherd_rows_stream_options stream;
	cli_streaming_as as;
	uint64_t limit;     /* of batches; 0: none */
	bool ids;           /* before the values of every row */
	bool cursor;        /* tell where it ended */
	const char *output; /* of NPY */
	bool replace;
	uint64_t width;         /* of the set */
	const uint64_t *gather; /* these rows instead of a stream; NULL: a stream */
	size_t gather_count;
} cli_streaming;

/* Fills in what the options say. */
int cli_streaming_take(cli_streaming *s, const cli_args *args, sherd_error *err);
/* The same for sherd rows gather. */
int cli_streaming_take_gather(cli_streaming *s, cli_state *cli, const cli_args *args, sherd_error *err);

/* Delivers batches until the end or the limit. Errors name objects of the place, or the output. */
int cli_streaming_run(cli_state *cli, const cli_streaming *s, sherd_rows_cursor *cursor, const cli_place *place,
                      sherd_error *err);
