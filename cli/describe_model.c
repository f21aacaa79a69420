#include "describe.h"

#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { KINDS = SHERD_VARIABLE_SEQUENCE + 1 };

static void print_kinds(sherd_out *out, const sherd_model_graph *g)
{
	size_t counts[KINDS] = {0};
	const char *before = " (";
	for (size_t i = 0; i < g->variable_count; i++)
		counts[g->variables[i].kind]++;
	sherd_out_printf(out, "\nvariables     %zu", g->variable_count);
	for (int k = 0; k < KINDS; k++) {
		if (!counts[k])
			continue;
		sherd_out_printf(out, "%s%zu %s", before, counts[k], sherd_variable_kind_name((sherd_variable_kind)k));
		before = ", ";
	}
	sherd_out_printf(out, "%s\n", g->variable_count ? ")" : "");
}

static void print_shape(sherd_out *out, const sherd_model_longs *shape)
{
	sherd_out_printf(out, " [");
	for (size_t i = 0; i < shape->count; i++)
		sherd_out_printf(out, "%s%" PRId64, i ? ", " : "", shape->at[i]);
	sherd_out_printf(out, "]");
}

static void print_names(sherd_out *out, const char *head, const sherd_model *model, const sherd_model_texts *names)
{
	const sherd_model_graph *g = sherd_model_describe(model);
	if (!names->count)
		return;
	sherd_out_printf(out, "%s", head);
	for (size_t i = 0; i < names->count; i++) {
		size_t v = sherd_model_find(model, names->at[i]);
		sherd_out_printf(out, "%s", i ? ", " : "");
		sherd_out_name(out, names->at[i]);
		if (v != SHERD_NO_VARIABLE && g->variables[v].shape.at)
			print_shape(out, &g->variables[v].shape);
	}
	sherd_out_printf(out, "\n");
}

int sherd_describe_model(sherd_cli *cli, const char *path, const sherd_model *model, const sherd_bundle *bundle,
                         sherd_error *err)
{
	const sherd_model_graph *g = sherd_model_describe(model);
	sherd_out *out = &cli->out;
	TRY(sherd_describe_bundle(cli, path, bundle, err));
	print_kinds(out, g);
	sherd_out_printf(out, "operations    %zu\n", g->operation_count);
	if (g->subgraph_count)
		sherd_out_printf(out, "graphs inside %zu\n", g->subgraph_count);
	print_names(out, "placeholders  ", model, &g->placeholders);
	print_names(out, "losses        ", model, &g->losses);
	if (g->updater_count)
		sherd_out_printf(out, "updater       states of %zu parameter%s\n", g->updater_count,
		                 sherd_text_plural(g->updater_count));
	if (g->sequence_count)
		sherd_out_printf(out, "sequences     %zu\n", g->sequence_count);
	if (g->training)
		sherd_out_printf(out, "training      a configuration of %zu bytes\n", strlen(g->training));
	return SHERD_OK;
}
