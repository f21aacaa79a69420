/* engine/model/samediff.h - a SameDiff file and its arrays, inside and beside it. */
#pragma once

#include "engine/model/model.h"
#include "format/samediff/graph.h"

typedef struct shd_samediff_model {
	sherd_model base;
	sherd_reader *reader;
	const shd_nd4j_array *arrays;
	size_t inside;          /* so many arrays lie in the file; each other one is a file of its own */
	sherd_reader **outside; /* of those */
	size_t outside_count;   /* opened so far */
} shd_samediff_model;

/* Opens <base>_external/<variable>.bin of each variable that could have an array and has none, and gives it the index
 * after those inside. The model owns what was opened, also when this fails. */
int shd_samediff_find_outside(shd_samediff_model *m, sherd_store *store, const char *key, const sherd_limits *limits,
                              shd_samediff_graph *graph, sherd_error *err);

/* Feeds the bytes of an object to the FlatBuffers reader; arg is a sherd_reader. */
int shd_samediff_fetch(void *arg, uint64_t offset, void *buf, size_t len, sherd_error *err);
