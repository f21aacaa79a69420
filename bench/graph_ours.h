/* bench/graph_ours.h - graphs in our own databases. Whatever goes wrong ends the program. */
#pragma once

#include "graph_data.h"

#define GRAPH_OR_FAIL(call)                                          \
	do {                                                         \
		sherd_error e_ = {0}, *err = &e_;                    \
		if ((call) < 0)                                      \
			bench_fail("%s: %s", e_.object, e_.message); \
	} while (0)

typedef struct graph_ours {
	sherd_store *store;
	sherd_graph *graph;
} graph_ours;

/* An empty database in the folder, open for writing. */
graph_ours graph_ours_create(const char *folder, const sherd_graph_layout *layout, sherd_pool *pool);
graph_ours graph_ours_open(const char *folder, bool read_only, sherd_pool *pool);
void graph_ours_close(graph_ours *o);

/* Adds everything, in calls of 5000 records as a parser would. */
void graph_ours_add(graph_ours *o, const graph_data *d);
void graph_ours_flush(graph_ours *o);
/* Makes files and adds them one by one, spilling in between: memory does not grow with the graph. */
void graph_ours_add_files(graph_ours *o, graph_size size, uint64_t from, uint64_t to);
/* The same, and a flush. */
void graph_ours_stream(graph_ours *o, graph_size size, uint64_t from, uint64_t to);

/* As those of graph_peer. */
uint64_t graph_ours_get(const graph_ours *o, sherd_graph_id id);
uint64_t graph_ours_edges(const graph_ours *o, sherd_graph_id id, bool incoming);

/* Bytes of memory that is this process's alone: not files that it has mapped. */
uint64_t graph_private_memory(void);
