#include "base/doc.h"
#include "model/model.h"

#include <inttypes.h>
#include <stdio.h>

/* Lists and texts that are absent are left out. */
static void model_json_put_text(cli_doc *doc, const char *key, const char *text)
{
	if (text)
		cli_doc_put_text(doc, key, text);
}

#define LIST_DEFINE(put_list, list_type, put_one)                                  \
	static void put_list(cli_doc *doc, const char *key, const list_type *list) \
	{                                                                          \
		if (!list->at)                                                     \
			return;                                                    \
		cli_doc_put_open(doc, key, '[');                                   \
		for (size_t i = 0; i < list->count; i++)                           \
			put_one(doc, list->at[i]);                                 \
		cli_doc_close(doc, ']');                                           \
	}

LIST_DEFINE(put_texts, sherd_model_texts, cli_doc_text)
LIST_DEFINE(put_ints, sherd_model_ints, cli_doc_i64)
LIST_DEFINE(put_longs, sherd_model_longs, cli_doc_i64)
LIST_DEFINE(put_reals, sherd_model_reals, cli_doc_f64)
LIST_DEFINE(put_bytes, sherd_model_bytes, cli_doc_u64)

/* Arrays by the names that cat takes. */
static void put_arrays(cli_doc *doc, const char *key, const cli_graph_view *view, const sherd_model_arrays *list)
{
	if (!list->at)
		return;
	cli_doc_put_open(doc, key, '[');
	for (size_t i = 0; i < list->count; i++)
		cli_doc_text(doc, sherd_bundle_tensor(view->bundle, list->at[i])->name);
	cli_doc_close(doc, ']');
}

static void put_array(cli_doc *doc, const char *key, const cli_graph_view *view, size_t array)
{
	if (array != SHERD_NO_ARRAY)
		cli_doc_put_text(doc, key, sherd_bundle_tensor(view->bundle, array)->name);
}

static void put_id(cli_doc *doc, sherd_model_id id)
{
	cli_doc_open(doc, '[');
	cli_doc_i64(doc, id.node);
	cli_doc_i64(doc, id.output);
	cli_doc_close(doc, ']');
}

LIST_DEFINE(put_ids, sherd_model_ids, put_id)

static void put_variable(cli_doc *doc, const cli_graph_view *view, const sherd_model_variable *v)
{
	const sherd_dtype_info *type = sherd_dtype_describe(v->dtype);
	cli_doc_open(doc, '{');
	cli_doc_put_text(doc, "name", v->name);
	cli_doc_put_text(doc, "kind", sherd_variable_kind_name(v->kind));
	model_json_put_text(doc, "dtype", type ? type->name : NULL);
	cli_doc_put_u64(doc, "type", v->type);
	put_longs(doc, "shape", &v->shape);
	if (v->has_id) {
		cli_doc_key(doc, "id");
		put_id(doc, v->id);
	}
	cli_doc_put_i64(doc, "device", v->device);
	put_texts(doc, "controlDeps", &v->control_deps);
	put_texts(doc, "controlDepForOp", &v->control_deps_for_op);
	put_texts(doc, "controlDepsForVar", &v->control_deps_for_variable);
	put_array(doc, "tensor", view, v->array);
	cli_doc_close(doc, '}');
}

static void put_property(cli_doc *doc, const cli_graph_view *view, const sherd_model_property *p)
{
	cli_doc_open(doc, '{');
	model_json_put_text(doc, "name", p->name);
	put_ints(doc, "ints", &p->ints);
	put_longs(doc, "longs", &p->longs);
	put_reals(doc, "reals", &p->reals);
	put_arrays(doc, "tensors", view, &p->arrays);
	put_bytes(doc, "bools", &p->bools);
	put_texts(doc, "texts", &p->texts);
	put_ints(doc, "shape", &p->shape);
	cli_doc_close(doc, '}');
}

static void put_names(cli_doc *doc, const cli_graph_view *view, const sherd_model_operation *op)
{
	cli_doc_put_open(doc, "inputs", '[');
	for (size_t i = 0; i < op->input_ids.count; i++) {
		size_t v = op->input_variables[i];
		cli_doc_text(doc, v == SHERD_NO_VARIABLE ? NULL : view->graph->variables[v].name);
	}
	cli_doc_close(doc, ']');
	put_texts(doc, "outputs", &op->output_names);
}

static void put_operation(cli_doc *doc, const cli_graph_view *view, const sherd_model_operation *op)
{
	char number[24];
	cli_doc_open(doc, '{');
	cli_doc_put_i64(doc, "id", op->id);
	model_json_put_text(doc, "name", op->name);
	model_json_put_text(doc, "op", op->op);
	cli_doc_put_text(doc, "type", sherd_op_type_name(op->type));
	cli_doc_put_u64(doc, "typeNumber", op->type);
	/* 64 bits, of which readers that make a double of every number would lose some. */
	(void)snprintf(number, sizeof(number), "%" PRId64, op->number);
	cli_doc_put_text(doc, "number", number);
	put_names(doc, view, op);
	put_ids(doc, "inputIds", &op->input_ids);
	put_ints(doc, "inputNumbers", &op->inputs);
	put_ints(doc, "outputNumbers", &op->outputs);
	put_bytes(doc, "outputTypes", &op->output_types);
	if (op->properties) {
		cli_doc_put_open(doc, "properties", '[');
		for (size_t i = 0; i < op->property_count; i++)
			put_property(doc, view, &op->properties[i]);
		cli_doc_close(doc, ']');
	}
	put_reals(doc, "reals", &op->reals);
	put_longs(doc, "longs", &op->longs);
	put_bytes(doc, "bools", &op->bools);
	put_bytes(doc, "types", &op->types);
	put_texts(doc, "texts", &op->texts);
	put_ints(doc, "dimensions", &op->dimensions);
	put_array(doc, "scalar", view, op->scalar);
	cli_doc_put_i64(doc, "device", op->device);
	cli_doc_put_i64(doc, "scopeId", op->scope_id);
	model_json_put_text(doc, "scopeName", op->scope_name);
	put_texts(doc, "controlDeps", &op->control_deps);
	put_texts(doc, "varControlDeps", &op->variable_control_deps);
	put_texts(doc, "controlDepFor", &op->control_deps_for);
	cli_doc_close(doc, '}');
}

static void put_states(cli_doc *doc, const cli_graph_view *view)
{
	const sherd_model_graph *g = view->graph;
	cli_doc_put_open(doc, "updaters", '[');
	for (size_t i = 0; i < g->updater_count; i++) {
		cli_doc_open(doc, '{');
		cli_doc_put_text(doc, "parameter", g->updaters[i].parameter);
		put_texts(doc, "keys", &g->updaters[i].keys);
		put_arrays(doc, "tensors", view, &g->updaters[i].arrays);
		cli_doc_close(doc, '}');
	}
	cli_doc_close(doc, ']');
	cli_doc_put_open(doc, "sequences", '[');
	for (size_t i = 0; i < g->sequence_count; i++) {
		cli_doc_open(doc, '{');
		cli_doc_put_text(doc, "name", g->sequences[i].name);
		put_arrays(doc, "tensors", view, &g->sequences[i].arrays);
		cli_doc_close(doc, '}');
	}
	cli_doc_close(doc, ']');
}

static void put_configuration(cli_doc *doc, const sherd_model_configuration *c)
{
	if (!c->present)
		return;
	cli_doc_put_open(doc, "configuration", '{');
	cli_doc_put_i64(doc, "id", c->id);
	cli_doc_put_u64(doc, "executionMode", c->execution_mode);
	cli_doc_put_u64(doc, "profilingMode", c->profiling_mode);
	cli_doc_put_u64(doc, "outputMode", c->output_mode);
	cli_doc_put_bool(doc, "timestats", c->timestats);
	cli_doc_put_i64(doc, "footprintForward", c->footprint_forward);
	cli_doc_put_i64(doc, "footprintBackward", c->footprint_backward);
	cli_doc_put_u64(doc, "direction", c->direction);
	cli_doc_close(doc, '}');
}

/* Which arrays SameDiff holds with their first dimension varying fastest; they are handed out in C order all the same.
 */
static void put_orders(cli_doc *doc, const cli_graph_view *view)
{
	const sherd_model_bytes *fortran = &view->graph->fortran;
	if (!fortran->at)
		return;
	cli_doc_put_open(doc, "fortranOrder", '[');
	for (size_t i = 0; i < fortran->count; i++)
		if (fortran->at[i])
			cli_doc_text(doc, sherd_bundle_tensor(view->bundle, i)->name);
	cli_doc_close(doc, ']');
}

/* The members of one graph; those inside of it have the same. */
static void put_graph(cli_doc *doc, const cli_graph_view *view)
{
	const sherd_model_graph *g = view->graph;
	cli_doc_put_i64(doc, "id", g->id);
	cli_doc_put_open(doc, "variables", '[');
	for (size_t i = 0; i < g->variable_count; i++)
		put_variable(doc, view, &g->variables[i]);
	cli_doc_close(doc, ']');
	cli_doc_put_open(doc, "operations", '[');
	for (size_t i = 0; i < g->operation_count; i++)
		put_operation(doc, view, &g->operations[i]);
	cli_doc_close(doc, ']');
	put_texts(doc, "placeholders", &g->placeholders);
	put_texts(doc, "losses", &g->losses);
	put_ids(doc, "outputs", &g->outputs);
	put_states(doc, view);
	put_configuration(doc, &g->configuration);
	model_json_put_text(doc, "training", g->training);
	if (!g->subgraph_count)
		return;
	cli_doc_put_open(doc, "graphs", '[');
	for (size_t i = 0; i < g->subgraph_count; i++) {
		const cli_graph_view inner = {view->model, g->subgraphs[i].graph, view->bundle, NULL};
		cli_doc_open(doc, '{');
		cli_doc_put_text(doc, "name", g->subgraphs[i].name);
		put_graph(doc, &inner);
		cli_doc_close(doc, '}');
	}
	cli_doc_close(doc, ']');
}

int cli_graph_json(cli_state *cli, const cli_graph_view *view, sherd_error *err)
{
	cli_doc doc = cli_doc_begin(&cli->out);
	cli_doc_put_text(&doc, "format", sherd_format_name(sherd_model_format(view->model)));
	put_graph(&doc, view);
	put_orders(&doc, view);
	return cli_doc_end(&doc, SHERD_OK, err);
}
