#include "graph_ours.h"

#include "measure.h"

#include <stdio.h>
#include <stdlib.h>

enum { CALL = 5000, SPILL = 1000000 };

graph_ours graph_ours_create(const char *folder, const sherd_graph_layout *layout, sherd_pool *pool)
{
	graph_ours o = {0};
	const sherd_graph_options options = {.pool = pool};
	GRAPH_OR_FAIL(sherd_store_open_local(&o.store, folder, NULL, err));
	GRAPH_OR_FAIL(sherd_graph_create(o.store, "", layout, 0, err));
	GRAPH_OR_FAIL(sherd_graph_open(&o.graph, o.store, "", &options, err));
	return o;
}

graph_ours graph_ours_open(const char *folder, bool read_only, sherd_pool *pool)
{
	graph_ours o = {0};
	const sherd_graph_options options = {.pool = pool, .read_only = read_only};
	GRAPH_OR_FAIL(sherd_store_open_local(&o.store, folder, NULL, err));
	GRAPH_OR_FAIL(sherd_graph_open(&o.graph, o.store, "", &options, err));
	return o;
}

void graph_ours_close(graph_ours *o)
{
	sherd_graph_close(o->graph);
	sherd_store_close(o->store);
	*o = (graph_ours){0};
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

void graph_ours_add(graph_ours *o, const graph_data *d)
{
	for (size_t i = 0; i < d->node_count; i += CALL)
		GRAPH_OR_FAIL(sherd_graph_add_nodes(o->graph, d->nodes + i, least(CALL, d->node_count - i), err));
	for (size_t i = 0; i < d->edge_count; i += CALL)
		GRAPH_OR_FAIL(sherd_graph_add_edges(o->graph, d->edges + i, least(CALL, d->edge_count - i), err));
}

void graph_ours_flush(graph_ours *o)
{
	GRAPH_OR_FAIL(sherd_graph_flush(o->graph, NULL, err));
}

void graph_ours_add_files(graph_ours *o, graph_size size, uint64_t from, uint64_t to)
{
	graph_file *f = malloc(sizeof(*f));
	if (!f)
		bench_fail("no memory");
	for (uint64_t i = from; i < to; i++) {
		graph_file_make(f, i, size, 0);
		GRAPH_OR_FAIL(sherd_graph_add_nodes(o->graph, f->nodes, GRAPH_FILE_NODES, err));
		GRAPH_OR_FAIL(sherd_graph_add_edges(o->graph, f->edges, f->edge_count, err));
		if (sherd_graph_pending(o->graph) >= SPILL)
			GRAPH_OR_FAIL(sherd_graph_spill(o->graph, err));
	}
	free(f);
}

void graph_ours_stream(graph_ours *o, graph_size size, uint64_t from, uint64_t to)
{
	graph_ours_add_files(o, size, from, to);
	graph_ours_flush(o);
}

uint64_t graph_ours_get(const graph_ours *o, sherd_graph_id id)
{
	sherd_graph_node node;
	return sherd_graph_get(&node, o->graph, id, NULL) == 1 ? graph_see_node(&node) : 0;
}

static bool see_edge(void *arg, const sherd_graph_edge *edge)
{
	*(uint64_t *)arg += graph_see_edge(edge);
	return true;
}

uint64_t graph_ours_edges(const graph_ours *o, sherd_graph_id id, bool incoming)
{
	uint64_t seen = 0;
	if ((incoming ? sherd_graph_incoming : sherd_graph_outgoing)(o->graph, id, NULL, see_edge, &seen, NULL) < 0)
		bench_fail("edges could not be read");
	return seen;
}

uint64_t graph_private_memory(void)
{
	FILE *f = fopen("/proc/self/smaps_rollup", "re");
	unsigned long long kib = 0;
	char line[128];
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Anonymous: %llu kB", &kib) == 1)
			break;
	if (f)
		(void)fclose(f);
	if (!kib)
		bench_fail("this system does not tell how much memory is private");
	return (uint64_t)kib << 10;
}
