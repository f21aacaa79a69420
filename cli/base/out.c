#include "base/out.h"

#include "cli.h"
#include "base/doc.h"
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Why standard output failed first; 0 while all is well. */
static int out_errno;

static void out_remember(void)
{
	if (!out_errno)
		out_errno = errno ? errno : EIO;
}

bool cli_out_failed(void)
{
	return out_errno != 0;
}

void cli_out_bytes(cli_out *out, const void *data, size_t len)
{
	cli_out_clear_bar(out);
	errno = 0;
	if (!out_errno && fwrite(data, 1, len, stdout) != len)
		out_remember();
}

void cli_out_printf(cli_out *out, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	cli_out_clear_bar(out);
	errno = 0;
	if (!out_errno && vprintf(fmt, ap) < 0)
		out_remember();
	va_end(ap);
}

static const char *const styles[] = {"\033[0m", "\033[1m", "\033[2m", "\033[34m", "\033[1;31m"};

/* Is it a terminal that shows colours, and does nobody mind? */
static bool shows_color(int fd)
{
	const char *off = getenv("NO_COLOR"), *term = getenv("TERM");
	return isatty(fd) && !(off && *off) && term && *term && strcmp(term, "dumb") != 0;
}

void cli_out_look(cli_out *out)
{
	out->color = shows_color(STDOUT_FILENO);
}

void cli_out_style(cli_out *out, cli_style style)
{
	if (out->color && !out->json)
		cli_out_printf(out, "%s", styles[style]);
}

static void put_safe(FILE *to, const char *text)
{
	size_t len = strlen(text), taken;
	char safe[CLI_TEXT_SAFE];
	for (size_t i = 0; i < len; i += taken) {
		size_t n = cli_text_safe(text + i, len - i, &taken, safe);
		if (fwrite(safe, 1, n, to) != n)
			return;
	}
}

void cli_out_name(cli_out *out, const char *text)
{
	cli_out_clear_bar(out);
	errno = 0;
	if (out_errno)
		return;
	put_safe(stdout, text);
	if (ferror(stdout))
		out_remember();
}

void cli_out_note(cli_out *out, const char *fmt, ...)
{
	if (out->json || out->quiet)
		return;
	va_list ap;
	char *line;
	va_start(ap, fmt);
	int n = vasprintf(&line, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	cli_out_name(out, line);
	cli_out_bytes(out, "\n", 1);
	free(line);
}

void cli_table_add(cli_table *table, const char *cell)
{
	if (table->count == table->room) {
		size_t room = table->room ? table->room * 2 : 64;
		char **cells = realloc(table->cells, room * sizeof(*cells));
		if (!cells) {
			table->failed = true;
			return;
		}
		table->cells = cells;
		table->room = room;
	}
	size_t len = strlen(cell), used = 0, taken;
	char *copy = malloc(len * (CLI_TEXT_SAFE - 1) + 1);
	if (!copy) {
		table->failed = true;
		return;
	}
	for (size_t i = 0; i < len; i += taken)
		used += cli_text_safe(cell + i, len - i, &taken, copy + used);
	copy[used] = 0;
	char *fitted = realloc(copy, used + 1);
	table->cells[table->count++] = fitted ? fitted : copy;
}

void cli_table_add_row(cli_table *table, const char *const *cells)
{
	for (size_t i = 0; i < table->columns; i++)
		cli_table_add(table, cells[i]);
}

/* Spaces are put before a cell only, so that no line ends with any. */
static void put_row(cli_out *out, char *const *cells, const size_t *widths, const cli_table *table)
{
	size_t behind = 0;
	for (size_t i = 0; i < table->columns; i++) {
		size_t width = cli_text_width(cells[i]), pad = widths[i] - width;
		bool right = table->right >> i & 1;
		if (width)
			cli_out_printf(out, "%*s%s", (int)(behind + (right ? pad : 0)), "", cells[i]);
		behind = (width ? 0 : behind) + (right && width ? 0 : pad) + 2;
	}
	cli_out_bytes(out, "\n", 1);
}

static void put_rows(cli_out *out, const cli_table *table)
{
	size_t widths[32] = {0};
	for (size_t i = 0; i < table->count; i++) {
		size_t width = cli_text_width(table->cells[i]), *most = &widths[i % table->columns];
		*most = width > *most ? width : *most;
	}
	for (size_t i = 0; i + table->columns <= table->count; i += table->columns) {
		bool head = table->head && !i;
		if (head)
			cli_out_style(out, CLI_DIM);
		put_row(out, table->cells + i, widths, table);
		if (head)
			cli_out_style(out, CLI_PLAIN);
	}
}

int cli_table_print(cli_table *table, cli_out *out, sherd_error *err)
{
	bool failed = table->failed;
	if (!failed)
		put_rows(out, table);
	cli_table_done(table);
	return failed ? cli_no_memory(err) : SHERD_OK;
}

void cli_table_done(cli_table *table)
{
	for (size_t i = 0; i < table->count; i++)
		free(table->cells[i]);
	free(table->cells);
	*table = (cli_table){0};
}

void cli_out_problem(cli_out *out, const sherd_error *problem, bool warning)
{
	if (out->silent)
		return;
	cli_out_clear_bar(out);
	(void)fflush(stdout); /* so that both streams on one terminal keep their order */
	bool color = shows_color(STDERR_FILENO);
	(void)fprintf(stderr, "%ssherd:%s %s", color ? styles[CLI_RED] : "", color ? styles[CLI_PLAIN] : "",
	              warning ? "warning: " : "");
	if (problem->object[0]) {
		put_safe(stderr, problem->object);
		(void)fputs(": ", stderr);
	}
	if (problem->offset != SHERD_NO_OFFSET)
		(void)fprintf(stderr, "byte %" PRIu64 ": ", problem->offset);
	put_safe(stderr, problem->message);
	(void)fputc('\n', stderr);
}

void cli_out_warn(cli_out *out, const char *object, const char *fmt, ...)
{
	sherd_error warning = {.offset = SHERD_NO_OFFSET, .index = SHERD_NO_INDEX};
	va_list ap;
	if (out->json || out->quiet)
		return;
	(void)snprintf(warning.object, sizeof(warning.object), "%s", object);
	va_start(ap, fmt);
	(void)vsnprintf(warning.message, sizeof(warning.message), fmt, ap);
	va_end(ap);
	cli_out_problem(out, &warning, true);
}

void cli_out_error(cli_out *out, const sherd_error *err)
{
	sherd_error ignored;
	if (out->silent)
		return;
	if (!out->json) {
		cli_out_problem(out, err, false);
		return;
	}
	cli_out_clear_bar(out);
	cli_doc doc = cli_doc_begin(out);
	cli_doc_key(&doc, "error");
	cli_doc_error(&doc, err);
	(void)cli_doc_end(&doc, SHERD_OK, &ignored);
}

void cli_out_aside(cli_out *out, const char *line)
{
	if (out->silent)
		return;
	cli_out_clear_bar(out);
	put_safe(stderr, line);
	(void)fputc('\n', stderr);
}

bool cli_out_is_terminal(void)
{
	return isatty(STDOUT_FILENO);
}

bool cli_out_has_terminal(void)
{
	return isatty(STDERR_FILENO);
}

/* ", 12 s left"; nothing while nobody can tell. */
static void left_text(uint64_t done, uint64_t total, double seconds, char out[32])
{
	double left = done && total > done ? seconds * ((double)total / (double)done - 1) : 0;
	out[0] = 0;
	if (left >= 5400)
		(void)snprintf(out, 32, ", %.1f h left", left / 3600);
	else if (left >= 90)
		(void)snprintf(out, 32, ", %.0f min left", left / 60);
	else if (left > 0)
		(void)snprintf(out, 32, ", %.0f s left", left < 1 ? 1 : left);
}

void cli_out_bar(cli_out *out, uint64_t done, uint64_t total, double seconds)
{
	enum { WIDTH = 30 };
	char size[CLI_TEXT_SIZE], speed[CLI_TEXT_SIZE], left[32], bar[WIDTH + 1];
	double share = total ? (double)done / (double)total : 0;
	int full = (int)((share > 1 ? 1 : share) * WIDTH);
	for (int i = 0; i < WIDTH; i++)
		bar[i] = i < full ? '#' : '.';
	bar[WIDTH] = 0;
	cli_text_size(done, size);
	cli_text_size((uint64_t)(seconds > 0 ? (double)done / seconds : 0), speed);
	left_text(done, total, seconds, left);
	if (total)
		(void)fprintf(stderr, "\r\033[K[%s] %3d%%  %s  %s/s%s", bar, (int)(share * 100), size, speed, left);
	else
		(void)fprintf(stderr, "\r\033[K%s  %s/s", size, speed);
	(void)fflush(stderr);
	out->bar = true;
}

void cli_out_step(cli_out *out, uint64_t done, uint64_t total, double seconds)
{
	char size[CLI_TEXT_SIZE], all[CLI_TEXT_SIZE], speed[CLI_TEXT_SIZE], left[32];
	(void)out;
	cli_text_size(done, size);
	cli_text_size(total, all);
	cli_text_size((uint64_t)(seconds > 0 ? (double)done / seconds : 0), speed);
	left_text(done, total, seconds, left);
	if (total)
		(void)fprintf(stderr, "sherd: %d%%, %s of %s, %s/s%s\n", (int)(100 * (double)done / (double)total),
		              size, all, speed, left);
	else
		(void)fprintf(stderr, "sherd: %s, %s/s\n", size, speed);
}

void cli_out_clear_bar(cli_out *out)
{
	if (out->bar)
		(void)fputs("\r\033[K", stderr);
	out->bar = false;
}

int cli_out_finish(cli_out *out, bool *silent, sherd_error *err)
{
	cli_out_clear_bar(out);
	errno = 0;
	if (fflush(stdout) != 0 || ferror(stdout))
		out_remember();
	*silent = out_errno == EPIPE;
	if (!out_errno)
		return SHERD_OK;
	int rc = cli_fail(err, SHERD_EIO, out_errno == ENOSPC ? "no-space" : "io", "cannot write: %s",
	                  strerror(out_errno));
	(void)snprintf(err->object, sizeof(err->object), "standard output");
	return rc;
}
