/* bench/graph_data.h - a code graph made up out of numbers: the same every time, and any file of it on its own.
 *
 * Files of 50 nodes; ids are hashes of texts, as parsers give them. Of the edges from a node three fifths stay in its
 * file, the others lead anywhere. */
#pragma once

#include <sherd/graph.h>

enum { GRAPH_FILE_NODES = 50, GRAPH_MOST_DEGREE = 8, GRAPH_PATH = 80 };

/* How large a graph is. */
typedef struct graph_size {
	uint64_t files;
	unsigned degree; /* edges from a node, on average; at most GRAPH_MOST_DEGREE */
} graph_size;

/* What belongs to one file. */
typedef struct graph_file {
	char path[GRAPH_PATH];
	sherd_graph_node nodes[GRAPH_FILE_NODES];
	sherd_graph_edge edges[GRAPH_FILE_NODES * GRAPH_MOST_DEGREE];
	size_t edge_count; /* GRAPH_FILE_NODES * degree */
	char text[GRAPH_FILE_NODES][256];
} graph_file;

/* Overwrites what was in it; texts point into it. edition: another one has other metadata in its nodes. */
void graph_file_make(graph_file *f, uint64_t number, graph_size size, unsigned edition);
void graph_file_path(uint64_t number, char out[GRAPH_PATH]);
/* The id of any node: of `place` in a file. */
sherd_graph_id graph_node_id(uint64_t file, unsigned place);

/* The whole graph in memory, in the order of its files, and the orders that stores of sorted keys want. */
typedef struct graph_data {
	graph_size size;
	graph_file *files;
	size_t node_count, edge_count;
	sherd_graph_node *nodes;
	sherd_graph_edge *edges;
	uint32_t *by_id;           /* places of nodes */
	uint32_t *by_src, *by_dst; /* places of edges: by source, destination, type; by destination, source, type */
} graph_data;

void graph_data_make(graph_data *d, graph_size size);
void graph_data_done(graph_data *d);

/* What one has seen of a record when every text of it was looked at: stores that agree give the same. */
uint64_t graph_see_node(const sherd_graph_node *node);
uint64_t graph_see_edge(const sherd_graph_edge *edge);

/* Ids of the nodes in an order that nobody can foresee; free() it. */
sherd_graph_id *graph_random_ids(graph_size size, size_t count);
