/* tests/support/graph_make.h - small graphs, and what is in a graph as text. What cannot be done fails the test. */
#pragma once

#include <sherd/graph.h>

/* Ids by their text. */
sherd_graph_id graph_id(const char *text);
sherd_graph_node graph_node(const char *id, const char *type, const char *name, const char *file);
sherd_graph_edge graph_edge(const char *src, const char *dst, const char *type, const char *metadata);

void graph_add_node(sherd_graph *g, const char *id, const char *type, const char *name, const char *file);
void graph_add_edge(sherd_graph *g, const char *src, const char *dst, const char *type, const char *metadata);
/* Nodes "n0", "n1", ... over so many directories and types, then edges between them; the same for the same seed. */
void graph_add_random(sherd_graph *g, unsigned nodes, unsigned edges, unsigned directories, uint64_t seed);

/* Opens a database that was just made in a folder of the store, for writing. */
sherd_graph *graph_create(sherd_store *store, const char *folder, const sherd_graph_layout *layout, sherd_pool *pool);
sherd_graph *graph_open(sherd_store *store, const char *folder, const sherd_graph_options *options);
void graph_flush(sherd_graph *g);

/* Every node and edge, a line each, sorted; free() it. */
char *graph_dump(const sherd_graph *g);
/* Are the two graphs the same, and does each of its reads give what the dump says? */
void assert_same_graph(const sherd_graph *a, const sherd_graph *b);
/* Do lookups, searches and edges of this graph agree with all that is in it? */
void assert_consistent(const sherd_graph *g);

size_t graph_count(const sherd_graph *g, const char *type, const char *file, const char *name);
size_t graph_count_out(const sherd_graph *g, const char *id, const char *type);
size_t graph_count_in(const sherd_graph *g, const char *id, const char *type);
