#include "base/buf.h"
#include "engine/model/model.h"
#include "engine/tensors/bundle.h"

#include <sherd/convert.h>

static void put_count(shd_buf *out, size_t count, const char *what)
{
	if (count)
		shd_buf_printf(out, "%s%zu %s%s", out->len ? ", " : "", count, what, count == 1 ? "" : "s");
}

/* Variables that are more than their tensors: all of them where something computes with them. */
static size_t count_variables(const sherd_model_graph *g)
{
	size_t more = 0;
	if (g->operation_count || g->subgraph_count)
		return g->variable_count;
	for (size_t i = 0; i < g->variable_count; i++)
		more += g->variables[i].array == SHERD_NO_ARRAY;
	return more;
}

/* What tensors and pairs cannot tell. */
static void put_losses(shd_buf *out, const sherd_model_graph *g)
{
	put_count(out, g->operation_count, "operation");
	put_count(out, count_variables(g), "variable");
	put_count(out, g->placeholders.count, "placeholder");
	put_count(out, g->losses.count, "loss variable");
	put_count(out, g->updater_count, "updater state");
	put_count(out, g->sequence_count, "sequence");
	put_count(out, g->subgraph_count, "sub-graph");
	if (g->training)
		shd_buf_printf(out, "%sthe training configuration", out->len ? ", " : "");
}

/* Tensors become variables, which are known by their names alone. */
static int convert_check_check_names(const sherd_bundle *from, sherd_format to, sherd_error *err)
{
	for (size_t i = 0; i < from->count; i++)
		if (!*from->tensors[i].name)
			return shd_fail(err, SHERD_EUNSUPPORTED, "cannot-hold",
			                "tensor %zu of %zu has an empty name, and %s holds none: give it a name where "
			                "it comes from, or write safetensors, NumPy files or a checkpoint",
			                i + 1, from->count, sherd_format_name(to));
	return SHERD_OK;
}

int sherd_convert_check(const sherd_bundle *from, sherd_format to, sherd_error *err)
{
	SHD_AUTO_BUF losses = {0};
	const sherd_format_info *info = sherd_format_describe(to);
	if (info && info->holds & SHERD_HOLDS_GRAPH)
		return from->model ? SHERD_OK : convert_check_check_names(from, to, err);
	if (!from->model)
		return SHERD_OK;
	put_losses(&losses, &from->model->graph);
	TRY(shd_buf_end(&losses, err));
	return losses.len == 1 ? SHERD_OK
	                       : shd_fail(err, SHERD_EUNSUPPORTED, "cannot-hold",
	                                  "%s cannot hold the graph, which would be lost: %s", sherd_format_name(to),
	                                  (const char *)losses.data);
}
