#include "format/samediff_graph.h"

#include "base/limits.h"
#include "base/map.h"
#include "format/samediff_decoder.h"

#include <stdlib.h>

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

static void take_operations(sherd_samediff_decoder *d, const sherd_flat_table *root, sherd_model_graph *g)
{
	sherd_flat_vector v = sherd_flat_list(d->fb, root, SHERD_FLAT_GRAPH_NODES, 4);
	sherd_model_operation *at = sherd_samediff_room(d, v.count, sizeof(*at));
	for (uint32_t i = 0; at && i < v.count && d->fb->rc >= 0; i++) {
		sherd_flat_table t = sherd_flat_element(d->fb, &v, i);
		sherd_samediff_operation(d, &t, &at[i]);
	}
	g->operations = at;
	g->operation_count = v.count;
}

static void take_updaters(sherd_samediff_decoder *d, const sherd_flat_table *root, sherd_model_graph *g)
{
	sherd_flat_vector v = sherd_flat_list(d->fb, root, SHERD_FLAT_GRAPH_UPDATERS, 4);
	sherd_model_updater *at = sherd_samediff_room(d, v.count, sizeof(*at));
	for (uint32_t i = 0; at && i < v.count && d->fb->rc >= 0; i++) {
		sherd_flat_table t = sherd_flat_element(d->fb, &v, i);
		at[i].parameter = sherd_flat_text(d->fb, &t, 0, d->arena);
		at[i].keys = sherd_samediff_texts(d, &t, 1);
		at[i].arrays = sherd_samediff_arrays(d, &t, 2);
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
	sherd_model_sequence *at = sherd_samediff_room(d, v.count, sizeof(*at));
	for (uint32_t i = 0; at && i < v.count && d->fb->rc >= 0; i++) {
		sherd_flat_table t = sherd_flat_element(d->fb, &v, i);
		at[i].name = sherd_flat_text(d->fb, &t, 0, d->arena);
		at[i].arrays = sherd_samediff_arrays(d, &t, 1);
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

static void take_configuration(sherd_samediff_decoder *d, const sherd_flat_table *root, sherd_model_configuration *c)
{
	sherd_flatbuf *fb = d->fb;
	sherd_flat_table t = sherd_flat_child(fb, root, SHERD_FLAT_GRAPH_CONFIGURATION);
	c->present = t.pos != 0;
	c->id = sherd_flat_i64(fb, &t, 0, 0);
	c->execution_mode = sherd_flat_u8(fb, &t, 1, 0);
	c->profiling_mode = sherd_flat_u8(fb, &t, 2, 0);
	c->output_mode = sherd_flat_u8(fb, &t, 3, 0);
	c->timestats = sherd_flat_u8(fb, &t, 4, 0) != 0;
	c->footprint_forward = sherd_flat_i64(fb, &t, 5, 0);
	c->footprint_backward = sherd_flat_i64(fb, &t, 6, 0);
	c->direction = sherd_flat_u8(fb, &t, 7, 0);
}

static sherd_flat_table root_of(sherd_flatbuf *fb)
{
	sherd_flat_table root = sherd_flatbuf_root(fb);
	if (root.pos && (root.pos % 4 || root.slots > SHERD_FLAT_GRAPH_FIELDS))
		sherd_flatbuf_fail(fb, SHERD_ECORRUPT, "bad-header", root.pos, "the root is no SameDiff graph");
	if (root.pos && (!sherd_flat_has(fb, &root, SHERD_FLAT_GRAPH_VARIABLES) ||
	                 !sherd_flat_has(fb, &root, SHERD_FLAT_GRAPH_NODES)))
		sherd_flatbuf_fail(fb, SHERD_ECORRUPT, "bad-header", root.pos,
		                   "the root has no lists of variables and operations");
	return root;
}

/* Only later formats have graphs inside of graphs; they must not be lost unseen. */
static void refuse_subgraphs(sherd_samediff_decoder *d, const sherd_flat_table *root)
{
	sherd_flat_vector v = sherd_flat_list(d->fb, root, SHERD_FLAT_GRAPH_SUBGRAPHS, 4);
	if (v.count)
		sherd_flatbuf_fail(d->fb, SHERD_EUNSUPPORTED, "bad-version", v.at, "graphs inside of the graph");
}

static void take_graph(sherd_samediff_decoder *d, sherd_samediff_graph *g)
{
	sherd_flat_table root = root_of(d->fb);
	if (!root.pos)
		return;
	g->graph.id = sherd_flat_i64(d->fb, &root, SHERD_FLAT_GRAPH_ID, 0);
	take_variables(d, &root, g);
	take_updaters(d, &root, &g->graph);
	take_operations(d, &root, &g->graph);
	if (sherd_flat_has(d->fb, &root, SHERD_FLAT_GRAPH_METADATA_VALUES))
		take_metadata(d, &root, g);
	else
		take_sequences(d, &root, &g->graph);
	refuse_subgraphs(d, &root);
	g->graph.outputs = sherd_samediff_ids(d, &root, SHERD_FLAT_GRAPH_OUTPUTS);
	take_configuration(d, &root, &g->graph.configuration);
	g->graph.placeholders = sherd_samediff_texts(d, &root, SHERD_FLAT_GRAPH_PLACEHOLDERS);
	g->graph.losses = sherd_samediff_texts(d, &root, SHERD_FLAT_GRAPH_LOSSES);
	g->graph.training = sherd_flat_text(d->fb, &root, SHERD_FLAT_GRAPH_TRAINING, d->arena);
}

static int keep_arrays(sherd_samediff_decoder *d, sherd_samediff_graph *g, sherd_error *err)
{
	TRY(sherd_buf_check(&d->arrays, err));
	g->array_count = d->arrays.len / sizeof(sherd_nd4j_array);
	g->arrays = sherd_arena_copy(d->arena, d->arrays.data, d->arrays.len);
	return g->arrays || !d->arrays.len ? SHERD_OK : sherd_fail_nomem(err);
}

static int check_names(const sherd_model_graph *g, sherd_error *err)
{
	sherd_map names = {0};
	int rc = SHERD_OK;
	for (size_t i = 0; rc == SHERD_OK && i < g->variable_count; i++) {
		bool ok;
		const char *name = g->variables[i].name;
		if (sherd_map_add(&names, sherd_str_of(name), i, &ok) != SHERD_MAP_NONE)
			rc = sherd_fail(err, SHERD_ECORRUPT, "duplicate-name", "%.128s is there twice", name);
		else if (!ok)
			rc = sherd_fail_nomem(err);
	}
	sherd_map_done(&names);
	return rc;
}

/* A variable and what it is known by, to be found by operations. */
typedef struct known {
	sherd_model_id id;
	size_t variable;
} known;

static int compare(const void *a, const void *b)
{
	const known *x = a, *y = b;
	if (x->id.node != y->id.node)
		return x->id.node < y->id.node ? -1 : 1;
	if (x->id.output != y->id.output)
		return x->id.output < y->id.output ? -1 : 1;
	return 0;
}

static void resolve(sherd_samediff_decoder *d, const known *list, size_t count, sherd_model_operation *op)
{
	size_t *found = sherd_samediff_room(d, op->input_ids.count, sizeof(*found));
	for (size_t i = 0; found && i < op->input_ids.count; i++) {
		const known wanted = {.id = op->input_ids.at[i]};
		const known *k = count ? bsearch(&wanted, list, count, sizeof(*list), compare) : NULL;
		found[i] = k ? k->variable : SHERD_NO_VARIABLE;
	}
	op->input_variables = found;
}

/* Tells each operation which variables its inputs are. */
static int resolve_all(sherd_samediff_decoder *d, sherd_model_graph *g, sherd_error *err)
{
	size_t count = 0;
	known *list = malloc((g->variable_count + 1) * sizeof(*list));
	if (!list)
		return sherd_fail_nomem(err);
	for (size_t i = 0; i < g->variable_count; i++)
		if (g->variables[i].has_id)
			list[count++] = (known){g->variables[i].id, i};
	if (count)
		qsort(list, count, sizeof(*list), compare);
	for (size_t i = 0; i < g->operation_count; i++)
		resolve(d, list, count, (sherd_model_operation *)&g->operations[i]);
	free(list);
	return sherd_flatbuf_check(d->fb, err);
}

int sherd_samediff_decode(sherd_flatbuf *fb, sherd_samediff_style style, const sherd_limits *limits, sherd_arena *arena,
                          sherd_samediff_graph *out, sherd_error *err)
{
	sherd_samediff_decoder d = {.fb = fb, .arena = arena, .limits = limits, .style = style};
	sherd_samediff_graph g = {0};
	fb->room = sherd_limits_or_default(limits).metadata_bytes;
	take_graph(&d, &g);
	int rc = sherd_flatbuf_check(fb, err);
	if (rc == SHERD_OK)
		rc = keep_arrays(&d, &g, err);
	if (rc == SHERD_OK)
		rc = check_names(&g.graph, err);
	if (rc == SHERD_OK)
		rc = resolve_all(&d, &g.graph, err);
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
	sherd_flat_table root = root_of(fb);
	for (size_t l = 0; l < COUNT_OF(lists); l++) {
		sherd_flat_vector v = sherd_flat_list(fb, &root, lists[l], 4);
		for (uint32_t i = 0; i < v.count && i < PROBED; i++) {
			sherd_flat_table t = sherd_flat_element(fb, &v, i);
			(void)sherd_flat_list(fb, &t, 1, 1); /* the name, of both */
		}
	}
	return fb->rc >= 0;
}
