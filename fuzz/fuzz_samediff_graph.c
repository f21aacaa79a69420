/* Whatever is accepted lies inside the file, is found by a probe, is the same when it is fetched in pages, and comes
 * back when it is encoded. */
#include "form.h"
#include "format/samediff/encode.h"
#include "format/samediff/graph.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

const fuzz_form *const fuzz_target_form = &form_plain;

static void must(bool holds)
{
	if (!holds)
		abort();
}

typedef struct input {
	const uint8_t *data;
	size_t len;
} input;

static int fetch(void *arg, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	(void)err;
	const input *in = arg;
	must(offset <= in->len && len <= in->len - offset);
	memcpy(buf, in->data + offset, len);
	return SHERD_OK;
}

static void check_arrays(const shd_samediff_graph *g, size_t len)
{
	for (size_t i = 0; i < g->array_count; i++) {
		const shd_nd4j_array *a = &g->arrays[i];
		must(a->stored <= len && a->data <= len - a->stored);
		must(a->dtype == SHERD_UTF8 || a->bytes == a->stored);
		must(a->bytes <= a->stored + 8);
		must(a->ndim <= SHERD_MAX_DIMS);
	}
	for (size_t i = 0; i < g->graph.variable_count; i++)
		must(g->variables[i].name &&
		     (g->variables[i].array == SHERD_NO_ARRAY || g->variables[i].array < g->array_count));
	for (size_t i = 0; i < g->graph.operation_count; i++) {
		const sherd_model_operation *op = &g->graph.operations[i];
		for (size_t k = 0; k < op->input_ids.count; k++)
			must(op->input_variables[k] == SHERD_NO_VARIABLE ||
			     op->input_variables[k] < g->graph.variable_count);
	}
}

static shd_samediff_encoding encode(const shd_samediff_graph *g, shd_arena *arena)
{
	shd_samediff_encoding made;
	sherd_tensor *arrays = shd_arena_alloc(arena, g->array_count + 1, sizeof(*arrays));
	must(arrays != NULL);
	for (size_t i = 0; i < g->array_count; i++) {
		const shd_nd4j_array *a = &g->arrays[i];
		arrays[i] = (sherd_tensor){"", a->dtype, a->ndim, a->shape, a->bytes};
	}
	const shd_samediff_source source = {.graph = &g->graph, .arrays = arrays, .array_count = g->array_count};
	must(shd_samediff_encode(&source, SHD_SAMEDIFF_CONTAINER, arena, &made, NULL) == SHERD_OK);
	must(made.piece_count == 1 && made.pieces[0].len == made.size);
	return made;
}

/* What was encoded is decoded, and encoded to the same bytes. */
static void check_encoding(const shd_samediff_graph *g)
{
	shd_arena arena = {0};
	shd_samediff_graph again;
	shd_flatbuf fb;
	shd_samediff_encoding first = encode(g, &arena);
	shd_flatbuf_over(&fb, first.pieces[0].bytes, first.pieces[0].len);
	must(shd_samediff_decode(&fb, SHD_SAMEDIFF_CONTAINER, NULL, &arena, &again, NULL) == SHERD_OK);
	must(again.array_count == g->array_count && again.graph.variable_count == g->graph.variable_count &&
	     again.graph.operation_count == g->graph.operation_count);
	shd_samediff_encoding second = encode(&again, &arena);
	must(first.size == second.size && memcmp(first.pieces[0].bytes, second.pieces[0].bytes, first.size) == 0);
	shd_arena_done(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	shd_arena arena = {0}, paged_arena = {0};
	shd_flatbuf fb, paged, probed;
	shd_samediff_graph g = {0}, again = {0};
	input in = {data, len};
	shd_flatbuf_over(&fb, data, len);
	int rc = shd_samediff_decode(&fb, SHD_SAMEDIFF_LEGACY, NULL, &arena, &g, NULL);
	if (shd_flatbuf_open(&paged, fetch, &in, len, NULL) == SHERD_OK) {
		must(shd_samediff_decode(&paged, SHD_SAMEDIFF_LEGACY, NULL, &paged_arena, &again, NULL) == rc);
		must(again.array_count == g.array_count && again.graph.variable_count == g.graph.variable_count);
		shd_flatbuf_done(&paged);
	}
	shd_flatbuf_over(&probed, data, len);
	bool probe = shd_samediff_probe(&probed);
	if (rc == SHERD_OK) {
		must(probe);
		check_arrays(&g, len);
		check_encoding(&g);
	}
	shd_arena_done(&arena);
	shd_arena_done(&paged_arena);
	return 0;
}
