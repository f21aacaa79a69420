#include "report/report.h"

#include "base/auto.h"
#include "base/text.h"
#include "tensors/describe.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { MOST_DIFFERENCES = 1000 };

typedef struct compared {
	cli_html lines;
	size_t listed;
} compared;

static const char *const verdicts[] = {"equal",      "only in the first", "only in the second",
                                       "other type", "other shape",       "other values"};

static int take_difference(void *arg, const sherd_diff_tensor *d, sherd_error *err)
{
	compared *c = arg;
	cli_html *h = &c->lines;
	const sherd_diff_values *v = d->values;
	char text[64];
	(void)err;
	if (d->kind == SHERD_DIFF_EQUAL || c->listed++ >= MOST_DIFFERENCES)
		return SHERD_OK;
	const char *name = (d->left ? d->left : d->right)->name;
	cli_html_raw(h, "<tr><th scope=\"row\" class=\"name\">");
	cli_html_text(h, *name ? name : "(no name)");
	cli_html_raw(h, "</th>");
	cli_html_cell(h, "", verdicts[d->kind]);
	(void)snprintf(text, sizeof(text), "%" PRIu64 " of %" PRIu64, v ? v->different : 0, v ? v->count : 0);
	cli_html_cell(h, "n", v ? text : "");
	(void)snprintf(text, sizeof(text), "%.4g", v ? v->largest : 0);
	cli_html_cell(h, "n", v && v->numbers ? text : "");
	(void)snprintf(text, sizeof(text), "%.6g", v ? v->cosine : 0);
	cli_html_cell(h, "n", v && v->numbers && !isnan(v->cosine) ? text : "");
	(void)snprintf(text, sizeof(text), "%.3g", v ? v->relative : 0);
	if (v && v->numbers)
		cli_html_bar(h, v->relative, text);
	else
		cli_html_cell(h, "", "");
	cli_html_raw(h, "</tr>\n");
	return SHERD_OK;
}

static void put_compared(cli_report *r, const compared *c, const sherd_diff_summary *s, const char *other)
{
	cli_html *h = &r->html;
	cli_report_section(r, "difference", "Difference");
	cli_html_raw(h, "<p>Compared with <span class=\"name\">");
	cli_html_text(h, other);
	cli_html_printf(h, "</span>%s.</p>\n", r->quick ? ", by names, types and shapes only" : "");
	cli_html_printf(h, "<p><span class=\"verdict %s\">%s</span></p>\n<ul class=\"legend\">\n",
	                s->equal ? "good" : "warn", s->equal ? "both are equal" : "they differ");
	for (size_t i = 0; i < SHERD_DIFF_KINDS; i++)
		if (s->tensors[i])
			cli_html_printf(h, "<li><b>%" PRIu64 "</b> %s</li>\n", s->tensors[i], verdicts[i]);
	cli_html_raw(h, "</ul>\n");
	if (c->listed) {
		cli_html_table(h, "Tensors that differ", "tensor|what|>values|>largest|>cosine|dW/W");
		cli_html_raw(h, c->lines.data ? c->lines.data : "");
		cli_html_table_end(h);
	}
	if (c->listed > MOST_DIFFERENCES)
		cli_html_printf(h, "<p>and %zu more</p>\n", c->listed - MOST_DIFFERENCES);
	cli_html_section_end(h);
	r->html.failed |= c->lines.failed;
}

static int compare_with(cli_report *r, const cli_place *place, const char *other, sherd_error *err)
{
	CLI_AUTO(sherd_bundle, sherd_bundle_close) left = NULL;
	CLI_AUTO(sherd_bundle, sherd_bundle_close) right = NULL;
	const sherd_bundle_options opening = {.pool = r->cli->pool, .progress = &r->cli->waiting};
	const sherd_diff_options options = {.heads = r->quick, .pool = r->cli->pool, .progress = &r->cli->progress};
	sherd_diff_summary summary;
	compared c = {0};
	TRY(cli_place_blame(r->place, sherd_bundle_open(&left, r->place->store, r->place->key, &opening, err), err));
	TRY(cli_place_blame(place, sherd_bundle_open(&right, place->store, place->key, &opening, err), err));
	int rc = sherd_diff_bundles(&summary, left, right, &options, take_difference, &c, err);
	cli_out_clear_bar(&r->cli->out);
	if (rc == SHERD_OK)
		put_compared(r, &c, &summary, other);
	else
		cli_place_name(err->index == 1 ? place : r->place, err);
	cli_html_done(&c.lines);
	return rc;
}

int cli_report_difference(cli_report *r, const char *other, sherd_error *err)
{
	CLI_AUTO_PLACE place = {0};
	TRY(cli_place_open_any(&place, other, false, err));
	return compare_with(r, &place, other, err);
}
