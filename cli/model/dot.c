#include "model/model.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

/* Text in quotes: what a terminal could not show is escaped first, then quotes and backslashes for Graphviz. */
static void print_quoted(cli_out *out, const char *text)
{
	size_t len = strlen(text);
	while (len) {
		char safe[CLI_TEXT_SAFE];
		size_t taken, n = cli_text_safe(text, len, &taken, safe);
		for (size_t i = 0; i < n; i++) {
			if (safe[i] == '"' || safe[i] == '\\')
				cli_out_bytes(out, "\\", 1);
			cli_out_bytes(out, &safe[i], 1);
		}
		text += taken;
		len -= taken;
	}
}

/* One graph being printed. Nodes of a graph inside are told from those of others by its number. */
typedef struct drawing {
	cli_out *out;
	const cli_graph_view *view;
	int depth;
	char mark[24];  /* "", or "g<number>" */
	size_t *graphs; /* so many were begun */
} drawing;

/* Where the rest of a line goes that has begun at the right depth. */
static cli_out *line(const drawing *d)
{
	for (int i = 0; i < d->depth; i++)
		cli_out_bytes(d->out, "\t", 1);
	return d->out;
}

static void print_variable(const drawing *d, const sherd_model_variable *v, size_t index)
{
	static const char *const styles[] = {
		[SHERD_VARIABLE_TRAINED] = "shape=ellipse, style=filled, fillcolor=lightblue",
		[SHERD_VARIABLE_CONSTANT] = "shape=ellipse, style=filled, fillcolor=lightgrey",
		[SHERD_VARIABLE_ARRAY] = "shape=ellipse",
		[SHERD_VARIABLE_PLACEHOLDER] = "shape=ellipse, style=filled, fillcolor=lightgreen",
		[SHERD_VARIABLE_SEQUENCE] = "shape=ellipse, style=dashed",
	};
	cli_out_printf(line(d), "%sv%zu [label=\"", d->mark, index);
	print_quoted(d->out, v->name);
	cli_out_printf(d->out, "\", %s];\n", styles[v->kind]);
}

static void print_operation(const drawing *d, const sherd_model_operation *op, size_t index)
{
	cli_out_printf(line(d), "%so%zu [label=\"", d->mark, index);
	print_quoted(d->out, op->op ? op->op : sherd_op_type_name(op->type));
	cli_out_printf(d->out, "\", shape=box];\n");
	for (size_t i = 0; i < op->input_ids.count; i++)
		if (op->input_variables[i] != SHERD_NO_VARIABLE)
			cli_out_printf(line(d), "%sv%zu -> %so%zu;\n", d->mark, op->input_variables[i], d->mark, index);
	for (size_t i = 0; i < cli_graph_outputs(op); i++) {
		size_t v = cli_graph_output(d->view, op, i);
		if (v != SHERD_NO_VARIABLE)
			cli_out_printf(line(d), "%so%zu -> %sv%zu;\n", d->mark, index, d->mark, v);
	}
}

static int print_inside(const drawing *d, const sherd_model_subgraph *inside, sherd_error *err);

static int print_graph(const drawing *d, sherd_error *err)
{
	const sherd_model_graph *g = d->view->graph;
	for (size_t i = 0; i < g->variable_count; i++)
		print_variable(d, &g->variables[i], i);
	for (size_t i = 0; i < g->operation_count; i++)
		print_operation(d, &g->operations[i], i);
	for (size_t i = 0; i < g->subgraph_count; i++)
		TRY(print_inside(d, &g->subgraphs[i], err));
	return SHERD_OK;
}

/* Graphviz draws a box around what is in a subgraph whose name begins with "cluster". */
static int print_inside(const drawing *d, const sherd_model_subgraph *inside, sherd_error *err)
{
	CLI_AUTO_GRAPH_VIEW view = {0};
	TRY(cli_graph_view_open(&view, d->view->model, inside->graph, d->view->bundle, err));
	drawing inner = {.out = d->out, .view = &view, .depth = d->depth + 1, .graphs = d->graphs};
	(void)snprintf(inner.mark, sizeof(inner.mark), "g%zu", ++*d->graphs);
	cli_out_printf(line(d), "subgraph cluster_%s {\n", inner.mark);
	cli_out_printf(line(&inner), "label=\"");
	print_quoted(d->out, inside->name);
	cli_out_printf(d->out, "\";\n");
	TRY(print_graph(&inner, err));
	cli_out_printf(line(d), "}\n");
	return SHERD_OK;
}

int cli_graph_dot(cli_out *out, const cli_graph_view *view, sherd_error *err)
{
	size_t graphs = 0;
	const drawing d = {.out = out, .view = view, .depth = 1, .graphs = &graphs};
	cli_out_printf(out, "digraph model {\n");
	TRY(print_graph(&d, err));
	cli_out_printf(out, "}\n");
	return SHERD_OK;
}
