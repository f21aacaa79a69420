#include "args.h"
#include "clock.h"
#include "commands.h"
#include "doc.h"
#include "rows.h"
#include "text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct packing {
	sherd_cli *cli;
	sherd_rows_pack_options options;
	const char **names; /* of --tensor */
	size_t name_count;
	sherd_dtype as;
	sherd_place from, to;
} packing;

static int take_options(packing *p, sherd_cli *cli, const sherd_args *args, sherd_error *err)
{
	static const char *const dtypes[] = {"bf16", NULL};
	unsigned dtype = 0;
	const char *name;
	size_t next = 0;
	sherd_clock clock;
	p->options.progress = &cli->progress;
	TRY(sherd_args_u64(args, "rows-per-shard", 1, &p->options.rows_per_shard, err));
	TRY(sherd_args_word(args, "dtype", dtypes, &dtype, err));
	if (sherd_args_has(args, "dtype"))
		p->as = SHERD_BF16;
	TRY(sherd_clock_read(&clock, err));
	p->options.time_ns = clock.time_ns;
	p->names = calloc(args->given_count + 1, sizeof(*p->names));
	if (!p->names)
		return sherd_cli_no_memory(err);
	while ((name = sherd_args_each(args, "tensor", &next)))
		p->names[p->name_count++] = name;
	return SHERD_OK;
}

/* Can the object be the key of the place, or lie in the folder that it names? */
static bool lies_in(const sherd_place *place, const char *object)
{
	size_t len = strlen(place->key);
	if (!len)
		return *object && !strchr(object, '/');
	return strncmp(object, place->key, len) == 0 && (!object[len] || object[len] == '/');
}

/* Errors name objects of either side. Where they do not say of which, what may be either's is DIR's only if it cannot
 * be said of a source. */
static int blame(const packing *p, int rc, sherd_error *err)
{
	if (rc >= 0)
		return rc;
	if (err->store)
		return sherd_place_blame(err->store == p->from.store ? &p->from : &p->to, rc, err);
	bool target = lies_in(&p->to, err->object) &&
	              (!lies_in(&p->from, err->object) || rc == SHERD_EEXIST || rc == SHERD_ECONFLICT);
	return sherd_place_blame(target ? &p->to : &p->from, rc, err);
}

static int pack_bundle(packing *p, sherd_error *err)
{
	sherd_bundle *bundle;
	sherd_bundle_options waiting = {.pool = p->cli->pool, .progress = &p->cli->waiting};
	TRY(sherd_bundle_open(&bundle, p->from.store, p->from.key, &waiting, err));
	int rc = sherd_rows_pack_bundle(p->to.store, p->to.key, bundle, p->name_count ? p->names : NULL, p->name_count,
	                                p->as, &p->options, err);
	sherd_bundle_close(bundle);
	return rc;
}

static int pack(packing *p, sherd_error *err)
{
	sherd_format format;
	TRY(sherd_detect(p->from.store, p->from.key, &format, err));
	if (format != SHERD_FORMAT_ROWS_BF16)
		return pack_bundle(p, err);
	if (p->name_count || p->as)
		return sherd_cli_usage(err, "--tensor and --dtype do not go with a folder of residual_shard_bf16");
	return sherd_rows_pack_bf16(p->to.store, p->to.key, p->from.store, p->from.key, &p->options, err);
}

static int tell(sherd_cli *cli, const char *path, const packing *p, sherd_error *err)
{
	sherd_rows *rows;
	char size[SHERD_TEXT_SIZE];
	uint64_t bytes = 0;
	TRY(sherd_place_blame(&p->to, sherd_rows_open_folder(&rows, p->to.store, p->to.key, NULL, err), err));
	uint64_t total = sherd_rows_total(rows), width = sherd_rows_width(rows);
	size_t shards = sherd_rows_shards(rows);
	for (size_t i = 0; i < shards; i++)
		bytes += sherd_rows_shard_at(rows, i)->bytes;
	sherd_rows_close(rows);
	sherd_text_size(bytes, size);
	sherd_out_note(&cli->out, "%s: %" PRIu64 " row%s of %" PRIu64 " value%s, %s packed in %zu shard%s", path, total,
	               sherd_text_plural(total), width, sherd_text_plural(width), size, shards,
	               sherd_text_plural(shards));
	sherd_doc doc = sherd_doc_begin(&cli->out);
	sherd_doc_put_text(&doc, "path", path);
	sherd_doc_put_text(&doc, "format", sherd_format_name(SHERD_FORMAT_ROWS));
	sherd_doc_put_u64(&doc, "rows", total);
	sherd_doc_put_u64(&doc, "width", width);
	sherd_doc_put_u64(&doc, "shards", shards);
	sherd_doc_put_u64(&doc, "bytes", bytes);
	return sherd_doc_end(&doc, SHERD_OK, err);
}

static int run(sherd_cli *cli, const sherd_args *args, sherd_error *err)
{
	packing p = {.cli = cli};
	int rc = take_options(&p, cli, args, err);
	if (rc == SHERD_OK)
		rc = sherd_place_open_any(&p.from, args->operands[0], false, err);
	if (rc == SHERD_OK)
		rc = sherd_place_open_any(&p.to, args->operands[1], true, err);
	if (rc == SHERD_OK)
		rc = blame(&p, pack(&p, err), err);
	sherd_out_clear_bar(&cli->out);
	if (rc == SHERD_OK)
		rc = tell(cli, args->operands[1], &p, err);
	sherd_place_close(&p.from);
	sherd_place_close(&p.to);
	free(p.names);
	return rc;
}

static const sherd_option options[] = {
	{"rows-per-shard", "N", "rows of every shard but the last (default: 131072)", 0},
	{"tensor", "NAME", "only this tensor; may be repeated. Rows keep the order of the source", 0},
	{"dtype", "TYPE", "bf16: 16-bit integers of the source are the bits of bfloat16", 0},
	{NULL, NULL, NULL, 0},
};

const sherd_command sherd_command_rows_pack = {
	.name = "rows pack",
	.operands = "SRC DIR",
	.summary = "Writes two-dimensional tensors as a set of rows",
	.details = "SRC is anything with tensors (a NumPy file, safetensors, a checkpoint, a set of rows) or a folder\n"
		   "of residual_shard_bf16. Its tensors have one width and are F32, F64, F16 or BF16; values are\n"
		   "rounded to F32. DIR must not hold shards. What a pack that died left is cleared first.\n",
	.least = 2,
	.most = 2,
	.run = run,
	.options = options,
};
