#include "support/inside_make.h"
#include "support/test.h"

#include <string.h>

static int read_step(void *arg, size_t array, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	(void)arg, (void)err;
	const float step[] = {(float)array, (float)array + 0.5F};
	memcpy(buf, (const char *)step + offset, len);
	return SHERD_OK;
}

static void make_variables(inside_level *l, size_t array)
{
	const sherd_model_variable plain = {
		.dtype = SHERD_F32, .type = 5, .has_id = true, .shape = {1, l->dims}, .array = SHERD_NO_ARRAY};
	static const char *const names[] = {"x", "step", "y"};
	static const sherd_variable_kind kinds[] = {SHERD_VARIABLE_PLACEHOLDER, SHERD_VARIABLE_CONSTANT,
	                                            SHERD_VARIABLE_ARRAY};
	for (int i = 0; i < 3; i++) {
		l->variables[i] = plain;
		l->variables[i].name = names[i];
		l->variables[i].kind = kinds[i];
		l->variables[i].id.node = i + 1;
	}
	l->variables[1].array = array;
}

static void make_level(inside_level *l, size_t array)
{
	*l = (inside_level){.extents = {2},
	                    .dims = {2},
	                    .inputs = {{1, 0}, {2, 0}},
	                    .outputs = {2},
	                    .output_names = {"y"},
	                    .placeholders = {"x"},
	                    .losses = {"y"}};
	make_variables(l, array);
	l->operations[0] = (sherd_model_operation){.id = 3,
	                                           .name = "sum",
	                                           .op = "add",
	                                           .type = SHERD_OP_CUSTOM,
	                                           .input_ids = {2, l->inputs},
	                                           .outputs = {1, l->outputs},
	                                           .output_names = {1, l->output_names},
	                                           .scalar = SHERD_NO_ARRAY};
	l->operations[1] = l->operations[0];
	l->operations[1].id = 4;
	l->operations[1].name = "again";
	l->updater.parameter = "step";
	l->graph = (sherd_model_graph){.variable_count = 3,
	                               .variables = l->variables,
	                               .operation_count = 1,
	                               .operations = l->operations,
	                               .updaters = &l->updater,
	                               .placeholders = {1, l->placeholders},
	                               .losses = {1, l->losses}};
}

void inside_make(inside_sample *s)
{
	static const char *const names[] = {"loop", "body"};
	for (size_t i = 0; i < INSIDE_LEVELS; i++) {
		make_level(&s->levels[i], i);
		s->arrays[i] = (sherd_tensor){.dtype = SHERD_F32, .ndim = 1, .shape = s->levels[i].extents, .bytes = 8};
	}
	for (size_t i = 0; i + 1 < INSIDE_LEVELS; i++) {
		s->levels[i].inside[0] = (sherd_model_subgraph){names[i], &s->levels[i + 1].graph};
		s->levels[i].graph.subgraphs = s->levels[i].inside;
		s->levels[i].graph.subgraph_count = 1;
	}
	s->parts = (sherd_model_parts){
		.graph = &s->levels[0].graph, .arrays = s->arrays, .array_count = INSIDE_LEVELS, .read = read_step};
}

void inside_save(const inside_sample *s, sherd_store *store, const char *key)
{
	sherd_model *m = NULL;
	const sherd_model_save_options over = {.replace = true};
	assert_ok(sherd_model_make(&m, &s->parts, err));
	assert_ok(sherd_model_save(m, store, key, &over, err));
	sherd_model_close(m);
}
