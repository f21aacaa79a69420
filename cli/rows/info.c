#include "base/args.h"
#include "commands.h"
#include "base/doc.h"
#include "rows/rows.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *last_part(const char *key)
{
	const char *slash = strrchr(key, '/');
	return slash ? slash + 1 : key;
}

/* What the user calls a shard: as given in a list, else by its name in the folder. */
static const char *shard_name(const cli_place *place, const sherd_rows *rows, size_t shard)
{
	return place->keys ? place->paths[shard] : last_part(sherd_rows_shard_at(rows, shard)->key);
}

static const char *format_of(const sherd_rows *rows)
{
	return sherd_format_name(sherd_rows_format(rows));
}

static uint64_t bytes_of(const sherd_rows *rows)
{
	uint64_t bytes = 0;
	for (size_t i = 0; i < sherd_rows_shards(rows); i++)
		bytes += sherd_rows_shard_at(rows, i)->bytes;
	return bytes;
}

static void print_head(cli_state *cli, const char *path, const sherd_rows *rows)
{
	char size[CLI_TEXT_SIZE];
	uint64_t total = sherd_rows_total(rows), width = sherd_rows_width(rows);
	cli_text_size(bytes_of(rows), size);
	cli_out_name(&cli->out, path);
	cli_out_printf(&cli->out, ": %s, %" PRIu64 " row%s of %" PRIu64 " %s value%s, %s\n", format_of(rows), total,
	               cli_text_plural(total), width, sherd_dtype_describe(sherd_rows_dtype(rows))->name,
	               cli_text_plural(width), size);
	cli_out_printf(&cli->out, "manifest  %s\n\n", sherd_rows_has_manifest(rows) ? "yes" : "none");
}

static int print_shards(cli_state *cli, const cli_place *place, const sherd_rows *rows, sherd_error *err)
{
	static const char *const heads[] = {"file", "rows", "first row", "size"};
	cli_table table = {.columns = COUNT_OF(heads), .right = 1u << 1 | 1u << 2 | 1u << 3};
	cli_table_add_row(&table, heads);
	for (size_t i = 0; i < sherd_rows_shards(rows); i++) {
		const sherd_rows_shard *s = sherd_rows_shard_at(rows, i);
		char count[24], first[24], size[CLI_TEXT_SIZE];
		(void)snprintf(count, sizeof(count), "%" PRIu64, s->rows);
		(void)snprintf(first, sizeof(first), "%" PRIu64, s->first);
		cli_text_size(s->bytes, size);
		cli_table_add(&table, shard_name(place, rows, i));
		cli_table_add(&table, count);
		cli_table_add(&table, first);
		cli_table_add(&table, size);
	}
	return cli_table_print(&table, &cli->out, err);
}

static int rows_info_describe(cli_state *cli, const char *path, const cli_place *place, const sherd_rows *rows,
                              sherd_error *err)
{
	const char *const *left_out;
	size_t count = sherd_rows_left_out(&left_out, rows);
	print_head(cli, path, rows);
	TRY(print_shards(cli, place, rows, err));
	if (count)
		cli_out_printf(&cli->out, "\nleft out, %s\n",
		               sherd_rows_has_manifest(rows) ? "as the manifest does not name them"
		                                             : "as shards of a checkpoint");
	for (size_t i = 0; i < count; i++) {
		cli_out_name(&cli->out, last_part(left_out[i]));
		cli_out_printf(&cli->out, "\n");
	}
	return SHERD_OK;
}

static void put_shards(cli_doc *doc, const cli_place *place, const sherd_rows *rows)
{
	cli_doc_put_open(doc, "shards", '[');
	for (size_t i = 0; i < sherd_rows_shards(rows); i++) {
		const sherd_rows_shard *s = sherd_rows_shard_at(rows, i);
		cli_doc_open(doc, '{');
		cli_doc_put_text(doc, "file", shard_name(place, rows, i));
		cli_doc_put_u64(doc, "rows", s->rows);
		cli_doc_put_u64(doc, "first", s->first);
		cli_doc_put_u64(doc, "bytes", s->bytes);
		cli_doc_close(doc, '}');
	}
	cli_doc_close(doc, ']');
}

static int describe_json(cli_state *cli, const cli_place *place, const sherd_rows *rows, sherd_error *err)
{
	const char *const *left_out;
	size_t count = sherd_rows_left_out(&left_out, rows);
	cli_doc doc = cli_doc_begin(&cli->out);
	cli_doc_put_text(&doc, "format", format_of(rows));
	cli_doc_put_u64(&doc, "rows", sherd_rows_total(rows));
	cli_doc_put_u64(&doc, "width", sherd_rows_width(rows));
	cli_doc_put_text(&doc, "dtype", sherd_dtype_describe(sherd_rows_dtype(rows))->name);
	cli_doc_put_u64(&doc, "bytes", bytes_of(rows));
	cli_doc_put_bool(&doc, "manifest", sherd_rows_has_manifest(rows));
	put_shards(&doc, place, rows);
	cli_doc_put_open(&doc, "left_out", '[');
	for (size_t i = 0; i < count; i++)
		cli_doc_text(&doc, last_part(left_out[i]));
	cli_doc_close(&doc, ']');
	return cli_doc_end(&doc, SHERD_OK, err);
}

int cli_rows_open_place(sherd_rows **out, cli_state *cli, const cli_place *place, bool incomplete, sherd_error *err)
{
	sherd_rows_options options = {.incomplete = incomplete, .progress = &cli->waiting};
	int rc = sherd_rows_open_any(out, place->store, place->key, &options, err);
	if ((rc == SHERD_ENOTFOUND && place->beside) || (rc == SHERD_EUNSUPPORTED && !*place->key))
		rc = sherd_rows_open_folder(out, place->store, place->key, &options, err);
	return cli_place_blame(place, rc, err);
}

static int rows_info_show(cli_state *cli, const char *path, const cli_place *place, const sherd_rows *rows,
                          sherd_error *err)
{
	return cli->out.json ? describe_json(cli, place, rows, err) : rows_info_describe(cli, path, place, rows, err);
}

int cli_rows_show(cli_state *cli, const char *path, const cli_place *place, bool incomplete, sherd_error *err)
{
	CLI_AUTO(sherd_rows, sherd_rows_close) rows = NULL;
	TRY(cli_rows_open_place(&rows, cli, place, incomplete, err));
	return rows_info_show(cli, path, place, rows, err);
}

static int rows_info_run(cli_state *cli, const cli_args *args, sherd_error *err)
{
	CLI_AUTO_PLACE place = {0};
	CLI_AUTO(sherd_rows, sherd_rows_close) rows = NULL;
	bool incomplete = cli_args_has(args, "incomplete");
	TRY(cli_rows_open_paths(&rows, cli, &place, args->operands, args->count, incomplete, err));
	return rows_info_show(cli, args->count > 1 ? "the list" : args->operands[0], &place, rows, err);
}

static const cli_option options[] = {
	{"incomplete", NULL, "a set that is still being packed, too", 0},
};

const cli_command cli_command_rows_info = {
	.name = "rows info",
	.operands = "DIR|SHARD...",
	.summary = "Shows how many rows a set has, how wide they are, and its shards",
	.details = "DIR may also be one shard, or a folder of residual_shard_bf16. Several shards are a set in the\n"
		   "order given.\n",
	.run = rows_info_run,
	CLI_OPTIONS(options),
};
