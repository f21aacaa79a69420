/* cli/graph/lines.h - a file or standard input, line by line, in memory that one line bounds. */
#pragma once

#include "cli.h"

/* Where a line stands. */
typedef struct cli_position {
	const char *path;
	uint64_t line;   /* from 1 */
	uint64_t offset; /* of its first byte */
} cli_position;

typedef struct cli_lines {
	cli_position at; /* of the line handed out last */
	uint64_t next;   /* offset of the line after it */
	int fd;
	bool end;
	uint64_t size;         /* of a file; 0 when unknown */
	char *data;            /* what was read and not handed out yet begins at from */
	size_t from, len, cap; /* data[from..len) */
} cli_lines;

/* "-" is standard input. path must outlive it. */
int cli_lines_open(cli_lines *in, const char *path, sherd_error *err);
/* 1 and the next line with its end, valid until the next call, or 0 after the last. A signal ends the waiting with
 * SHERD_ECANCELLED; a line that is too long is SHERD_ELIMIT. */
int cli_lines_next(cli_lines *in, const char **line, size_t *len, sherd_error *err);
void cli_lines_close(cli_lines *in);
#define CLI_AUTO_LINES __attribute__((cleanup(cli_lines_close))) cli_lines

/* Where rc is a failure about a line: says which, counting the offset from the start of the file. Returns rc. */
int cli_position_blame(const cli_position *at, int rc, sherd_error *err);
