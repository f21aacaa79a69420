#include "tensors/describe.h"

#include "base/auto.h"
#include "base/text.h"
#include "tensors/tree.h"

#include <sherd/name.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cli_describe_shape(const sherd_tensor *tensor, char out[CLI_SHAPE_TEXT])
{
	size_t used = (size_t)snprintf(out, CLI_SHAPE_TEXT, "[");
	for (uint32_t i = 0; i < tensor->ndim; i++)
		used += (size_t)snprintf(out + used, CLI_SHAPE_TEXT - used, "%s%" PRIu64, i ? ", " : "",
		                         tensor->shape[i]);
	(void)snprintf(out + used, CLI_SHAPE_TEXT - used, "]");
}

static void add_tensor(cli_table *table, const sherd_tensor *t)
{
	char shape[CLI_SHAPE_TEXT], size[CLI_TEXT_SIZE], type[SHERD_MAX_TYPE_NAME + 16];
	(void)snprintf(type, sizeof(type), "%s%s", sherd_tensor_type(t), t->dtype == SHERD_OPAQUE ? " (opaque)" : "");
	cli_describe_shape(t, shape);
	cli_text_size(t->bytes, size);
	cli_table_add(table, t->name);
	cli_table_add(table, type);
	cli_table_add(table, shape);
	cli_table_add(table, size);
}

static int print_pairs(cli_state *cli, const sherd_pair *pairs, size_t count, sherd_error *err)
{
	cli_table table = {.columns = 2};
	for (size_t i = 0; i < count; i++) {
		if (strcmp(pairs[i].key, SHERD_TYPES_KEY) == 0) /* says how programs read the others */
			continue;
		char time[CLI_TEXT_TIME];
		bool timed = strcmp(pairs[i].key, "creation.time") == 0 && cli_text_time(pairs[i].value, time);
		cli_table_add(&table, pairs[i].key);
		cli_table_add(&table, timed ? time : pairs[i].value);
	}
	if (count)
		cli_out_printf(&cli->out, "\nmetadata\n");
	return cli_table_print(&table, &cli->out, err);
}

/* What a container adds: bytes as they are stored where some are packed, and the shard that has them. */
static int add_stored(cli_table *table, const sherd_model *model, size_t array, bool shards, sherd_error *err)
{
	sherd_model_stored s;
	char text[CLI_TEXT_SIZE + 16];
	TRY(sherd_model_stored_of(&s, model, array, err));
	if (s.there)
		cli_text_size(s.bytes, text);
	cli_table_add(table, s.there ? text : "missing");
	if (!shards)
		return SHERD_OK;
	(void)snprintf(text, sizeof(text), "%" PRIu32, s.file);
	cli_table_add(table, text);
	return SHERD_OK;
}

void cli_describe_digest(const uint8_t digest[32], char out[CLI_DIGEST_TEXT])
{
	int n = snprintf(out, CLI_DIGEST_TEXT, "blake3:");
	for (int i = 0; i < 32; i++)
		n += snprintf(out + n, CLI_DIGEST_TEXT - (size_t)n, "%02x", digest[i]);
}

/* By the parts of their names. */
static int print_tree(cli_state *cli, const cli_listing *l, sherd_error *err)
{
	static const char *const heads[] = {"tensor", "dtype", "shape", "size"};
	CLI_AUTO_TABLE table = {.columns = 4, .right = 1u << 3, .head = true};
	CLI_AUTO_FREE const sherd_tensor **list = malloc((l->count + 1) * sizeof(*list));
	if (!list)
		return cli_no_memory(err);
	for (size_t i = 0; i < l->count; i++)
		list[i] = l->items[i].tensor;
	cli_table_add_row(&table, heads);
	TRY(cli_tree_add(&table, list, l->count, err));
	return cli_table_print(&table, &cli->out, err);
}

static int by_file(const void *left, const void *right)
{
	const cli_listed *const *a = left, *const *b = right;
	return sherd_name_compare((*a)->file ? (*a)->file : "", (*b)->file ? (*b)->file : "");
}

/* Files, how many tensors each holds, and their bytes. */
static int print_held(cli_state *cli, const cli_listing *l, sherd_error *err)
{
	static const char *const heads[] = {"file", "tensors", "size"};
	CLI_AUTO_TABLE table = {.columns = 3, .right = 6, .head = true};
	CLI_AUTO_FREE const cli_listed **list = malloc((l->count + 1) * sizeof(*list));
	if (!list)
		return cli_no_memory(err);
	for (size_t i = 0; i < l->count; i++)
		list[i] = &l->items[i];
	qsort(list, l->count, sizeof(*list), by_file);
	cli_table_add_row(&table, heads);
	for (size_t i = 0, next; i < l->count; i = next) {
		char count[24], size[CLI_TEXT_SIZE];
		uint64_t bytes = 0;
		for (next = i; next < l->count && by_file(&list[i], &list[next]) == 0; next++)
			bytes += list[next]->tensor->bytes;
		(void)snprintf(count, sizeof(count), "%zu", next - i);
		cli_text_size(bytes, size);
		cli_table_add_row(&table, (const char *const[]){list[i]->file ? list[i]->file : "-", count, size});
	}
	return cli_table_print(&table, &cli->out, err);
}

static int print_flat(cli_state *cli, const cli_listing *l, const sherd_model *model, sherd_error *err)
{
	static const char *const heads[] = {"tensor", "dtype", "shape", "size", "stored", "shard"};
	sherd_model_layout layout;
	bool container = model && sherd_model_layout_of(&layout, model), shards = container && layout.files > 1;
	bool files = !container && l->has_files;
	CLI_AUTO_TABLE table = {
		.columns = 4u + container + shards + files, .right = container ? 7u << 3 : 1u << 3, .head = true};
	for (size_t i = 0; i < 4u + container + shards; i++)
		cli_table_add(&table, heads[i]);
	if (files)
		cli_table_add(&table, "file");
	for (size_t i = 0; i < l->count; i++) {
		add_tensor(&table, l->items[i].tensor);
		if (container)
			TRY(add_stored(&table, model, l->items[i].index, shards, err));
		if (files)
			cli_table_add(&table, l->items[i].file ? l->items[i].file : "-");
	}
	return cli_table_print(&table, &cli->out, err);
}

int cli_describe_bundle(cli_state *cli, const char *path, const sherd_bundle *bundle, const sherd_model *model,
                        const cli_view *view, sherd_error *err)
{
	CLI_AUTO_LISTING l = {0};
	sherd_model_layout layout;
	const sherd_pair *pairs;
	size_t pair_count = sherd_bundle_pairs(&pairs, bundle);
	bool container = model && sherd_model_layout_of(&layout, model);
	TRY(cli_listing_open(&l, view, bundle, err));
	TRY(cli_listing_head(cli, path, sherd_bundle_format(bundle), bundle,
	                     container ? layout.files : cli_listing_files(bundle), err));
	if (container && layout.digest) {
		char text[CLI_DIGEST_TEXT];
		cli_describe_digest(layout.digest, text);
		cli_out_printf(&cli->out, "digest %s\n", text);
	}
	TRY(print_pairs(cli, pairs, pair_count, err));
	TRY(cli_describe_globals(cli, bundle, err));
	if (!l.count)
		return SHERD_OK;
	cli_out_printf(&cli->out, "\n");
	if (view->files && l.has_files)
		return print_held(cli, &l, err);
	return view->tree ? print_tree(cli, &l, err) : print_flat(cli, &l, model, err);
}

/* Begins the line, or goes on with it. */
static void next_of(cli_state *cli, const char *line, bool *begun)
{
	cli_out_printf(&cli->out, "%s", *begun ? ", " : line);
	*begun = true;
}

static void print_text(cli_state *cli, const char *line, const char *text, bool *begun)
{
	if (!text || !*text)
		return;
	next_of(cli, line, begun);
	cli_out_name(&cli->out, text);
}

static void print_sharding(cli_state *cli, const sherd_ckpt_about *about)
{
	bool begun = false;
	print_text(cli, "sharding  ", about->strategy, &begun);
	print_text(cli, "sharding  ", about->precision, &begun);
	if (about->has_ddp_rank) {
		next_of(cli, "sharding  ", &begun);
		cli_out_printf(&cli->out, "DDP rank %" PRId64, about->ddp_rank);
	}
	if (begun)
		cli_out_printf(&cli->out, "\n");
}

static void print_training(cli_state *cli, const sherd_ckpt_about *about)
{
	char rate[CLI_TEXT_NUMBER];
	bool begun = false;
	if (about->has_step) {
		next_of(cli, "training  ", &begun);
		cli_out_printf(&cli->out, "step %" PRId64, about->step);
	}
	if (about->has_epoch) {
		next_of(cli, "training  ", &begun);
		cli_out_printf(&cli->out, "epoch %" PRId64, about->epoch);
	}
	if (about->has_learning_rate) {
		cli_text_f64(about->learning_rate, rate);
		next_of(cli, "training  ", &begun);
		cli_out_printf(&cli->out, "learning rate %s", rate);
	}
	print_text(cli, "training  ", about->optimizer_type, &begun);
	if (begun)
		cli_out_printf(&cli->out, "\n");
}

bool cli_describe_has_about(const sherd_ckpt *ckpt, sherd_format format)
{
	const sherd_ckpt_shard *first = sherd_ckpt_shard_at(ckpt, 0);
	return format == SHERD_FORMAT_CHECKPOINT || (first && first->rank == 0);
}

static void print_about(cli_state *cli, const sherd_ckpt *ckpt, sherd_format format)
{
	const sherd_ckpt_info *info = sherd_ckpt_describe(ckpt);
	char id[SHERD_SET_ID_TEXT] = "none: written by another program";
	cli_out_printf(&cli->out, "saved     ");
	cli_out_name(&cli->out, info->timestamp ? info->timestamp : "");
	cli_out_printf(&cli->out, " by %" PRIu32 " rank%s\n", info->world, cli_text_plural(info->world));
	if (info->has_set_id)
		sherd_set_id_format(id, &info->set_id);
	cli_out_printf(&cli->out, "set id    %s\n", id);
	if (cli_describe_has_about(ckpt, format))
		print_sharding(cli, &info->about);
	print_training(cli, &info->about);
}

static int print_shards(cli_state *cli, const sherd_ckpt *ckpt, sherd_error *err)
{
	const char *heads[] = {"rank", "file", "size", "tensors", "SHA-256 of its data"};
	for (size_t i = 0; i < sherd_ckpt_shards(ckpt); i++)
		if (strchr(sherd_ckpt_shard_at(ckpt, i)->checksum, ':')) /* not everywhere SHA-256 */
			heads[4] = "digest of its data";
	cli_table table = {.columns = 5, .right = 1u << 0 | 1u << 2 | 1u << 3, .head = true};
	cli_table_add_row(&table, heads);
	for (size_t i = 0; i < sherd_ckpt_shards(ckpt); i++) {
		const sherd_ckpt_shard *s = sherd_ckpt_shard_at(ckpt, i);
		char rank[16], size[CLI_TEXT_SIZE], tensors[24];
		(void)snprintf(rank, sizeof(rank), "%" PRIu32, s->rank);
		(void)snprintf(tensors, sizeof(tensors), "%zu", s->tensors);
		cli_text_size(s->file_size, size);
		cli_table_add(&table, rank);
		cli_table_add(&table, s->file);
		cli_table_add(&table, size);
		cli_table_add(&table, tensors);
		cli_table_add(&table, *s->checksum ? s->checksum : "none recorded");
	}
	cli_out_printf(&cli->out, "\n");
	return cli_table_print(&table, &cli->out, err);
}

/* "3", or "0-7" for a tensor that is cut; ranks in between may hold none of it. */
static void add_place(cli_table *table, const sherd_ckpt *ckpt, size_t tensor)
{
	const sherd_ckpt_piece *pieces;
	size_t count = sherd_ckpt_pieces(&pieces, ckpt, tensor);
	uint32_t low = UINT32_MAX, high = 0;
	char text[64];
	for (size_t i = 0; i < count; i++) {
		uint32_t rank = sherd_ckpt_shard_at(ckpt, pieces[i].shard)->rank;
		low = rank < low ? rank : low;
		high = rank > high ? rank : high;
	}
	if (!count)
		(void)snprintf(text, sizeof(text), "-");
	else if (low == high)
		(void)snprintf(text, sizeof(text), "%" PRIu32, low);
	else
		(void)snprintf(text, sizeof(text), "%" PRIu32 "-%" PRIu32 " in %zu pieces", low, high, count);
	cli_table_add(table, text);
}

static int print_tensors(cli_state *cli, const sherd_ckpt *ckpt, const cli_listing *l, sherd_error *err)
{
	static const char *const heads[] = {"tensor", "dtype", "shape", "size", "rank"};
	cli_table table = {.columns = 5, .right = 1u << 3, .head = true};
	cli_table_add_row(&table, heads);
	for (size_t i = 0; i < l->count; i++) {
		add_tensor(&table, l->items[i].tensor);
		add_place(&table, ckpt, l->items[i].index);
	}
	return cli_table_print(&table, &cli->out, err);
}

int cli_describe_ckpt(cli_state *cli, const char *path, const sherd_ckpt *ckpt, sherd_format format,
                      const cli_view *view, sherd_error *err)
{
	const sherd_ckpt_about *about = &sherd_ckpt_describe(ckpt)->about;
	CLI_AUTO_LISTING l = {0};
	CLI_AUTO(sherd_bundle, sherd_bundle_close) bundle = NULL;
	TRY(sherd_bundle_of_ckpt(&bundle, ckpt, err));
	TRY(cli_listing_open(&l, view, bundle, err));
	TRY(cli_listing_head(cli, path, format, bundle, sherd_ckpt_shards(ckpt), err));
	print_about(cli, ckpt, format);
	TRY(print_pairs(cli, about->fields, about->field_count, err));
	TRY(print_shards(cli, ckpt, err));
	if (view->files || !l.count)
		return SHERD_OK;
	cli_out_printf(&cli->out, "\n");
	return view->tree ? print_tree(cli, &l, err) : print_tensors(cli, ckpt, &l, err);
}
