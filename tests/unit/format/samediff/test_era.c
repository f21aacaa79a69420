#include "support/samediff_make.h"
#include "support/samediff_old_make.h"
#include "support/test.h"

#include "format/samediff/graph.h"

#include <stdlib.h>

static shd_arena arena;

static int drop_arena(void **state)
{
	(void)state;
	shd_arena_done(&arena);
	arena = (shd_arena){0};
	return 0;
}

static int decode(const void *data, size_t len, shd_samediff_graph *out, sherd_error *err)
{
	shd_flatbuf fb;
	shd_flatbuf_over(&fb, data, len);
	return shd_samediff_decode(&fb, SHD_SAMEDIFF_LEGACY, NULL, &arena, out, err);
}

static shd_samediff_graph decode_old(samediff_age age)
{
	SHD_AUTO_BUF b = {0};
	shd_samediff_graph g;
	samediff_make_old(&b, age);
	assert_ok(decode(b.data, b.len, &g, err));
	return g;
}

static const sherd_model_variable *variable(const shd_samediff_graph *g, const char *name)
{
	for (size_t i = 0; i < g->graph.variable_count; i++)
		if (strcmp(g->variables[i].name, name) == 0)
			return &g->variables[i];
	fail_msg("no variable %s", name);
	return NULL;
}

static void check_input(const shd_samediff_graph *g, size_t operation, size_t input, const char *name)
{
	size_t v = g->graph.operations[operation].input_variables[input];
	assert_true(v != SHERD_NO_VARIABLE);
	assert_string_equal(g->variables[v].name, name);
}

static void check_kept(const shd_samediff_graph *g)
{
	const sherd_model_variable *w = variable(g, "w"), *t = variable(g, "t"), *s = variable(g, "s");
	assert_int_equal(g->graph.id, 119);
	assert_true(w->kind == SHERD_VARIABLE_TRAINED && w->dtype == SHERD_F32 && w->type == 5 && w->device == -1);
	assert_true(w->array == 0 && g->arrays[0].fortran);
	assert_true(variable(g, "p")->dtype == SHERD_I32 && variable(g, "h")->dtype == SHERD_F16);
	assert_non_null(g->arrays[1].strides);
	assert_true(t->kind == SHERD_VARIABLE_ARRAY && t->array == SHERD_NO_ARRAY && t->id.node == 7);
	assert_true(s->kind == SHERD_VARIABLE_ARRAY && s->array != SHERD_NO_ARRAY && s->id.node == 8);
	assert_int_equal(g->graph.operation_count, 3);
	for (size_t i = 0; i < 3; i++) {
		const sherd_model_operation *op = &g->graph.operations[i];
		assert_true(op->reals.count == 1 && op->reals.at[0] == 1.5);
		assert_true(op->longs.count == 1 && op->longs.at[0] == 7);
		assert_true(op->dimensions.count == 1 && op->dimensions.at[0] == 1 && op->device == -1);
		assert_string_equal(op->scope_name, "scope");
		assert_true(op->output_names.count == 1 && op->outputs.count == 1);
		assert_string_equal(op->output_names.at[0], op->name);
		assert_string_equal(g->variables[op->outputs.at[0]].name, op->name);
	}
	const sherd_model_operation *add = &g->graph.operations[1];
	assert_int_equal(add->property_count, 1);
	assert_string_equal(add->properties[0].name, "scalar");
	assert_true(add->properties[0].reals.count == 1 && add->properties[0].reals.at[0] == 2.5);
	check_input(g, 0, 0, "w");
	check_input(g, 1, 0, "t");
	check_input(g, 2, 0, "s");
	check_input(g, 2, 1, "w");
}

TEST(a_graph_of_beta3_is_read)
{
	shd_samediff_graph g = decode_old(SAMEDIFF_BETA3);
	check_kept(&g);
	assert_int_equal(g.graph.variable_count, 6);
	assert_string_equal(g.graph.operations[0].op, "tanh");
	assert_int_equal(g.graph.operations[0].type, SHERD_OP_BETA3);
	assert_string_equal(sherd_op_type_name(g.graph.operations[0].type), "BETA3_TRANSFORM");
	assert_string_equal(sherd_op_type_name(g.graph.operations[1].type), "BETA3_SCALAR");
	assert_int_equal(g.graph.operations[2].type, SHERD_OP_CUSTOM);
}

/* Results have no names of their own there, and ids of variables and of operations both stand for them. */
TEST(a_graph_of_beta2_is_read)
{
	shd_samediff_graph g = decode_old(SAMEDIFF_BETA2);
	check_kept(&g);
	assert_null(g.graph.operations[0].op);
	const sherd_model_variable *more = variable(&g, "m:1");
	assert_true(more->kind == SHERD_VARIABLE_ARRAY && more->id.node == 9 && more->id.output == 1);
	assert_int_equal(g.graph.operations[2].input_ids.at[0].node, 8);
}

TEST(what_is_older_or_between_is_called_so_and_not_damaged)
{
	static const struct {
		samediff_age age;
		const char *says;
	} cases[] = {
		{SAMEDIFF_SHORT_SHAPES, "before 1.0.0-beta2"},
		{SAMEDIFF_SHORT_ID, "before 1.0.0-beta2"},
		{SAMEDIFF_SNAPSHOT, "snapshot between 1.0.0-beta3 and beta4"},
		{SAMEDIFF_SHIFTED, "snapshot between 1.0.0-beta3 and beta4"},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		SHD_AUTO_BUF b = {0};
		shd_samediff_graph g;
		shd_flatbuf fb;
		sherd_error e = {0};
		samediff_make_old(&b, cases[i].age);
		shd_flatbuf_over(&fb, b.data, b.len);
		assert_true(shd_samediff_probe(&fb));
		assert_int_equal(decode(b.data, b.len, &g, &e), SHERD_EUNSUPPORTED);
		assert_string_equal(e.reason, "bad-version");
		assert_non_null(strstr(e.message, cases[i].says));
	}
}

TEST(every_truncation_of_an_old_graph_is_refused)
{
	for (samediff_age age = SAMEDIFF_BETA3; age <= SAMEDIFF_SHIFTED; age++) {
		SHD_AUTO_BUF b = {0};
		samediff_make_old(&b, age);
		for (size_t len = 0; len < b.len; len++) {
			uint8_t *copy = malloc(len + !len);
			shd_samediff_graph g;
			sherd_error e = {0};
			assert_non_null(copy);
			memcpy(copy, b.data, len);
			assert_true(decode(copy, len, &g, &e) < 0);
			assert_true(e.offset <= len);
			free(copy);
			drop_arena(NULL);
		}
	}
}

/* A graph with one byte at the end of the first place where these bytes stand changed. */
static size_t change(shd_buf *b, const char *bytes, size_t len, uint8_t to)
{
	for (size_t at = 0; at + len <= b->len; at++)
		if (memcmp(b->data + at, bytes, len) == 0) {
			b->data[at + len - 1] = to;
			return at + len - 1;
		}
	fail_msg("the bytes are not there");
	return 0;
}

static void check_refused(const shd_buf *b, size_t at, const char *reason, const char *says)
{
	shd_samediff_graph g;
	sherd_error e = {0};
	assert_int_equal(decode(b->data, b->len, &g, &e), SHERD_EUNSUPPORTED);
	assert_string_equal(e.reason, reason);
	assert_int_equal(e.offset, at);
	assert_non_null(strstr(e.message, says));
}

TEST(numbers_that_no_enum_has_are_refused_with_byte_and_name)
{
	SHD_AUTO_BUF outputs = {0}, arguments = {0}, old = {0};
	samediff_make_full(&outputs); /* the types of outputs: one byte, 5 */
	size_t at = change(&outputs, "mmul\0\0\0\0\1\0\0\0\5", 13, 'x');
	check_refused(&outputs, at, "bad-dtype", "an output of the operation mul is of type number 120");
	samediff_make_full(&arguments); /* and of arguments: 6 and 1 */
	at = change(&arguments, "\2\0\0\0\6\1", 6, 18);
	check_refused(&arguments, at, "bad-dtype", "an argument of the operation mul is of type number 18");
	samediff_make_old(&old, SAMEDIFF_BETA2); /* the type of tanh, behind its id and name */
	shd_samediff_graph g;
	assert_ok(decode(old.data, old.len, &g, err));
	for (size_t i = 0; i < old.len; i++) {
		uint8_t was = old.data[i];
		sherd_error e = {0};
		old.data[i] = 13;
		if (was == 3 && decode(old.data, old.len, &g, &e) < 0 && strcmp(e.reason, "unknown-op") == 0) {
			assert_int_equal(e.offset, i);
			assert_non_null(strstr(e.message, "the operation s is of type number 13"));
			return;
		}
		old.data[i] = was;
	}
	fail_msg("no byte is the type of an operation");
}

TEST(types_of_variables_and_operations_and_modes_are_checked)
{
	SHD_AUTO_BUF b = {0};
	static const char *const says[] = {"the variable in is of type number 99",
	                                   "the operation mul is of type number 99",
	                                   "outputMode of the configuration is 99",
	                                   "direction of the configuration is 99", "a variable of kind 99"};
	size_t seen[COUNT_OF(says)] = {0};
	samediff_make_full(&b);
	for (size_t i = 0; i < b.len; i++) {
		shd_samediff_graph g;
		sherd_error e = {0};
		uint8_t was = b.data[i];
		b.data[i] = 99;
		if (decode(b.data, b.len, &g, &e) < 0)
			for (size_t k = 0; k < COUNT_OF(says); k++)
				seen[k] += strstr(e.message, says[k]) != NULL;
		b.data[i] = was;
		drop_arena(NULL);
	}
	for (size_t k = 0; k < COUNT_OF(says); k++)
		if (!seen[k])
			fail_msg("never said: %s", says[k]);
}

#define CASE(test) cmocka_unit_test_teardown(test, drop_arena)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_graph_of_beta3_is_read),
		CASE(a_graph_of_beta2_is_read),
		CASE(what_is_older_or_between_is_called_so_and_not_damaged),
		CASE(every_truncation_of_an_old_graph_is_refused),
		CASE(numbers_that_no_enum_has_are_refused_with_byte_and_name),
		CASE(types_of_variables_and_operations_and_modes_are_checked),
	};
	return cmocka_run_group_tests_name("samediff_era", tests, NULL, NULL);
}
