#include "report/report.h"

#include "base/auto.h"
#include "base/text.h"
#include "tensors/describe.h"
#include "tensors/listing.h"

#include <sherd/ckpt.h>
#include <sherd/name.h>
#include <sherd/value.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TILES = 40, MOST_GROUPS = 200, MOST_FILES = 256, MOST_PAIRS = 200 };

static double share_of(uint64_t some, uint64_t all)
{
	return all ? (double)some / (double)all : 0;
}

static void size_cell(cli_html *h, uint64_t bytes)
{
	char size[CLI_TEXT_SIZE];
	cli_text_size(bytes, size);
	cli_html_cell(h, "n", size);
}

static void number_text(uint64_t n, char out[24])
{
	(void)snprintf(out, 24, "%" PRIu64, n);
}

static void report_count_cell(cli_html *h, uint64_t n)
{
	char text[24];
	number_text(n, text);
	cli_html_cell(h, "n", text);
}

static void percent_text(double share, char out[24])
{
	if (share > 0 && share < 0.0001)
		(void)snprintf(out, 24, "below 0.01%%");
	else
		(void)snprintf(out, 24, "%.*f%%", share > 0 && share < 0.1 ? 2 : 1, share * 100);
}

/* ---- types */

static void add_types_section(cli_report *r, const cli_types *types)
{
	cli_html *h = &r->html;
	cli_report_section(r, "types", "Types");
	cli_html_raw(h, "<div class=\"stack\" aria-hidden=\"true\">");
	for (size_t i = 0; i < types->count; i++)
		cli_html_printf(h, "<i class=\"c%zu\" style=\"width:%.3f%%\"></i>", i,
		                100 * share_of(types->items[i].bytes, types->bytes));
	cli_html_raw(h, "</div>\n");
	cli_html_table(h, "Element types by bytes", "type|>tensors|>parameters|>bytes|share");
	for (size_t i = 0; i < types->count; i++) {
		char count[CLI_TEXT_COUNT], percent[24];
		double share = share_of(types->items[i].bytes, types->bytes);
		cli_html_printf(h,
		                "<tr><th scope=\"row\"><span class=\"legend\" style=\"margin:0\"><span><i "
		                "class=\"c%zu\" aria-hidden=\"true\"></i>",
		                i);
		cli_html_text(h, types->items[i].name);
		cli_html_raw(h, "</span></span></th>");
		report_count_cell(h, types->items[i].tensors);
		cli_text_count(types->items[i].elements, count);
		cli_html_cell(h, "n", count);
		size_cell(h, types->items[i].bytes);
		percent_text(share, percent);
		cli_html_bar(h, share, percent);
		cli_html_raw(h, "</tr>\n");
	}
	cli_html_table_end(h);
	cli_html_section_end(h);
}

/* ---- sizes */

static void add_tile(cli_html *h, const cli_tile *tile, const cli_group *g, unsigned color, uint64_t all)
{
	char size[CLI_TEXT_SIZE], percent[24];
	cli_text_size(g->bytes, size);
	percent_text(share_of(g->bytes, all), percent);
	cli_html_printf(h, "<div class=\"c%u\" style=\"left:%.3f%%;top:%.3f%%;width:%.3f%%;height:%.3f%%\" title=\"",
	                color, 100 * tile->x, 100 * tile->y, 100 * tile->width, 100 * tile->height);
	cli_html_text(h, g->name);
	cli_html_printf(h, ", %s\">", size);
	if (tile->width * tile->height > 0.012 && tile->width > 0.06) {
		cli_html_raw(h, "<b>");
		cli_html_text(h, g->name);
		cli_html_printf(h, "</b>%s, %s", size, percent);
	}
	cli_html_raw(h, "</div>\n");
}

/* How much of a name is its module: all but the last two parts, or the last one. */
static size_t module_len(const char *name)
{
	size_t len = strlen(name);
	for (int parts = 0; parts < 2; parts++) {
		size_t at = len;
		while (at && name[at - 1] != '.' && name[at - 1] != '/')
			at--;
		if (!at)
			break;
		len = at - 1;
	}
	return len;
}

/* Tiles of one module have one colour, in the order in which modules come. */
static unsigned tile_color(const cli_groups *groups, size_t index)
{
	unsigned color = 0;
	size_t len = module_len(groups->items[index].name);
	for (size_t i = 0; i < index; i++) {
		size_t other = module_len(groups->items[i].name);
		bool first = true;
		if (other == len && strncmp(groups->items[i].name, groups->items[index].name, len) == 0)
			return tile_color(groups, i);
		for (size_t k = 0; first && k < i; k++)
			first = module_len(groups->items[k].name) != other ||
			        strncmp(groups->items[k].name, groups->items[i].name, other) != 0;
		color += first;
	}
	return color % (CLI_REPORT_TYPES - 1);
}

static void add_map(cli_html *h, const cli_groups *groups)
{
	double sizes[MOST_TILES + 1];
	cli_tile tiles[MOST_TILES + 1];
	cli_group rest = {.name = "others", .type = "others"};
	size_t shown = 0;
	for (size_t i = 0; i < groups->count; i++) {
		if (shown < MOST_TILES && groups->items[i].bytes)
			sizes[shown++] = (double)groups->items[i].bytes;
		else
			rest.bytes += groups->items[i].bytes;
	}
	size_t count = shown;
	if (rest.bytes)
		sizes[count++] = (double)rest.bytes;
	cli_treemap(tiles, sizes, count);
	cli_html_raw(h, "<div class=\"map\" aria-hidden=\"true\">\n");
	for (size_t i = 0; i < count; i++) {
		const cli_group *g = i < shown ? &groups->items[i] : &rest;
		add_tile(h, &tiles[i], g, i < shown ? tile_color(groups, i) : CLI_REPORT_TYPES - 1, groups->bytes);
	}
	cli_html_raw(h, "</div>\n");
}

static void add_sizes_section(cli_report *r, const cli_groups *groups, const sherd_bundle *bundle)
{
	cli_html *h = &r->html;
	cli_report_section(r, "sizes", "Where the bytes are");
	cli_html_raw(h, "<p>Tensors whose names differ by numbers alone are one group; groups of one module have one "
	                "colour. The "
	                "table below says the same.</p>\n");
	if (groups->bytes)
		add_map(h, groups);
	cli_html_table(h, "Groups of tensors by bytes", "group|type|shape of the first|>tensors|>bytes|share");
	for (size_t i = 0; i < groups->count && i < MOST_GROUPS; i++) {
		const cli_group *g = &groups->items[i];
		char shape[CLI_SHAPE_TEXT], percent[24];
		double share = share_of(g->bytes, groups->bytes);
		cli_describe_shape(sherd_bundle_tensor(bundle, g->first), shape);
		cli_html_raw(h, "<tr><th scope=\"row\" class=\"name\">");
		cli_html_text(h, *g->name ? g->name : "(no name)");
		cli_html_raw(h, "</th>");
		cli_html_cell(h, "", g->type);
		cli_html_cell(h, "", shape);
		report_count_cell(h, g->count);
		size_cell(h, g->bytes);
		percent_text(share, percent);
		cli_html_bar(h, share, percent);
		cli_html_raw(h, "</tr>\n");
	}
	cli_html_table_end(h);
	if (groups->count > MOST_GROUPS)
		cli_html_printf(h, "<p>and %zu smaller groups</p>\n", groups->count - MOST_GROUPS);
	cli_html_section_end(h);
}

/* ---- files */

typedef struct held_file {
	const char *name;
	uint64_t bytes;
	size_t tensors;
} held_file;

static int held_by_name(const void *left, const void *right)
{
	const held_file *a = left, *b = right;
	return sherd_name_compare(a->name, b->name);
}

static void add_balance(cli_report *r, const held_file *files, size_t count)
{
	cli_html *h = &r->html;
	uint64_t most = 0, sum = 0;
	char text[160], size[CLI_TEXT_SIZE];
	for (size_t i = 0; i < count; i++) {
		most = files[i].bytes > most ? files[i].bytes : most;
		sum += files[i].bytes;
	}
	cli_report_section(r, "files", "Files");
	double even = count ? (double)sum / (double)count : 0;
	(void)snprintf(text, sizeof(text), "%zu files; the largest has %.2f times the bytes of an even share.", count,
	               even > 0 ? (double)most / even : 1);
	cli_html_printf(h, "<p>%s</p>\n", text);
	cli_html_table(h, "Bytes of each file", "file|>tensors|bytes");
	for (size_t i = 0; i < count && i < MOST_FILES; i++) {
		cli_html_raw(h, "<tr><th scope=\"row\" class=\"name\">");
		cli_html_text(h, files[i].name);
		cli_html_raw(h, "</th>");
		report_count_cell(h, files[i].tensors);
		cli_text_size(files[i].bytes, size);
		cli_html_bar(h, share_of(files[i].bytes, most), size);
		cli_html_raw(h, "</tr>\n");
	}
	cli_html_table_end(h);
	if (count > MOST_FILES)
		cli_html_printf(h, "<p>and %zu more</p>\n", count - MOST_FILES);
	cli_html_section_end(h);
}

/* Files of a set by what its tensors say. */
static int add_files_of_bundle(cli_report *r, const sherd_bundle *bundle, sherd_error *err)
{
	size_t count = sherd_bundle_count(bundle), found = 0, kept = 0;
	CLI_AUTO_FREE held_file *files = malloc((count + 1) * sizeof(*files));
	if (!files)
		return cli_no_memory(err);
	for (size_t i = 0; i < count; i++) {
		const char *name = sherd_bundle_file_of(bundle, i);
		if (name)
			files[found++] = (held_file){name, sherd_bundle_tensor(bundle, i)->bytes, 1};
	}
	qsort(files, found, sizeof(*files), held_by_name);
	for (size_t i = 0; i < found; i++) {
		if (kept && strcmp(files[kept - 1].name, files[i].name) == 0) {
			files[kept - 1].bytes += files[i].bytes;
			files[kept - 1].tensors++;
		} else {
			files[kept++] = files[i];
		}
	}
	if (kept > 1)
		add_balance(r, files, kept);
	return SHERD_OK;
}

static int add_files_of_ckpt(cli_report *r, sherd_error *err)
{
	CLI_AUTO(sherd_ckpt, sherd_ckpt_close) ckpt = NULL;
	const sherd_ckpt_options options = {.pool = r->cli->pool, .progress = &r->cli->waiting};
	TRY(sherd_ckpt_open(&ckpt, r->place->store, r->place->key, &options, err));
	size_t count = sherd_ckpt_shards(ckpt);
	CLI_AUTO_FREE held_file *files = malloc((count + 1) * sizeof(*files));
	if (!files)
		return cli_no_memory(err);
	for (size_t i = 0; i < count; i++) {
		const sherd_ckpt_shard *s = sherd_ckpt_shard_at(ckpt, i);
		files[i] = (held_file){s->file, s->file_size, s->tensors};
	}
	add_balance(r, files, count);
	return SHERD_OK;
}

/* ---- metadata */

static void add_metadata(cli_report *r, const sherd_bundle *bundle)
{
	const sherd_pair *pairs;
	size_t count = sherd_bundle_pairs(&pairs, bundle), shown = 0;
	cli_html *h = &r->html;
	if (!count)
		return;
	cli_report_section(r, "metadata", "Metadata");
	cli_html_table(h, "Pairs that the file carries", "key|value");
	for (size_t i = 0; i < count && shown < MOST_PAIRS; i++) {
		if (strcmp(pairs[i].key, SHERD_TYPES_KEY) == 0)
			continue;
		char value[1024];
		(void)snprintf(value, sizeof(value), "%.1000s%s", pairs[i].value,
		               strlen(pairs[i].value) > 1000 ? " ..." : "");
		cli_html_raw(h, "<tr><th scope=\"row\" class=\"name\">");
		cli_html_text(h, pairs[i].key);
		cli_html_raw(h, "</th>");
		cli_html_cell(h, "name", value);
		cli_html_raw(h, "</tr>\n");
		shown++;
	}
	cli_html_table_end(h);
	cli_html_section_end(h);
}

static void add_facts(cli_report *r, const sherd_bundle *bundle, const cli_types *types, size_t files)
{
	char text[64];
	cli_html_fact(&r->facts, "Format", sherd_format_name(sherd_bundle_format(bundle)));
	cli_text_count(types->elements, text);
	cli_html_fact(&r->facts, "Parameters", text);
	cli_text_size(types->bytes, text);
	cli_html_fact(&r->facts, "Bytes", text);
	number_text(types->tensors, text);
	cli_html_fact(&r->facts, "Tensors", text);
	if (files > 1) {
		number_text(files, text);
		cli_html_fact(&r->facts, "Files", text);
	}
	cli_html_fact(&r->facts, types->count > 1 ? "Most of it is" : "Type",
	              types->count ? types->items[0].name : "none");
}

int cli_report_tensors(cli_report *r, sherd_error *err)
{
	CLI_AUTO(sherd_bundle, sherd_bundle_close) bundle = NULL;
	CLI_AUTO_GROUPS groups = {0};
	cli_types types;
	const sherd_bundle_options options = {.pool = r->cli->pool, .progress = &r->cli->waiting};
	TRY(sherd_bundle_open(&bundle, r->place->store, r->place->key, &options, err));
	TRY(cli_groups_open(&groups, bundle, err));
	cli_types_of(&types, bundle);
	add_facts(r, bundle, &types, cli_listing_files(bundle));
	if (types.count)
		add_types_section(r, &types);
	add_sizes_section(r, &groups, bundle);
	if (sherd_bundle_format(bundle) == SHERD_FORMAT_CHECKPOINT)
		TRY(add_files_of_ckpt(r, err));
	else
		TRY(add_files_of_bundle(r, bundle, err));
	if (!r->quick)
		TRY(cli_report_values(r, bundle, &groups, err));
	add_metadata(r, bundle);
	return SHERD_OK;
}
