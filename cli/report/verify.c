#include "report/report.h"

#include "base/auto.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>

enum { MOST_PROBLEMS = 100 };

static void put_problems(cli_report *r, const sherd_report *report, bool warnings)
{
	size_t count = warnings ? sherd_report_warnings(report) : sherd_report_errors(report);
	cli_html *h = &r->html;
	if (!count)
		return;
	cli_html_printf(h, "<h3>%s</h3>\n<ul class=\"problems\">\n", warnings ? "Warnings" : "Errors");
	for (size_t i = 0; i < count && i < MOST_PROBLEMS; i++) {
		sherd_error e = warnings ? *sherd_report_warning(report, i) : *sherd_report_error(report, i);
		cli_place_name(r->place, &e);
		cli_html_raw(h, "<li><span class=\"name\">");
		cli_html_text(h, e.object);
		cli_html_raw(h, "</span>: ");
		if (e.offset != SHERD_NO_OFFSET)
			cli_html_printf(h, "byte %" PRIu64 ": ", e.offset);
		cli_html_text(h, e.message);
		cli_html_raw(h, "</li>\n");
	}
	cli_html_raw(h, "</ul>\n");
	if (count > MOST_PROBLEMS)
		cli_html_printf(h, "<p>and %zu more</p>\n", count - MOST_PROBLEMS);
}

int cli_report_verify(cli_report *r, sherd_error *err)
{
	CLI_AUTO(sherd_report, sherd_report_close) report = NULL;
	const sherd_verify_options options = {.quick = r->quick, .pool = r->cli->pool, .progress = &r->cli->progress};
	char size[CLI_TEXT_SIZE], text[96];
	int rc = sherd_verify(&report, r->place->store, r->place->key, &options, err);
	cli_out_clear_bar(&r->cli->out);
	TRY(rc);
	size_t errors = sherd_report_errors(report), warnings = sherd_report_warnings(report);
	cli_text_size(sherd_report_checked_bytes(report), size);
	r->problems = errors;
	if (errors)
		(void)snprintf(text, sizeof(text), "%zu error%s found", errors, cli_text_plural(errors));
	else if (warnings)
		(void)snprintf(text, sizeof(text), "no errors, %zu warning%s", warnings, cli_text_plural(warnings));
	else
		(void)snprintf(text, sizeof(text), "%s",
		               r->quick ? "heads and sizes are fine" : "everything that can be checked is fine");
	const char *class = errors ? "bad" : "good";
	cli_html_printf(&r->verdict, "<p><span class=\"verdict %s\">%s</span></p>\n", class, text);
	cli_report_section(r, "verification", "Verification");
	cli_html_printf(&r->html,
	                "<p><span class=\"verdict %s\">%s</span></p>\n<p>%s were read and held against checksums or "
	                "rules%s.</p>\n",
	                class, text, size, warnings ? "; what could not be checked stands below" : "");
	put_problems(r, report, false);
	put_problems(r, report, true);
	cli_html_section_end(&r->html);
	return SHERD_OK;
}
