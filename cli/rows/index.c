#include "base/args.h"
#include "commands.h"
#include "base/doc.h"
#include "rows/rows.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A shard is given by its name in the folder, or by its path. */
static const char *name_in(const char *folder, const char *path)
{
	size_t len = strlen(folder);
	while (len && folder[len - 1] == '/')
		len--;
	return len && strncmp(path, folder, len) == 0 && path[len] == '/' ? path + len + 1 : path;
}

/* Files beside a list that stayed as it was. */
static void warn_of_left_out(cli_state *cli, const cli_place *place, const sherd_rows *rows)
{
	const char *const *keys;
	size_t count = sherd_rows_left_out(&keys, rows);
	for (size_t i = 0; i < count && !cli->out.json && !cli->out.quiet; i++) {
		sherd_error warning = {.code = SHERD_ENOTFOUND, .reason = "orphans", .offset = SHERD_NO_OFFSET};
		(void)snprintf(warning.object, sizeof(warning.object), "%s", keys[i]);
		(void)snprintf(warning.message, sizeof(warning.message),
		               "left out: to list it, name all shards in their order (DIR SHARD...)");
		(void)cli_place_blame(place, SHERD_ENOTFOUND, &warning);
		cli_out_problem(&cli->out, &warning, true);
	}
}

static void put_left_out(cli_doc *doc, const sherd_rows *rows)
{
	const char *const *keys;
	size_t count = sherd_rows_left_out(&keys, rows);
	cli_doc_put_open(doc, "left_out", '[');
	for (size_t i = 0; i < count; i++) {
		const char *slash = strrchr(keys[i], '/');
		cli_doc_text(doc, slash ? slash + 1 : keys[i]);
	}
	cli_doc_close(doc, ']');
}

static int rows_index_tell(cli_state *cli, const char *path, const cli_place *place, bool same_list, sherd_error *err)
{
	CLI_AUTO(sherd_rows, sherd_rows_close) rows = NULL;
	TRY(cli_place_blame(place, sherd_rows_open_folder(&rows, place->store, place->key, NULL, err), err));
	uint64_t total = sherd_rows_total(rows);
	size_t shards = sherd_rows_shards(rows);
	cli_out_note(&cli->out, "%s: %" PRIu64 " row%s in %zu shard%s, manifest written", path, total,
	             cli_text_plural(total), shards, cli_text_plural(shards));
	if (same_list)
		warn_of_left_out(cli, place, rows);
	cli_doc doc = cli_doc_begin(&cli->out);
	cli_doc_put_text(&doc, "path", path);
	cli_doc_put_u64(&doc, "rows", total);
	cli_doc_put_u64(&doc, "shards", shards);
	put_left_out(&doc, rows);
	return cli_doc_end(&doc, SHERD_OK, err);
}

static int rows_index_run(cli_state *cli, const cli_args *args, sherd_error *err)
{
	CLI_AUTO_PLACE place = {0};
	size_t count = (size_t)args->count - 1;
	const sherd_rows_index_options options = {
		.replace = cli_args_has(args, "replace"), .pool = cli->pool, .progress = &cli->progress};
	CLI_AUTO_FREE const char **names = calloc(count + 1, sizeof(*names));
	if (!names)
		return cli_no_memory(err);
	for (size_t i = 0; i < count; i++)
		names[i] = name_in(args->operands[0], args->operands[i + 1]);
	TRY(cli_place_open_folder(&place, args->operands[0], err));
	int rc = sherd_rows_index(place.store, place.key, count ? names : NULL, count, &options, err);
	cli_out_clear_bar(&cli->out);
	TRY(cli_place_blame(&place, rc, err));
	return rows_index_tell(cli, args->operands[0], &place, options.replace && !count, err);
}

static const cli_option options[] = {
	{"replace", NULL, "make a new manifest although there is one; it may be damaged", 0},
};

const cli_command cli_command_rows_index = {
	.name = "rows index",
	.operands = "DIR [SHARD...]",
	.summary = "Writes the manifest of a folder of GAMSAE01 shards",
	.details =
		"Without SHARD all files *.shard of DIR are listed in the order of their names; else those given, in\n"
		"the order given. Everything is read, for the checksums; no shard is changed. With --replace and\n"
		"without SHARD, a manifest that can be read keeps its list.\n",
	.run = rows_index_run,
	CLI_OPTIONS(options),
};
