#include "support/inside_make.h"
#include "support/test.h"

#include "base/error.h"
#include "format/samediff/encode.h"

#include <sherd/verify.h>

#include <stdio.h>
#include <string.h>

SHD_AUTO_DEFINE(sherd_report, sherd_report_close)

static sherd_store *store;

static int open_store(void **state)
{
	(void)state;
	return sherd_store_open_memory(&store, NULL);
}

static int close_store(void **state)
{
	(void)state;
	sherd_store_close(store);
	return 0;
}

static const char *const places[INSIDE_LEVELS] = {"", "graph loop: ", "graph loop/body: "};

/* The first warning names the level and says this; how many more there are is the format's business. */
static void assert_warning(const char *key, size_t warnings, size_t level, const char *reason, const char *text)
{
	SHD_AUTO(sherd_report, sherd_report_close) r = NULL;
	char want[256];
	assert_ok(sherd_verify(&r, store, key, NULL, err));
	assert_int_equal(sherd_report_errors(r), 0);
	assert_int_equal(sherd_report_warnings(r), warnings);
	const sherd_error *e = sherd_report_warning(r, 0);
	(void)snprintf(want, sizeof(want), "%s%s", places[level], text);
	assert_string_equal(e->message, want);
	assert_string_equal(e->reason, reason);
	assert_string_equal(e->object, key);
}

TEST(nothing_is_said_of_a_graph_that_fits)
{
	SHD_AUTO(sherd_report, sherd_report_close) r = NULL;
	inside_sample s;
	inside_make(&s);
	inside_save(&s, store, "m.sdc");
	assert_ok(sherd_verify(&r, store, "m.sdc", NULL, err));
	assert_int_equal(sherd_report_errors(r), 0);
	assert_int_equal(sherd_report_warnings(r), 0);
}

/* Spoils one level of a fresh model after the other; each time it is the only thing that verify finds. */
#define WARNED(reason, text, ...)                                    \
	do {                                                         \
		for (size_t i = 0; i < INSIDE_LEVELS; i++) {         \
			inside_sample s;                             \
			inside_make(&s);                             \
			inside_level *l = &s.levels[i];              \
			__VA_ARGS__;                                 \
			inside_save(&s, store, "m.sdc");             \
			assert_warning("m.sdc", 1, i, reason, text); \
		}                                                    \
	} while (0)

TEST(inputs_and_outputs_are_variables_at_every_depth)
{
	WARNED("dangling-input", "input 1 of sum is output 0 of node 9, which is not there", l->inputs[1].node = 9);
	WARNED("dangling-output", "output 0 of sum is variable 7, which is not there", l->outputs[0] = 7);
	WARNED("dangling-output", "sum makes z, which is no variable", l->output_names[0] = "z");
}

TEST(a_variable_is_made_once_at_every_depth)
{
	WARNED("duplicate-output", "y is made by sum, and again by again", l->graph.operation_count = 2);
	WARNED("duplicate-output", "y is made by sum, and again by again", l->graph.operation_count = 2,
	       l->operations[1].output_names.count = 0);
}

TEST(names_are_those_of_variables_at_every_depth)
{
	WARNED("unknown-variable", "the placeholder q is no variable", l->placeholders[0] = "q");
	WARNED("unknown-variable", "the loss q is no variable", l->losses[0] = "q");
	WARNED("unknown-variable", "the updated q is no variable", l->updater.parameter = "q",
	       l->graph.updater_count = 1);
}

/* What is a variable of the graph outside, or of the one inside, is none of this one. */
TEST(a_graph_does_not_see_the_variables_of_others)
{
	WARNED("unknown-variable", "the loss mine is no variable", l->losses[0] = "mine",
	       s.levels[(i + 1) % INSIDE_LEVELS].variables[0].name = "mine",
	       s.levels[(i + 1) % INSIDE_LEVELS].placeholders[0] = "mine");
}

TEST(operations_are_known_at_every_depth)
{
	WARNED("op-mismatch", "sum: the number 5 is not that of the op add", l->operations[0].number = 5);
	WARNED("unknown-op", "sum does not tell its op", l->operations[0].op = NULL);
	WARNED("unknown-op", "sum is of type number 99", l->operations[0].type = 99);
}

TEST(variables_fit_their_arrays_at_every_depth)
{
	WARNED("no-data", "CONSTANT x has no array", l->variables[0].kind = SHERD_VARIABLE_CONSTANT);
	WARNED("no-id", "1 variable has no id", l->variables[2].has_id = false);
	WARNED("shape-mismatch", "the shape of step is not that of its array", l->variables[1].shape.count = 0);
}

TEST(types_are_told_by_their_names)
{
	WARNED("dtype-mismatch", "step is I32, its array is F32", l->variables[1].dtype = SHERD_I32);
}

TEST(the_training_configuration_is_json_at_every_depth)
{
	for (size_t i = 0; i < INSIDE_LEVELS; i++) {
		SHD_AUTO(sherd_report, sherd_report_close) r = NULL;
		inside_sample s;
		inside_make(&s);
		s.levels[i].graph.training = "{";
		inside_save(&s, store, "m.sdc");
		assert_ok(sherd_verify(&r, store, "m.sdc", NULL, err));
		assert_int_equal(sherd_report_warnings(r), 1);
		assert_string_equal(sherd_report_warning(r, 0)->reason, "bad-json");
		assert_memory_equal(sherd_report_warning(r, 0)->message, places[i], strlen(places[i]));
	}
}

TEST(graphs_inside_of_one_have_different_names)
{
	for (size_t i = 0; i + 1 < INSIDE_LEVELS; i++) {
		const sherd_model_graph empty = {0};
		inside_sample s;
		inside_make(&s);
		inside_level *l = &s.levels[i];
		l->inside[1] = (sherd_model_subgraph){l->inside[0].name, &empty};
		l->graph.subgraph_count = 2;
		inside_save(&s, store, "m.sdc");
		assert_warning("m.sdc", 1, i, "duplicate-name",
		               i ? "two graphs inside are called body" : "two graphs inside are called loop");
	}
}

/* Sherd writes no two variables with one id, so the graph is encoded by itself, as a FlatBuffers file. */
TEST(ids_are_different_at_every_depth)
{
	for (size_t i = 0; i < INSIDE_LEVELS; i++) {
		shd_arena arena = {0};
		shd_samediff_encoding made;
		inside_sample s;
		inside_make(&s);
		for (size_t k = 0; k < INSIDE_LEVELS; k++) {
			s.levels[k].variables[1].kind = SHERD_VARIABLE_PLACEHOLDER;
			s.levels[k].variables[1].array = SHERD_NO_ARRAY;
			s.levels[k].operations[0].type = 3;
		}
		s.levels[i].variables[1].id.node = 3;
		s.levels[i].inputs[1].node = 3;
		const shd_samediff_source source = {.graph = &s.levels[0].graph};
		assert_ok(shd_samediff_encode(&source, SHD_SAMEDIFF_CONTAINER, &arena, &made, err));
		assert_int_equal(made.piece_count, 1);
		assert_ok(sherd_store_put(store, "m.fb", SHERD_WRITE_REPLACE, made.pieces[0].bytes, made.size, err));
		shd_arena_done(&arena);
		assert_warning("m.fb", 2, i, "duplicate-id", "two variables are output 0 of node 3");
	}
}

TEST(a_long_path_is_cut)
{
	SHD_AUTO(sherd_report, sherd_report_close) r = NULL;
	char name[1000];
	inside_sample s;
	inside_make(&s);
	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = 0;
	s.levels[0].inside[0].name = name;
	s.levels[2].losses[0] = "q";
	inside_save(&s, store, "m.sdc");
	assert_ok(sherd_verify(&r, store, "m.sdc", NULL, err));
	assert_int_equal(sherd_report_warnings(r), 1);
	assert_non_null(strstr(sherd_report_warning(r, 0)->message, "nnn: the loss q is no variable"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_said_of_a_graph_that_fits),
		cmocka_unit_test(inputs_and_outputs_are_variables_at_every_depth),
		cmocka_unit_test(a_variable_is_made_once_at_every_depth),
		cmocka_unit_test(names_are_those_of_variables_at_every_depth),
		cmocka_unit_test(a_graph_does_not_see_the_variables_of_others),
		cmocka_unit_test(operations_are_known_at_every_depth),
		cmocka_unit_test(variables_fit_their_arrays_at_every_depth),
		cmocka_unit_test(types_are_told_by_their_names),
		cmocka_unit_test(the_training_configuration_is_json_at_every_depth),
		cmocka_unit_test(graphs_inside_of_one_have_different_names),
		cmocka_unit_test(ids_are_different_at_every_depth),
		cmocka_unit_test(a_long_path_is_cut),
	};
	return cmocka_run_group_tests_name("model_graph_verify", tests, open_store, close_store);
}
