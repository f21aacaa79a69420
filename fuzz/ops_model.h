/* fuzz/ops_model.h - a graph of a few ids in arrays, and what it is compared with. */
#pragma once

#include "support/graph_naive.h"

#include <stdint.h>

enum { OPS_IDS = 8, OPS_FILES = 4, OPS_KINDS = 2 };

/* Stamps: 0 is not there, else the number of the step that wrote it, below 100. */
typedef struct ops_model {
	uint8_t nodes[OPS_IDS];
	uint8_t files[OPS_IDS];
	uint8_t edges[OPS_IDS][OPS_IDS][OPS_KINDS];
} ops_model;

/* A node as the library takes it, and the text that it borrows. */
typedef struct ops_record {
	sherd_graph_node node;
	char name[4];
} ops_record;

sherd_graph_text ops_file(unsigned file);
sherd_graph_id ops_id(unsigned id);
void ops_make_node(unsigned id, unsigned file, unsigned stamp, ops_record *out);
sherd_graph_edge ops_make_edge(unsigned src, unsigned dst, unsigned kind);

/* With the edges from and to it. */
void ops_forget_node(ops_model *m, unsigned id);
/* Is all of the graph what the model says? */
void ops_check(const ops_model *m, const sherd_graph *g);
/* Does the difference of two graphs have as much of each kind as that of their models? */
void ops_check_diff(const ops_model *from, const ops_model *to, const sherd_graph *old, const sherd_graph *now);
