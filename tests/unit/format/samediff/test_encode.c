#include "support/fixtures.h"
#include "support/graph_same.h"
#include "support/samediff_make.h"
#include "support/source_file.h"
#include "support/test.h"

#include "format/samediff/encode.h"
#include "format/samediff/graph.h"

#include <fts.h>
#include <stdlib.h>

static shd_arena arena;

static int drop_arena(void **state)
{
	(void)state;
	shd_arena_done(&arena);
	arena = (shd_arena){0};
	return 0;
}

/* A graph with its arrays as tensors, as an engine has them. */
typedef struct sample {
	shd_samediff_graph from;
	sherd_tensor *arrays;
	shd_samediff_source source;
} sample;

static sample *sample_of(const void *data, size_t len)
{
	sample *s = shd_arena_alloc(&arena, 1, sizeof(*s));
	shd_flatbuf fb;
	assert_non_null(s);
	shd_flatbuf_over(&fb, data, len);
	assert_ok(shd_samediff_decode(&fb, SHD_SAMEDIFF_LEGACY, NULL, &arena, &s->from, err));
	s->arrays = shd_arena_alloc(&arena, s->from.array_count + 1, sizeof(*s->arrays));
	assert_non_null(s->arrays);
	for (size_t i = 0; i < s->from.array_count; i++) {
		const shd_nd4j_array *a = &s->from.arrays[i];
		s->arrays[i] = (sherd_tensor){"an array", a->dtype, a->ndim, a->shape, a->bytes};
	}
	s->source =
		(shd_samediff_source){.graph = &s->from.graph, .arrays = s->arrays, .array_count = s->from.array_count};
	return s;
}

static sample *full(void)
{
	SHD_AUTO_BUF b = {0};
	samediff_make_full(&b);
	return sample_of(b.data, b.len);
}

/* All pieces; elements are zero, which makes every text empty. */
static void assemble(const shd_samediff_encoding *made, shd_buf *out)
{
	for (size_t i = 0; i < made->piece_count; i++) {
		const shd_samediff_piece *p = &made->pieces[i];
		shd_buf_append(out, p->bytes, p->len);
		assert_true((p->array == SHERD_NO_ARRAY) == (i == made->piece_count - 1));
		if (p->array != SHERD_NO_ARRAY)
			assert_int_equal(out->len % 8, 0);
		shd_buf_zero(out, (size_t)p->extra);
	}
	assert_false(out->failed);
	assert_int_equal(out->len, made->size);
}

static shd_samediff_graph through(const shd_samediff_source *source, shd_samediff_style style)
{
	SHD_AUTO_BUF bytes = {0};
	shd_samediff_encoding made;
	shd_samediff_graph g;
	shd_flatbuf fb;
	assert_ok(shd_samediff_encode(source, style, &arena, &made, err));
	assemble(&made, &bytes);
	shd_flatbuf_over(&fb, bytes.data, bytes.len);
	assert_ok(shd_samediff_decode(&fb, style, NULL, &arena, &g, err));
	return g;
}

static void check_same(const sherd_model_graph *a, const sherd_model_graph *b, const char *what)
{
	const char *difference = graph_difference(a, b);
	if (difference)
		fail_msg("%s: %s differs", what, difference);
}

static void check_arrays(const sample *s, const shd_samediff_graph *g, bool whole)
{
	assert_int_equal(g->array_count, s->from.array_count);
	for (size_t i = 0; i < g->array_count; i++) {
		const shd_nd4j_array *a = &s->from.arrays[i], *b = &g->arrays[i];
		assert_int_equal(a->dtype, b->dtype);
		assert_int_equal(a->ndim, b->ndim);
		assert_int_equal(a->fortran, b->fortran);
		assert_int_equal(a->hollow, b->hollow);
		for (uint32_t d = 0; d < a->ndim; d++)
			assert_int_equal(a->shape[d], b->shape[d]);
		if (a->dtype != SHERD_UTF8)
			assert_true(b->stored == (whole ? a->stored : 0));
	}
}

TEST(every_field_comes_back)
{
	sample *s = full();
	shd_samediff_graph legacy = through(&s->source, SHD_SAMEDIFF_LEGACY);
	check_same(&s->from.graph, &legacy.graph, "legacy");
	check_arrays(s, &legacy, true);
	shd_samediff_graph container = through(&s->source, SHD_SAMEDIFF_CONTAINER);
	check_same(&s->from.graph, &container.graph, "container");
	check_arrays(s, &container, false);
}

TEST(the_style_of_a_container_has_no_elements)
{
	sample *s = full();
	shd_samediff_encoding made;
	assert_ok(shd_samediff_encode(&s->source, SHD_SAMEDIFF_CONTAINER, &arena, &made, err));
	assert_int_equal(made.piece_count, 1);
	assert_true(made.pieces[0].array == SHERD_NO_ARRAY);
	assert_int_equal(made.pieces[0].len, made.size);
}

TEST(pieces_tell_how_elements_are_stored)
{
	sample *s = full();
	shd_samediff_encoding made;
	size_t seen = 0;
	assert_ok(shd_samediff_encode(&s->source, SHD_SAMEDIFF_LEGACY, &arena, &made, err));
	for (size_t i = 0; i + 1 < made.piece_count; i++) {
		const shd_samediff_piece *p = &made.pieces[i];
		const sherd_tensor *t = &s->arrays[p->array];
		assert_int_equal(p->extra, t->bytes);
		assert_int_equal(p->fortran, s->from.arrays[p->array].fortran);
		assert_int_equal(p->swap, sherd_dtype_element_bytes(t->dtype) > 1);
		seen += p->fortran;
	}
	assert_int_equal(seen, 2);
}

TEST(updaters_can_be_left_out)
{
	sample *s = full();
	assert_true(s->from.graph.updater_count > 0);
	s->source.without_updater = true;
	shd_samediff_graph g = through(&s->source, SHD_SAMEDIFF_LEGACY);
	assert_int_equal(g.graph.updater_count, 0);
	assert_null(g.graph.updaters);
	assert_string_equal(g.graph.training, s->from.graph.training);
}

/* Arrays of sequences came last, and are gone: so are their marks. Where none is left, nothing is. */
static void cut_marks(sherd_model_bytes *was, const sherd_model_bytes *is, size_t arrays)
{
	size_t marked = 0;
	for (size_t i = 0; i < arrays && i < was->count; i++)
		marked += was->at[i];
	*was = marked ? (sherd_model_bytes){arrays, was->at} : (sherd_model_bytes){0};
	assert_int_equal(is->count, was->count);
}

TEST(sdnb_keeps_all_but_the_sequences)
{
	static const sherd_pair pairs[] = {{"a", "1"}, {"b", ""}};
	sample *s = full();
	assert_refused(SHERD_EUNSUPPORTED, "cannot-hold",
	               shd_samediff_encode(&s->source, SHD_SAMEDIFF_SDNB, &arena, &(shd_samediff_encoding){0}, err));
	sherd_model_graph plain = s->from.graph;
	plain.sequence_count = 0;
	plain.sequences = NULL;
	s->source.graph = &plain;
	s->source.pairs = pairs;
	s->source.pair_count = 2;
	shd_samediff_graph g = through(&s->source, SHD_SAMEDIFF_SDNB);
	assert_int_equal(g.pair_count, 2);
	assert_string_equal(g.pairs[1].key, "b");
	assert_string_equal(g.pairs[0].value, "1");
	for (size_t i = 0; i < plain.variable_count; i++) {
		const sherd_model_variable *was = &plain.variables[i];
		sherd_model_variable *is = &g.variables[i];
		if (was->array == SHERD_NO_ARRAY || was->shape.at)
			continue;
		bool hollow = was->array < plain.hollow.count && plain.hollow.at[was->array];
		assert_int_equal(is->shape.count, hollow ? 0 : s->arrays[was->array].ndim);
		for (size_t d = 0; d < is->shape.count; d++)
			assert_int_equal(is->shape.at[d], s->arrays[was->array].shape[d]);
		is->shape = was->shape; /* told here, and not in a legacy file */
	}
	cut_marks(&plain.hollow, &g.graph.hollow, g.array_count);
	cut_marks(&plain.fortran, &g.graph.fortran, g.array_count);
	check_same(&plain, &g.graph, "sdnb");
}

TEST(large_arrays_of_variables_lie_outside_of_sdnb)
{
	static const uint64_t large[] = {SHD_SAMEDIFF_INLINE}, small[] = {SHD_SAMEDIFF_INLINE - 1};
	const sherd_tensor arrays[] = {{"a", SHERD_U8, 1, large, SHD_SAMEDIFF_INLINE},
	                               {"b", SHERD_U8, 1, small, SHD_SAMEDIFF_INLINE - 1},
	                               {"c", SHERD_U8, 1, large, SHD_SAMEDIFF_INLINE}};
	const sherd_model_variable variables[] = {
		{.name = "a", .kind = SHERD_VARIABLE_TRAINED, .dtype = SHERD_U8, .array = 0},
		{.name = "b", .kind = SHERD_VARIABLE_TRAINED, .dtype = SHERD_U8, .array = 1}};
	static const size_t moments[] = {2};
	static const char *const keys[] = {"M"};
	const sherd_model_updater updater = {"a", {1, keys}, {1, moments}};
	const sherd_model_graph graph = {
		.variable_count = 2, .variables = variables, .updater_count = 1, .updaters = &updater};
	const shd_samediff_source source = {.graph = &graph, .arrays = arrays, .array_count = 3};
	shd_samediff_graph g = through(&source, SHD_SAMEDIFF_SDNB);
	assert_int_equal(g.array_count, 2);
	assert_true(g.variables[0].array == SHERD_NO_ARRAY);
	assert_int_equal(g.variables[0].shape.at[0], SHD_SAMEDIFF_INLINE);
	assert_int_equal(g.arrays[g.variables[1].array].stored, SHD_SAMEDIFF_INLINE - 1);
	assert_int_equal(g.arrays[g.graph.updaters[0].arrays.at[0]].stored, SHD_SAMEDIFF_INLINE);
}

/* The sample inside of itself, twice, and once more inside of that. */
static sherd_model_graph nest(const sample *s)
{
	sherd_model_subgraph *list = shd_arena_alloc(&arena, 3, sizeof(*list));
	sherd_model_graph *inner = shd_arena_alloc(&arena, 2, sizeof(*inner));
	assert_true(list && inner);
	for (size_t i = 0; i < 2; i++) {
		inner[i] = s->from.graph;
		inner[i].sequences = NULL;
		inner[i].sequence_count = 0;
		inner[i].fortran = inner[i].hollow = (sherd_model_bytes){0};
	}
	list[2] = (sherd_model_subgraph){"deep", &inner[1]};
	inner[0].subgraphs = &list[2];
	inner[0].subgraph_count = 1;
	list[0] = (sherd_model_subgraph){"first", &inner[0]};
	list[1] = (sherd_model_subgraph){"second", &inner[1]};
	sherd_model_graph outer = inner[1];
	outer.fortran = s->from.graph.fortran;
	outer.hollow = s->from.graph.hollow;
	outer.subgraphs = list;
	outer.subgraph_count = 2;
	return outer;
}

TEST(graphs_inside_of_graphs_come_back)
{
	static const shd_samediff_style styles[] = {SHD_SAMEDIFF_CONTAINER, SHD_SAMEDIFF_SDNB};
	sample *s = full();
	sherd_model_graph outer = nest(s);
	s->source.graph = &outer;
	for (size_t i = 0; i < COUNT_OF(styles); i++) {
		shd_samediff_graph g = through(&s->source, styles[i]);
		assert_int_equal(g.graph.subgraph_count, 2);
		const sherd_model_subgraph *first = &g.graph.subgraphs[0], *deep = &first->graph->subgraphs[0];
		assert_string_equal(first->name, "first");
		assert_string_equal(g.graph.subgraphs[1].name, "second");
		assert_string_equal(deep->name, "deep");
		assert_int_equal(first->graph->variable_count, outer.variable_count);
		const sherd_model_variable *was = &outer.variables[1], *is = &deep->graph->variables[1];
		assert_string_equal(is->name, was->name);
		assert_true(g.arrays[is->array].fortran);
		assert_int_equal(g.graph.fortran.at[is->array], 1);
		assert_int_equal(g.arrays[is->array].dtype, SHERD_F32);
		assert_true(deep->graph->operations[0].input_variables[1] == 1);
	}
	assert_refused(SHERD_EUNSUPPORTED, "cannot-hold",
	               shd_samediff_encode(&s->source, SHD_SAMEDIFF_LEGACY, &arena, &(shd_samediff_encoding){0}, err));
}

TEST(graphs_too_deep_inside_are_refused)
{
	static sherd_model_graph graphs[SHD_SAMEDIFF_DEPTH + 2];
	static sherd_model_subgraph lists[COUNT_OF(graphs)];
	for (size_t i = 0; i + 1 < COUNT_OF(graphs); i++) {
		lists[i] = (sherd_model_subgraph){"in", &graphs[i + 1]};
		graphs[i] = (sherd_model_graph){.subgraph_count = 1, .subgraphs = &lists[i]};
	}
	shd_samediff_source source = {.graph = &graphs[1]};
	(void)through(&source, SHD_SAMEDIFF_CONTAINER);
	source.graph = &graphs[0];
	shd_samediff_encoding made;
	shd_samediff_graph g;
	shd_flatbuf fb;
	assert_ok(shd_samediff_encode(&source, SHD_SAMEDIFF_CONTAINER, &arena, &made, err));
	shd_flatbuf_over(&fb, made.pieces[0].bytes, made.pieces[0].len);
	assert_refused(SHERD_ELIMIT, "too-deep",
	               shd_samediff_decode(&fb, SHD_SAMEDIFF_CONTAINER, NULL, &arena, &g, err));
}

static const sherd_dtype ours[] = {SHERD_F8_E4M3, SHERD_F8_E5M2, SHERD_C64};

TEST(types_that_samediff_lacks_fit_a_container_only)
{
	static const uint64_t shape[] = {3};
	for (size_t i = 0; i < COUNT_OF(ours); i++) {
		sherd_tensor array = {"x", ours[i], 1, shape, 0};
		assert_true(sherd_tensor_bytes(&array.bytes, ours[i], 1, shape));
		const sherd_model_variable v = {.name = "x", .dtype = ours[i], .array = 0};
		const sherd_model_graph graph = {.variable_count = 1, .variables = &v};
		const shd_samediff_source source = {.graph = &graph, .arrays = &array, .array_count = 1};
		shd_samediff_graph g = through(&source, SHD_SAMEDIFF_CONTAINER);
		assert_int_equal(g.arrays[0].dtype, ours[i]);
		assert_int_equal(g.arrays[0].bytes, array.bytes);
		assert_int_equal(g.variables[0].dtype, ours[i]);
		for (shd_samediff_style style = SHD_SAMEDIFF_LEGACY; style <= SHD_SAMEDIFF_SDNB; style += 2)
			assert_refused(SHERD_EUNSUPPORTED, "cannot-hold",
			               shd_samediff_encode(&source, style, &arena, &(shd_samediff_encoding){0}, err));
	}
}

TEST(two_gibibytes_are_too_large)
{
	static const uint64_t shape[] = {1u << 30};
	const sherd_tensor arrays[] = {{"x", SHERD_U8, 1, shape, 1u << 30}, {"y", SHERD_U8, 1, shape, 1u << 30}};
	const sherd_model_variable variables[] = {{.name = "x", .dtype = SHERD_U8, .array = 0},
	                                          {.name = "y", .dtype = SHERD_U8, .array = 1}};
	sherd_model_graph graph = {.variable_count = 2, .variables = variables};
	const shd_samediff_source source = {.graph = &graph, .arrays = arrays, .array_count = 2};
	shd_samediff_encoding made;
	assert_refused(SHERD_EUNSUPPORTED, "too-large",
	               shd_samediff_encode(&source, SHD_SAMEDIFF_LEGACY, &arena, &made, err));
	graph.variable_count = 1;
	assert_ok(shd_samediff_encode(&source, SHD_SAMEDIFF_LEGACY, &arena, &made, err));
	assert_int_equal(made.size % 8, 0);
}

static void check_file(const char *path)
{
	size_t len;
	uint8_t *data = source_file_read(path, &len);
	sample *s = sample_of(data, len);
	shd_samediff_graph legacy = through(&s->source, SHD_SAMEDIFF_LEGACY);
	check_same(&s->from.graph, &legacy.graph, path);
	check_arrays(s, &legacy, true);
	shd_samediff_graph container = through(&s->source, SHD_SAMEDIFF_CONTAINER);
	check_same(&s->from.graph, &container.graph, path);
	check_arrays(s, &container, false);
	free(data);
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

TEST(genuine_graphs_come_back)
{
	(void)fixtures_folder();
	const char *fixtures = fixtures_folder();
	char *paths[] = {(char *)fixtures, NULL};
	size_t seen = 0;
	FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	assert_non_null(tree);
	for (FTSENT *e = fts_read(tree); e; e = fts_read(tree)) {
		size_t len = strlen(e->fts_name);
		if (e->fts_info == FTS_F && len > 3 && strcmp(e->fts_name + len - 3, ".fb") == 0) {
			check_file(e->fts_path);
			seen++;
		}
	}
	(void)fts_close(tree);
	assert_true(seen > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(every_field_comes_back, drop_arena),
		cmocka_unit_test_teardown(the_style_of_a_container_has_no_elements, drop_arena),
		cmocka_unit_test_teardown(pieces_tell_how_elements_are_stored, drop_arena),
		cmocka_unit_test_teardown(updaters_can_be_left_out, drop_arena),
		cmocka_unit_test_teardown(sdnb_keeps_all_but_the_sequences, drop_arena),
		cmocka_unit_test_teardown(large_arrays_of_variables_lie_outside_of_sdnb, drop_arena),
		cmocka_unit_test_teardown(graphs_inside_of_graphs_come_back, drop_arena),
		cmocka_unit_test_teardown(graphs_too_deep_inside_are_refused, drop_arena),
		cmocka_unit_test_teardown(types_that_samediff_lacks_fit_a_container_only, drop_arena),
		cmocka_unit_test_teardown(two_gibibytes_are_too_large, drop_arena),
		cmocka_unit_test_teardown(genuine_graphs_come_back, drop_arena),
	};
	return cmocka_run_group_tests_name("samediff_encode", tests, NULL, NULL);
}
