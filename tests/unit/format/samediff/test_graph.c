#include "support/samediff_make.h"
#include "support/source_file.h"
#include "support/test.h"

#include "base/cursor.h"
#include "format/samediff/graph.h"
#include "format/samediff/hash.h"

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

static shd_samediff_graph decode_full(void)
{
	SHD_AUTO_BUF b = {0};
	shd_samediff_graph g;
	samediff_make_full(&b);
	assert_ok(decode(b.data, b.len, &g, err));
	return g;
}

static void check_texts(const sherd_model_texts *got, const char *first, const char *second)
{
	assert_int_equal(got->count, 2);
	assert_string_equal(got->at[0], first);
	assert_string_equal(got->at[1], second);
}

TEST(every_field_of_a_variable_is_kept)
{
	shd_samediff_graph g = decode_full();
	assert_int_equal(g.graph.variable_count, samediff_row_count + 2);
	const sherd_model_variable *in = &g.graph.variables[0];
	assert_string_equal(in->name, "in");
	assert_int_equal(in->kind, SHERD_VARIABLE_PLACEHOLDER);
	assert_int_equal(in->dtype, SHERD_F32);
	assert_int_equal(in->type, 5);
	assert_true(in->has_id && in->id.node == 1 && in->id.output == 0);
	assert_int_equal(in->shape.count, 2);
	assert_true(in->shape.at[0] == -1 && in->shape.at[1] == 3);
	assert_int_equal(in->device, -1);
	check_texts(&in->control_deps, "a", "b");
	check_texts(&in->control_deps_for_op, "c", "d");
	check_texts(&in->control_deps_for_variable, "e", "f");
	assert_true(in->array == SHERD_NO_ARRAY);
	assert_null(g.graph.variables[1].shape.at);
	assert_null(g.graph.variables[1].control_deps.at);
}

TEST(every_field_of_an_operation_is_kept)
{
	shd_samediff_graph g = decode_full();
	assert_int_equal(g.graph.operation_count, 1);
	const sherd_model_operation *op = g.graph.operations;
	assert_int_equal(op->id, 100);
	assert_string_equal(op->name, "mul");
	assert_string_equal(op->op, "mmul");
	assert_string_equal(sherd_op_type_name(op->type), "CUSTOM");
	assert_true(op->number == -273014250715117663);
	assert_true(op->inputs.at && op->inputs.count == 0);
	assert_int_equal(op->input_ids.count, 2);
	assert_true(op->input_variables[0] == 0 && op->input_variables[1] == 1);
	assert_int_equal(op->outputs.at[0], samediff_row_count + 1);
	assert_string_equal(op->output_names.at[0], "out");
	assert_int_equal(op->output_types.at[0], 5);
	assert_true(op->reals.count == 1 && op->reals.at[0] == 1.5);
	assert_true(op->longs.count == 2 && op->longs.at[0] == INT64_MIN && op->longs.at[1] == 7);
	assert_int_equal(op->bools.at[0], 1);
	assert_int_equal(op->dimensions.at[0], INT32_MAX);
	assert_int_equal(op->device, -1);
	assert_int_equal(op->scope_id, 5);
	assert_string_equal(op->scope_name, "scope");
	check_texts(&op->control_deps, "x", "y");
	check_texts(&op->variable_control_deps, "in", "w");
	check_texts(&op->control_deps_for, "z", "");
	assert_true(op->types.count == 2 && op->types.at[0] == 6 && op->types.at[1] == 1);
	check_texts(&op->texts, "p", "q");
	assert_int_equal(g.arrays[op->scalar].dtype, SHERD_F32);
}

TEST(every_field_of_a_property_is_kept)
{
	shd_samediff_graph g = decode_full();
	const sherd_model_operation *op = g.graph.operations;
	assert_int_equal(op->property_count, 2);
	const sherd_model_property *p = &op->properties[0];
	assert_string_equal(p->name, "all");
	assert_true(p->ints.count == 2 && p->ints.at[1] == -2);
	assert_true(p->longs.count == 2 && p->longs.at[1] == -4);
	assert_true(p->reals.count == 2 && p->reals.at[0] == 0.5 && p->reals.at[1] == -3);
	assert_int_equal(p->arrays.count, 2);
	assert_int_equal(p->arrays.at[1], p->arrays.at[0] + 1);
	assert_true(p->bools.count == 2 && p->bools.at[0] == 1 && p->bools.at[1] == 0);
	check_texts(&p->texts, "s", "t");
	assert_true(p->shape.count == 1 && p->shape.at[0] == 2);
	p++;
	assert_string_equal(p->name, "null");
	assert_true(!p->ints.at && !p->longs.at && !p->reals.at && !p->arrays.at && !p->bools.at && !p->texts.at);
	assert_null(p->shape.at);
}

TEST(the_rest_of_the_graph_is_kept)
{
	shd_samediff_graph g = decode_full();
	const sherd_model_configuration *c = &g.graph.configuration;
	assert_true(g.graph.id == 12);
	assert_true(c->present && c->id == -1 && c->output_mode == 3 && c->timestats && c->direction == 2);
	assert_true(c->footprint_forward == 0 && c->footprint_backward == 99);
	assert_true(g.graph.outputs.at && g.graph.outputs.count == 0);
	assert_string_equal(g.graph.placeholders.at[0], "in");
	assert_string_equal(g.graph.losses.at[0], "out");
	assert_string_equal(g.graph.training, "{\"updater\":{}}");
	assert_int_equal(g.graph.updater_count, 1);
	assert_string_equal(g.graph.updaters[0].parameter, "w");
	check_texts(&g.graph.updaters[0].keys, "M", "V");
	assert_int_equal(g.graph.updaters[0].arrays.at[0], samediff_row_count);
	assert_int_equal(g.graph.sequence_count, 1);
	assert_string_equal(g.graph.sequences[0].name, "seq");
	assert_int_equal(g.graph.sequences[0].arrays.at[0], g.array_count - 1);
	assert_int_equal(g.array_count, samediff_row_count + 6);
	assert_int_equal(g.pair_count, 0);
}

TEST(arrays_are_described_as_they_are_stored)
{
	shd_samediff_graph g = decode_full();
	for (size_t i = 0; i < samediff_row_count; i++) {
		const samediff_row *row = &samediff_rows[i];
		const shd_nd4j_array *a = &g.arrays[g.graph.variables[i + 1].array];
		assert_int_equal(a->dtype, row->dtype);
		assert_int_equal(a->bytes, row->want_len);
		assert_int_equal(a->stored, row->len);
		assert_int_equal(a->fortran, row->order == 'f');
		assert_int_equal(a->empty, (row->extras & 8) != 0);
		uint32_t size = sherd_dtype_element_bytes(a->dtype);
		assert_int_equal(a->swap, row->big && size > 1);
	}
	assert_int_equal(g.arrays[g.variables[17].array].text, SHD_ND4J_TEXT_PLAIN);
	assert_int_equal(g.arrays[g.variables[16].array].text, SHD_ND4J_TEXT_COUNTED);
}

/* The graph with one of its four-byte words changed where the pattern first stands. */
static int decode_changed(const void *find, size_t find_len, const void *put, sherd_error *err)
{
	SHD_AUTO_BUF b = {0};
	shd_samediff_graph g;
	samediff_make_full(&b);
	uint8_t *at = memmem(b.data, b.len, find, find_len);
	assert_non_null(at);
	memcpy(at, put, find_len);
	return decode(b.data, b.len, &g, err);
}

#define CHANGED(find, put) decode_changed(find, sizeof(find) - 1, put "", err)

TEST(what_contradicts_itself_is_refused)
{
	/* The shape of w: rank 2, dimensions 2 and 3, strides 1 and 2, ..., 'f'. */
	assert_refused(SHERD_ECORRUPT, "bad-shape",
	               CHANGED("\2\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\3\0\0\0", "\3\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\3\0\0\0"));
	assert_refused(SHERD_ECORRUPT, "size-mismatch",
	               CHANGED("\2\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\2",
	                       "\2\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\4\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\2"));
	assert_refused(SHERD_EUNSUPPORTED, "bad-strides",
	               CHANGED("\3\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0",
	                       "\3\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0"));
	assert_refused(SHERD_ECORRUPT, "bad-shape", CHANGED("\0\x66\0\0\0\0\0\0\0", "\0\x67\0\0\0\0\0\0\0"));
	assert_refused(SHERD_ECORRUPT, "duplicate-name", CHANGED("\4\0\0\0bf16", "\4\0\0\0half"));
	assert_refused(SHERD_ECORRUPT, "bad-name", CHANGED("\2\0\0\0in\0", "\0\0\0\0\0\0\0"));
	assert_refused(SHERD_ECORRUPT, "bad-utf8", CHANGED("\2\0\0\0in\0", "\2\0\0\0i\xff\0"));
	assert_refused(SHERD_ECORRUPT, "bad-offsets",
	               CHANGED("\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\3xyz",
	                       "\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\4xyz"));
}

TEST(strides_win_over_the_letter)
{
	SHD_AUTO_BUF b = {0};
	shd_samediff_graph g;
	samediff_make_full(&b);
	static const char letter[] = "\1\0\0\0\0\0\0\0\x66";
	uint8_t *at = memmem(b.data, b.len, letter, sizeof(letter) - 1);
	assert_non_null(at);
	at[8] = 'c';
	assert_ok(decode(b.data, b.len, &g, err));
	assert_true(g.arrays[g.variables[1].array].fortran);
}

/* A copy that ends where the input does, so that a sanitizer sees the first byte read beyond. */
static int decode_exactly(const uint8_t *data, size_t len, sherd_error *err)
{
	uint8_t *copy = malloc(len ? len : 1);
	shd_arena own = {0};
	shd_samediff_graph g;
	shd_flatbuf fb;
	assert_non_null(copy);
	memcpy(copy, data, len);
	shd_flatbuf_over(&fb, copy, len);
	int rc = shd_samediff_decode(&fb, SHD_SAMEDIFF_LEGACY, NULL, &own, &g, err);
	shd_arena_done(&own);
	free(copy);
	return rc;
}

TEST(every_truncation_is_refused_at_a_byte_of_the_file)
{
	SHD_AUTO_BUF b = {0};
	samediff_make_full(&b);
	/* The sequence's array is the last thing. */
	for (size_t len = 0; len < b.len; len++) {
		sherd_error e = {0};
		int rc = decode_exactly(b.data, len, &e);
		if (rc >= 0)
			fail_msg("%zu of %zu bytes are accepted", len, b.len);
		assert_true(e.offset <= len || e.offset == SHERD_NO_OFFSET);
	}
}

TEST(every_changed_byte_is_survived)
{
	SHD_AUTO_BUF b = {0};
	uint64_t seed = 88172645463325252u;
	samediff_make_full(&b);
	for (size_t i = 0; i < b.len; i++) {
		uint8_t before = b.data[i];
		for (int k = 0; k < 4; k++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			sherd_error e = {0};
			b.data[i] = (uint8_t)(k ? seed : before ^ 0xff);
			int rc = decode_exactly(b.data, b.len, &e);
			assert_true(rc == SHERD_OK || (rc == e.code && e.reason && e.message[0]));
		}
		b.data[i] = before;
	}
}

static bool probe(const void *data, size_t len)
{
	shd_flatbuf fb;
	shd_flatbuf_over(&fb, data, len);
	return shd_samediff_probe(&fb);
}

TEST(a_probe_tells_graphs_from_other_bytes)
{
	SHD_AUTO_BUF b = {0};
	samediff_make_full(&b);
	assert_true(probe(b.data, b.len));
	assert_false(probe(b.data, 7));
	assert_false(probe("SDNB\0\0\0\1\0\0\0\0\0\0\0\0", 16));
	assert_false(probe("PK\3\4\0\0\0\0\0\0\0\0\0\0\0\0", 16));
	assert_false(probe("SAMEDIFF_MOD\1\0\0\0", 16));
	uint8_t zeros[64] = {0};
	assert_false(probe(zeros, sizeof(zeros)));
}

TEST(names_of_ops_give_their_numbers)
{
	static const struct {
		const char *op;
		int64_t number;
	} cases[] = {
		{"mmul", -273014250715117663},       {"add", -5176033361941572836},
		{"conv3dnew", -6041661452420323637}, {"equals", -7275249071627601759},
		{"transpose", 8782090717916368722},  {"identity", 1117335895801582653},
		{"identity_n", 8511174575221493383}, {"pad", 3562692701058070261},
		{"stack", 9101379130389407332},      {"tensorarrayv3", -2105275876745255331},
	};
	shd_samediff_hasher hasher;
	shd_samediff_hasher_init(&hasher);
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const char *name = shd_samediff_registered_name(cases[i].op);
		if ((int64_t)shd_samediff_hash(&hasher, shd_str_of(name)) != cases[i].number)
			fail_msg("%s", cases[i].op);
	}
}

TEST(the_example_of_the_document_is_what_it_says)
{
	SHD_AUTO_BUF b = {0};
	size_t len;
	uint8_t *example = source_hex_block("docs/formats/samediff-legacy.md", &len);
	shd_samediff_graph g;
	samediff_make_small(&b);
	assert_int_equal(len, b.len);
	assert_memory_equal(example, b.data, len);
	assert_ok(decode(example, len, &g, err));
	assert_int_equal(g.graph.variable_count, 1);
	assert_string_equal(g.graph.variables[0].name, "c");
	assert_int_equal(g.graph.variables[0].kind, SHERD_VARIABLE_CONSTANT);
	assert_int_equal(g.arrays[0].dtype, SHERD_F32);
	assert_int_equal(g.arrays[0].shape[0], 2);
	assert_memory_equal(example + g.arrays[0].data, "\x3f\xc0\0\0\xc0\0\0\0", 8);
	free(example);
}

#define CASE(name) cmocka_unit_test_teardown(name, drop_arena)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(every_field_of_a_variable_is_kept),
		CASE(every_field_of_an_operation_is_kept),
		CASE(every_field_of_a_property_is_kept),
		CASE(the_rest_of_the_graph_is_kept),
		CASE(arrays_are_described_as_they_are_stored),
		CASE(what_contradicts_itself_is_refused),
		CASE(strides_win_over_the_letter),
		CASE(every_truncation_is_refused_at_a_byte_of_the_file),
		CASE(every_changed_byte_is_survived),
		CASE(a_probe_tells_graphs_from_other_bytes),
		CASE(names_of_ops_give_their_numbers),
		CASE(the_example_of_the_document_is_what_it_says),
	};
	return cmocka_run_group_tests_name("samediff_graph", tests, NULL, NULL);
}
