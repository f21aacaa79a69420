#include "format/samediff/encoder.h"

enum { GRAPH_ALIGN = 8 /* of a graph inside of a graph: its own parts are aligned to no more */ };

static size_t encode_graph_field_of(const shd_samediff_encoder *e, size_t table, unsigned field)
{
	return shd_flatbuf_build_field(&e->build, table, field);
}

static void put_configuration(shd_samediff_encoder *e, size_t root, const sherd_model_configuration *c)
{
	if (!c->present)
		return;
	size_t from = encode_graph_field_of(e, root, SHD_FLAT_GRAPH_CONFIGURATION);
	const char widths[SHD_FLAT_CONFIGURATION_FIELDS + 1] = "81111881";
	size_t t = shd_flatbuf_build_table(&e->build, from, widths);
	shd_samediff_put_i64(e, t, SHD_FLAT_CONFIGURATION_ID, c->id);
	shd_samediff_put_u8(e, t, SHD_FLAT_CONFIGURATION_EXECUTION, c->execution_mode);
	shd_samediff_put_u8(e, t, SHD_FLAT_CONFIGURATION_PROFILING, c->profiling_mode);
	shd_samediff_put_u8(e, t, SHD_FLAT_CONFIGURATION_OUTPUT, c->output_mode);
	shd_samediff_put_u8(e, t, SHD_FLAT_CONFIGURATION_TIMESTATS, c->timestats);
	shd_samediff_put_i64(e, t, SHD_FLAT_CONFIGURATION_FORWARD, c->footprint_forward);
	shd_samediff_put_i64(e, t, SHD_FLAT_CONFIGURATION_BACKWARD, c->footprint_backward);
	shd_samediff_put_u8(e, t, SHD_FLAT_CONFIGURATION_DIRECTION, c->direction);
}

static void put_variables(shd_samediff_encoder *e, size_t root, const sherd_model_graph *g)
{
	size_t from = encode_graph_field_of(e, root, SHD_FLAT_GRAPH_VARIABLES);
	size_t at = shd_flatbuf_build_offsets(&e->build, from, g->variable_count);
	for (size_t i = 0; i < g->variable_count && e->rc >= 0; i++)
		shd_samediff_put_variable(e, at + 4 * i, &g->variables[i]);
}

static void put_operations(shd_samediff_encoder *e, size_t root, const sherd_model_graph *g)
{
	size_t from = encode_graph_field_of(e, root, SHD_FLAT_GRAPH_NODES);
	size_t at = shd_flatbuf_build_offsets(&e->build, from, g->operation_count);
	for (size_t i = 0; i < g->operation_count && e->rc >= 0; i++)
		shd_samediff_put_operation(e, at + 4 * i, &g->operations[i]);
}

static void put_updaters(shd_samediff_encoder *e, size_t root, const sherd_model_graph *g)
{
	size_t from = encode_graph_field_of(e, root, SHD_FLAT_GRAPH_UPDATERS);
	size_t at = shd_flatbuf_build_offsets(&e->build, from, g->updater_count);
	for (size_t i = 0; i < g->updater_count && e->rc >= 0; i++) {
		const sherd_model_updater *u = &g->updaters[i];
		const char widths[SHD_FLAT_UPDATER_FIELDS + 1] = {
			[SHD_FLAT_UPDATER_PARAMETER] = '4',
			[SHD_FLAT_UPDATER_KEYS] = shd_samediff_width(u->keys.at != NULL, '4'),
			[SHD_FLAT_UPDATER_ARRAYS] = shd_samediff_width(u->arrays.at != NULL, '4'),
		};
		size_t t = shd_flatbuf_build_table(&e->build, at + 4 * i, widths);
		shd_samediff_put_text(e, t, SHD_FLAT_UPDATER_PARAMETER, u->parameter);
		shd_samediff_put_texts(e, t, SHD_FLAT_UPDATER_KEYS, u->keys);
		shd_samediff_put_arrays(e, t, SHD_FLAT_UPDATER_ARRAYS, u->arrays);
	}
}

static void put_sequences(shd_samediff_encoder *e, size_t root, const sherd_model_graph *g)
{
	size_t from = encode_graph_field_of(e, root, SHD_FLAT_GRAPH_SEQUENCES);
	size_t at = shd_flatbuf_build_offsets(&e->build, from, g->sequence_count);
	for (size_t i = 0; i < g->sequence_count && e->rc >= 0; i++) {
		const sherd_model_sequence *s = &g->sequences[i];
		const char widths[SHD_FLAT_SEQUENCE_FIELDS + 1] = {
			[SHD_FLAT_SEQUENCE_NAME] = '4',
			[SHD_FLAT_SEQUENCE_ARRAYS] = shd_samediff_width(s->arrays.at != NULL, '4'),
		};
		size_t t = shd_flatbuf_build_table(&e->build, at + 4 * i, widths);
		shd_samediff_put_text(e, t, SHD_FLAT_SEQUENCE_NAME, s->name);
		shd_samediff_put_arrays(e, t, SHD_FLAT_SEQUENCE_ARRAYS, s->arrays);
	}
}

static void encode_graph_put_pairs(shd_samediff_encoder *e, size_t root)
{
	const shd_samediff_source *s = e->source;
	size_t from = encode_graph_field_of(e, root, SHD_FLAT_GRAPH_SEQUENCES);
	size_t keys = shd_flatbuf_build_offsets(&e->build, from, s->pair_count);
	from = encode_graph_field_of(e, root, SHD_FLAT_GRAPH_METADATA_VALUES);
	size_t values = shd_flatbuf_build_offsets(&e->build, from, s->pair_count);
	for (size_t i = 0; i < s->pair_count; i++) {
		shd_flatbuf_build_text(&e->build, keys + 4 * i, s->pairs[i].key);
		shd_flatbuf_build_text(&e->build, values + 4 * i, s->pairs[i].value);
	}
}

/* A graph inside: bytes of a vector, which are made apart. */
static void put_subgraph(shd_samediff_encoder *e, size_t from, const sherd_model_subgraph *s)
{
	const char widths[SHD_FLAT_SUBGRAPH_FIELDS + 1] = "44";
	shd_samediff_encoder *inner = shd_arena_alloc(e->arena, 1, sizeof(*inner));
	if (!inner) {
		e->rc = shd_fail_nomem(&e->error);
		return;
	}
	shd_samediff_encoder_init(inner, e->source, e->style, e->arena, e->depth + 1);
	const shd_samediff_payload payload = {.array = SHERD_NO_ARRAY, .graph = inner};
	shd_vec_push(&e->payloads, payload); /* from here on it is freed with this one */
	if (e->payloads.failed) {
		shd_samediff_encoder_done(inner);
		return;
	}
	e->rc = shd_samediff_encode_graph(inner, s->graph, &e->error);
	size_t t = shd_flatbuf_build_table(&e->build, from, widths);
	shd_samediff_put_text(e, t, SHD_FLAT_SUBGRAPH_NAME, s->name);
	shd_flatbuf_build_span(&e->build, encode_graph_field_of(e, t, SHD_FLAT_SUBGRAPH_BYTES), inner->size,
	                       GRAPH_ALIGN);
}

static void put_subgraphs(shd_samediff_encoder *e, size_t root, const sherd_model_graph *g)
{
	size_t from = encode_graph_field_of(e, root, SHD_FLAT_GRAPH_SUBGRAPHS);
	size_t at = shd_flatbuf_build_offsets(&e->build, from, g->subgraph_count);
	for (size_t i = 0; i < g->subgraph_count && e->rc >= 0; i++)
		put_subgraph(e, at + 4 * i, &g->subgraphs[i]);
}

static void encode_graph_check(shd_samediff_encoder *e, const sherd_model_graph *g)
{
	if (e->style == SHD_SAMEDIFF_LEGACY && g->subgraph_count)
		shd_samediff_refuse(e, "the graph inside of the graph, %.128s", g->subgraphs[0].name);
	if (e->style == SHD_SAMEDIFF_SDNB && g->sequence_count)
		shd_samediff_refuse(e, "the sequence %.128s", g->sequences[0].name);
}

static void put_graph(shd_samediff_encoder *e, const sherd_model_graph *g)
{
	bool updaters = g->updaters && !e->source->without_updater;
	bool pairs = e->style == SHD_SAMEDIFF_SDNB && e->source->pair_count && !e->depth;
	bool sequences = e->style != SHD_SAMEDIFF_SDNB && g->sequences;
	const char widths[SHD_FLAT_GRAPH_FIELDS + 1] = {
		[SHD_FLAT_GRAPH_ID] = shd_samediff_width(g->id != 0, '8'),
		[SHD_FLAT_GRAPH_VARIABLES] = '4',
		[SHD_FLAT_GRAPH_NODES] = '4',
		[SHD_FLAT_GRAPH_OUTPUTS] = shd_samediff_width(g->outputs.at != NULL, '4'),
		[SHD_FLAT_GRAPH_CONFIGURATION] = shd_samediff_width(g->configuration.present, '4'),
		[SHD_FLAT_GRAPH_PLACEHOLDERS] = shd_samediff_width(g->placeholders.at != NULL, '4'),
		[SHD_FLAT_GRAPH_LOSSES] = shd_samediff_width(g->losses.at != NULL, '4'),
		[SHD_FLAT_GRAPH_TRAINING] = shd_samediff_width(g->training != NULL, '4'),
		[SHD_FLAT_GRAPH_UPDATERS] = shd_samediff_width(updaters, '4'),
		[SHD_FLAT_GRAPH_SEQUENCES] = shd_samediff_width(sequences || pairs, '4'),
		[SHD_FLAT_GRAPH_METADATA_VALUES] = shd_samediff_width(pairs, '4'),
		[SHD_FLAT_GRAPH_SUBGRAPHS] = shd_samediff_width(g->subgraph_count != 0, '4'),
	};
	size_t root = shd_flatbuf_build_table(&e->build, 0, widths);
	shd_samediff_put_i64(e, root, SHD_FLAT_GRAPH_ID, g->id);
	put_variables(e, root, g);
	put_operations(e, root, g);
	shd_samediff_put_ids(e, root, SHD_FLAT_GRAPH_OUTPUTS, g->outputs);
	put_configuration(e, root, &g->configuration);
	shd_samediff_put_texts(e, root, SHD_FLAT_GRAPH_PLACEHOLDERS, g->placeholders);
	shd_samediff_put_texts(e, root, SHD_FLAT_GRAPH_LOSSES, g->losses);
	shd_samediff_put_text(e, root, SHD_FLAT_GRAPH_TRAINING, g->training);
	if (updaters)
		put_updaters(e, root, g);
	if (sequences)
		put_sequences(e, root, g);
	if (pairs)
		encode_graph_put_pairs(e, root);
	if (g->subgraph_count)
		put_subgraphs(e, root, g);
}

int shd_samediff_encode_graph(shd_samediff_encoder *e, const sherd_model_graph *graph, sherd_error *err)
{
	encode_graph_check(e, graph);
	if (e->rc >= 0)
		put_graph(e, graph);
	if (e->rc >= 0 && e->payloads.failed)
		e->rc = shd_fail_nomem(&e->error);
	if (e->rc >= 0)
		e->rc = shd_flatbuf_build_finish(&e->build, INT32_MAX, &e->size, &e->error);
	if (e->rc < 0 && err)
		*err = e->error;
	return e->rc;
}
