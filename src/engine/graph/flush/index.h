/* engine/graph/flush/index.h - the run that a version gets, if it gets one. */
#pragma once

#include "engine/graph/flush/flush.h"

typedef struct graph_made_run {
	uint64_t number;
	char identity[72];   /* of what was written and belongs to no version yet; "" when nothing was */
	graph_run *run;      /* NULL when there is none */
	graph_runs replaced; /* what it covers too; borrowed */
} graph_made_run;

/* For the lists of the version to come, nodes first; nothing when too little is uncovered. */
int shd_graph_flush_index(const graph_flush *f, const graph_list *lists, graph_made_run *out, sherd_error *err);
/* Removes and forgets what did not become part of a version. */
void shd_graph_made_run_drop(const graph_place *p, graph_made_run *m);
/* The run becomes the graph's, which has room for one more. Cannot fail. */
void shd_graph_made_run_adopt(sherd_graph *g, graph_made_run *m);
/* Removes those that it replaces, when no view of the graph uses them any more. */
void shd_graph_made_run_clear(sherd_graph *g, const graph_made_run *m);
