#include "support/test.h"

#include "base/error.h"

#include <sherd/model.h>

#include <string.h>

SHD_AUTO_DEFINE(sherd_model, sherd_model_close)
SHD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)

/* A graph of the caller's, small enough to be spoilt in every way: y = mmul(x, w), trained by an updater. */
typedef struct graph {
	char x[8];
	uint64_t shape[2];
	sherd_tensor arrays[3];
	sherd_model_variable variables[3];
	sherd_model_id inputs[2];
	int32_t output[1];
	const char *names[1];
	sherd_model_operation operation;
	const char *keys[2];
	size_t state[2];
	sherd_model_updater updater;
	sherd_model_graph graph;
	sherd_model_parts parts;
} graph;

static int give(void *arg, size_t array, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	(void)err;
	(void)arg;
	for (size_t i = 0; i < len; i++)
		((uint8_t *)buf)[i] = (uint8_t)(16 * array + offset + i);
	return SHERD_OK;
}

static void init(graph *g)
{
	*g = (graph){.x = "x", .shape = {2, 3}, .inputs = {{1, 0}, {2, 0}}, .output = {2}, .names = {"y"}};
	for (size_t i = 0; i < 3; i++)
		g->arrays[i] = (sherd_tensor){.dtype = SHERD_U8, .ndim = 2, .shape = g->shape};
	g->variables[0] = (sherd_model_variable){.name = g->x,
	                                         .kind = SHERD_VARIABLE_PLACEHOLDER,
	                                         .dtype = SHERD_F32,
	                                         .has_id = true,
	                                         .id = {1, 0},
	                                         .array = SHERD_NO_ARRAY};
	g->variables[1] = g->variables[2] = g->variables[0];
	g->variables[1].name = "w";
	g->variables[1].kind = SHERD_VARIABLE_TRAINED;
	g->variables[1].dtype = SHERD_U8;
	g->variables[1].id.node = 2;
	g->variables[1].array = 2;
	g->variables[2].name = "y";
	g->variables[2].kind = SHERD_VARIABLE_ARRAY;
	g->variables[2].id.node = 3;
	g->operation = (sherd_model_operation){.id = 3,
	                                       .name = "product",
	                                       .op = "mmul",
	                                       .type = SHERD_OP_CUSTOM,
	                                       .input_ids = {2, g->inputs},
	                                       .outputs = {1, g->output},
	                                       .output_names = {1, g->names},
	                                       .scalar = SHERD_NO_ARRAY};
	g->keys[0] = "M";
	g->keys[1] = "V";
	g->state[0] = 1;
	g->updater = (sherd_model_updater){"w", {2, g->keys}, {2, g->state}};
	g->graph = (sherd_model_graph){.variable_count = 3,
	                               .variables = g->variables,
	                               .operation_count = 1,
	                               .operations = &g->operation,
	                               .updater_count = 1,
	                               .updaters = &g->updater};
	g->parts = (sherd_model_parts){.graph = &g->graph, .arrays = g->arrays, .array_count = 3, .read = give};
}

TEST(a_model_is_a_copy)
{
	static const sherd_pair pair = {"author", "me"};
	SHD_AUTO(sherd_model, sherd_model_close) m = NULL;
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	const sherd_pair *pairs;
	uint8_t bytes[6];
	graph g;
	init(&g);
	g.parts.pairs = &pair;
	g.parts.pair_count = 1;
	assert_ok(sherd_model_make(&m, &g.parts, err));
	memset(&g, 0x55, sizeof(g));
	const sherd_model_graph *made = sherd_model_describe(m);
	assert_int_equal(sherd_model_format(m), SHERD_FORMAT_UNKNOWN);
	assert_string_equal(made->variables[0].name, "x");
	assert_int_equal(sherd_model_find(m, "y"), 2);
	assert_int_equal(made->variables[1].array, 2);
	assert_int_equal(made->variables[1].type, 11);
	assert_true(made->updaters[0].arrays.at[0] == 1 && made->updaters[0].arrays.at[1] == 0);
	assert_true(made->operations[0].number == -273014250715117663); /* as SameDiff numbers matmul */
	assert_true(made->operations[0].input_variables[0] == 0 && made->operations[0].input_variables[1] == 1);
	assert_int_equal(sherd_model_pairs(&pairs, m), 1);
	assert_string_equal(pairs[0].value, "me");
	assert_ok(sherd_bundle_of_model(&b, m, err));
	assert_string_equal(sherd_bundle_tensor(b, 0)->name, "@updater/w/V");
	assert_string_equal(sherd_bundle_tensor(b, 1)->name, "@updater/w/M");
	assert_string_equal(sherd_bundle_tensor(b, 2)->name, "w");
	assert_int_equal(sherd_bundle_tensor(b, 2)->bytes, 6);
	assert_ok(sherd_bundle_read(b, 2, 1, bytes, 5, err));
	assert_int_equal(bytes[0], 33);
	assert_refused(SHERD_EUNSUPPORTED, "no-map", sherd_bundle_map(&(const void *){NULL}, b, 2, err));
}

TEST(arrays_of_graphs_inside_have_names)
{
	SHD_AUTO(sherd_model, sherd_model_close) m = NULL;
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	graph g;
	init(&g);
	sherd_model_subgraph inner = {"body", &g.graph}, middle = {"loop", NULL};
	const sherd_model_graph between = {.subgraph_count = 1, .subgraphs = &inner};
	const sherd_model_graph outer = {.subgraph_count = 1, .subgraphs = &middle};
	middle.graph = &between;
	g.parts.graph = &outer;
	assert_ok(sherd_model_make(&m, &g.parts, err));
	assert_ok(sherd_bundle_of_model(&b, m, err));
	assert_string_equal(sherd_bundle_tensor(b, 2)->name, "@graph/loop/graph/body/variable/w");
	assert_string_equal(sherd_bundle_tensor(b, 1)->name, "@graph/loop/graph/body/updater/w/M");
	assert_true(sherd_model_describe(m)->subgraphs[0].graph->subgraphs[0].graph->operations[0].number != 0);
}

static void check_refused(const graph *g, const char *reason, const char *word)
{
	sherd_model *m = NULL;
	sherd_error e = {0};
	int rc = sherd_model_make(&m, &g->parts, &e);
	if (rc != SHERD_EINVAL || e.code != rc || strcmp(e.reason, reason) != 0 || !strstr(e.message, word))
		fail_msg("%d %s: %s, not %s: %s", rc, e.reason, e.message, reason, word);
	assert_null(m);
}

/* Each call spoils a fresh graph in one way. */
#define REFUSED(reason, word, ...)               \
	do {                                     \
		graph g;                         \
		init(&g);                        \
		__VA_ARGS__;                     \
		check_refused(&g, reason, word); \
	} while (0)

TEST(indices_of_arrays_are_checked)
{
	REFUSED("bad-argument", "no array 3", g.variables[0].array = 3);
	REFUSED("bad-argument", "two places for array 2", g.variables[0].array = 2);
	REFUSED("bad-argument", "two places for array 0", g.operation.scalar = 0);
	REFUSED("bad-argument", "no place for array 2", g.variables[1].array = SHERD_NO_ARRAY);
}

TEST(names_and_ids_are_checked)
{
	REFUSED("bad-argument", "variable 1", g.variables[1].name = NULL);
	REFUSED("duplicate-name", "twice", g.variables[1].name = "x");
	REFUSED("bad-name", "name", g.variables[1].name = "");
	REFUSED("bad-utf8", "UTF-8", g.variables[1].name = "\xff");
	REFUSED("duplicate-id", "node 1", g.variables[1].id.node = 1);
	REFUSED("bad-argument", "absent", g.names[0] = NULL);
	REFUSED("bad-argument", "updater state 0", g.updater.parameter = NULL);
	REFUSED("bad-argument", "updater state 0", g.updater.keys.count = 1);
	REFUSED("bad-type", "kind 9", g.variables[2].kind = 9);
	REFUSED("bad-argument", "pair 0", g.parts.pairs = (&(sherd_pair){"key", NULL}), g.parts.pair_count = 1);
}

TEST(arrays_and_lists_are_checked)
{
	REFUSED("bad-argument", "array 1", g.arrays[1].dtype = SHERD_DTYPE_NONE);
	REFUSED("bad-argument", "array 1", g.arrays[1].ndim = 33);
	REFUSED("bad-argument", "array 1", g.arrays[1].shape = NULL);
	REFUSED("bad-argument", "array 1", g.arrays[1].dtype = SHERD_UTF8);
	REFUSED("bad-argument", "size of array 0", g.shape[0] = UINT64_MAX);
	/* Strings need an offset each and one more. */
	REFUSED("bad-argument", "size of array 0", g.arrays[0].dtype = SHERD_UTF8, g.arrays[0].bytes = 8 * 6,
	        g.shape[0] = 2);
	REFUSED("bad-argument", "type of array 0", g.arrays[0].dtype = SHERD_OPAQUE, g.arrays[0].type_name = "\xff");
	REFUSED("bad-argument", "no address", g.graph.operations = NULL);
	REFUSED("bad-argument", "properties of operation 0", g.operation.property_count = 1);
	REFUSED("bad-argument", "sequence 0", g.graph.sequences = (&(sherd_model_sequence){0}),
	        g.graph.sequence_count = 1);
	REFUSED("bad-argument", "sub-graph 0", g.graph.subgraphs = (&(sherd_model_subgraph){0}),
	        g.graph.subgraph_count = 1);
	REFUSED("bad-argument", "marks", g.graph.fortran = ((sherd_model_bytes){4, (const uint8_t *)"1111"}));
	REFUSED("bad-argument", "needed", g.parts.graph = NULL);
	REFUSED("bad-argument", "needed", g.parts.arrays = NULL);
}

/* A graph that contains itself ends somewhere too. */
TEST(graphs_inside_of_themselves_are_refused)
{
	static sherd_model_graph endless;
	static const sherd_model_subgraph self = {"self", &endless};
	endless = (sherd_model_graph){.subgraph_count = 1, .subgraphs = &self};
	const sherd_model_parts parts = {.graph = &endless};
	sherd_model *m = NULL;
	assert_refused(SHERD_EINVAL, "too-deep", sherd_model_make(&m, &parts, err));
}

TEST(elements_that_were_not_given_cannot_be_read)
{
	SHD_AUTO(sherd_model, sherd_model_close) m = NULL;
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	graph g;
	init(&g);
	g.parts.read = NULL;
	assert_ok(sherd_model_make(&m, &g.parts, err));
	assert_ok(sherd_bundle_of_model(&b, m, err));
	assert_refused(SHERD_EINVAL, "bad-argument", sherd_bundle_read(b, 0, 0, (char[1]){0}, 1, err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_model_is_a_copy),
		cmocka_unit_test(arrays_of_graphs_inside_have_names),
		cmocka_unit_test(indices_of_arrays_are_checked),
		cmocka_unit_test(names_and_ids_are_checked),
		cmocka_unit_test(arrays_and_lists_are_checked),
		cmocka_unit_test(graphs_inside_of_themselves_are_refused),
		cmocka_unit_test(elements_that_were_not_given_cannot_be_read),
	};
	return cmocka_run_group_tests_name("model_make", tests, NULL, NULL);
}
