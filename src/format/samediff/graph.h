/* format/samediff/graph.h - a SameDiff graph in FlatBuffers (docs/formats/samediff-legacy.md). */
#pragma once

#include "codec/flatbuf.h"
#include "format/samediff/nd4j_array.h"
#include "format/samediff/style.h"

#include <sherd/model_graph.h>

typedef struct shd_samediff_graph {
	sherd_model_graph graph;
	sherd_model_variable *variables; /* those of graph, which may still be given arrays from elsewhere */
	size_t array_count;
	/* Those of variables, updaters, operations, sequences, then sub-graphs, in this order. In the style of a
	 * container they have no data, and texts no bytes. */
	const shd_nd4j_array *arrays;
	size_t pair_count;
	const sherd_pair *pairs;
} shd_samediff_graph;

/* Decodes everything but the elements of arrays; the result lives in the arena. */
int shd_samediff_decode(shd_flatbuf *fb, shd_samediff_style style, const sherd_limits *limits, shd_arena *arena,
                        shd_samediff_graph *out, sherd_error *err);

/* Fills in fortran and hollow of the graph. */
int shd_samediff_mark(sherd_model_graph *graph, const shd_nd4j_array *arrays, size_t count, shd_arena *arena,
                      sherd_error *err);
/* Tells each operation which variables its inputs are; SHERD_ECORRUPT, "duplicate-name", when two variables are called
 * alike. operations are those of the graph. */
int shd_samediff_resolve(const sherd_model_graph *graph, sherd_model_operation *operations, shd_arena *arena,
                         sherd_error *err);

/* Are the bytes a SameDiff graph, as far as the root and the first few variables and operations tell? */
#define SHD_SAMEDIFF_LEAST 8
bool shd_samediff_probe(shd_flatbuf *fb);
