#include "report/report.h"

#include "base/auto.h"
#include "base/text.h"
#include "tensors/describe.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_PLOTS = 24, MOST_LINES = 1000 };

typedef struct gallery {
	const sherd_bundle *bundle;
	const cli_groups *groups;
	cli_html plots, lines;
	size_t plotted, listed;
	uint64_t nan, inf;
	size_t not_finite; /* tensors with NaN or Inf */
} gallery;

/* The bins as bars, and the same in words for who cannot see them. */
static void add_plot(cli_html *h, const sherd_tensor *t, const sherd_stats *s)
{
	uint64_t most = 1;
	for (size_t i = 0; i < SHERD_STATS_BINS; i++)
		most = s->bins[i] > most ? s->bins[i] : most;
	cli_html_raw(h, "<div class=\"plot\"><h3 class=\"name\">");
	cli_html_text(h, *t->name ? t->name : "(no name)");
	cli_html_printf(h,
	                "</h3><svg viewBox=\"0 0 %d 24\" preserveAspectRatio=\"none\" role=\"img\" "
	                "aria-label=\"Histogram: half of the "
	                "values lie between %.3g and %.3g, nearly all between %.3g and %.3g\">",
	                SHERD_STATS_BINS, s->quantiles[2], s->quantiles[4], s->quantiles[0], s->quantiles[6]);
	for (size_t i = 0; i < SHERD_STATS_BINS; i++) {
		double high = 24 * (double)s->bins[i] / (double)most;
		if (s->bins[i])
			cli_html_printf(h, "<rect x=\"%zu\" y=\"%.2f\" width=\".9\" height=\"%.2f\"/>", i,
			                24 - (high < 0.4 ? 0.4 : high), high < 0.4 ? 0.4 : high);
	}
	cli_html_printf(
		h,
		"</svg><p><span>%.4g</span><span>%.4g</span></p><p class=\"sum\">mean %.3g, deviation %.3g</p></div>\n",
		s->min, s->max, s->mean, s->deviation);
}

static void add_value_cell(cli_html *h, double v)
{
	char text[CLI_TEXT_NUMBER];
	(void)snprintf(text, sizeof(text), "%.4g", v);
	cli_html_cell(h, "n", isnan(v) ? "-" : text);
}

static void add_value_line(cli_html *h, const sherd_tensor *t, const sherd_stats *s)
{
	char text[24];
	cli_html_raw(h, "<tr><th scope=\"row\" class=\"name\">");
	cli_html_text(h, *t->name ? t->name : "(no name)");
	cli_html_raw(h, "</th>");
	cli_html_cell(h, "", sherd_tensor_type(t));
	const double shown[] = {s->min, s->quantiles[1], s->quantiles[3], s->quantiles[5],
	                        s->max, s->mean,         s->deviation};
	for (size_t i = 0; i < COUNT_OF(shown); i++)
		add_value_cell(h, shown[i]);
	const uint64_t counts[] = {s->zeros, s->nan, s->inf};
	for (size_t i = 0; i < COUNT_OF(counts); i++) {
		(void)snprintf(text, sizeof(text), "%" PRIu64, counts[i]);
		cli_html_cell(h, "n", text);
	}
	cli_html_raw(h, "</tr>\n");
}

static bool is_first_of_group(const gallery *g, size_t tensor)
{
	for (size_t i = 0; i < g->groups->count && i < MOST_PLOTS; i++)
		if (g->groups->items[i].first == tensor)
			return true;
	return false;
}

static int gallery_take(void *arg, size_t tensor, const sherd_stats *s, sherd_error *err)
{
	gallery *g = arg;
	const sherd_tensor *t = sherd_bundle_tensor(g->bundle, tensor);
	(void)err;
	g->nan += s->nan;
	g->inf += s->inf;
	g->not_finite += s->nan + s->inf > 0;
	if (!s->known)
		return SHERD_OK;
	if (s->finite && s->count > 1 && is_first_of_group(g, tensor)) {
		add_plot(&g->plots, t, s);
		g->plotted++;
	}
	if (g->listed < MOST_LINES)
		add_value_line(&g->lines, t, s);
	g->listed++;
	return SHERD_OK;
}

static void put_gallery(cli_report *r, gallery *g)
{
	cli_html *h = &r->html;
	cli_report_section(r, "values", "Values");
	if (g->nan + g->inf)
		cli_html_printf(h,
		                "<p><span class=\"verdict bad\">%" PRIu64 " NaN and %" PRIu64
		                " infinite values in %zu tensor%s</span></p>\n",
		                g->nan, g->inf, g->not_finite, cli_text_plural(g->not_finite));
	else
		cli_html_raw(h, "<p><span class=\"verdict good\">every number is finite</span></p>\n");
	if (g->plotted) {
		cli_html_raw(h, "<p>How values are distributed between the least and the greatest: the first tensor of "
		                "each of the "
		                "largest groups.</p>\n<div class=\"grid\">\n");
		cli_html_raw(h, g->plots.data);
		cli_html_raw(h, "</div>\n");
	}
	if (g->listed) {
		cli_html_raw(h, "<details><summary>The numbers of every tensor</summary>\n");
		cli_html_table(h, "Statistics of tensors",
		               "tensor|type|>min|>5%|>median|>95%|>max|>mean|>deviation|>zeros|>NaN|>Inf");
		cli_html_raw(h, g->lines.data);
		cli_html_table_end(h);
		if (g->listed > MOST_LINES)
			cli_html_printf(h, "<p>and %zu more</p>\n", g->listed - MOST_LINES);
		cli_html_raw(h, "</details>\n");
	}
	cli_html_section_end(h);
	r->html.failed |= g->plots.failed || g->lines.failed;
}

/* Damaged data has no numbers that anybody should see. */
static void put_damage(cli_report *r, sherd_error *damage)
{
	cli_place_name(r->place, damage);
	cli_report_section(r, "values", "Values");
	cli_html_raw(&r->html,
	             "<p><span class=\"verdict bad\">values could not be read</span></p>\n<p><span class=\"name\">");
	cli_html_text(&r->html, damage->object);
	cli_html_raw(&r->html, "</span>: ");
	cli_html_text(&r->html, damage->message);
	cli_html_raw(&r->html, "</p>\n");
	cli_html_section_end(&r->html);
}

int cli_report_values(cli_report *r, const sherd_bundle *bundle, const cli_groups *groups, sherd_error *err)
{
	gallery g = {.bundle = bundle, .groups = groups};
	const sherd_stats_options options = {.pool = r->cli->pool, .progress = &r->cli->progress};
	int rc = sherd_stats_bundle(bundle, NULL, 0, &options, gallery_take, &g, err);
	cli_out_clear_bar(&r->cli->out);
	if (rc == SHERD_OK)
		put_gallery(r, &g);
	if (rc == SHERD_ECORRUPT) {
		put_damage(r, err);
		rc = SHERD_OK; /* what verifying finds is told below */
	}
	cli_html_done(&g.plots);
	cli_html_done(&g.lines);
	return rc;
}
