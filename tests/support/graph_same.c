#include "support/graph_same.h"

#include <string.h>

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_texts(sherd_model_texts a, sherd_model_texts b)
{
	bool same = a.count == b.count && !a.at == !b.at;
	for (size_t i = 0; same && i < a.count; i++)
		same = same_text(a.at[i], b.at[i]);
	return same;
}

static bool same_bytes(const void *a, const void *b, size_t a_count, size_t b_count, size_t size)
{
	return a_count == b_count && !a == !b && (!a_count || memcmp(a, b, a_count * size) == 0);
}

/* Of lists of numbers: ids, reals (their bits), arrays. */
#define SAME_LIST(a, b) same_bytes((a).at, (b).at, (a).count, (b).count, sizeof(*(a).at))
#define DIFFERS(what, same)          \
	do {                         \
		if (!(same))         \
			return what; \
	} while (0)

static const char *compare_variables(const sherd_model_variable *a, const sherd_model_variable *b)
{
	DIFFERS("variable.name", same_text(a->name, b->name));
	DIFFERS("variable.kind", a->kind == b->kind);
	DIFFERS("variable.dtype", a->dtype == b->dtype && a->type == b->type);
	DIFFERS("variable.id", a->has_id == b->has_id && a->id.node == b->id.node && a->id.output == b->id.output);
	DIFFERS("variable.shape", SAME_LIST(a->shape, b->shape));
	DIFFERS("variable.device", a->device == b->device);
	DIFFERS("variable.control_deps", same_texts(a->control_deps, b->control_deps));
	DIFFERS("variable.control_deps_for_op", same_texts(a->control_deps_for_op, b->control_deps_for_op));
	DIFFERS("variable.control_deps_for_variable",
	        same_texts(a->control_deps_for_variable, b->control_deps_for_variable));
	DIFFERS("variable.array", a->array == b->array);
	return NULL;
}

static const char *compare_properties(const sherd_model_property *a, const sherd_model_property *b)
{
	DIFFERS("property.name", same_text(a->name, b->name));
	DIFFERS("property.ints", SAME_LIST(a->ints, b->ints));
	DIFFERS("property.longs", SAME_LIST(a->longs, b->longs));
	DIFFERS("property.reals", SAME_LIST(a->reals, b->reals));
	DIFFERS("property.arrays", SAME_LIST(a->arrays, b->arrays));
	DIFFERS("property.bools", SAME_LIST(a->bools, b->bools));
	DIFFERS("property.texts", same_texts(a->texts, b->texts));
	DIFFERS("property.shape", SAME_LIST(a->shape, b->shape));
	return NULL;
}

static const char *compare_operations(const sherd_model_operation *a, const sherd_model_operation *b)
{
	const char *difference = NULL;
	DIFFERS("operation.id", a->id == b->id);
	DIFFERS("operation.name", same_text(a->name, b->name));
	DIFFERS("operation.op", same_text(a->op, b->op));
	DIFFERS("operation.type", a->type == b->type && a->number == b->number);
	DIFFERS("operation.properties", a->property_count == b->property_count && !a->properties == !b->properties);
	for (size_t i = 0; !difference && i < a->property_count; i++)
		difference = compare_properties(&a->properties[i], &b->properties[i]);
	DIFFERS(difference, !difference);
	DIFFERS("operation.inputs", SAME_LIST(a->inputs, b->inputs));
	DIFFERS("operation.input_ids", SAME_LIST(a->input_ids, b->input_ids));
	DIFFERS("operation.input_variables", same_bytes(a->input_variables, b->input_variables, a->input_ids.count,
	                                                b->input_ids.count, sizeof(*a->input_variables)));
	DIFFERS("operation.outputs", SAME_LIST(a->outputs, b->outputs));
	DIFFERS("operation.output_names", same_texts(a->output_names, b->output_names));
	DIFFERS("operation.output_types", SAME_LIST(a->output_types, b->output_types));
	DIFFERS("operation.reals", SAME_LIST(a->reals, b->reals));
	DIFFERS("operation.longs", SAME_LIST(a->longs, b->longs));
	DIFFERS("operation.bools", SAME_LIST(a->bools, b->bools));
	DIFFERS("operation.types", SAME_LIST(a->types, b->types));
	DIFFERS("operation.texts", same_texts(a->texts, b->texts));
	DIFFERS("operation.dimensions", SAME_LIST(a->dimensions, b->dimensions));
	DIFFERS("operation.device", a->device == b->device);
	DIFFERS("operation.scope", a->scope_id == b->scope_id && same_text(a->scope_name, b->scope_name));
	DIFFERS("operation.scalar", a->scalar == b->scalar);
	DIFFERS("operation.control_deps", same_texts(a->control_deps, b->control_deps));
	DIFFERS("operation.variable_control_deps", same_texts(a->variable_control_deps, b->variable_control_deps));
	DIFFERS("operation.control_deps_for", same_texts(a->control_deps_for, b->control_deps_for));
	return NULL;
}

static bool same_configuration(const sherd_model_configuration *a, const sherd_model_configuration *b)
{
	return a->present == b->present && a->id == b->id && a->execution_mode == b->execution_mode &&
	       a->profiling_mode == b->profiling_mode && a->output_mode == b->output_mode &&
	       a->direction == b->direction && a->timestats == b->timestats &&
	       a->footprint_forward == b->footprint_forward && a->footprint_backward == b->footprint_backward;
}

static const char *compare_states(const sherd_model_graph *a, const sherd_model_graph *b)
{
	DIFFERS("updaters", a->updater_count == b->updater_count && !a->updaters == !b->updaters);
	for (size_t i = 0; i < a->updater_count; i++) {
		const sherd_model_updater *u = &a->updaters[i], *v = &b->updaters[i];
		DIFFERS("updater", same_text(u->parameter, v->parameter) && same_texts(u->keys, v->keys) &&
		                           SAME_LIST(u->arrays, v->arrays));
	}
	DIFFERS("sequences", a->sequence_count == b->sequence_count && !a->sequences == !b->sequences);
	for (size_t i = 0; i < a->sequence_count; i++) {
		const sherd_model_sequence *s = &a->sequences[i], *t = &b->sequences[i];
		DIFFERS("sequence", same_text(s->name, t->name) && SAME_LIST(s->arrays, t->arrays));
	}
	return NULL;
}

const char *graph_difference(const sherd_model_graph *a, const sherd_model_graph *b)
{
	const char *difference = compare_states(a, b);
	DIFFERS("id", a->id == b->id);
	DIFFERS("variables", a->variable_count == b->variable_count);
	DIFFERS("operations", a->operation_count == b->operation_count);
	for (size_t i = 0; !difference && i < a->variable_count; i++)
		difference = compare_variables(&a->variables[i], &b->variables[i]);
	for (size_t i = 0; !difference && i < a->operation_count; i++)
		difference = compare_operations(&a->operations[i], &b->operations[i]);
	DIFFERS(difference, !difference);
	DIFFERS("outputs", SAME_LIST(a->outputs, b->outputs));
	DIFFERS("configuration", same_configuration(&a->configuration, &b->configuration));
	DIFFERS("placeholders", same_texts(a->placeholders, b->placeholders));
	DIFFERS("losses", same_texts(a->losses, b->losses));
	DIFFERS("training", same_text(a->training, b->training));
	DIFFERS("subgraphs", a->subgraph_count == b->subgraph_count);
	for (size_t i = 0; !difference && i < a->subgraph_count; i++) {
		DIFFERS("subgraph.name", same_text(a->subgraphs[i].name, b->subgraphs[i].name));
		difference = graph_difference(a->subgraphs[i].graph, b->subgraphs[i].graph);
	}
	DIFFERS("fortran", SAME_LIST(a->fortran, b->fortran));
	DIFFERS("hollow", SAME_LIST(a->hollow, b->hollow));
	return difference;
}
