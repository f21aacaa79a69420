#include "tensors/plot.h"

#include "base/text.h"
#include "tensors/describe.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEIGHT = 6, STEPS = 8 /* of a character that is filled in part */ };

static const char *const filled[2][STEPS + 1] = {
	{" ", " ", ".", ".", ".", ":", ":", ":", "|"},
	{" ", "\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588"},
};

static void print_row(cli_out *out, const sherd_stats *s, uint64_t most, unsigned row, bool unicode)
{
	char line[SHERD_STATS_BINS * 3 + 1];
	size_t used = 0, end = 0;
	for (size_t i = 0; i < SHERD_STATS_BINS; i++) {
		/* What is there at all is seen in the lowest row. */
		double high = (double)s->bins[i] / (double)most * HEIGHT * STEPS - (double)row * STEPS;
		int step = high >= STEPS ? STEPS : high <= 0 ? 0 : (int)(high + 0.5);
		if (!row && s->bins[i] && step < 2)
			step = unicode ? 1 : 2;
		const char *cell = filled[unicode][step];
		used += (size_t)snprintf(line + used, sizeof(line) - used, "%s", cell);
		if (*cell != ' ')
			end = used;
	}
	cli_out_printf(out, "  %.*s\n", (int)end, line);
}

static void print_plot(cli_out *out, const sherd_stats *s)
{
	char low[CLI_TEXT_NUMBER], high[CLI_TEXT_NUMBER];
	uint64_t most = 0;
	for (size_t i = 0; i < SHERD_STATS_BINS; i++)
		most = s->bins[i] > most ? s->bins[i] : most;
	if (!most)
		return;
	for (unsigned row = HEIGHT; row-- > 0;)
		print_row(out, s, most, row, cli_text_unicode());
	(void)snprintf(low, sizeof(low), "%.4g", s->min);
	(void)snprintf(high, sizeof(high), "%.4g", s->max);
	int gap = SHERD_STATS_BINS - (int)strlen(low) - (int)strlen(high);
	cli_out_printf(out, "  %s%*s%s\n", low, gap, "", high);
}

void cli_plot_print(cli_out *out, const sherd_tensor *tensor, const sherd_stats *stats)
{
	char shape[CLI_SHAPE_TEXT];
	cli_describe_shape(tensor, shape);
	cli_out_name(out, tensor->name);
	cli_out_printf(out, "  ");
	cli_out_name(out, sherd_tensor_type(tensor));
	cli_out_printf(out, " %s", shape);
	if (!stats->known)
		cli_out_printf(out, "  no numbers\n");
	else if (!stats->finite)
		cli_out_printf(out, "  %" PRIu64 " value%s, %" PRIu64 " NaN, %" PRIu64 " Inf\n", stats->count,
		               cli_text_plural(stats->count), stats->nan, stats->inf);
	else
		cli_out_printf(out,
		               "  mean %.4g, dev %.4g, median %.4g, %" PRIu64 " zero%s, %" PRIu64 " NaN, %" PRIu64
		               " Inf\n",
		               stats->mean, stats->deviation, stats->quantiles[3], stats->zeros,
		               cli_text_plural(stats->zeros), stats->nan, stats->inf);
	if (stats->known && stats->finite)
		print_plot(out, stats);
	cli_out_printf(out, "\n");
}
