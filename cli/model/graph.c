#include "commands.h"
#include "model/model.h"
#include "base/place.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SHAPE_TEXT = SHERD_MAX_DIMS * 22 + 3, SHOWN = 200 };

/* Appends a name to a cell of SHOWN bytes; dots stand for what has no place there. */
static void model_graph_join(char *cell, const char *name)
{
	size_t used = strlen(cell), dots = sizeof(", ...");
	if (used + strlen(name) + 2 + dots <= SHOWN)
		(void)snprintf(cell + used, SHOWN - used, "%s%s", used ? ", " : "", name);
	else if (used < 3 || strcmp(cell + used - 3, "...") != 0)
		(void)snprintf(cell + used, SHOWN - used, "%s...", used ? ", " : "");
}

static const char *model_graph_name_of(const cli_graph_view *view, size_t variable)
{
	return variable == SHERD_NO_VARIABLE ? "?" : view->graph->variables[variable].name;
}

static int print_operations(cli_state *cli, const cli_graph_view *view, sherd_error *err)
{
	static const char *const heads[] = {"operation", "op", "type", "inputs", "outputs"};
	cli_table table = {.columns = COUNT_OF(heads)};
	cli_table_add_row(&table, heads);
	for (size_t i = 0; i < view->graph->operation_count; i++) {
		const sherd_model_operation *op = &view->graph->operations[i];
		char inputs[SHOWN] = "", outputs[SHOWN] = "";
		for (size_t k = 0; k < op->input_ids.count; k++)
			model_graph_join(inputs, model_graph_name_of(view, op->input_variables[k]));
		for (size_t k = 0; k < cli_graph_outputs(op); k++)
			model_graph_join(outputs, model_graph_name_of(view, cli_graph_output(view, op, k)));
		cli_table_add(&table, op->name ? op->name : "");
		cli_table_add(&table, op->op ? op->op : "");
		cli_table_add(&table, sherd_op_type_name(op->type));
		cli_table_add(&table, inputs);
		cli_table_add(&table, outputs);
	}
	return cli_table_print(&table, &cli->out, err);
}

/* What the variable tells, else what its array does; "" when neither knows. */
static void shape_text(const cli_graph_view *view, const sherd_model_variable *v, char out[SHAPE_TEXT])
{
	const sherd_tensor *t = v->array == SHERD_NO_ARRAY ? NULL : sherd_bundle_tensor(view->bundle, v->array);
	size_t count = v->shape.at ? v->shape.count : t ? t->ndim : 0, used = 0;
	out[0] = 0;
	if (!v->shape.at && !t)
		return;
	used += (size_t)snprintf(out, SHAPE_TEXT, "[");
	for (size_t i = 0; i < count; i++)
		used += (size_t)snprintf(out + used, SHAPE_TEXT - used, "%s%" PRId64, i ? ", " : "",
		                         v->shape.at ? v->shape.at[i] : (int64_t)t->shape[i]);
	(void)snprintf(out + used, SHAPE_TEXT - used, "]");
}

static int print_variables(cli_state *cli, const cli_graph_view *view, sherd_error *err)
{
	static const char *const heads[] = {"variable", "kind", "dtype", "shape"};
	cli_table table = {.columns = COUNT_OF(heads)};
	cli_table_add_row(&table, heads);
	for (size_t i = 0; i < view->graph->variable_count; i++) {
		const sherd_model_variable *v = &view->graph->variables[i];
		const sherd_dtype_info *type = sherd_dtype_describe(v->dtype);
		char shape[SHAPE_TEXT];
		shape_text(view, v, shape);
		cli_table_add(&table, v->name);
		cli_table_add(&table, sherd_variable_kind_name(v->kind));
		cli_table_add(&table, type ? type->name : "");
		cli_table_add(&table, shape);
	}
	return cli_table_print(&table, &cli->out, err);
}

/* The graphs that lead to one inside, the innermost first. */
typedef struct path {
	const struct path *outer;
	const char *name;
} path;

static void print_path(cli_out *out, const path *p)
{
	if (p->outer) {
		print_path(out, p->outer);
		cli_out_printf(out, "/");
	}
	cli_out_name(out, p->name);
}

static int print_graph(cli_state *cli, const cli_graph_view *view, const path *outer, sherd_error *err)
{
	if (view->graph->operation_count) {
		TRY(print_operations(cli, view, err));
		cli_out_printf(&cli->out, "\n");
	}
	TRY(print_variables(cli, view, err));
	for (size_t i = 0; i < view->graph->subgraph_count; i++) {
		const sherd_model_subgraph *inside = &view->graph->subgraphs[i];
		const path here = {outer, inside->name};
		CLI_AUTO_GRAPH_VIEW inner = {0};
		cli_out_printf(&cli->out, "\ngraph ");
		print_path(&cli->out, &here);
		cli_out_printf(&cli->out, "\n");
		TRY(cli_graph_view_open(&inner, view->model, inside->graph, view->bundle, err));
		TRY(print_graph(cli, &inner, &here, err));
	}
	return SHERD_OK;
}

static int model_graph_show(cli_state *cli, const cli_args *args, const sherd_model *model, sherd_error *err)
{
	CLI_AUTO(sherd_bundle, sherd_bundle_close) bundle = NULL;
	CLI_AUTO_GRAPH_VIEW view = {0};
	TRY(sherd_bundle_of_model(&bundle, model, err));
	TRY(cli_graph_view_open(&view, model, NULL, bundle, err));
	if (cli_args_has(args, "dot"))
		return cli_graph_dot(&cli->out, &view, err);
	return cli->out.json ? cli_graph_json(cli, &view, err) : print_graph(cli, &view, NULL, err);
}

static int model_graph_run(cli_state *cli, const cli_args *args, sherd_error *err)
{
	CLI_AUTO_PLACE place = {0};
	CLI_AUTO(sherd_model, sherd_model_close) model = NULL;
	if (cli->out.json && cli_args_has(args, "dot"))
		return cli_usage(err, "--dot and --json cannot go together");
	TRY(cli_place_open(&place, args->operands[0], false, err));
	TRY(cli_place_blame(&place, sherd_model_open(&model, place.store, place.key, NULL, err), err));
	return model_graph_show(cli, args, model, err);
}

static const cli_option options[] = {
	{"dot", NULL, "print the graph for Graphviz", 0},
};

const cli_command cli_command_model_graph = {
	.name = "model graph",
	.operands = "FILE",
	.summary = "Shows the operations and variables of a model",
	.details = "With --json every field of them. A ? stands for an input or output that is no variable.\n"
		   "Graphs inside of the graph follow it, each under the names that lead to it.\n",
	.run = model_graph_run,
	CLI_OPTIONS(options),
};
