/* cli/rows/stream.h - batches of a stream on their way to standard output. */
#ifndef SHERD_CLI_ROWS_STREAM_H
#define SHERD_CLI_ROWS_STREAM_H

#include "base/args.h"
#include "base/place.h"

#include <sherd/rows.h>

typedef enum sherd_streaming_as {
	SHERD_STREAMING_LIST, /* one line a batch */
	SHERD_STREAMING_TEXT, /* one line a row */
	SHERD_STREAMING_RAW,  /* the values as delivered, little-endian */
	SHERD_STREAMING_NPY,  /* a NumPy file */
	SHERD_STREAMING_DIGEST,
	SHERD_STREAMING_SET_DIGEST
} sherd_streaming_as;

typedef struct sherd_streaming {
	sherd_rows_stream stream;
	sherd_streaming_as as;
	uint64_t limit;     /* of batches; 0: none */
	bool ids;           /* before the values of every row */
	bool cursor;        /* tell where it ended */
	const char *output; /* of NPY */
	bool replace;
	uint64_t width;         /* of the set */
	const uint64_t *gather; /* these rows instead of a stream; NULL: a stream */
	size_t gather_count;
} sherd_streaming;

/* Fills in what the options say. */
int sherd_streaming_take(sherd_streaming *s, const sherd_args *args, sherd_error *err);
/* The same for sherd rows gather. */
int sherd_streaming_take_gather(sherd_streaming *s, sherd_cli *cli, const sherd_args *args, sherd_error *err);

/* Delivers batches until the end or the limit. Errors name objects of the place, or the output. */
int sherd_streaming_run(sherd_cli *cli, const sherd_streaming *s, sherd_rows_cursor *cursor, const sherd_place *place,
                        sherd_error *err);

#endif
