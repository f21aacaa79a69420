#include "tensors/describe.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { KINDS = SHERD_VARIABLE_SEQUENCE + 1 };

static void print_kinds(cli_out *out, const sherd_model_graph *g)
{
	size_t counts[KINDS] = {0};
	const char *before = " (";
	for (size_t i = 0; i < g->variable_count; i++)
		counts[g->variables[i].kind]++;
	cli_out_printf(out, "\nvariables     %zu", g->variable_count);
	for (int k = 0; k < KINDS; k++) {
		if (!counts[k])
			continue;
		cli_out_printf(out, "%s%zu %s", before, counts[k], sherd_variable_kind_name((sherd_variable_kind)k));
		before = ", ";
	}
	cli_out_printf(out, "%s\n", g->variable_count ? ")" : "");
}

static void print_shape(cli_out *out, const sherd_model_longs *shape)
{
	cli_out_printf(out, " [");
	for (size_t i = 0; i < shape->count; i++)
		cli_out_printf(out, "%s%" PRId64, i ? ", " : "", shape->at[i]);
	cli_out_printf(out, "]");
}

static void print_names(cli_out *out, const char *head, const sherd_model *model, const sherd_model_texts *names)
{
	const sherd_model_graph *g = sherd_model_describe(model);
	if (!names->count)
		return;
	cli_out_printf(out, "%s", head);
	for (size_t i = 0; i < names->count; i++) {
		size_t v = sherd_model_find(model, names->at[i]);
		cli_out_printf(out, "%s", i ? ", " : "");
		cli_out_name(out, names->at[i]);
		if (v != SHERD_NO_VARIABLE && g->variables[v].shape.at)
			print_shape(out, &g->variables[v].shape);
	}
	cli_out_printf(out, "\n");
}

/* The sizes of its files, and how its arrays are packed. */
static int count_layout(const sherd_model *model, const sherd_bundle *bundle, const sherd_model_layout *layout,
                        uint64_t *bytes, size_t *packed, size_t *known, sherd_error *err)
{
	*bytes = 0;
	*packed = *known = 0;
	for (uint32_t i = 0; i < layout->files; i++) {
		sherd_model_file f = sherd_model_file_of(model, i);
		*bytes += f.there ? f.bytes : 0;
	}
	for (size_t i = 0; i < sherd_bundle_count(bundle); i++) {
		sherd_model_stored s;
		TRY(sherd_model_stored_of(&s, model, i, err));
		*packed += s.packed != 0;
		*known += s.there;
	}
	return SHERD_OK;
}

static int print_files(cli_state *cli, const sherd_model *model, const sherd_model_layout *layout, sherd_error *err)
{
	static const char *const heads[] = {"shard", "size", "file"};
	cli_table table = {.columns = 3, .right = 3};
	char number[16], size[CLI_TEXT_SIZE];
	cli_table_add_row(&table, heads);
	for (uint32_t i = 0; i < layout->files; i++) {
		sherd_model_file f = sherd_model_file_of(model, i);
		const char *slash = strrchr(f.key, '/');
		(void)snprintf(number, sizeof(number), "%" PRIu32, i);
		cli_text_size(f.bytes, size);
		cli_table_add(&table, number);
		cli_table_add(&table, f.there ? size : "missing");
		cli_table_add(&table, slash ? slash + 1 : f.key);
	}
	cli_out_printf(&cli->out, "\n");
	return cli_table_print(&table, &cli->out, err);
}

static int print_layout(cli_state *cli, const sherd_model *model, const sherd_bundle *bundle, sherd_error *err)
{
	sherd_model_layout layout;
	char size[CLI_TEXT_SIZE];
	uint64_t bytes;
	size_t packed, known;
	if (!sherd_model_layout_of(&layout, model))
		return SHERD_OK;
	TRY(count_layout(model, bundle, &layout, &bytes, &packed, &known, err));
	cli_text_size(bytes, size);
	cli_out_printf(&cli->out, "container     version %" PRIu32 ", %" PRIu32 " file%s, %s", layout.version,
	               layout.files, cli_text_plural(layout.files), size);
	if (packed)
		cli_out_printf(&cli->out, ", %zu of %zu array%s packed by deflate", packed, known,
		               cli_text_plural(known));
	cli_out_printf(&cli->out, "\n");
	return layout.files > 1 ? print_files(cli, model, &layout, err) : SHERD_OK;
}

int cli_describe_model(cli_state *cli, const char *path, const sherd_model *model, const sherd_bundle *bundle,
                       const cli_view *view, sherd_error *err)
{
	const sherd_model_graph *g = sherd_model_describe(model);
	cli_out *out = &cli->out;
	TRY(cli_describe_bundle(cli, path, bundle, model, view, err));
	print_kinds(out, g);
	cli_out_printf(out, "operations    %zu\n", g->operation_count);
	if (g->subgraph_count)
		cli_out_printf(out, "graphs inside %zu\n", g->subgraph_count);
	print_names(out, "placeholders  ", model, &g->placeholders);
	print_names(out, "losses        ", model, &g->losses);
	if (g->updater_count)
		cli_out_printf(out, "updater       states of %zu parameter%s\n", g->updater_count,
		               cli_text_plural(g->updater_count));
	if (g->sequence_count)
		cli_out_printf(out, "sequences     %zu\n", g->sequence_count);
	if (g->training)
		cli_out_printf(out, "training      a configuration of %zu bytes\n", strlen(g->training));
	return print_layout(cli, model, bundle, err);
}
