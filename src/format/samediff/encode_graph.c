#include "format/samediff/encoder.h"

enum { GRAPH_ALIGN = 8 /* of a graph inside of a graph: its own parts are aligned to no more */ };

static size_t field_of(const sherd_samediff_encoder *e, size_t table, unsigned field)
{
	return sherd_flatbuf_build_field(&e->build, table, field);
}

static void put_configuration(sherd_samediff_encoder *e, size_t root, const sherd_model_configuration *c)
{
	if (!c->present)
		return;
	size_t from = field_of(e, root, SHERD_FLAT_GRAPH_CONFIGURATION);
	const char widths[SHERD_FLAT_CONFIGURATION_FIELDS + 1] = "81111881";
	size_t t = sherd_flatbuf_build_table(&e->build, from, widths);
	sherd_samediff_put_i64(e, t, SHERD_FLAT_CONFIGURATION_ID, c->id);
	sherd_samediff_put_u8(e, t, SHERD_FLAT_CONFIGURATION_EXECUTION, c->execution_mode);
	sherd_samediff_put_u8(e, t, SHERD_FLAT_CONFIGURATION_PROFILING, c->profiling_mode);
	sherd_samediff_put_u8(e, t, SHERD_FLAT_CONFIGURATION_OUTPUT, c->output_mode);
	sherd_samediff_put_u8(e, t, SHERD_FLAT_CONFIGURATION_TIMESTATS, c->timestats);
	sherd_samediff_put_i64(e, t, SHERD_FLAT_CONFIGURATION_FORWARD, c->footprint_forward);
	sherd_samediff_put_i64(e, t, SHERD_FLAT_CONFIGURATION_BACKWARD, c->footprint_backward);
	sherd_samediff_put_u8(e, t, SHERD_FLAT_CONFIGURATION_DIRECTION, c->direction);
}

static void put_variables(sherd_samediff_encoder *e, size_t root, const sherd_model_graph *g)
{
	size_t from = field_of(e, root, SHERD_FLAT_GRAPH_VARIABLES);
	size_t at = sherd_flatbuf_build_offsets(&e->build, from, g->variable_count);
	for (size_t i = 0; i < g->variable_count && e->rc >= 0; i++)
		sherd_samediff_put_variable(e, at + 4 * i, &g->variables[i]);
}

static void put_operations(sherd_samediff_encoder *e, size_t root, const sherd_model_graph *g)
{
	size_t from = field_of(e, root, SHERD_FLAT_GRAPH_NODES);
	size_t at = sherd_flatbuf_build_offsets(&e->build, from, g->operation_count);
	for (size_t i = 0; i < g->operation_count && e->rc >= 0; i++)
		sherd_samediff_put_operation(e, at + 4 * i, &g->operations[i]);
}

static void put_updaters(sherd_samediff_encoder *e, size_t root, const sherd_model_graph *g)
{
	size_t from = field_of(e, root, SHERD_FLAT_GRAPH_UPDATERS);
	size_t at = sherd_flatbuf_build_offsets(&e->build, from, g->updater_count);
	for (size_t i = 0; i < g->updater_count && e->rc >= 0; i++) {
		const sherd_model_updater *u = &g->updaters[i];
		const char widths[SHERD_FLAT_UPDATER_FIELDS + 1] = {
			[SHERD_FLAT_UPDATER_PARAMETER] = '4',
			[SHERD_FLAT_UPDATER_KEYS] = sherd_samediff_width(u->keys.at != NULL, '4'),
			[SHERD_FLAT_UPDATER_ARRAYS] = sherd_samediff_width(u->arrays.at != NULL, '4'),
		};
		size_t t = sherd_flatbuf_build_table(&e->build, at + 4 * i, widths);
		sherd_samediff_put_text(e, t, SHERD_FLAT_UPDATER_PARAMETER, u->parameter);
		sherd_samediff_put_texts(e, t, SHERD_FLAT_UPDATER_KEYS, u->keys);
		sherd_samediff_put_arrays(e, t, SHERD_FLAT_UPDATER_ARRAYS, u->arrays);
	}
}

static void put_sequences(sherd_samediff_encoder *e, size_t root, const sherd_model_graph *g)
{
	size_t from = field_of(e, root, SHERD_FLAT_GRAPH_SEQUENCES);
	size_t at = sherd_flatbuf_build_offsets(&e->build, from, g->sequence_count);
	for (size_t i = 0; i < g->sequence_count && e->rc >= 0; i++) {
		const sherd_model_sequence *s = &g->sequences[i];
		const char widths[SHERD_FLAT_SEQUENCE_FIELDS + 1] = {
			[SHERD_FLAT_SEQUENCE_NAME] = '4',
			[SHERD_FLAT_SEQUENCE_ARRAYS] = sherd_samediff_width(s->arrays.at != NULL, '4'),
		};
		size_t t = sherd_flatbuf_build_table(&e->build, at + 4 * i, widths);
		sherd_samediff_put_text(e, t, SHERD_FLAT_SEQUENCE_NAME, s->name);
		sherd_samediff_put_arrays(e, t, SHERD_FLAT_SEQUENCE_ARRAYS, s->arrays);
	}
}

static void put_pairs(sherd_samediff_encoder *e, size_t root)
{
	const sherd_samediff_source *s = e->source;
	size_t from = field_of(e, root, SHERD_FLAT_GRAPH_SEQUENCES);
	size_t keys = sherd_flatbuf_build_offsets(&e->build, from, s->pair_count);
	from = field_of(e, root, SHERD_FLAT_GRAPH_METADATA_VALUES);
	size_t values = sherd_flatbuf_build_offsets(&e->build, from, s->pair_count);
	for (size_t i = 0; i < s->pair_count; i++) {
		sherd_flatbuf_build_text(&e->build, keys + 4 * i, s->pairs[i].key);
		sherd_flatbuf_build_text(&e->build, values + 4 * i, s->pairs[i].value);
	}
}

/* A graph inside: bytes of a vector, which are made apart. */
static void put_subgraph(sherd_samediff_encoder *e, size_t from, const sherd_model_subgraph *s)
{
	const char widths[SHERD_FLAT_SUBGRAPH_FIELDS + 1] = "44";
	sherd_samediff_encoder *inner = sherd_arena_alloc(e->arena, 1, sizeof(*inner));
	if (!inner) {
		e->rc = sherd_fail_nomem(&e->error);
		return;
	}
	sherd_samediff_encoder_init(inner, e->source, e->style, e->arena, e->depth + 1);
	const sherd_samediff_payload payload = {.array = SHERD_NO_ARRAY, .graph = inner};
	sherd_buf_append(&e->payloads, &payload, sizeof(payload)); /* from here on it is freed with this one */
	if (e->payloads.failed) {
		sherd_samediff_encoder_done(inner);
		return;
	}
	e->rc = sherd_samediff_encode_graph(inner, s->graph, &e->error);
	size_t t = sherd_flatbuf_build_table(&e->build, from, widths);
	sherd_samediff_put_text(e, t, SHERD_FLAT_SUBGRAPH_NAME, s->name);
	sherd_flatbuf_build_span(&e->build, field_of(e, t, SHERD_FLAT_SUBGRAPH_BYTES), inner->size, GRAPH_ALIGN);
}

static void put_subgraphs(sherd_samediff_encoder *e, size_t root, const sherd_model_graph *g)
{
	size_t from = field_of(e, root, SHERD_FLAT_GRAPH_SUBGRAPHS);
	size_t at = sherd_flatbuf_build_offsets(&e->build, from, g->subgraph_count);
	for (size_t i = 0; i < g->subgraph_count && e->rc >= 0; i++)
		put_subgraph(e, at + 4 * i, &g->subgraphs[i]);
}

static void check(sherd_samediff_encoder *e, const sherd_model_graph *g)
{
	if (e->style == SHERD_SAMEDIFF_LEGACY && g->subgraph_count)
		sherd_samediff_refuse(e, "the graph inside of the graph, %.128s", g->subgraphs[0].name);
	if (e->style == SHERD_SAMEDIFF_SDNB && g->sequence_count)
		sherd_samediff_refuse(e, "the sequence %.128s", g->sequences[0].name);
}

static void put_graph(sherd_samediff_encoder *e, const sherd_model_graph *g)
{
	bool updaters = g->updaters && !e->source->without_updater;
	bool pairs = e->style == SHERD_SAMEDIFF_SDNB && e->source->pair_count && !e->depth;
	bool sequences = e->style != SHERD_SAMEDIFF_SDNB && g->sequences;
	const char widths[SHERD_FLAT_GRAPH_FIELDS + 1] = {
		[SHERD_FLAT_GRAPH_ID] = sherd_samediff_width(g->id != 0, '8'),
		[SHERD_FLAT_GRAPH_VARIABLES] = '4',
		[SHERD_FLAT_GRAPH_NODES] = '4',
		[SHERD_FLAT_GRAPH_OUTPUTS] = sherd_samediff_width(g->outputs.at != NULL, '4'),
		[SHERD_FLAT_GRAPH_CONFIGURATION] = sherd_samediff_width(g->configuration.present, '4'),
		[SHERD_FLAT_GRAPH_PLACEHOLDERS] = sherd_samediff_width(g->placeholders.at != NULL, '4'),
		[SHERD_FLAT_GRAPH_LOSSES] = sherd_samediff_width(g->losses.at != NULL, '4'),
		[SHERD_FLAT_GRAPH_TRAINING] = sherd_samediff_width(g->training != NULL, '4'),
		[SHERD_FLAT_GRAPH_UPDATERS] = sherd_samediff_width(updaters, '4'),
		[SHERD_FLAT_GRAPH_SEQUENCES] = sherd_samediff_width(sequences || pairs, '4'),
		[SHERD_FLAT_GRAPH_METADATA_VALUES] = sherd_samediff_width(pairs, '4'),
		[SHERD_FLAT_GRAPH_SUBGRAPHS] = sherd_samediff_width(g->subgraph_count != 0, '4'),
	};
	size_t root = sherd_flatbuf_build_table(&e->build, 0, widths);
	sherd_samediff_put_i64(e, root, SHERD_FLAT_GRAPH_ID, g->id);
	put_variables(e, root, g);
	put_operations(e, root, g);
	sherd_samediff_put_ids(e, root, SHERD_FLAT_GRAPH_OUTPUTS, g->outputs);
	put_configuration(e, root, &g->configuration);
	sherd_samediff_put_texts(e, root, SHERD_FLAT_GRAPH_PLACEHOLDERS, g->placeholders);
	sherd_samediff_put_texts(e, root, SHERD_FLAT_GRAPH_LOSSES, g->losses);
	sherd_samediff_put_text(e, root, SHERD_FLAT_GRAPH_TRAINING, g->training);
	if (updaters)
		put_updaters(e, root, g);
	if (sequences)
		put_sequences(e, root, g);
	if (pairs)
		put_pairs(e, root);
	if (g->subgraph_count)
		put_subgraphs(e, root, g);
}

int sherd_samediff_encode_graph(sherd_samediff_encoder *e, const sherd_model_graph *graph, sherd_error *err)
{
	check(e, graph);
	if (e->rc >= 0)
		put_graph(e, graph);
	if (e->rc >= 0 && e->payloads.failed)
		e->rc = sherd_fail_nomem(&e->error);
	if (e->rc >= 0)
		e->rc = sherd_flatbuf_build_finish(&e->build, INT32_MAX, &e->size, &e->error);
	if (e->rc < 0 && err)
		*err = e->error;
	return e->rc;
}
