/* cli/report/html.h - a page of HTML in memory.
 *
 * Everything that comes from a file goes through cli_html_text(): markup is escaped, and so are control characters and
 * the marks that turn the direction of text. Pages have no scripts, and their policy allows none. */
#pragma once

#include "cli.h"

typedef struct cli_html {
	char *data;
	size_t len, room;
	bool failed; /* memory is out: nothing more is kept */
} cli_html;

void cli_html_done(cli_html *html);
#define CLI_AUTO_HTML __attribute__((cleanup(cli_html_done))) cli_html

/* Markup of our own. */
void cli_html_raw(cli_html *html, const char *markup);
__attribute__((format(printf, 2, 3))) void cli_html_printf(cli_html *html, const char *fmt, ...);
/* Text from outside, between tags or in an attribute with double quotes. */
void cli_html_text(cli_html *html, const char *text);
/* A cell of a table that holds such a text, with the class. */
void cli_html_cell(cli_html *html, const char *class, const char *text);
/* A bar as long as the share, and the number in words: a cell. */
void cli_html_bar(cli_html *html, double share, const char *text);

/* Everything before the first section and after the last. */
void cli_html_begin(cli_html *html, const char *title);
void cli_html_end(cli_html *html);
/* A section with its heading, which the contents of the page link to. */
void cli_html_section(cli_html *html, const char *id, const char *heading);
void cli_html_section_end(cli_html *html);
/* One fact of the head of the page. */
void cli_html_fact(cli_html *html, const char *name, const char *value);
/* Heads of columns, separated by '|'; those that begin with '>' stand at the right. */
void cli_html_table(cli_html *html, const char *caption, const char *columns);
void cli_html_table_end(cli_html *html);
