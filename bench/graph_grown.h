/* bench/graph_grown.h - what a large graph is asked for, one thing after the other, each with its time. */
#pragma once

#include "graph_ours.h"

/* Microseconds at percentiles: of looking up a node, of both kinds of its edges. */
typedef struct graph_latency {
	double lookup_p50, lookup_p99, edges_p50, edges_p99;
} graph_latency;

/* Questions for nodes that nobody can foresee. cold: what the system has cached of the folder is dropped before. */
graph_latency graph_ask(const graph_ours *o, const char *folder, graph_size size, int questions, bool cold);

/* The greatest size of a folder, looked at every second beside the work; and bytes that the process wrote by calls. */
typedef struct graph_watch graph_watch;
graph_watch *graph_watch_begin(const char *folder);
/* Ends it. */
uint64_t graph_watch_end(graph_watch *w);
uint64_t graph_bytes_written(void);

/* Searches, totals, versions, verification, commits, difference, collection; prints a line for each. */
void graph_ask_all(const char *folder, graph_size size, sherd_pool *pool);
