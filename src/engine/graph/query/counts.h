/* engine/graph/query/counts.h - live records by type. */
#pragma once

#include "engine/graph/graph.h"

/* Counts that go up and down. */
enum { GRAPH_TALLY_RECENT = 16 };

typedef struct graph_tally {
	shd_map map;                  /* from types to places */
	SHD_VEC(shd_rfdb_count) list; /* below zero wraps around until all is added */
	shd_arena arena;              /* of the types */
	bool failed;                  /* memory was out: it counts no more */
	/* Places by the addresses of types: in the buffer they are shared, and come again and again. */
	struct {
		shd_str type;
		size_t place;
	} recent[GRAPH_TALLY_RECENT];
} graph_tally;

void shd_graph_tally_add(graph_tally *t, shd_str type, uint64_t by);
/* Another tally. */
void shd_graph_tally_merge(graph_tally *t, const graph_tally *more);
/* A segment of which every row counts: its groups say how many there are of each type. */
int shd_graph_tally_segment(graph_tally *t, const graph_segment *s, sherd_error *err);
void shd_graph_tally_done(graph_tally *t);

/* The counts of the version that is open, without the buffer; counted when the manifest did not say. */
int shd_graph_counts_know(const sherd_graph *g, const graph_counts **out, sherd_error *err);
/* Those, with the buffer; done with by the caller. */
int shd_graph_counts_ahead(const sherd_graph *g, graph_counts *out, sherd_error *err);

/* Copies what a manifest says; unknown stays unknown. */
int shd_graph_counts_take(graph_counts *c, const shd_rfdb_counts *from, sherd_error *err);
uint64_t shd_graph_counts_sum(const shd_rfdb_types *types);
void shd_graph_counts_done(graph_counts *c);
