#include "tensors/listing.h"

#include "base/auto.h"
#include "base/text.h"

#include <sherd/name.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cli_view_take(cli_view *view, const cli_args *args, sherd_error *err)
{
	static const char *const words[] = {"stored", "name", "size", NULL};
	unsigned order = CLI_ORDER_STORED;
	TRY(cli_args_word(args, "sort", words, &order, err));
	bool tree = cli_args_has(args, "tree"), flat = cli_args_has(args, "flat");
	if (tree && (flat || cli_args_has(args, "sort")))
		return cli_usage(err, "--tree has an order of its own: it cannot go with --flat or --sort");
	*view = (cli_view){.match = cli_args_text(args, "match"),
	                   .order = (cli_order)order,
	                   .tree = tree || (!flat && !cli_args_has(args, "sort") && cli_out_is_terminal()),
	                   .files = cli_args_has(args, "files")};
	return SHERD_OK;
}

static int by_stored(const void *left, const void *right)
{
	const cli_listed *a = left, *b = right;
	return (a->index > b->index) - (a->index < b->index);
}

static int listing_by_name(const void *left, const void *right)
{
	const cli_listed *a = left, *b = right;
	return sherd_name_compare(a->tensor->name, b->tensor->name);
}

static int by_size(const void *left, const void *right)
{
	const cli_listed *a = left, *b = right;
	uint64_t x = a->tensor->bytes, y = b->tensor->bytes;
	return x != y ? (x < y) - (x > y) : by_stored(left, right);
}

int cli_listing_open(cli_listing *out, const cli_view *view, const sherd_bundle *bundle, sherd_error *err)
{
	static int (*const orders[])(const void *, const void *) = {by_stored, listing_by_name, by_size};
	size_t all = sherd_bundle_count(bundle);
	cli_listing l = {.items = malloc((all + 1) * sizeof(*l.items))};
	if (!l.items)
		return cli_no_memory(err);
	for (size_t i = 0; i < all; i++) {
		const sherd_tensor *t = sherd_bundle_tensor(bundle, i);
		const char *file = sherd_bundle_file_of(bundle, i);
		if (view->match && !sherd_name_matches(t->name, view->match))
			continue;
		l.items[l.count++] = (cli_listed){.tensor = t, .index = i, .file = file};
		l.has_files |= file != NULL;
	}
	if (view->match && !l.count) {
		cli_listing_close(&l);
		return cli_fail(err, SHERD_ENOTFOUND, "not-found", "no tensor matches %.100s", view->match);
	}
	qsort(l.items, l.count, sizeof(*l.items), orders[view->order]);
	*out = l;
	return SHERD_OK;
}

void cli_listing_close(cli_listing *listing)
{
	free(listing->items);
	*listing = (cli_listing){0};
}

/* ---- the head line */

typedef struct type_share {
	const char *name;
	uint64_t bytes;
} type_share;

typedef struct totals {
	uint64_t elements, bytes;
	type_share types[8];
	size_t types_kept, types_more;
} totals;

static int by_bytes(const void *left, const void *right)
{
	const type_share *a = left, *b = right;
	return (a->bytes < b->bytes) - (a->bytes > b->bytes);
}

static void count_type(totals *all, const sherd_tensor *t)
{
	const char *name = sherd_tensor_type(t);
	for (size_t i = 0; i < all->types_kept; i++)
		if (strcmp(all->types[i].name, name) == 0) {
			all->types[i].bytes += t->bytes;
			return;
		}
	if (all->types_kept < COUNT_OF(all->types))
		all->types[all->types_kept++] = (type_share){name, t->bytes};
	else
		all->types_more = 1;
}

static void count_tensor(totals *all, const sherd_tensor *t)
{
	uint64_t elements = 1;
	for (uint32_t i = 0; i < t->ndim; i++)
		if (__builtin_mul_overflow(elements, t->shape[i], &elements))
			elements = 0; /* a dimension of 0 comes later, or the type has no size */
	all->elements += elements;
	all->bytes += t->bytes;
	count_type(all, t);
}

static void add_types(char *out, size_t room, totals *all)
{
	char size[CLI_TEXT_SIZE], one[SHERD_MAX_TYPE_NAME + CLI_TEXT_SIZE + 2];
	qsort(all->types, all->types_kept, sizeof(*all->types), by_bytes);
	for (size_t i = 0; i < all->types_kept; i++) {
		cli_text_size(all->types[i].bytes, size);
		if (all->types_kept > 1)
			(void)snprintf(one, sizeof(one), "%s %s", all->types[i].name, size);
		else
			(void)snprintf(one, sizeof(one), "%s", all->types[i].name);
		cli_text_join(out, room, ", ", one);
	}
	if (all->types_more)
		cli_text_join(out, room, ", ", "other types");
}

int cli_listing_head(cli_state *cli, const char *path, sherd_format format, const sherd_bundle *bundle, size_t files,
                     sherd_error *err)
{
	char size[CLI_TEXT_SIZE], count[CLI_TEXT_COUNT], types[4096] = "", in[40] = "";
	size_t tensors = sherd_bundle_count(bundle);
	totals all = {0};
	(void)err;
	for (size_t i = 0; i < tensors; i++)
		count_tensor(&all, sherd_bundle_tensor(bundle, i));
	add_types(types, sizeof(types), &all);
	cli_text_size(all.bytes, size);
	cli_text_count(all.elements, count);
	if (files > 1)
		(void)snprintf(in, sizeof(in), " %zu files,", files);
	cli_out_style(&cli->out, CLI_BOLD);
	cli_out_name(&cli->out, path);
	cli_out_style(&cli->out, CLI_PLAIN);
	cli_out_printf(&cli->out, ": %s,%s %zu tensor%s, %s parameter%s, %s%s", sherd_format_name(format), in, tensors,
	               cli_text_plural(tensors), count, cli_text_plural(all.elements), size, *types ? ", " : "");
	cli_out_name(&cli->out, types);
	cli_out_printf(&cli->out, "\n");
	return SHERD_OK;
}

static int by_text(const void *left, const void *right)
{
	const char *const *a = left, *const *b = right;
	return strcmp(*a, *b);
}

size_t cli_listing_files(const sherd_bundle *bundle)
{
	size_t count = sherd_bundle_count(bundle), found = 0;
	CLI_AUTO_FREE const char **names = malloc((count + 1) * sizeof(*names));
	for (size_t i = 0; names && i < count; i++)
		if ((names[found] = sherd_bundle_file_of(bundle, i)))
			found++;
	if (!found)
		return 0;
	qsort(names, found, sizeof(*names), by_text);
	size_t different = 1;
	for (size_t i = 1; i < found; i++)
		different += strcmp(names[i - 1], names[i]) != 0;
	return different;
}
