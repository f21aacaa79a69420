#include "format/samediff/graph.h"

#include "base/limits.h"
#include "format/samediff/decoder.h"
#include "format/samediff/era.h"

#include <string.h>

enum { PROBED = 8 /* variables and operations that a probe looks at */ };

static void take_variables(sherd_samediff_decoder *d, const sherd_flat_table *root, sherd_samediff_graph *g)
{
	sherd_flat_vector v = sherd_flat_list(d->fb, root, SHERD_FLAT_GRAPH_VARIABLES, 4);
	g->variables = sherd_samediff_room(d, v.count, sizeof(*g->variables));
	for (uint32_t i = 0; g->variables && i < v.count && d->fb->rc >= 0; i++) {
		sherd_flat_table t = sherd_flat_element(d->fb, &v, i);
		sherd_samediff_variable(d, &t, &g->variables[i]);
	}
	g->graph.variables = g->variables;
	g->graph.variable_count = v.count;
}

static sherd_model_operation *take_operations(sherd_samediff_decoder *d, const sherd_flat_table *root,
                                              sherd_model_graph *g)
{
	sherd_flat_vector v = sherd_flat_list(d->fb, root, SHERD_FLAT_GRAPH_NODES, 4);
	sherd_model_operation *at = sherd_samediff_room(d, v.count, sizeof(*at));
	for (uint32_t i = 0; at && i < v.count && d->fb->rc >= 0; i++) {
		sherd_flat_table t = sherd_flat_element(d->fb, &v, i);
		sherd_samediff_operation(d, &t, &at[i]);
	}
	g->operations = at;
	g->operation_count = v.count;
	return at;
}

static void take_updaters(sherd_samediff_decoder *d, const sherd_flat_table *root, sherd_model_graph *g)
{
	sherd_flat_vector v = sherd_flat_list(d->fb, root, SHERD_FLAT_GRAPH_UPDATERS, 4);
	sherd_model_updater *at = v.at ? sherd_samediff_room(d, v.count, sizeof(*at)) : NULL;
	for (uint32_t i = 0; at && i < v.count && d->fb->rc >= 0; i++) {
		sherd_flat_table t = sherd_flat_element(d->fb, &v, i);
		at[i].parameter = sherd_flat_text(d->fb, &t, SHERD_FLAT_UPDATER_PARAMETER, d->arena);
		at[i].keys = sherd_samediff_texts(d, &t, SHERD_FLAT_UPDATER_KEYS);
		at[i].arrays = sherd_samediff_arrays(d, &t, SHERD_FLAT_UPDATER_ARRAYS);
		if (!at[i].parameter || at[i].keys.count != at[i].arrays.count)
			sherd_flatbuf_fail(d->fb, SHERD_ECORRUPT, "bad-count", t.pos,
			                   "an updater state of %zu keys and %zu arrays", at[i].keys.count,
			                   at[i].arrays.count);
	}
	g->updaters = at;
	g->updater_count = v.count;
}

static void take_sequences(sherd_samediff_decoder *d, const sherd_flat_table *root, sherd_model_graph *g)
{
	sherd_flat_vector v = sherd_flat_list(d->fb, root, SHERD_FLAT_GRAPH_SEQUENCES, 4);
	sherd_model_sequence *at = v.at ? sherd_samediff_room(d, v.count, sizeof(*at)) : NULL;
	for (uint32_t i = 0; at && i < v.count && d->fb->rc >= 0; i++) {
		sherd_flat_table t = sherd_flat_element(d->fb, &v, i);
		at[i].name = sherd_flat_text(d->fb, &t, SHERD_FLAT_SEQUENCE_NAME, d->arena);
		at[i].arrays = sherd_samediff_arrays(d, &t, SHERD_FLAT_SEQUENCE_ARRAYS);
		if (!at[i].name)
			sherd_flatbuf_fail(d->fb, SHERD_ECORRUPT, "bad-name", t.pos, "a sequence without a name");
	}
	g->sequences = at;
	g->sequence_count = v.count;
}

static void take_metadata(sherd_samediff_decoder *d, const sherd_flat_table *root, sherd_samediff_graph *g)
{
	sherd_model_texts keys = sherd_samediff_texts(d, root, SHERD_FLAT_GRAPH_SEQUENCES);
	sherd_model_texts values = sherd_samediff_texts(d, root, SHERD_FLAT_GRAPH_METADATA_VALUES);
	if (keys.count != values.count)
		sherd_flatbuf_fail(d->fb, SHERD_ECORRUPT, "bad-count", root->pos, "%zu keys and %zu values of metadata",
		                   keys.count, values.count);
	sherd_pair *at = sherd_samediff_room(d, keys.count, sizeof(*at));
	for (size_t i = 0; at && i < keys.count; i++)
		at[i] = (sherd_pair){keys.at[i], values.at[i]};
	g->pairs = at;
	g->pair_count = keys.count;
}

static void check_mode(sherd_samediff_decoder *d, const sherd_flat_table *t, unsigned field, uint8_t mode, uint8_t most,
                       const char *what)
{
	if (mode > most && d->style != SHERD_SAMEDIFF_CONTAINER)
		sherd_flatbuf_fail(d->fb, SHERD_EUNSUPPORTED, "bad-type", sherd_flat_place(d->fb, t, field),
		                   "%s of the configuration is %u, which SameDiff does not have", what, mode);
}

static void take_configuration(sherd_samediff_decoder *d, const sherd_flat_table *root, sherd_model_configuration *c)
{
	sherd_flatbuf *fb = d->fb;
	sherd_flat_table t = sherd_flat_child(fb, root, SHERD_FLAT_GRAPH_CONFIGURATION);
	c->present = t.pos != 0;
	c->id = sherd_flat_i64(fb, &t, SHERD_FLAT_CONFIGURATION_ID, 0);
	c->execution_mode = sherd_flat_u8(fb, &t, SHERD_FLAT_CONFIGURATION_EXECUTION, 0);
	c->profiling_mode = sherd_flat_u8(fb, &t, SHERD_FLAT_CONFIGURATION_PROFILING, 0);
	c->output_mode = sherd_flat_u8(fb, &t, SHERD_FLAT_CONFIGURATION_OUTPUT, 0);
	c->timestats = sherd_flat_u8(fb, &t, SHERD_FLAT_CONFIGURATION_TIMESTATS, 0) != 0;
	c->footprint_forward = sherd_flat_i64(fb, &t, SHERD_FLAT_CONFIGURATION_FORWARD, 0);
	c->footprint_backward = sherd_flat_i64(fb, &t, SHERD_FLAT_CONFIGURATION_BACKWARD, 0);
	c->direction = sherd_flat_u8(fb, &t, SHERD_FLAT_CONFIGURATION_DIRECTION, 0);
	check_mode(d, &t, SHERD_FLAT_CONFIGURATION_EXECUTION, c->execution_mode, 2, "executionMode");
	check_mode(d, &t, SHERD_FLAT_CONFIGURATION_PROFILING, c->profiling_mode, 3, "profilingMode");
	check_mode(d, &t, SHERD_FLAT_CONFIGURATION_OUTPUT, c->output_mode, 4, "outputMode");
	check_mode(d, &t, SHERD_FLAT_CONFIGURATION_DIRECTION, c->direction, 2, "direction");
}

/* Refuses a root that is none of a graph; base is where its buffer begins. */
static bool check_root(sherd_flatbuf *fb, const sherd_flat_table *root, uint64_t base)
{
	if (root->pos && ((root->pos - base) % 4 || root->slots > SHERD_FLAT_GRAPH_FIELDS))
		sherd_flatbuf_fail(fb, SHERD_ECORRUPT, "bad-header", root->pos, "the root is no SameDiff graph");
	if (root->pos && (!sherd_flat_has(fb, root, SHERD_FLAT_GRAPH_VARIABLES) ||
	                  !sherd_flat_has(fb, root, SHERD_FLAT_GRAPH_NODES)))
		sherd_flatbuf_fail(fb, SHERD_ECORRUPT, "bad-header", root->pos,
		                   "the root has no lists of variables and operations");
	return root->pos && fb->rc >= 0;
}

/* Refuses what was written before tables came to what they are. */
static bool check_era(sherd_samediff_decoder *d, const sherd_flat_table *root)
{
	if (d->style != SHERD_SAMEDIFF_LEGACY)
		return true;
	sherd_samediff_era era = sherd_samediff_era_of(d->fb, root);
	d->beta3 = era == SHERD_SAMEDIFF_ERA_BETA3;
	if (era == SHERD_SAMEDIFF_ERA_BEFORE)
		sherd_flatbuf_fail(d->fb, SHERD_EUNSUPPORTED, "bad-version", root->pos,
		                   "a graph of SameDiff before 1.0.0-beta2, which had other tables");
	if (era == SHERD_SAMEDIFF_ERA_SNAPSHOT)
		sherd_flatbuf_fail(d->fb, SHERD_EUNSUPPORTED, "bad-version", root->pos,
		                   "a graph of a SameDiff snapshot between 1.0.0-beta3 and beta4, whose tables and "
		                   "numbers changed from day to day");
	return d->fb->rc >= 0;
}

static void take_graph(sherd_samediff_decoder *d, const sherd_flat_table *root, sherd_samediff_graph *g);

/* Metadata of a graph inside is what the file says of itself once more: it is not kept. */
static void take_subgraph(sherd_samediff_decoder *d, const sherd_flat_table *t, sherd_model_subgraph *out)
{
	sherd_samediff_graph *g = sherd_samediff_room(d, 1, sizeof(*g));
	sherd_flat_vector bytes = sherd_flat_span(d->fb, t, SHERD_FLAT_SUBGRAPH_BYTES);
	uint64_t outer;
	out->name = sherd_flat_text(d->fb, t, SHERD_FLAT_SUBGRAPH_NAME, d->arena);
	if (d->depth == SHERD_SAMEDIFF_DEPTH)
		sherd_flatbuf_fail(d->fb, SHERD_ELIMIT, "too-deep", t->pos, "graphs inside of graphs");
	if (!out->name || !bytes.at)
		sherd_flatbuf_fail(d->fb, SHERD_ECORRUPT, "bad-name", t->pos, "a graph inside without a name or bytes");
	sherd_flat_table root = sherd_flatbuf_enter(d->fb, &bytes, &outer);
	if (check_root(d->fb, &root, bytes.at)) {
		d->depth++;
		take_graph(d, &root, g);
		d->depth--;
		out->graph = &g->graph;
	}
	sherd_flatbuf_leave(d->fb, outer);
}

static void take_subgraphs(sherd_samediff_decoder *d, const sherd_flat_table *root, sherd_model_graph *g)
{
	sherd_flat_vector v = sherd_flat_list(d->fb, root, SHERD_FLAT_GRAPH_SUBGRAPHS, 4);
	sherd_model_subgraph *at = v.count ? sherd_samediff_room(d, v.count, sizeof(*at)) : NULL;
	for (uint32_t i = 0; at && i < v.count && d->fb->rc >= 0; i++) {
		sherd_flat_table t = sherd_flat_element(d->fb, &v, i);
		take_subgraph(d, &t, &at[i]);
	}
	g->subgraphs = at;
	g->subgraph_count = at ? v.count : 0;
}

static void take_graph(sherd_samediff_decoder *d, const sherd_flat_table *root, sherd_samediff_graph *g)
{
	sherd_flatbuf *fb = d->fb;
	g->graph.id = sherd_flat_i64(fb, root, SHERD_FLAT_GRAPH_ID, 0);
	take_variables(d, root, g);
	take_updaters(d, root, &g->graph);
	sherd_model_operation *operations = take_operations(d, root, &g->graph);
	if (d->beta3)
		sherd_samediff_renew(d, g, operations);
	if (d->style == SHERD_SAMEDIFF_SDNB || sherd_flat_has(fb, root, SHERD_FLAT_GRAPH_METADATA_VALUES))
		take_metadata(d, root, g);
	else
		take_sequences(d, root, &g->graph);
	g->graph.outputs = sherd_samediff_ids(d, root, SHERD_FLAT_GRAPH_OUTPUTS);
	take_configuration(d, root, &g->graph.configuration);
	g->graph.placeholders = sherd_samediff_texts(d, root, SHERD_FLAT_GRAPH_PLACEHOLDERS);
	g->graph.losses = sherd_samediff_texts(d, root, SHERD_FLAT_GRAPH_LOSSES);
	g->graph.training = sherd_flat_text(fb, root, SHERD_FLAT_GRAPH_TRAINING, d->arena);
	if (fb->rc >= 0)
		fb->rc = sherd_samediff_resolve(&g->graph, operations, d->arena, &fb->error);
	take_subgraphs(d, root, &g->graph);
}

/* 1 for each array that is so; nothing when none is. */
static int mark(const sherd_nd4j_array *arrays, size_t count, bool hollow, sherd_arena *arena, sherd_model_bytes *out,
                sherd_error *err)
{
	size_t first = 0;
	while (first < count && !(hollow ? arrays[first].hollow : arrays[first].fortran))
		first++;
	*out = (sherd_model_bytes){0};
	if (first == count)
		return SHERD_OK;
	uint8_t *at = sherd_arena_alloc(arena, count, 1);
	if (!at)
		return sherd_fail_nomem(err);
	for (size_t i = 0; i < count; i++)
		at[i] = hollow ? arrays[i].hollow : arrays[i].fortran;
	*out = (sherd_model_bytes){count, at};
	return SHERD_OK;
}

int sherd_samediff_mark(sherd_model_graph *graph, const sherd_nd4j_array *arrays, size_t count, sherd_arena *arena,
                        sherd_error *err)
{
	TRY(mark(arrays, count, false, arena, &graph->fortran, err));
	return mark(arrays, count, true, arena, &graph->hollow, err);
}

static int keep_arrays(sherd_samediff_decoder *d, sherd_samediff_graph *g, sherd_error *err)
{
	TRY(sherd_buf_check(&d->arrays, err));
	g->array_count = d->arrays.len / sizeof(sherd_nd4j_array);
	g->arrays = sherd_arena_copy(d->arena, d->arrays.data, d->arrays.len);
	if (!g->arrays && d->arrays.len)
		return sherd_fail_nomem(err);
	return sherd_samediff_mark(&g->graph, g->arrays, g->array_count, d->arena, err);
}

int sherd_samediff_decode(sherd_flatbuf *fb, sherd_samediff_style style, const sherd_limits *limits, sherd_arena *arena,
                          sherd_samediff_graph *out, sherd_error *err)
{
	sherd_samediff_decoder d = {.fb = fb, .arena = arena, .limits = limits, .style = style};
	sherd_samediff_graph g = {0};
	fb->room = sherd_limits_or_default(limits).metadata_bytes;
	sherd_flat_table root = sherd_flatbuf_root(fb);
	if (check_root(fb, &root, 0) && check_era(&d, &root))
		take_graph(&d, &root, &g);
	int rc = sherd_flatbuf_check(fb, err);
	if (rc == SHERD_OK)
		rc = keep_arrays(&d, &g, err);
	sherd_buf_done(&d.arrays);
	if (rc == SHERD_OK)
		*out = g;
	return rc;
}

bool sherd_samediff_probe(sherd_flatbuf *fb)
{
	static const unsigned lists[] = {SHERD_FLAT_GRAPH_VARIABLES, SHERD_FLAT_GRAPH_NODES};
	if (fb->size < SHERD_SAMEDIFF_LEAST)
		return false;
	sherd_flat_table root = sherd_flatbuf_root(fb);
	(void)check_root(fb, &root, 0);
	for (size_t l = 0; l < COUNT_OF(lists); l++) {
		sherd_flat_vector v = sherd_flat_list(fb, &root, lists[l], 4);
		for (uint32_t i = 0; i < v.count && i < PROBED; i++) {
			sherd_flat_table t = sherd_flat_element(fb, &v, i);
			(void)sherd_flat_list(fb, &t, 1, 1); /* the name, of both */
		}
	}
	return fb->rc >= 0;
}
