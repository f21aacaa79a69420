#include "tensors/cat.h"

#include "commands.h"
#include "graph/db.h"
#include "base/lost.h"
#include "rows/rows.h"
#include "tensors/pick.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The end of a name, or a name with a slice behind it. An exact name, brackets and all, was looked for before. */
static int pick_named(cli_cat *cat, const char *name, sherd_error *err)
{
	const char *open = strrchr(name, '[');
	size_t len = strlen(name);
	bool sliced = open && open > name && name[len - 1] == ']';
	CLI_AUTO_FREE char *plain = strndup(name, sliced ? (size_t)(open - name) : len);
	CLI_AUTO_FREE char *slice = sliced ? strndup(open + 1, len - (size_t)(open - name) - 2) : NULL;
	if (!plain || (sliced && !slice))
		return cli_no_memory(err);
	TRY(cli_pick_tensor(&cat->index, cat->bundle, plain, err));
	cat->tensor = sherd_bundle_tensor(cat->bundle, cat->index);
	if (!sliced)
		return SHERD_OK;
	cat->sliced = true;
	return cli_slice_parse(&cat->slice, cat->tensor, slice, err);
}

static int pick(cli_cat *cat, const char *name, sherd_error *err)
{
	size_t count = sherd_bundle_count(cat->bundle);
	if (!name && count != 1)
		return cli_usage(err, "there are %zu tensors: name one (sherd info lists them)", count);
	cat->index = name ? sherd_bundle_find(cat->bundle, name) : 0;
	if (cat->index == SHERD_NO_TENSOR)
		return pick_named(cat, name, err);
	cat->tensor = sherd_bundle_tensor(cat->bundle, cat->index);
	return SHERD_OK;
}

/* One end of A:B; an empty one stays as it is. */
static bool cat_take_end(const char *text, const char *end, uint64_t *out)
{
	const char *rest;
	return text == end || (cli_text_digits(text, out, &rest) && rest == end);
}

static int take_range(cli_cat *cat, const char *text, uint64_t rows, sherd_error *err)
{
	const char *colon = strchr(text, ':');
	cat->ranged = true;
	if (!colon || !cat_take_end(text, colon, &cat->rows[0]) ||
	    !cat_take_end(colon + 1, text + strlen(text), &cat->rows[1]))
		return cli_usage(err, "--range must be A:B");
	if (cat->rows[0] > cat->rows[1] || cat->rows[1] > rows)
		return cli_fail(err, SHERD_EINVAL, "bad-range", "--range %.64s is not within 0:%" PRIu64, text, rows);
	return SHERD_OK;
}

/* Rows of the first dimension when there are two dimensions or more, else elements. */
static int cat_take_part(cli_cat *cat, const char *range, sherd_error *err)
{
	const sherd_tensor *t = cat->tensor;
	uint64_t inner = 1;
	for (uint32_t i = 1; i < t->ndim; i++)
		if (__builtin_mul_overflow(inner, t->shape[i], &inner))
			inner = 0; /* a dimension of 0 comes later, else it would not have fitted */
	uint64_t rows = t->ndim ? t->shape[0] : 1;
	cat->row = t->ndim ? t->shape[t->ndim - 1] : 1;
	cat->rows[0] = 0;
	cat->rows[1] = rows;
	if (range)
		TRY(take_range(cat, range, rows, err));
	cat->first = cat->rows[0] * inner;
	cat->last = cat->rows[1] * inner;
	return SHERD_OK;
}

static int cat_print(const cli_cat *cat, sherd_error *err)
{
	bool json = cat->cli->out.json;
	if (strcmp(cat->format, "text") == 0 && (unsigned)cat->tensor->dtype >= SHERD_DTYPE_COUNT)
		return cli_fail(err, SHERD_EUNSUPPORTED, "no-elements",
		                "%.100s is %s, whose values are not decoded (--format raw gives its bytes)",
		                cat->tensor->name, sherd_tensor_type(cat->tensor));
	bool cut = cat->sliced || (cat->elided && !json);
	if (cut && !sherd_dtype_describe(cat->tensor->dtype)->block_bytes)
		return cli_fail(err, SHERD_EUNSUPPORTED, "no-elements",
		                "%.100s is %s, which has no slices (--range takes rows)", cat->tensor->name,
		                sherd_tensor_type(cat->tensor));
	if (strcmp(cat->format, "text") == 0 && cut)
		return json ? cli_cat_slice_json(cat, err) : cli_cat_slice_text(cat, err);
	if (strcmp(cat->format, "text") == 0)
		return json ? cli_cat_json(cat, err) : cli_cat_text(cat, err);
	if (json)
		return cli_usage(err, "--json is a format of its own: it cannot go with --format %.16s", cat->format);
	if (cat->sliced && (strcmp(cat->format, "raw") == 0 || strcmp(cat->format, "npy") == 0))
		return cli_cat_slice_raw(cat, strcmp(cat->format, "npy") == 0, err);
	if (strcmp(cat->format, "raw") == 0)
		return cli_cat_raw(cat, err);
	if (strcmp(cat->format, "npy") == 0)
		return cli_cat_npy(cat, err);
	return cli_usage(err, "--format must be text, raw or npy");
}

/* sherd rows cat prints rows and nothing else. */
static int check_rows(cli_state *cli, const cli_place *place, sherd_error *err)
{
	CLI_AUTO(sherd_rows, sherd_rows_close) rows = NULL;
	return cli_rows_open_place(&rows, cli, place, false, err);
}

/* On a terminal nobody reads a million numbers. */
static void cat_take_elision(cli_cat *cat, const cli_args *args)
{
	enum { ENOUGH = 1000 };
	bool text = strcmp(cat->format, "text") == 0, sized = sherd_dtype_describe(cat->tensor->dtype)->block_bytes;
	if (!cat->sliced)
		cli_slice_whole(&cat->slice, cat->tensor);
	uint64_t values;
	if (__builtin_mul_overflow(cat->slice.rows, cat->slice.row, &values))
		values = UINT64_MAX;
	cat->elided = text && sized && !cat->ranged && !cli_args_has(args, "all") && values > ENOUGH &&
	              (cli_args_has(args, "elide") || cli_out_is_terminal());
}

static int cat_place(cli_state *cli, const cli_args *args, const cli_place *place, sherd_error *err)
{
	CLI_AUTO(sherd_bundle, sherd_bundle_close) bundle = NULL;
	const char *format = cli_args_text(args, "format");
	sherd_bundle_options waiting = {.pool = cli->pool, .progress = &cli->waiting};
	sherd_bundle_options reading = {.pool = cli->pool, .progress = &cli->progress};
	CLI_AUTO_LOST lost = {.cli = cli, .place = place};
	if (cli_args_has(args, "partial")) {
		waiting.lost = cli_lost_tell;
		waiting.lost_arg = &lost;
	}
	TRY(cli_place_blame(place, sherd_bundle_open(&bundle, place->store, place->key, &waiting, err), err));
	cli_cat cat = {.cli = cli, .bundle = bundle, .format = format ? format : "text"};
	TRY(cli_place_blame(place, pick(&cat, args->count > 1 ? args->operands[1] : NULL, err), err));
	if (cat.sliced && cli_args_has(args, "range"))
		return cli_usage(err, "--range cannot go with a slice");
	TRY(cli_place_blame(place, cat_take_part(&cat, cli_args_text(args, "range"), err), err));
	cat_take_elision(&cat, args);
	int rc = sherd_bundle_prepare(bundle, &cat.index, 1, &reading, err);
	cli_out_clear_bar(&cli->out);
	return cli_place_blame(place, rc < 0 ? rc : cat_print(&cat, err), err);
}

static bool is_graph(const cli_place *place)
{
	sherd_format format;
	return sherd_detect(&format, place->store, place->key, NULL) == SHERD_OK &&
	       sherd_format_describe(format)->kind == SHERD_KIND_GRAPH;
}

static int cat_run(cli_state *cli, const cli_args *args, sherd_error *err)
{
	CLI_AUTO_PLACE place = {0};
	TRY(cli_place_open_any(&place, args->operands[0], false, err));
	if (args->command == &cli_command_rows_cat)
		TRY(check_rows(cli, &place, err));
	int rc = cat_place(cli, args, &place, err);
	return rc == SHERD_EUNSUPPORTED && is_graph(&place) ? cli_db_cat(cli, args, &place, err) : rc;
}

static const cli_option options[] = {
	{"partial", NULL, "of a checkpoint, shards that do not hold the tensor may be missing", 0},
	{"range", "A:B", "only rows A to B-1 of the first dimension; of a vector, elements", 0},
	{"format", "text|raw|npy", "text (default), raw (the bytes), npy (a NumPy file)", 0},
	{"elide", NULL, "of more than 1000 values only the first and last rows and columns (a terminal's default)", 0},
	{"all", NULL, "every value, on a terminal too", 0},
};

const cli_command cli_command_cat = {
	.name = "cat",
	.operands = "PATH [NAME]",
	.summary = "Prints the values of a tensor",
	.details =
		"NAME may be left out when there is only one tensor, may be the end of a name, and may have a slice\n"
		"behind it: 'w[0:4, :, -1]'. As text, one row of the last dimension is one line. Of a graph all nodes\n"
		"and edges are printed, or the node whose id is NAME.\n",
	.run = cat_run,
	CLI_OPTIONS(options),
};

static const cli_option rows_options[] = {
	{"range", "A:B", "only rows A to B-1", 0},
	{"format", "text|raw|npy", "text (default), raw (the bytes), npy (a NumPy file)", 0},
	{"elide", NULL, "of more than 1000 values only the first and last rows and columns (a terminal's default)", 0},
	{"all", NULL, "every value, on a terminal too", 0},
};

const cli_command cli_command_rows_cat = {
	.name = "rows cat",
	.operands = "DIR",
	.summary = "Prints rows as they are stored, one a line",
	.run = cat_run,
	CLI_OPTIONS(rows_options),
};

const cli_command cli_command_checkpoint_cat = {
	.name = "checkpoint cat",
	.operands = "PREFIX [NAME]",
	.summary = "Prints the values of a tensor; the same as sherd cat",
	.run = cat_run,
	CLI_OPTIONS(options),
};

const cli_command cli_command_model_cat = {
	.name = "model cat",
	.operands = "PATH [NAME]",
	.summary = "Prints the values of a model's array; the same as sherd cat",
	.run = cat_run,
	CLI_OPTIONS_BUT_FIRST(options), /* models are never partial */
};
