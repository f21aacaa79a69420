#include "format/samediff/graph.h"

#include "base/limits.h"
#include "format/samediff/decoder.h"
#include "format/samediff/era.h"

#include <string.h>

enum { PROBED = 8 /* variables and operations that a probe looks at */ };

static void take_variables(shd_samediff_decoder *d, const shd_flat_table *root, shd_samediff_graph *g)
{
	shd_flat_vector v = shd_flat_list(d->fb, root, SHD_FLAT_GRAPH_VARIABLES, 4);
	g->variables = shd_samediff_room(d, v.count, sizeof(*g->variables));
	for (uint32_t i = 0; g->variables && i < v.count && d->fb->rc >= 0; i++) {
		shd_flat_table t = shd_flat_element(d->fb, &v, i);
		shd_samediff_variable(d, &t, &g->variables[i]);
	}
	g->graph.variables = g->variables;
	g->graph.variable_count = v.count;
}

static sherd_model_operation *take_operations(shd_samediff_decoder *d, const shd_flat_table *root, sherd_model_graph *g)
{
	shd_flat_vector v = shd_flat_list(d->fb, root, SHD_FLAT_GRAPH_NODES, 4);
	sherd_model_operation *at = shd_samediff_room(d, v.count, sizeof(*at));
	for (uint32_t i = 0; at && i < v.count && d->fb->rc >= 0; i++) {
		shd_flat_table t = shd_flat_element(d->fb, &v, i);
		shd_samediff_operation(d, &t, &at[i]);
	}
	g->operations = at;
	g->operation_count = v.count;
	return at;
}

static void take_updaters(shd_samediff_decoder *d, const shd_flat_table *root, sherd_model_graph *g)
{
	shd_flat_vector v = shd_flat_list(d->fb, root, SHD_FLAT_GRAPH_UPDATERS, 4);
	sherd_model_updater *at = v.at ? shd_samediff_room(d, v.count, sizeof(*at)) : NULL;
	for (uint32_t i = 0; at && i < v.count && d->fb->rc >= 0; i++) {
		shd_flat_table t = shd_flat_element(d->fb, &v, i);
		at[i].parameter = shd_flat_text(d->fb, &t, SHD_FLAT_UPDATER_PARAMETER, d->arena);
		at[i].keys = shd_samediff_texts(d, &t, SHD_FLAT_UPDATER_KEYS);
		at[i].arrays = shd_samediff_arrays(d, &t, SHD_FLAT_UPDATER_ARRAYS);
		if (!at[i].parameter || at[i].keys.count != at[i].arrays.count)
			shd_flatbuf_fail(d->fb, SHERD_ECORRUPT, "bad-count", t.pos,
			                 "an updater state of %zu keys and %zu arrays", at[i].keys.count,
			                 at[i].arrays.count);
	}
	g->updaters = at;
	g->updater_count = v.count;
}

static void take_sequences(shd_samediff_decoder *d, const shd_flat_table *root, sherd_model_graph *g)
{
	shd_flat_vector v = shd_flat_list(d->fb, root, SHD_FLAT_GRAPH_SEQUENCES, 4);
	sherd_model_sequence *at = v.at ? shd_samediff_room(d, v.count, sizeof(*at)) : NULL;
	for (uint32_t i = 0; at && i < v.count && d->fb->rc >= 0; i++) {
		shd_flat_table t = shd_flat_element(d->fb, &v, i);
		at[i].name = shd_flat_text(d->fb, &t, SHD_FLAT_SEQUENCE_NAME, d->arena);
		at[i].arrays = shd_samediff_arrays(d, &t, SHD_FLAT_SEQUENCE_ARRAYS);
		if (!at[i].name)
			shd_flatbuf_fail(d->fb, SHERD_ECORRUPT, "bad-name", t.pos, "a sequence without a name");
	}
	g->sequences = at;
	g->sequence_count = v.count;
}

static void take_metadata(shd_samediff_decoder *d, const shd_flat_table *root, shd_samediff_graph *g)
{
	sherd_model_texts keys = shd_samediff_texts(d, root, SHD_FLAT_GRAPH_SEQUENCES);
	sherd_model_texts values = shd_samediff_texts(d, root, SHD_FLAT_GRAPH_METADATA_VALUES);
	if (keys.count != values.count)
		shd_flatbuf_fail(d->fb, SHERD_ECORRUPT, "bad-count", root->pos, "%zu keys and %zu values of metadata",
		                 keys.count, values.count);
	sherd_pair *at = shd_samediff_room(d, keys.count, sizeof(*at));
	for (size_t i = 0; at && i < keys.count; i++)
		at[i] = (sherd_pair){keys.at[i], values.at[i]};
	g->pairs = at;
	g->pair_count = keys.count;
}

static void check_mode(shd_samediff_decoder *d, const shd_flat_table *t, unsigned field, uint8_t mode, uint8_t most,
                       const char *what)
{
	if (mode > most && d->style != SHD_SAMEDIFF_CONTAINER)
		shd_flatbuf_fail(d->fb, SHERD_EUNSUPPORTED, "bad-type", shd_flat_place(d->fb, t, field),
		                 "%s of the configuration is %u, which SameDiff does not have", what, mode);
}

static void take_configuration(shd_samediff_decoder *d, const shd_flat_table *root, sherd_model_configuration *c)
{
	shd_flatbuf *fb = d->fb;
	shd_flat_table t = shd_flat_child(fb, root, SHD_FLAT_GRAPH_CONFIGURATION);
	c->present = t.pos != 0;
	c->id = shd_flat_i64(fb, &t, SHD_FLAT_CONFIGURATION_ID, 0);
	c->execution_mode = shd_flat_u8(fb, &t, SHD_FLAT_CONFIGURATION_EXECUTION, 0);
	c->profiling_mode = shd_flat_u8(fb, &t, SHD_FLAT_CONFIGURATION_PROFILING, 0);
	c->output_mode = shd_flat_u8(fb, &t, SHD_FLAT_CONFIGURATION_OUTPUT, 0);
	c->timestats = shd_flat_u8(fb, &t, SHD_FLAT_CONFIGURATION_TIMESTATS, 0) != 0;
	c->footprint_forward = shd_flat_i64(fb, &t, SHD_FLAT_CONFIGURATION_FORWARD, 0);
	c->footprint_backward = shd_flat_i64(fb, &t, SHD_FLAT_CONFIGURATION_BACKWARD, 0);
	c->direction = shd_flat_u8(fb, &t, SHD_FLAT_CONFIGURATION_DIRECTION, 0);
	check_mode(d, &t, SHD_FLAT_CONFIGURATION_EXECUTION, c->execution_mode, 2, "executionMode");
	check_mode(d, &t, SHD_FLAT_CONFIGURATION_PROFILING, c->profiling_mode, 3, "profilingMode");
	check_mode(d, &t, SHD_FLAT_CONFIGURATION_OUTPUT, c->output_mode, 4, "outputMode");
	check_mode(d, &t, SHD_FLAT_CONFIGURATION_DIRECTION, c->direction, 2, "direction");
}

/* Refuses a root that is none of a graph; base is where its buffer begins. */
static bool check_root(shd_flatbuf *fb, const shd_flat_table *root, uint64_t base)
{
	if (root->pos && ((root->pos - base) % 4 || root->slots > SHD_FLAT_GRAPH_FIELDS))
		shd_flatbuf_fail(fb, SHERD_ECORRUPT, "bad-header", root->pos, "the root is no SameDiff graph");
	if (root->pos &&
	    (!shd_flat_has(fb, root, SHD_FLAT_GRAPH_VARIABLES) || !shd_flat_has(fb, root, SHD_FLAT_GRAPH_NODES)))
		shd_flatbuf_fail(fb, SHERD_ECORRUPT, "bad-header", root->pos,
		                 "the root has no lists of variables and operations");
	return root->pos && fb->rc >= 0;
}

/* Refuses what was written before tables came to what they are. */
static bool check_era(shd_samediff_decoder *d, const shd_flat_table *root)
{
	if (d->style != SHD_SAMEDIFF_LEGACY)
		return true;
	shd_samediff_era era = shd_samediff_era_of(d->fb, root);
	d->beta3 = era == SHD_SAMEDIFF_ERA_BETA3;
	if (era == SHD_SAMEDIFF_ERA_BEFORE)
		shd_flatbuf_fail(d->fb, SHERD_EUNSUPPORTED, "bad-version", root->pos,
		                 "a graph of SameDiff before 1.0.0-beta2, which had other tables");
	if (era == SHD_SAMEDIFF_ERA_SNAPSHOT)
		shd_flatbuf_fail(d->fb, SHERD_EUNSUPPORTED, "bad-version", root->pos,
		                 "a graph of a SameDiff snapshot between 1.0.0-beta3 and beta4, whose tables and "
		                 "numbers changed from day to day");
	return d->fb->rc >= 0;
}

static void take_graph(shd_samediff_decoder *d, const shd_flat_table *root, shd_samediff_graph *g);

/* Metadata of a graph inside is what the file says of itself once more: it is not kept. */
static void take_subgraph(shd_samediff_decoder *d, const shd_flat_table *t, sherd_model_subgraph *out)
{
	shd_samediff_graph *g = shd_samediff_room(d, 1, sizeof(*g));
	shd_flat_vector bytes = shd_flat_span(d->fb, t, SHD_FLAT_SUBGRAPH_BYTES);
	uint64_t outer;
	out->name = shd_flat_text(d->fb, t, SHD_FLAT_SUBGRAPH_NAME, d->arena);
	if (d->depth == SHD_SAMEDIFF_DEPTH)
		shd_flatbuf_fail(d->fb, SHERD_ELIMIT, "too-deep", t->pos, "graphs inside of graphs");
	if (!out->name || !bytes.at)
		shd_flatbuf_fail(d->fb, SHERD_ECORRUPT, "bad-name", t->pos, "a graph inside without a name or bytes");
	shd_flat_table root = shd_flatbuf_enter(d->fb, &bytes, &outer);
	if (check_root(d->fb, &root, bytes.at)) {
		d->depth++;
		take_graph(d, &root, g);
		d->depth--;
		out->graph = &g->graph;
	}
	shd_flatbuf_leave(d->fb, outer);
}

static void take_subgraphs(shd_samediff_decoder *d, const shd_flat_table *root, sherd_model_graph *g)
{
	shd_flat_vector v = shd_flat_list(d->fb, root, SHD_FLAT_GRAPH_SUBGRAPHS, 4);
	sherd_model_subgraph *at = v.count ? shd_samediff_room(d, v.count, sizeof(*at)) : NULL;
	for (uint32_t i = 0; at && i < v.count && d->fb->rc >= 0; i++) {
		shd_flat_table t = shd_flat_element(d->fb, &v, i);
		take_subgraph(d, &t, &at[i]);
	}
	g->subgraphs = at;
	g->subgraph_count = at ? v.count : 0;
}

static void take_graph(shd_samediff_decoder *d, const shd_flat_table *root, shd_samediff_graph *g)
{
	shd_flatbuf *fb = d->fb;
	g->graph.id = shd_flat_i64(fb, root, SHD_FLAT_GRAPH_ID, 0);
	take_variables(d, root, g);
	take_updaters(d, root, &g->graph);
	sherd_model_operation *operations = take_operations(d, root, &g->graph);
	if (d->beta3)
		shd_samediff_renew(d, g, operations);
	if (d->style == SHD_SAMEDIFF_SDNB || shd_flat_has(fb, root, SHD_FLAT_GRAPH_METADATA_VALUES))
		take_metadata(d, root, g);
	else
		take_sequences(d, root, &g->graph);
	g->graph.outputs = shd_samediff_ids(d, root, SHD_FLAT_GRAPH_OUTPUTS);
	take_configuration(d, root, &g->graph.configuration);
	g->graph.placeholders = shd_samediff_texts(d, root, SHD_FLAT_GRAPH_PLACEHOLDERS);
	g->graph.losses = shd_samediff_texts(d, root, SHD_FLAT_GRAPH_LOSSES);
	g->graph.training = shd_flat_text(fb, root, SHD_FLAT_GRAPH_TRAINING, d->arena);
	if (fb->rc >= 0)
		fb->rc = shd_samediff_resolve(&g->graph, operations, d->arena, &fb->error);
	take_subgraphs(d, root, &g->graph);
}

/* 1 for each array that is so; nothing when none is. */
static int samediff_graph_mark(const shd_nd4j_array *arrays, size_t count, bool hollow, shd_arena *arena,
                               sherd_model_bytes *out, sherd_error *err)
{
	size_t first = 0;
	while (first < count && !(hollow ? arrays[first].hollow : arrays[first].fortran))
		first++;
	*out = (sherd_model_bytes){0};
	if (first == count)
		return SHERD_OK;
	uint8_t *at = shd_arena_alloc(arena, count, 1);
	if (!at)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < count; i++)
		at[i] = hollow ? arrays[i].hollow : arrays[i].fortran;
	*out = (sherd_model_bytes){count, at};
	return SHERD_OK;
}

int shd_samediff_mark(sherd_model_graph *graph, const shd_nd4j_array *arrays, size_t count, shd_arena *arena,
                      sherd_error *err)
{
	TRY(samediff_graph_mark(arrays, count, false, arena, &graph->fortran, err));
	return samediff_graph_mark(arrays, count, true, arena, &graph->hollow, err);
}

static int keep_arrays(shd_samediff_decoder *d, shd_samediff_graph *g, sherd_error *err)
{
	TRY(shd_vec_check(&d->arrays, err));
	g->array_count = d->arrays.count;
	g->arrays = shd_vec_copy(&d->arrays, d->arena);
	if (!g->arrays && d->arrays.count)
		return shd_fail_nomem(err);
	return shd_samediff_mark(&g->graph, g->arrays, g->array_count, d->arena, err);
}

int shd_samediff_decode(shd_flatbuf *fb, shd_samediff_style style, const sherd_limits *limits, shd_arena *arena,
                        shd_samediff_graph *out, sherd_error *err)
{
	shd_samediff_decoder d = {.fb = fb, .arena = arena, .limits = limits, .style = style};
	shd_samediff_graph g = {0};
	fb->room = shd_limits_or_default(limits).metadata_bytes;
	shd_flat_table root = shd_flatbuf_root(fb);
	if (check_root(fb, &root, 0) && check_era(&d, &root))
		take_graph(&d, &root, &g);
	int rc = shd_flatbuf_check(fb, err);
	if (rc == SHERD_OK)
		rc = keep_arrays(&d, &g, err);
	shd_vec_done(&d.arrays);
	if (rc == SHERD_OK)
		*out = g;
	return rc;
}

bool shd_samediff_probe(shd_flatbuf *fb)
{
	static const unsigned lists[] = {SHD_FLAT_GRAPH_VARIABLES, SHD_FLAT_GRAPH_NODES};
	if (fb->size < SHD_SAMEDIFF_LEAST)
		return false;
	shd_flat_table root = shd_flatbuf_root(fb);
	(void)check_root(fb, &root, 0);
	for (size_t l = 0; l < COUNT_OF(lists); l++) {
		shd_flat_vector v = shd_flat_list(fb, &root, lists[l], 4);
		for (uint32_t i = 0; i < v.count && i < PROBED; i++) {
			shd_flat_table t = shd_flat_element(fb, &v, i);
			(void)shd_flat_list(fb, &t, 1, 1); /* the name, of both */
		}
	}
	return fb->rc >= 0;
}
