/* cli/base/out.h - the only place that prints.
 *
 * Standard output carries what was asked for, standard error all else. Output
 * that cannot be written is remembered and makes the command fail at the end. */
#ifndef SHERD_CLI_BASE_OUT_H
#define SHERD_CLI_BASE_OUT_H

#include <sherd/error.h>

#include <stdbool.h>
#include <stddef.h>

typedef struct sherd_out {
	bool json;  /* standard output carries one JSON document */
	bool quiet; /* no notes, no warnings, no bar */
	bool bar;   /* a bar stands on the terminal */
	/* With --json: an open array that the document gets as "lost" when it ends; NULL: none. */
	struct sherd_doc *lost;
} sherd_out;

/* ---- standard output */

void sherd_out_bytes(sherd_out *out, const void *data, size_t len);
__attribute__((format(printf, 2, 3))) void sherd_out_printf(sherd_out *out, const char *fmt, ...);
/* Nobody will see what is printed from here on: long output may end. sherd_out_finish() tells why. */
bool sherd_out_failed(void);
bool sherd_out_is_terminal(void);
/* Text from outside, made safe to show. */
void sherd_out_name(sherd_out *out, const char *text);
/* A line that says what was done: not with --quiet, not with --json. %s arguments are made safe to show. */
__attribute__((format(printf, 2, 3))) void sherd_out_note(sherd_out *out, const char *fmt, ...);

/* Rows of cells, printed with aligned columns. The text of a cell is copied. */
typedef struct sherd_table {
	char **cells;
	size_t count, room;
	size_t columns;
	unsigned right; /* bit n: column n is aligned to the right */
	bool failed;    /* memory is out */
} sherd_table;
void sherd_table_add(sherd_table *table, const char *cell);
/* As many cells as there are columns. */
void sherd_table_add_row(sherd_table *table, const char *const *cells);
/* Prints it and frees it, whatever is returned: SHERD_ENOMEM when a cell could not be kept. */
int sherd_table_print(sherd_table *table, sherd_out *out, sherd_error *err);
/* Frees it unprinted; one that was printed is empty. */
void sherd_table_done(sherd_table *table);

/* ---- standard error */

/* The one line, or with --json the document {"error": ...} on standard output. */
void sherd_out_error(sherd_out *out, const sherd_error *err);
/* One problem of several: always a line. */
void sherd_out_problem(sherd_out *out, const sherd_error *problem, bool warning);

/* A line that was asked for and does not belong on standard output. */
void sherd_out_aside(sherd_out *out, const char *line);

bool sherd_out_has_terminal(void);
void sherd_out_bar(sherd_out *out, uint64_t done, uint64_t total, double seconds);
void sherd_out_clear_bar(sherd_out *out);

/* Flushes. SHERD_EIO when standard output could not take everything; *silent when its reader just went away. */
int sherd_out_finish(sherd_out *out, bool *silent, sherd_error *err);

#endif
