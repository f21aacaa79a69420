#include "model.h"
#include "text.h"

#include <string.h>

/* Text in quotes: what a terminal could not show is escaped first, then quotes and backslashes for Graphviz. */
static void print_quoted(sherd_out *out, const char *text)
{
	size_t len = strlen(text);
	while (len) {
		char safe[SHERD_TEXT_SAFE];
		size_t taken, n = sherd_text_safe(text, len, &taken, safe);
		for (size_t i = 0; i < n; i++) {
			if (safe[i] == '"' || safe[i] == '\\')
				sherd_out_bytes(out, "\\", 1);
			sherd_out_bytes(out, &safe[i], 1);
		}
		text += taken;
		len -= taken;
	}
}

static void print_variable(sherd_out *out, const sherd_model_variable *v, size_t index)
{
	static const char *const styles[] = {
		[SHERD_VARIABLE_TRAINED] = "shape=ellipse, style=filled, fillcolor=lightblue",
		[SHERD_VARIABLE_CONSTANT] = "shape=ellipse, style=filled, fillcolor=lightgrey",
		[SHERD_VARIABLE_ARRAY] = "shape=ellipse",
		[SHERD_VARIABLE_PLACEHOLDER] = "shape=ellipse, style=filled, fillcolor=lightgreen",
		[SHERD_VARIABLE_SEQUENCE] = "shape=ellipse, style=dashed",
	};
	sherd_out_printf(out, "\tv%zu [label=\"", index);
	print_quoted(out, v->name);
	sherd_out_printf(out, "\", %s];\n", styles[v->kind]);
}

static void print_operation(sherd_out *out, const sherd_graph_view *view, const sherd_model_operation *op, size_t index)
{
	sherd_out_printf(out, "\to%zu [label=\"", index);
	print_quoted(out, op->op ? op->op : sherd_op_type_name(op->type));
	sherd_out_printf(out, "\", shape=box];\n");
	for (size_t i = 0; i < op->input_ids.count; i++)
		if (op->input_variables[i] != SHERD_NO_VARIABLE)
			sherd_out_printf(out, "\tv%zu -> o%zu;\n", op->input_variables[i], index);
	for (size_t i = 0; i < sherd_graph_outputs(op); i++) {
		size_t v = sherd_graph_output(view, op, i);
		if (v != SHERD_NO_VARIABLE)
			sherd_out_printf(out, "\to%zu -> v%zu;\n", index, v);
	}
}

void sherd_graph_dot(sherd_out *out, const sherd_graph_view *view)
{
	sherd_out_printf(out, "digraph model {\n");
	for (size_t i = 0; i < view->graph->variable_count; i++)
		print_variable(out, &view->graph->variables[i], i);
	for (size_t i = 0; i < view->graph->operation_count; i++)
		print_operation(out, view, &view->graph->operations[i], i);
	sherd_out_printf(out, "}\n");
}
