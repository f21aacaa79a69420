#include "report/html.h"

#include "base/text.h"
#include "report/style.h"

#include <sherd/version.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cli_html_done(cli_html *html)
{
	free(html->data);
	*html = (cli_html){0};
}

static void html_put(cli_html *h, const char *text, size_t len)
{
	if (h->failed)
		return;
	if (h->room - h->len < len + 1) {
		size_t room = (h->len + len + 1) * 2;
		char *larger = realloc(h->data, room);
		if (!larger) {
			h->failed = true;
			return;
		}
		h->data = larger;
		h->room = room;
	}
	memcpy(h->data + h->len, text, len);
	h->len += len;
	h->data[h->len] = 0;
}

void cli_html_raw(cli_html *html, const char *markup)
{
	html_put(html, markup, strlen(markup));
}

void cli_html_printf(cli_html *html, const char *fmt, ...)
{
	va_list ap;
	char *text;
	va_start(ap, fmt);
	int n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0) {
		html->failed = true;
		return;
	}
	html_put(html, text, (size_t)n);
	free(text);
}

static void put_markup_char(cli_html *html, char c)
{
	switch (c) {
	case '<': cli_html_raw(html, "&lt;"); break;
	case '>': cli_html_raw(html, "&gt;"); break;
	case '&': cli_html_raw(html, "&amp;"); break;
	case '"': cli_html_raw(html, "&quot;"); break;
	case '\'': cli_html_raw(html, "&#39;"); break;
	default: html_put(html, &c, 1);
	}
}

void cli_html_text(cli_html *html, const char *text)
{
	size_t len = strlen(text), taken;
	char safe[CLI_TEXT_SAFE];
	for (size_t i = 0; i < len; i += taken) {
		size_t n = cli_text_safe(text + i, len - i, &taken, safe);
		for (size_t k = 0; k < n; k++)
			put_markup_char(html, safe[k]);
	}
}

void cli_html_cell(cli_html *html, const char *class, const char *text)
{
	cli_html_printf(html, "<td class=\"%s\">", class);
	cli_html_text(html, text);
	cli_html_raw(html, "</td>");
}

void cli_html_bar(cli_html *html, double share, const char *text)
{
	double percent = share > 1 ? 100 : share < 0 ? 0 : share * 100;
	cli_html_printf(html,
	                "<td class=\"bar\"><span class=\"track\" aria-hidden=\"true\"><i "
	                "style=\"width:%.2f%%\"></i></span><span>",
	                percent);
	cli_html_text(html, text);
	cli_html_raw(html, "</span></td>");
}

void cli_html_begin(cli_html *html, const char *title)
{
	cli_html_raw(html, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	                   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
	                   "'unsafe-inline'\">\n"
	                   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	                   "<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
	cli_html_text(html, title);
	cli_html_raw(html, "</title>\n<style>\n");
	cli_html_raw(html, cli_report_style);
	cli_html_raw(html, "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#content\">Skip to the content</a>\n");
}

void cli_html_end(cli_html *html)
{
	cli_html_raw(html, "</main>\n<footer>Made by sherd " SHERD_VERSION
	                   ". One page, no scripts, nothing is fetched.</footer>\n</body>\n</html>\n");
}

void cli_html_section(cli_html *html, const char *id, const char *heading)
{
	cli_html_printf(html, "<section aria-labelledby=\"%s\">\n<h2 id=\"%s\">", id, id);
	cli_html_text(html, heading);
	cli_html_raw(html, "</h2>\n");
}

void cli_html_section_end(cli_html *html)
{
	cli_html_raw(html, "</section>\n");
}

void cli_html_fact(cli_html *html, const char *name, const char *value)
{
	cli_html_raw(html, "<div><dt>");
	cli_html_text(html, name);
	cli_html_raw(html, "</dt><dd>");
	cli_html_text(html, value);
	cli_html_raw(html, "</dd></div>\n");
}

void cli_html_table(cli_html *html, const char *caption, const char *columns)
{
	/* A region that scrolls takes the focus, so that keys can scroll it. */
	cli_html_raw(html, "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"");
	cli_html_text(html, caption);
	cli_html_raw(html, "\">\n<table>\n<caption>");
	cli_html_text(html, caption);
	cli_html_raw(html, "</caption>\n<thead><tr>");
	for (const char *at = columns; *at;) {
		size_t len = strcspn(at, "|");
		bool right = *at == '>';
		cli_html_printf(html, "<th scope=\"col\"%s>%.*s</th>", right ? " class=\"n\"" : "", (int)(len - right),
		                at + right);
		at += len + (at[len] == '|');
	}
	cli_html_raw(html, "</tr></thead>\n<tbody>\n");
}

void cli_html_table_end(cli_html *html)
{
	cli_html_raw(html, "</tbody>\n</table>\n</div>\n");
}
