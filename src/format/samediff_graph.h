/* format/samediff_graph.h - a SameDiff graph in FlatBuffers (docs/formats/samediff-legacy.md). */
#ifndef SHERD_FORMAT_SAMEDIFF_GRAPH_H
#define SHERD_FORMAT_SAMEDIFF_GRAPH_H

#include "codec/flatbuf.h"
#include "format/nd4j_array.h"

#include <sherd/model_graph.h>

typedef struct sherd_samediff_graph {
	sherd_model_graph graph;
	sherd_model_variable *variables; /* those of graph, which may still be given arrays from elsewhere */
	size_t array_count;
	const sherd_nd4j_array *arrays; /* those of variables, updaters, operations, sequences, in this order */
	size_t pair_count;
	const sherd_pair *pairs;
} sherd_samediff_graph;

/* Decodes everything but the elements of arrays; the result lives in the arena. */
int sherd_samediff_decode(sherd_flatbuf *fb, const sherd_limits *limits, sherd_arena *arena, sherd_samediff_graph *out,
                          sherd_error *err);

/* Are the bytes a SameDiff graph, as far as the root and the first few variables and operations tell? */
#define SHERD_SAMEDIFF_LEAST 8
bool sherd_samediff_probe(sherd_flatbuf *fb);

#endif
