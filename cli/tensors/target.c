#include "tensors/target.h"

#include "base/clock.h"
#include "base/doc.h"
#include "rows/rows.h"
#include "base/text.h"

#include <sherd/ckpt.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cli_target_refuse_missing(int rc, sherd_error *err)
{
	size_t used = rc < 0 ? strlen(err->message) : 0;
	if (rc < 0)
		(void)snprintf(err->message + used, sizeof(err->message) - used, " (--allow-missing leaves them out)");
	return rc;
}

int cli_target_compression(const char *text, sherd_compression *compress, int *level, sherd_error *err)
{
	static const char deflate[] = "deflate";
	size_t len = sizeof(deflate) - 1;
	if (!text || strcmp(text, "none") == 0)
		return SHERD_OK;
	if (strncmp(text, deflate, len) == 0 && (!text[len] || text[len] == ':')) {
		char *end = NULL;
		long value = text[len] ? strtol(text + len + 1, &end, 10) : 1;
		if (value >= 1 && value <= 12 && (!end || (end > text + len + 1 && !*end))) {
			*compress = SHERD_COMPRESS_DEFLATE;
			*level = (int)value;
			return SHERD_OK;
		}
	}
	return cli_usage(err, "--compress must be none, deflate or deflate:LEVEL with a level from 1 to 12");
}

/* Those of graphs are written by the commands for graphs. */
static bool is_target(const sherd_format_info *info, bool graphs)
{
	return info->written || (graphs && (info->kind == SHERD_KIND_GRAPH || info->kind == SHERD_KIND_RECORDS));
}

void cli_target_formats(unsigned takes, bool graphs, const char *between, const char *last, char *out, size_t room)
{
	const char *word = NULL;
	*out = 0;
	for (size_t i = 0; sherd_format_at(i); i++) {
		const sherd_format_info *info = sherd_format_at(i);
		if (!is_target(info, graphs) || (info->takes & takes) != takes)
			continue;
		if (word)
			cli_text_join(out, room, between, word);
		word = info->short_name ? info->short_name : info->name;
	}
	if (word)
		cli_text_join(out, room, last, word);
}

void cli_target_list(cli_table *out)
{
	for (size_t i = 0; sherd_format_at(i); i++) {
		const sherd_format_info *info = sherd_format_at(i);
		char cell[64];
		if (!info->written)
			continue;
		(void)snprintf(cell, sizeof(cell), "  %s", info->short_name ? info->short_name : info->name);
		cli_table_add(out, cell);
		(void)snprintf(cell, sizeof(cell), "DST%s", info->endings[0].text ? info->endings[0].text : "");
		cli_table_add(out, cell);
		cli_table_add(out, info->noun);
	}
}

int cli_target_digest(const cli_args *args, sherd_digest *digest, sherd_error *err)
{
	static const char *const digests[] = {"sha256", "blake3", NULL};
	unsigned word = 0;
	TRY(cli_args_word(args, "digest", digests, &word, err));
	*digest = word ? SHERD_DIGEST_BLAKE3 : SHERD_DIGEST_SHA256;
	return SHERD_OK;
}

/* What of the options the format has no use for is a mistake. */
static int check_target(const cli_target *t, sherd_error *err)
{
	char formats[1024];
	if (t->shards > 1 && !(t->info->takes & SHERD_TAKES_SHARDS)) {
		cli_target_formats(SHERD_TAKES_SHARDS, false, ", ", " and ", formats, sizeof(formats));
		return cli_usage(err, "--shards goes with %s only", formats);
	}
	if (t->max_shard && !(t->info->takes & SHERD_TAKES_SHARDS)) {
		cli_target_formats(SHERD_TAKES_SHARDS, false, ", ", " and ", formats, sizeof(formats));
		return cli_usage(err, "--max-shard-size goes with %s only", formats);
	}
	if (t->compress && !(t->info->takes & SHERD_TAKES_COMPRESSION)) {
		cli_target_formats(SHERD_TAKES_COMPRESSION, false, ", ", " and ", formats, sizeof(formats));
		return cli_usage(err, "--compress goes with %s only", formats);
	}
	if (t->digest && !(t->info->takes & SHERD_TAKES_DIGEST)) {
		cli_target_formats(SHERD_TAKES_DIGEST, false, ", ", " and ", formats, sizeof(formats));
		return cli_usage(err, "--digest goes with %s only", formats);
	}
	return SHERD_OK;
}

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), n = strlen(end);
	return len >= n && strcmp(text + len - n, end) == 0;
}

/* How a path may end: ".safetensors, .npy". */
static void list_endings(bool graphs, char *out, size_t room)
{
	*out = 0;
	for (size_t i = 0; sherd_format_at(i); i++) {
		const sherd_format_info *info = sherd_format_at(i);
		for (size_t k = 0; is_target(info, graphs) && info->endings[k].text; k++)
			cli_text_join(out, room, ", ", info->endings[k].text);
	}
}

/* A format that is not written here by its ending, with or without the dot before it. */
static const sherd_format_info *foreign_of(const char *to, const char *path)
{
	char ending[32];
	(void)snprintf(ending, sizeof(ending), "x.%s", to ? to : "");
	const sherd_format_info *info = sherd_format_by_path(to ? ending : path, NULL);
	return info && !info->written && (info->kind == SHERD_KIND_FOREIGN || info->kind == SHERD_KIND_TENSORS) ? info
	                                                                                                        : NULL;
}

/* Neither the word nor the path tells a format that is written here. Only convert writes graphs, too. */
static int refuse_format(const cli_args *args, const char *to, const char *path, sherd_error *err)
{
	bool graphs = strcmp(args->command->name, "convert") == 0;
	const sherd_format_info *foreign = foreign_of(to, path);
	char list[1024];
	if (foreign)
		return cli_usage(err, "%s is not written here; write .safetensors, which most programs read",
		                 foreign->noun);
	if (to) {
		cli_target_formats(0, graphs, ", ", " or ", list, sizeof(list));
		return cli_usage(err, "--to must be %s", list);
	}
	list_endings(graphs, list, sizeof(list));
	return cli_usage(err, "%.128s does not tell the format: it ends in none of %s%s", path, list,
	                 cli_command_takes(args->command, "to") ? " (see --to)" : "");
}

int cli_target_take(cli_target *target, const cli_args *args, const char *path, sherd_error *err)
{
	const char *to = cli_args_text(args, "to");
	*target = (cli_target){.path = path,
	                       .replace = cli_args_has(args, "replace"),
	                       .drop_graph = cli_args_has(args, "drop-graph"),
	                       .drop_pairs = cli_args_has(args, "drop-metadata"),
	                       .allow_missing = cli_args_has(args, "allow-missing"),
	                       .without_updater = cli_args_has(args, "without-updater")};
	target->info = to ? sherd_format_describe(sherd_format_by_name(to)) : sherd_format_by_path(path, NULL);
	/* "npy" is a folder of them where the path does not end like a file. */
	if (target->info && target->info->several && !ends_with(path, target->info->endings[0].text))
		target->info = sherd_format_describe(target->info->several);
	TRY(cli_args_count(args, "shards", 1, &target->shards, err));
	if (cli_args_has(args, "max-shard-size"))
		TRY(cli_args_size(args, "max-shard-size", &target->max_shard, err));
	if (target->max_shard && target->shards)
		return cli_usage(err, "--shards and --max-shard-size tell the same: give one of them");
	TRY(cli_target_compression(cli_args_text(args, "compress"), &target->compress, &target->level, err));
	TRY(cli_target_digest(args, &target->digest, err));
	target->as_it_was = !cli_args_text(args, "compress") && (target->digest || !cli_args_has(args, "digest"));
	return target->info && target->info->written ? check_target(target, err) : refuse_format(args, to, path, err);
}

/* The ending of the path, where it is one of the format's. */
static const sherd_format_ending *ending_of(const cli_target *target)
{
	const sherd_format_ending *ending = NULL;
	return sherd_format_by_path(target->path, &ending) == target->info ? ending : NULL;
}

/* The path without the ending that the format brings along. */
static char *base_of(const cli_target *target)
{
	const sherd_format_ending *ending = ending_of(target);
	size_t len = strlen(target->path);
	if (ending && ending->use == SHERD_ENDING_HEAD)
		len -= strlen(ending->text);
	while (target->info->folder && len > 1 && target->path[len - 1] == '/')
		len--;
	return strndup(target->path, len);
}

/* The object that says the target is there: free() it. The target itself when it is one file or a folder. */
static char *head_of(const cli_target *target)
{
	const sherd_format_ending *ending = &target->info->endings[0];
	CLI_AUTO_FREE char *base = base_of(target);
	char *head = NULL;
	int n = -1;
	if (!base)
		return NULL;
	if (ending->text && ending->use == SHERD_ENDING_HEAD) {
		n = asprintf(&head, "%s%s", base, ending->text);
	} else if (ending->text && ending->use == SHERD_ENDING_SHARDS && target->shards > 1) {
		size_t len = strlen(base) - (ends_with(base, ending->text) ? strlen(ending->text) : 0);
		n = asprintf(&head, "%.*s.shard0-of-%u%s", (int)len, base, target->shards, ending->text);
	} else {
		n = asprintf(&head, "%s", target->path);
	}
	return n < 0 ? NULL : head;
}

int cli_target_count(const sherd_bundle *bundle, bool without_updater, size_t *count, uint64_t *bytes, sherd_error *err)
{
	const sherd_bundle_select_options want = {.without_updater = without_updater};
	CLI_AUTO(sherd_bundle, sherd_bundle_close) written = NULL;
	TRY(sherd_bundle_select(&written, bundle, &want, err));
	*count = sherd_bundle_count(written);
	*bytes = 0;
	for (size_t i = 0; i < *count; i++)
		*bytes += sherd_bundle_tensor(written, i)->bytes;
	return SHERD_OK;
}

/* What the library told of a target. */
typedef struct written_counts {
	uint64_t bytes;      /* 0: unknown */
	uint64_t overflowed; /* values of rows */
} written_counts;

static bool is_rows(const cli_target *target)
{
	return target->info->kind == SHERD_KIND_ROWS;
}

/* Pairs of text that the format has no place for. Models refuse them by themselves. */
static size_t count_lost_pairs(const cli_target *target, const sherd_bundle *bundle)
{
	const sherd_pair *pairs;
	bool holds = target->info->holds & SHERD_HOLDS_PAIRS || target->info->kind == SHERD_KIND_MODEL;
	return holds ? 0 : sherd_bundle_pairs(&pairs, bundle);
}

static int target_tell(cli_state *cli, const cli_target *target, const sherd_bundle *bundle,
                       const written_counts *written, sherd_error *err)
{
	uint64_t bytes;
	size_t count;
	char size[CLI_TEXT_SIZE];
	TRY(cli_target_count(bundle, target->without_updater, &count, &bytes, err));
	CLI_AUTO_FREE char *head = head_of(target);
	if (!head)
		return cli_no_memory(err);
	bool other = strcmp(head, target->path) != 0;
	cli_text_size(written->bytes ? written->bytes : bytes, size);
	cli_out_note(&cli->out, "%s: %s, %zu tensor%s, %s written%s%s", target->path, target->info->name, count,
	             cli_text_plural(count), size, other ? " as " : "", other ? head : "");
	/* Rows become F32 unless all are of one smaller type, which can hold them. */
	cli_rows_warn_of_overflow(cli, target->path, written->overflowed,
	                          target->info->id == SHERD_FORMAT_ROWS_BF16 ? SHERD_BF16 : SHERD_F32);
	size_t lost = count_lost_pairs(target, bundle);
	if (lost && !target->drop_pairs)
		cli_out_warn(&cli->out, target->path, "%s has no place for metadata: %zu pair%s left out",
		             target->info->name, lost, lost == 1 ? " is" : "s are");
	if (target->derived)
		cli_derive_tell(cli, target->derived, target->path, bundle);
	cli_doc doc = cli_doc_begin(&cli->out);
	cli_doc_put_text(&doc, "path", target->path);
	cli_doc_put_text(&doc, "head", head);
	cli_doc_put_text(&doc, "format", target->info->name);
	cli_doc_put_u64(&doc, "tensors", count);
	cli_doc_put_u64(&doc, "bytes", bytes);
	if (lost)
		cli_doc_put_u64(&doc, "lost_metadata", lost);
	if (written->bytes)
		cli_doc_put_u64(&doc, "written", written->bytes);
	if (is_rows(target))
		cli_doc_put_u64(&doc, "overflowed", written->overflowed);
	else if (target->derived)
		cli_derive_put(&doc, target->derived, bundle);
	return cli_doc_end(&doc, SHERD_OK, err);
}

static int target_convert(cli_state *cli, const cli_target *target, const sherd_bundle *bundle, const cli_place *place,
                          const cli_clock *clock, written_counts *written, sherd_error *err)
{
	sherd_convert_options options = {.shards = target->shards,
	                                 .max_shard_bytes = target->max_shard,
	                                 .replace = target->replace,
	                                 .drop_graph = target->drop_graph,
	                                 .drop_pairs = target->drop_pairs,
	                                 .allow_missing = target->allow_missing,
	                                 .without_updater = target->without_updater,
	                                 .compress = target->compress,
	                                 .level = target->level,
	                                 .as_it_was = target->as_it_was,
	                                 .digest = target->digest,
	                                 .time_ns = clock->time_ns,
	                                 .timed = true,
	                                 .framework = CLI_FRAMEWORK,
	                                 .overflowed = &written->overflowed,
	                                 .written = &written->bytes,
	                                 .pool = cli->pool,
	                                 .progress = &cli->progress};
	return sherd_convert(bundle, place->store, place->key, target->info->id, &options, err);
}

/* Of a checkpoint: as many as the largest shard that is allowed asks for. */
static uint32_t shards_of(const cli_target *target, const sherd_bundle *bundle)
{
	uint64_t bytes = 0;
	for (size_t i = 0; target->max_shard && i < sherd_bundle_count(bundle); i++)
		bytes += sherd_bundle_tensor(bundle, i)->bytes;
	uint64_t needed = target->max_shard ? (bytes + target->max_shard - 1) / target->max_shard : target->shards;
	return !needed ? 1 : needed < UINT32_MAX ? (uint32_t)needed : UINT32_MAX;
}

/* With the set id that the clock gives; the library's own would be random. */
static int target_save(cli_state *cli, const cli_target *target, const sherd_bundle *bundle, const cli_place *place,
                       const cli_clock *clock, sherd_error *err)
{
	sherd_set_id id;
	CLI_AUTO(sherd_bundle, sherd_bundle_close) without = NULL;
	sherd_ckpt_save_options options = {.world = shards_of(target, bundle),
	                                   .time_ns = clock->time_ns,
	                                   .replace = target->replace,
	                                   .digest = target->digest,
	                                   .pool = cli->pool,
	                                   .progress = &cli->progress};
	if (target->without_updater)
		TRY(sherd_bundle_select(&without, bundle, &(sherd_bundle_select_options){.without_updater = true},
		                        err));
	const sherd_bundle *from = without ? without : bundle;
	TRY(cli_clock_set_id(clock, cli, place, from, false, &options, &id, err));
	options.set_id = &id;
	return sherd_ckpt_save_bundle(place->store, place->key, from, false, &options, err);
}

int cli_target_write(cli_state *cli, const cli_target *target, const sherd_bundle *bundle, sherd_error *err)
{
	CLI_AUTO_PLACE place = {0};
	cli_clock clock;
	written_counts written = {0};
	CLI_AUTO_FREE char *base = base_of(target);
	if (!base)
		return cli_no_memory(err);
	TRY(cli_clock_read(&clock, err));
	TRY(cli_place_open(&place, base, true, err));
	int rc = target->info->kind == SHERD_KIND_CHECKPOINT
	                 ? target_save(cli, target, bundle, &place, &clock, err)
	                 : target_convert(cli, target, bundle, &place, &clock, &written, err);
	TRY(cli_place_blame(&place, rc, err));
	return target_tell(cli, target, bundle, &written, err);
}
