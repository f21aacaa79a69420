/* tests/support/inside_make.h - a model with a graph inside of a graph inside of its graph, to be spoilt by tests. */
#pragma once

#include <sherd/model.h>

enum { INSIDE_LEVELS = 3 };

/* One graph: y = add(x, step), x a placeholder, step a constant F32 [2]. */
typedef struct inside_level {
	uint64_t extents[1];
	int64_t dims[1];
	sherd_model_variable variables[3];
	sherd_model_id inputs[2];
	int32_t outputs[1];
	const char *output_names[1], *placeholders[1], *losses[1];
	sherd_model_operation operations[2]; /* one of them counts */
	sherd_model_updater updater;         /* does not count */
	sherd_model_subgraph inside[2];      /* one of them counts, except in the last level */
	sherd_model_graph graph;
} inside_level;

/* The levels are the model's graph, "loop" and "body"; array i is the step of level i, with the elements i and i + 0.5.
 * Points into itself: it must not be moved. */
typedef struct inside_sample {
	inside_level levels[INSIDE_LEVELS];
	sherd_tensor arrays[INSIDE_LEVELS];
	sherd_model_parts parts;
} inside_sample;

void inside_make(inside_sample *s);
/* Writes it as a container; fails the test when that fails. */
void inside_save(const inside_sample *s, sherd_store *store, const char *key);
