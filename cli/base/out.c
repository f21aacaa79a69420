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

static void remember(void)
{
	if (!out_errno)
		out_errno = errno ? errno : EIO;
}

bool sherd_out_failed(void)
{
	return out_errno != 0;
}

void sherd_out_bytes(sherd_out *out, const void *data, size_t len)
{
	sherd_out_clear_bar(out);
	errno = 0;
	if (!out_errno && fwrite(data, 1, len, stdout) != len)
		remember();
}

void sherd_out_printf(sherd_out *out, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	sherd_out_clear_bar(out);
	errno = 0;
	if (!out_errno && vprintf(fmt, ap) < 0)
		remember();
	va_end(ap);
}

static void put_safe(FILE *to, const char *text)
{
	size_t len = strlen(text), taken;
	char safe[SHERD_TEXT_SAFE];
	for (size_t i = 0; i < len; i += taken) {
		size_t n = sherd_text_safe(text + i, len - i, &taken, safe);
		if (fwrite(safe, 1, n, to) != n)
			return;
	}
}

void sherd_out_name(sherd_out *out, const char *text)
{
	sherd_out_clear_bar(out);
	errno = 0;
	if (out_errno)
		return;
	put_safe(stdout, text);
	if (ferror(stdout))
		remember();
}

void sherd_out_note(sherd_out *out, const char *fmt, ...)
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
	sherd_out_name(out, line);
	sherd_out_bytes(out, "\n", 1);
	free(line);
}

void sherd_table_add(sherd_table *table, const char *cell)
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
	char *copy = malloc(len * (SHERD_TEXT_SAFE - 1) + 1);
	if (!copy) {
		table->failed = true;
		return;
	}
	for (size_t i = 0; i < len; i += taken)
		used += sherd_text_safe(cell + i, len - i, &taken, copy + used);
	copy[used] = 0;
	char *fitted = realloc(copy, used + 1);
	table->cells[table->count++] = fitted ? fitted : copy;
}

void sherd_table_add_row(sherd_table *table, const char *const *cells)
{
	for (size_t i = 0; i < table->columns; i++)
		sherd_table_add(table, cells[i]);
}

/* Spaces are put before a cell only, so that no line ends with any. */
static void put_row(sherd_out *out, char *const *cells, const size_t *widths, const sherd_table *table)
{
	size_t behind = 0;
	for (size_t i = 0; i < table->columns; i++) {
		size_t width = sherd_text_width(cells[i]), pad = widths[i] - width;
		bool right = table->right >> i & 1;
		if (width)
			sherd_out_printf(out, "%*s%s", (int)(behind + (right ? pad : 0)), "", cells[i]);
		behind = (width ? 0 : behind) + (right && width ? 0 : pad) + 2;
	}
	sherd_out_bytes(out, "\n", 1);
}

static void put_rows(sherd_out *out, const sherd_table *table)
{
	size_t widths[32] = {0};
	for (size_t i = 0; i < table->count; i++) {
		size_t width = sherd_text_width(table->cells[i]), *most = &widths[i % table->columns];
		*most = width > *most ? width : *most;
	}
	for (size_t i = 0; i + table->columns <= table->count; i += table->columns)
		put_row(out, table->cells + i, widths, table);
}

int sherd_table_print(sherd_table *table, sherd_out *out, sherd_error *err)
{
	bool failed = table->failed;
	if (!failed)
		put_rows(out, table);
	sherd_table_done(table);
	return failed ? sherd_cli_no_memory(err) : SHERD_OK;
}

void sherd_table_done(sherd_table *table)
{
	for (size_t i = 0; i < table->count; i++)
		free(table->cells[i]);
	free(table->cells);
	*table = (sherd_table){0};
}

void sherd_out_problem(sherd_out *out, const sherd_error *problem, bool warning)
{
	sherd_out_clear_bar(out);
	(void)fflush(stdout); /* so that both streams on one terminal keep their order */
	(void)fputs(warning ? "sherd: warning: " : "sherd: ", stderr);
	if (problem->object[0]) {
		put_safe(stderr, problem->object);
		(void)fputs(": ", stderr);
	}
	if (problem->offset != SHERD_NO_OFFSET)
		(void)fprintf(stderr, "byte %" PRIu64 ": ", problem->offset);
	put_safe(stderr, problem->message);
	(void)fputc('\n', stderr);
}

void sherd_out_error(sherd_out *out, const sherd_error *err)
{
	sherd_error ignored;
	if (!out->json) {
		sherd_out_problem(out, err, false);
		return;
	}
	sherd_out_clear_bar(out);
	sherd_doc doc = sherd_doc_begin(out);
	sherd_doc_key(&doc, "error");
	sherd_doc_error(&doc, err);
	(void)sherd_doc_end(&doc, SHERD_OK, &ignored);
}

void sherd_out_aside(sherd_out *out, const char *line)
{
	sherd_out_clear_bar(out);
	put_safe(stderr, line);
	(void)fputc('\n', stderr);
}

bool sherd_out_is_terminal(void)
{
	return isatty(STDOUT_FILENO);
}

bool sherd_out_has_terminal(void)
{
	return isatty(STDERR_FILENO);
}

void sherd_out_bar(sherd_out *out, uint64_t done, uint64_t total, double seconds)
{
	enum { WIDTH = 30 };
	char size[SHERD_TEXT_SIZE], speed[SHERD_TEXT_SIZE], bar[WIDTH + 1];
	double share = total ? (double)done / (double)total : 0;
	int full = (int)((share > 1 ? 1 : share) * WIDTH);
	for (int i = 0; i < WIDTH; i++)
		bar[i] = i < full ? '#' : '.';
	bar[WIDTH] = 0;
	sherd_text_size(done, size);
	sherd_text_size((uint64_t)(seconds > 0 ? (double)done / seconds : 0), speed);
	if (total)
		(void)fprintf(stderr, "\r\033[K[%s] %3d%%  %s  %s/s", bar, (int)(share * 100), size, speed);
	else
		(void)fprintf(stderr, "\r\033[K%s  %s/s", size, speed);
	(void)fflush(stderr);
	out->bar = true;
}

void sherd_out_clear_bar(sherd_out *out)
{
	if (out->bar)
		(void)fputs("\r\033[K", stderr);
	out->bar = false;
}

int sherd_out_finish(sherd_out *out, bool *silent, sherd_error *err)
{
	sherd_out_clear_bar(out);
	errno = 0;
	if (fflush(stdout) != 0 || ferror(stdout))
		remember();
	*silent = out_errno == EPIPE;
	if (!out_errno)
		return SHERD_OK;
	int rc = sherd_cli_fail(err, SHERD_EIO, out_errno == ENOSPC ? "no-space" : "io", "cannot write: %s",
	                        strerror(out_errno));
	(void)snprintf(err->object, sizeof(err->object), "standard output");
	return rc;
}
