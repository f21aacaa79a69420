/* cli/base/out.h - the only place that prints.
 *
 * Standard output carries what was asked for, standard error all else. Output
 * that cannot be written is remembered and makes the command fail at the end. */
#pragma once

#include <sherd/error.h>

#include <stdbool.h>
#include <stddef.h>

typedef struct cli_out {
	bool json;   /* standard output carries one JSON document */
	bool quiet;  /* no notes, no warnings, no bar */
	bool bar;    /* a bar stands on the terminal */
	bool color;  /* standard output is a terminal that shows colours */
	bool silent; /* nothing at all: another rank tells */
	/* With --json: an open array that the document gets as "lost" when it ends; NULL: none. */
	struct cli_doc *lost;
	/* With --json: an open array that gets documents in place of standard output, each with its path; NULL: none.
	 */
	struct cli_doc *into;
	const char *path;
} cli_out;

/* How text stands on a terminal that shows colours; elsewhere it does not. */
typedef enum cli_style { CLI_PLAIN, CLI_BOLD, CLI_DIM, CLI_BLUE, CLI_RED } cli_style;
/* Looks at the terminal, NO_COLOR and TERM. */
void cli_out_look(cli_out *out);
void cli_out_style(cli_out *out, cli_style style);

/* ---- standard output */

void cli_out_bytes(cli_out *out, const void *data, size_t len);
__attribute__((format(printf, 2, 3))) void cli_out_printf(cli_out *out, const char *fmt, ...);
/* Nobody will see what is printed from here on: long output may end. cli_out_finish() tells why. */
bool cli_out_failed(void);
bool cli_out_is_terminal(void);
/* Text from outside, made safe to show. */
void cli_out_name(cli_out *out, const char *text);
/* A line that says what was done: not with --quiet, not with --json. %s arguments are made safe to show. */
__attribute__((format(printf, 2, 3))) void cli_out_note(cli_out *out, const char *fmt, ...);

/* Rows of cells, printed with aligned columns. The text of a cell is copied. */
typedef struct cli_table {
	char **cells;
	size_t count, room;
	size_t columns;
	unsigned right; /* bit n: column n is aligned to the right */
	bool head;      /* the first row names the columns */
	bool failed;    /* memory is out */
} cli_table;
void cli_table_add(cli_table *table, const char *cell);
/* As many cells as there are columns. */
void cli_table_add_row(cli_table *table, const char *const *cells);
/* Prints it and frees it, whatever is returned: SHERD_ENOMEM when a cell could not be kept. */
int cli_table_print(cli_table *table, cli_out *out, sherd_error *err);
/* Frees it unprinted; one that was printed is empty. */
void cli_table_done(cli_table *table);
#define CLI_AUTO_TABLE __attribute__((cleanup(cli_table_done))) cli_table

/* ---- standard error */

/* The one line, or with --json the document {"error": ...} on standard output. */
void cli_out_error(cli_out *out, const sherd_error *err);
/* One problem of several: always a line. */
void cli_out_problem(cli_out *out, const sherd_error *problem, bool warning);
/* A warning of an object: not with --quiet, not with --json, whose document has to tell. */
__attribute__((format(printf, 3, 4))) void cli_out_warn(cli_out *out, const char *object, const char *fmt, ...);

/* A line that was asked for and does not belong on standard output. */
void cli_out_aside(cli_out *out, const char *line);

bool cli_out_has_terminal(void);
void cli_out_bar(cli_out *out, uint64_t done, uint64_t total, double seconds);
/* The same as a line of its own. */
void cli_out_step(cli_out *out, uint64_t done, uint64_t total, double seconds);
void cli_out_clear_bar(cli_out *out);

/* Flushes. SHERD_EIO when standard output could not take everything; *silent when its reader just went away. */
int cli_out_finish(cli_out *out, bool *silent, sherd_error *err);
