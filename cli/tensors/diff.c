#include "tensors/diff.h"

#include "commands.h"
#include "base/doc.h"
#include "base/text.h"
#include "tensors/describe.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct telling {
	cli_state *cli;
	cli_table table;
	cli_doc doc;
} telling;

/* "[3, 0]": an element by its place in C order; of types without elements its number. */
static void place_text(const sherd_tensor *t, const sherd_diff_values *v, uint64_t at, char out[CLI_SHAPE_TEXT])
{
	uint64_t place[SHERD_MAX_DIMS];
	uint64_t rest = v->numbers && t->dtype == SHERD_C64 ? at / 2 : at;
	const sherd_tensor where = {.ndim = t->ndim, .shape = place};
	for (uint32_t i = t->ndim; i-- > 0;) {
		place[i] = t->shape[i] ? rest % t->shape[i] : 0;
		rest = t->shape[i] ? rest / t->shape[i] : 0;
	}
	if (v->numbers)
		cli_describe_shape(&where, out);
	else
		(void)snprintf(out, CLI_SHAPE_TEXT, "%" PRIu64, at);
}

static const char *unit_of(const sherd_diff_values *v, const sherd_tensor *t)
{
	return v->numbers ? "value" : sherd_dtype_describe(t->dtype)->block_bytes ? "block" : "byte";
}

/* Both sides are there: their values were compared. */
static void values_text(const sherd_diff_tensor *d, const sherd_tensor *left, char *out, size_t room)
{
	const sherd_diff_values *v = d->values;
	char first[CLI_SHAPE_TEXT], largest[CLI_SHAPE_TEXT];
	const char *unit = unit_of(v, left);
	place_text(left, v, v->first, first);
	place_text(left, v, v->largest_at, largest);
	size_t used = 0;
	if (!v->different)
		used = (size_t)snprintf(out, room, "same values");
	else
		used = (size_t)snprintf(out, room, "%" PRIu64 " of %" PRIu64 " %s%s differ, first at %s", v->different,
		                        v->count, unit, cli_text_plural(v->count), first);
	if (v->numbers && v->largest > 0 && used < room)
		used += (size_t)snprintf(out + used, room - used, ", largest %.4g at %s, dW/W %.4g", v->largest,
		                         largest, v->relative);
	if (v->numbers && v->largest > 0 && !isnan(v->cosine) && used < room)
		used += (size_t)snprintf(out + used, room - used, ", cosine %.6g", v->cosine);
	if (v->not_finite && used < room)
		(void)snprintf(out + used, room - used, ", %" PRIu64 " not finite", v->not_finite);
}

static void detail_text(const sherd_diff_tensor *d, char *out, size_t room)
{
	char left[CLI_SHAPE_TEXT] = "", right[CLI_SHAPE_TEXT] = "";
	const sherd_tensor *one = d->left ? d->left : d->right;
	if (d->left)
		cli_describe_shape(d->left, left);
	if (d->right)
		cli_describe_shape(d->right, right);
	*out = 0;
	switch (d->kind) {
	case SHERD_DIFF_SHAPE: (void)snprintf(out, room, "%s, %s", left, right); break;
	case SHERD_DIFF_ONLY_LEFT:
	case SHERD_DIFF_ONLY_RIGHT:
		(void)snprintf(out, room, "%s %s", sherd_tensor_type(one), d->left ? left : right);
		break;
	case SHERD_DIFF_DTYPE:
		(void)snprintf(out, room, "%s, %s%s", sherd_tensor_type(d->left), sherd_tensor_type(d->right),
		               d->values ? ": " : "");
		break;
	default: break;
	}
	size_t used = strlen(out);
	if (d->values && d->left)
		values_text(d, d->left, out + used, room - used);
}

static void diff_put_head(cli_doc *doc, const char *key, const sherd_tensor *t)
{
	if (!t)
		return;
	cli_doc_put_open(doc, key, '{');
	cli_doc_put_text(doc, "dtype", sherd_tensor_type(t));
	cli_doc_put_shape(doc, "shape", t->shape, t->ndim);
	cli_doc_close(doc, '}');
}

static void put_diff_real(cli_doc *doc, const char *key, double v)
{
	cli_doc_key(doc, key);
	if (isnan(v))
		cli_doc_raw(doc, "null");
	else
		cli_doc_f64(doc, v);
}

static void put_values(cli_doc *doc, const sherd_diff_values *v)
{
	cli_doc_put_open(doc, "values", '{');
	cli_doc_put_bool(doc, "numbers", v->numbers);
	cli_doc_put_u64(doc, "count", v->count);
	cli_doc_put_u64(doc, "different", v->different);
	if (v->different)
		cli_doc_put_u64(doc, "first", v->first);
	if (v->numbers) {
		cli_doc_put_u64(doc, "not_finite", v->not_finite);
		put_diff_real(doc, "largest", v->largest);
		cli_doc_put_u64(doc, "largest_at", v->largest_at);
		put_diff_real(doc, "norm_left", v->norm_left);
		put_diff_real(doc, "norm_right", v->norm_right);
		put_diff_real(doc, "norm_difference", v->norm_difference);
		put_diff_real(doc, "relative", v->relative);
		put_diff_real(doc, "cosine", v->cosine);
	}
	cli_doc_close(doc, '}');
}

static int tell_tensor(void *arg, const sherd_diff_tensor *d, sherd_error *err)
{
	telling *t = arg;
	char detail[4 * CLI_SHAPE_TEXT];
	(void)err;
	if (d->kind == SHERD_DIFF_EQUAL)
		return SHERD_OK;
	if (t->cli->out.json) {
		cli_doc_open(&t->doc, '{');
		cli_doc_put_text(&t->doc, "name", (d->left ? d->left : d->right)->name);
		cli_doc_put_text(&t->doc, "kind", sherd_diff_kind_name(d->kind));
		diff_put_head(&t->doc, "left", d->left);
		diff_put_head(&t->doc, "right", d->right);
		if (d->values)
			put_values(&t->doc, d->values);
		cli_doc_close(&t->doc, '}');
		return SHERD_OK;
	}
	detail_text(d, detail, sizeof(detail));
	cli_table_add(&t->table, (d->left ? d->left : d->right)->name);
	cli_table_add(&t->table, sherd_diff_kind_name(d->kind));
	cli_table_add(&t->table, detail);
	return SHERD_OK;
}

static void print_verdict(const cli_diff *diff, const sherd_diff_summary *s)
{
	static const char *const words[] = {"equal",       "only left",   "only right",
	                                    "other dtype", "other shape", "other values"};
	char list[256] = "", size[CLI_TEXT_SIZE];
	for (size_t i = 0; i < SHERD_DIFF_KINDS; i++) {
		char one[48];
		(void)snprintf(one, sizeof(one), "%" PRIu64 " %s", s->tensors[i], words[i]);
		if (s->tensors[i])
			cli_text_join(list, sizeof(list), ", ", one);
	}
	cli_text_size(s->bytes, size);
	if (!*list)
		(void)snprintf(list, sizeof(list), "no tensors");
	cli_out_note(&diff->cli->out, "%s and %s: %s, %s compared", diff->paths[0], diff->paths[1], list,
	             cli_args_has(diff->args, "heads") ? "heads" : size);
}

static void put_diff_counts(cli_doc *doc, const sherd_diff_summary *s)
{
	cli_doc_put_bool(doc, "equal", s->equal);
	cli_doc_put_open(doc, "tensors", '{');
	for (int i = 0; i < SHERD_DIFF_KINDS; i++)
		cli_doc_put_u64(doc, sherd_diff_kind_name((sherd_diff_kind)i), s->tensors[i]);
	cli_doc_close(doc, '}');
	cli_doc_put_u64(doc, "compared_bytes", s->bytes);
}

/* The side that failed is told by the error's index. */
static int blame_side(const cli_diff *diff, int rc, sherd_error *err)
{
	return cli_place_blame(&diff->places[rc < 0 && err->index == 1], rc, err);
}

static int diff_bundles(const cli_diff *diff, sherd_bundle *const bundles[2], sherd_error *err)
{
	const cli_args *args = diff->args;
	sherd_diff_summary summary = {0};
	sherd_diff_options options = {.heads = cli_args_has(args, "heads"),
	                              .any_dtype = cli_args_has(args, "any-dtype"),
	                              .match = cli_args_text(args, "match"),
	                              .pool = diff->cli->pool,
	                              .progress = &diff->cli->progress};
	TRY(cli_args_real(args, "tolerance", &options.tolerance, err));
	TRY(cli_args_real(args, "relative", &options.relative, err));
	if (options.tolerance < 0 || options.relative < 0)
		return cli_usage(err, "--tolerance and --relative must be at least 0");
	telling t = {.cli = diff->cli, .table = {.columns = 3}, .doc = cli_doc_begin(&diff->cli->out)};
	cli_doc_put_text(&t.doc, "left", diff->paths[0]);
	cli_doc_put_text(&t.doc, "right", diff->paths[1]);
	cli_doc_put_open(&t.doc, "differences", '[');
	int rc = sherd_diff_bundles(&summary, bundles[0], bundles[1], &options, tell_tensor, &t, err);
	cli_out_clear_bar(&diff->cli->out);
	rc = blame_side(diff, rc, err);
	cli_doc_close(&t.doc, ']');
	put_diff_counts(&t.doc, &summary);
	rc = cli_doc_end(&t.doc, rc, err);
	if (rc == SHERD_OK && !diff->cli->out.json && !diff->cli->out.quiet) {
		rc = cli_table_print(&t.table, &diff->cli->out, err);
		if (rc == SHERD_OK)
			print_verdict(diff, &summary);
	}
	cli_table_done(&t.table);
	TRY(rc);
	return summary.equal ? EXIT_FINE : EXIT_BAD_DATA;
}

static int diff_tensors(const cli_diff *diff, sherd_error *err)
{
	CLI_AUTO(sherd_bundle, sherd_bundle_close) left = NULL;
	CLI_AUTO(sherd_bundle, sherd_bundle_close) right = NULL;
	sherd_bundle_options options = {.pool = diff->cli->pool, .progress = &diff->cli->waiting};
	const cli_place *p = diff->places;
	TRY(cli_place_blame(&p[0], sherd_bundle_open(&left, p[0].store, p[0].key, &options, err), err));
	TRY(cli_place_blame(&p[1], sherd_bundle_open(&right, p[1].store, p[1].key, &options, err), err));
	return diff_bundles(diff, (sherd_bundle *const[]){left, right}, err);
}

static int diff_places(cli_diff *diff, sherd_error *err)
{
	bool graphs[2];
	for (int i = 0; i < 2; i++) {
		sherd_format format;
		const cli_place *p = &diff->places[i];
		TRY(cli_place_blame(p, sherd_detect(&format, p->store, p->key, err), err));
		graphs[i] = sherd_format_describe(format)->kind == SHERD_KIND_GRAPH;
	}
	if (graphs[0] != graphs[1])
		return cli_usage(err, "%.100s is a graph and %.100s is none", diff->paths[graphs[1]],
		                 diff->paths[graphs[0]]);
	return graphs[0] ? cli_diff_graphs(diff, err) : diff_tensors(diff, err);
}

static int diff_run(cli_state *cli, const cli_args *args, sherd_error *err)
{
	cli_diff diff = {.cli = cli, .args = args, .paths = {args->operands[0], args->operands[1]}};
	int rc = cli_place_open_any(&diff.places[0], diff.paths[0], false, err);
	if (rc == SHERD_OK)
		rc = cli_place_open_any(&diff.places[1], diff.paths[1], false, err);
	if (rc == SHERD_OK)
		rc = diff_places(&diff, err);
	cli_place_close(&diff.places[0]);
	cli_place_close(&diff.places[1]);
	return rc;
}

static const cli_option options[] = {
	{"heads", NULL, "compare names, types and shapes only, and read no values", 0},
	{"tolerance", "X", "numbers that are no more than X apart are equal", 0},
	{"relative", "R", "and those no more than R times the left one apart; both add up", 0},
	{"any-dtype", NULL, "another type is no difference where the values are equal", 0},
	{"match", "GLOB", "only tensors whose names match", 0},
	{"limit", "N", "of graphs, print N records at most (default: 20; 0: all)", 0},
};

const cli_command cli_command_diff = {
	.name = "diff",
	.operands = "A B",
	.summary = "Shows what differs between two files or sets",
	.details = "Tensors, rows or graphs, whatever their formats and shards. Exit status 0 when they are equal, 1 "
		   "when\n"
		   "they differ; when one cannot be read, as everywhere, with an error that names it.\n",
	.run = diff_run,
	CLI_OPTIONS(options),
};
