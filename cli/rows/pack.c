#include "base/args.h"
#include "base/clock.h"
#include "commands.h"
#include "base/doc.h"
#include "rows/rows.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* One SRC. */
typedef struct source {
	cli_place place;
	sherd_bundle *bundle;
} source;

typedef struct packing {
	cli_state *cli;
	sherd_rows_pack_options options;
	const char **names; /* of --tensor */
	size_t name_count;
	sherd_dtype as;
	source *sources;
	sherd_rows_source *rows; /* of the sources */
	size_t count;
	uint64_t overflowed;
	cli_place to;
} packing;

static int take_types(packing *p, const cli_args *args, sherd_error *err)
{
	static const char *const dtypes[] = {"bf16", NULL}, *const stored[] = {"f32", "f16", "bf16", NULL},
				 *const layouts[] = {"sherd", "residual_shard_bf16", NULL};
	static const sherd_dtype types[] = {SHERD_F32, SHERD_F16, SHERD_BF16};
	unsigned word = 0;
	TRY(cli_args_word(args, "dtype", dtypes, &word, err));
	if (cli_args_has(args, "dtype"))
		p->as = SHERD_BF16;
	if (p->options.append)
		return SHERD_OK;
	TRY(cli_args_word(args, "store", stored, &word, err));
	if (cli_args_has(args, "store"))
		p->options.dtype = types[word];
	word = 0;
	TRY(cli_args_word(args, "layout", layouts, &word, err));
	p->options.residual = word;
	if (word && p->options.dtype && p->options.dtype != SHERD_BF16)
		return cli_usage(err, "--layout residual_shard_bf16 holds BF16: --store bf16, or nothing");
	return SHERD_OK;
}

static int take_options(packing *p, const cli_args *args, sherd_error *err)
{
	const char *name;
	size_t next = 0;
	p->options.progress = &p->cli->progress;
	p->options.overflowed = &p->overflowed;
	TRY(cli_args_u64(args, "rows-per-shard", 1, &p->options.rows_per_shard, err));
	TRY(take_types(p, args, err));
	TRY(cli_clock_time(&p->options.time_ns, err));
	p->names = calloc(args->given_count + 1, sizeof(*p->names));
	p->sources = calloc((size_t)args->count, sizeof(*p->sources));
	p->rows = calloc((size_t)args->count, sizeof(*p->rows));
	if (!p->names || !p->sources || !p->rows)
		return cli_no_memory(err);
	while ((name = cli_args_each(args, "tensor", &next)))
		p->names[p->name_count++] = name;
	return SHERD_OK;
}

static int open_source(packing *p, const char *path, sherd_error *err)
{
	source *s = &p->sources[p->count];
	sherd_bundle_options waiting = {.pool = p->cli->pool, .progress = &p->cli->waiting};
	TRY(cli_place_open_any(&s->place, path, false, err));
	p->rows[p->count++] =
		(sherd_rows_source){.names = p->name_count ? p->names : NULL, .name_count = p->name_count, .as = p->as};
	int rc = sherd_bundle_open(&s->bundle, s->place.store, s->place.key, &waiting, err);
	if (rc == SHERD_OK && sherd_bundle_format(s->bundle) == SHERD_FORMAT_ROWS_BF16 && (p->name_count || p->as))
		rc = cli_usage(err, "--tensor and --dtype do not go with a folder of residual_shard_bf16");
	p->rows[p->count - 1].bundle = s->bundle;
	return cli_place_blame(&s->place, rc, err);
}

void cli_rows_warn_of_overflow(cli_state *cli, const char *path, uint64_t count, sherd_dtype dtype)
{
	if (count)
		cli_out_warn(&cli->out, path, "%" PRIu64 " finite value%s too large for %s: stored as infinity", count,
		             count == 1 ? " is" : "s are", sherd_dtype_describe(dtype)->name);
}

static int rows_pack_tell(const packing *p, const char *path, uint64_t before, sherd_error *err)
{
	cli_out *out = &p->cli->out;
	CLI_AUTO(sherd_rows, sherd_rows_close) rows = NULL;
	char size[CLI_TEXT_SIZE];
	uint64_t bytes = 0;
	TRY(cli_place_blame(&p->to, sherd_rows_open_any(&rows, p->to.store, p->to.key, NULL, err), err));
	uint64_t total = sherd_rows_total(rows), width = sherd_rows_width(rows);
	sherd_dtype type = sherd_rows_dtype(rows);
	const char *dtype = sherd_dtype_describe(type)->name;
	sherd_format format = sherd_rows_format(rows);
	size_t shards = sherd_rows_shards(rows);
	for (size_t i = 0; i < shards; i++)
		bytes += sherd_rows_shard_at(rows, i)->bytes;
	cli_text_size(bytes, size);
	if (p->options.append)
		cli_out_note(out, "%s: %" PRIu64 " row%s appended: now %" PRIu64 ", %s in %zu shard%s", path,
		             total - before, cli_text_plural(total - before), total, size, shards,
		             cli_text_plural(shards));
	else
		cli_out_note(out, "%s: %" PRIu64 " row%s of %" PRIu64 " %s value%s, %s packed in %zu shard%s", path,
		             total, cli_text_plural(total), width, dtype, cli_text_plural(width), size, shards,
		             cli_text_plural(shards));
	cli_rows_warn_of_overflow(p->cli, path, p->overflowed, type);
	cli_doc doc = cli_doc_begin(out);
	cli_doc_put_text(&doc, "path", path);
	cli_doc_put_text(&doc, "format", sherd_format_name(format));
	if (p->options.append)
		cli_doc_put_u64(&doc, "appended", total - before);
	cli_doc_put_u64(&doc, "rows", total);
	cli_doc_put_u64(&doc, "width", width);
	cli_doc_put_text(&doc, "dtype", dtype);
	cli_doc_put_u64(&doc, "shards", shards);
	cli_doc_put_u64(&doc, "bytes", bytes);
	cli_doc_put_u64(&doc, "overflowed", p->overflowed);
	return cli_doc_end(&doc, SHERD_OK, err);
}

/* Rows that are there; 0 when there is no set, which packing will say better. */
static uint64_t rows_before(const packing *p)
{
	CLI_AUTO(sherd_rows, sherd_rows_close) rows = NULL;
	if (!p->options.append || sherd_rows_open_folder(&rows, p->to.store, p->to.key, NULL, NULL) < 0)
		return 0;
	return sherd_rows_total(rows);
}

static int rows_pack(packing *p, const cli_args *args, sherd_error *err)
{
	const char *path = args->operands[args->count - 1];
	TRY(take_options(p, args, err));
	for (int i = 0; i + 1 < args->count; i++)
		TRY(open_source(p, args->operands[i], err));
	TRY(cli_place_open_any(&p->to, path, !p->options.append, err));
	uint64_t before = rows_before(p);
	int rc = sherd_rows_pack_sources(p->to.store, p->to.key, p->rows, p->count, &p->options, err);
	cli_out_clear_bar(&p->cli->out);
	TRY(cli_place_blame(rc < 0 && err->index < p->count ? &p->sources[err->index].place : &p->to, rc, err));
	return rows_pack_tell(p, path, before, err);
}

static void rows_pack_done(packing *p)
{
	for (size_t i = 0; i < p->count; i++) {
		sherd_bundle_close(p->sources[i].bundle);
		cli_place_close(&p->sources[i].place);
	}
	cli_place_close(&p->to);
	free(p->names);
	free(p->sources);
	free(p->rows);
}

static int run_pack(cli_state *cli, const cli_args *args, sherd_error *err)
{
	bool append = args->command == &cli_command_rows_append;
	__attribute__((cleanup(rows_pack_done))) packing p = {.cli = cli, .options.append = append};
	return rows_pack(&p, args, err);
}

#define ROWS_PER_SHARD                                                                         \
	{                                                                                      \
		"rows-per-shard", "N", "rows of every shard but the last (default: 131072)", 0 \
	}
#define TENSOR                                                                                              \
	{                                                                                                   \
		"tensor", "NAME", "only this tensor; may be repeated. Rows keep the order of the source", 0 \
	}
#define DTYPE                                                                                      \
	{                                                                                          \
		"dtype", "TYPE", "bf16: 16-bit integers of the source are the bits of bfloat16", 0 \
	}

static const cli_option pack_options[] = {
	ROWS_PER_SHARD,
	TENSOR,
	DTYPE,
	{"store", "f32|f16|bf16", "as stored (default: f16 or bf16 if all tensors are that, else f32)", 0},
	{"layout", "sherd|residual_shard_bf16", "sherd (default) or manifest.json and BF16", 0},
};

const cli_command cli_command_rows_pack = {
	.name = "rows pack",
	.operands = "SRC... DIR",
	.summary = "Writes tensors as a set of rows",
	.details = "SRC is anything with tensors (a NumPy file, safetensors, a checkpoint, a set of rows) or a folder\n"
		   "of residual_shard_bf16; several follow one another. The last dimension of a tensor is the width,\n"
		   "the others together are rows. Tensors have one width and are F32, F64, F16 or BF16. DIR must not\n"
		   "hold shards. What a pack that died left is cleared first.\n",
	.run = run_pack,
	CLI_OPTIONS(pack_options),
};

static const cli_option append_options[] = {
	ROWS_PER_SHARD,
	TENSOR,
	DTYPE,
};

const cli_command cli_command_rows_append = {
	.name = "rows append",
	.operands = "SRC... DIR",
	.summary = "Adds the rows of tensors to a set that has a manifest",
	.details = "SRC is as for sherd rows pack; values are stored in the type of the set. All rows appear in one\n"
		   "step, or none; who reads the set meanwhile is not disturbed. Of two at a time one is refused.\n",
	.run = run_pack,
	CLI_OPTIONS(append_options),
};
