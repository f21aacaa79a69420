#include "commands.h"
#include "base/doc.h"
#include "base/place.h"
#include "base/text.h"
#include "tensors/describe.h"
#include "tensors/pick.h"
#include "tensors/plot.h"

#include <sherd/stats.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

typedef struct looking {
	cli_state *cli;
	const sherd_bundle *bundle;
	bool hist;
	cli_table table;
	cli_doc doc;
	uint64_t values, nan, inf, without; /* of all tensors; without: those that have no numbers */
} looking;

static void number_cell(cli_table *table, double v)
{
	char text[CLI_TEXT_NUMBER];
	(void)snprintf(text, sizeof(text), "%.4g", v);
	cli_table_add(table, isnan(v) ? "-" : text);
}

static void count_cell(cli_table *table, uint64_t count)
{
	char text[24];
	(void)snprintf(text, sizeof(text), "%" PRIu64, count);
	cli_table_add(table, text);
}

/* How many are zero, in hundredths. */
static void share_cell(cli_table *table, uint64_t some, uint64_t all)
{
	char text[24];
	double percent = all ? 100 * (double)some / (double)all : 0;
	(void)snprintf(text, sizeof(text), "%.*f%%", some && percent < 99.95 ? 1 : 0, percent);
	cli_table_add(table, some ? text : "0");
}

static void add_stats_line(looking *l, const sherd_tensor *t, const sherd_stats *s)
{
	char shape[CLI_SHAPE_TEXT];
	cli_describe_shape(t, shape);
	cli_table_add(&l->table, t->name);
	cli_table_add(&l->table, sherd_tensor_type(t));
	cli_table_add(&l->table, shape);
	if (!s->known) {
		for (int i = 3; i < 13; i++)
			cli_table_add(&l->table, "-");
		return;
	}
	number_cell(&l->table, s->min);
	number_cell(&l->table, s->quantiles[1]);
	number_cell(&l->table, s->quantiles[3]);
	number_cell(&l->table, s->quantiles[5]);
	number_cell(&l->table, s->max);
	number_cell(&l->table, s->mean);
	number_cell(&l->table, s->deviation);
	share_cell(&l->table, s->zeros, s->count);
	count_cell(&l->table, s->nan);
	count_cell(&l->table, s->inf);
}

/* What is not there, as the extremes of no values, is null. */
static void put_number(cli_doc *doc, const char *key, double v)
{
	cli_doc_key(doc, key);
	if (isnan(v))
		cli_doc_raw(doc, "null");
	else
		cli_doc_f64(doc, v);
}

static void put_quantiles(cli_doc *doc, const sherd_stats *s)
{
	cli_doc_put_open(doc, "quantiles", '{');
	for (size_t i = 0; i < SHERD_STATS_QUANTILES; i++) {
		char key[CLI_TEXT_NUMBER];
		cli_text_f64(sherd_stats_share(i), key);
		put_number(doc, key, s->quantiles[i]);
	}
	cli_doc_close(doc, '}');
}

static void stats_put_tensor(cli_doc *doc, const sherd_tensor *t, const sherd_stats *s, bool hist)
{
	cli_doc_open(doc, '{');
	cli_doc_put_text(doc, "name", t->name);
	cli_doc_put_text(doc, "dtype", sherd_tensor_type(t));
	cli_doc_put_shape(doc, "shape", t->shape, t->ndim);
	cli_doc_put_bool(doc, "numbers", s->known);
	if (s->known) {
		cli_doc_put_u64(doc, "count", s->count);
		cli_doc_put_u64(doc, "nan", s->nan);
		cli_doc_put_u64(doc, "inf", s->inf);
		cli_doc_put_u64(doc, "zeros", s->zeros);
		put_number(doc, "min", s->min);
		put_number(doc, "max", s->max);
		put_number(doc, "mean", s->mean);
		put_number(doc, "deviation", s->deviation);
		put_number(doc, "norm", s->norm);
		put_quantiles(doc, s);
		cli_doc_put_u64(doc, "sampled", s->sampled);
	}
	if (s->known && hist)
		cli_doc_put_shape(doc, "histogram", s->bins, SHERD_STATS_BINS);
	cli_doc_close(doc, '}');
}

static int stats_take_tensor(void *arg, size_t tensor, const sherd_stats *s, sherd_error *err)
{
	looking *l = arg;
	const sherd_tensor *t = sherd_bundle_tensor(l->bundle, tensor);
	(void)err;
	l->values += s->count;
	l->nan += s->nan;
	l->inf += s->inf;
	l->without += !s->known;
	if (l->cli->out.json)
		stats_put_tensor(&l->doc, t, s, l->hist);
	else if (l->hist)
		cli_plot_print(&l->cli->out, t, s);
	else
		add_stats_line(l, t, s);
	return SHERD_OK;
}

static void print_total(looking *l, const char *path, size_t count)
{
	char without[64] = "";
	if (l->without)
		(void)snprintf(without, sizeof(without), ", %" PRIu64 " without numbers", l->without);
	cli_out_note(&l->cli->out, "%s: %zu tensor%s%s, %" PRIu64 " value%s, %" PRIu64 " NaN, %" PRIu64 " Inf", path,
	             count, cli_text_plural(count), without, l->values, cli_text_plural(l->values), l->nan, l->inf);
}

static int gather(looking *l, const cli_args *args, const cli_place *place, size_t *count, sherd_error *err)
{
	CLI_AUTO_FREE size_t *tensors = NULL;
	const char *glob = args->count > 1 ? args->operands[1] : NULL;
	TRY(cli_place_blame(place, cli_pick_tensors(&tensors, count, l->bundle, glob, err), err));
	sherd_stats_options options = {.pool = l->cli->pool, .progress = &l->cli->progress};
	int rc = sherd_stats_bundle(l->bundle, tensors, *count, &options, stats_take_tensor, l, err);
	cli_out_clear_bar(&l->cli->out);
	return cli_place_blame(place, rc, err);
}

static int print_gathered(looking *l, const cli_args *args, const cli_place *place, sherd_error *err)
{
	static const char *const heads[] = {"tensor", "dtype", "shape", "min",   "5%",  "median", "95%",
	                                    "max",    "mean",  "dev",   "zeros", "NaN", "Inf"};
	size_t count = 0;
	l->table = (cli_table){.columns = COUNT_OF(heads), .right = 1023u << 3};
	cli_table_add_row(&l->table, heads);
	TRY(gather(l, args, place, &count, err));
	if (!l->hist && count)
		TRY(cli_table_print(&l->table, &l->cli->out, err));
	print_total(l, args->operands[0], count);
	return SHERD_OK;
}

static int put_gathered(looking *l, const cli_args *args, const cli_place *place, sherd_error *err)
{
	size_t count = 0;
	l->doc = cli_doc_begin(&l->cli->out);
	cli_doc_put_text(&l->doc, "format", sherd_format_name(sherd_bundle_format(l->bundle)));
	cli_doc_put_open(&l->doc, "tensors", '[');
	int rc = gather(l, args, place, &count, err);
	cli_doc_close(&l->doc, ']');
	cli_doc_put_u64(&l->doc, "values", l->values);
	cli_doc_put_u64(&l->doc, "nan", l->nan);
	cli_doc_put_u64(&l->doc, "inf", l->inf);
	return cli_doc_end(&l->doc, rc, err);
}

static int stats_run(cli_state *cli, const cli_args *args, sherd_error *err)
{
	CLI_AUTO_PLACE place = {0};
	CLI_AUTO(sherd_bundle, sherd_bundle_close) bundle = NULL;
	sherd_bundle_options options = {.pool = cli->pool, .progress = &cli->waiting};
	TRY(cli_place_open_any(&place, args->operands[0], false, err));
	TRY(cli_place_blame(&place, sherd_bundle_open(&bundle, place.store, place.key, &options, err), err));
	looking l = {.cli = cli, .bundle = bundle, .hist = cli_args_has(args, "hist")};
	int rc = cli->out.json ? put_gathered(&l, args, &place, err) : print_gathered(&l, args, &place, err);
	cli_table_done(&l.table);
	TRY(rc);
	return cli_args_has(args, "check") && l.nan + l.inf ? EXIT_BAD_DATA : EXIT_FINE;
}

static const cli_option options[] = {
	{"hist", NULL, "draw how the values of each tensor are distributed", 0},
	{"check", NULL, "exit with status 1 when there is a NaN or an infinity", 0},
};

const cli_command cli_command_stats = {
	.name = "stats",
	.operands = "PATH [GLOB]",
	.summary = "Shows what the values of tensors are like",
	.details =
		"Extremes, mean, deviation, quantiles, zeros, NaN and infinities of every tensor, or of those whose\n"
		"names match GLOB. Quantiles are off by less than 1/32 of their value.\n",
	.run = stats_run,
	CLI_OPTIONS(options),
};
