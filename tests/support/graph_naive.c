#include "support/graph_naive.h"

#include <pthread.h>
#include <string.h>

const char *naive_file(int file)
{
	static const char *const names[NAIVE_FILES] = {"a/1", "a/2",   "a/b/1",  "a/b/2",      "a/b/3",
	                                               "c/1", "c/d/1", "e",      "\xc3\xbc/1", "f/2",
	                                               "f/3", "",      "g/h/i/1"};
	return names[file];
}

const char *naive_type(unsigned type)
{
	static const char *const names[NAIVE_TYPES] = {"CALLS", "CALLS_TOO", ""};
	return names[type];
}

/* Hashes, small numbers, and the largest. */
static void id_text(unsigned id, char text[48])
{
	if (id == 10)
		(void)snprintf(text, 48, "340282366920938463463374607431768211455");
	else
		(void)snprintf(text, 48, "%s%u", id % 5 ? "id" : "", id);
}

static sherd_graph_id ids[NAIVE_IDS];

static void make_ids(void)
{
	for (unsigned i = 0; i < NAIVE_IDS; i++) {
		char text[48];
		id_text(i, text);
		ids[i] = sherd_graph_id_of(text, strlen(text));
	}
}

sherd_graph_id naive_id(unsigned id)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	(void)pthread_once(&once, make_ids);
	return ids[id];
}

void naive_make_node(unsigned id, naive_node node, naive_record *out)
{
	static const char *const types[] = {"ODD", "http:route", "http"};
	id_text(id, out->id);
	(void)snprintf(out->name, sizeof(out->name), "name%u", node.stamp % NAIVE_NAMES);
	/* As it is stored: compact, its keys sorted. */
	out->metadata[0] = 0;
	if (node.stamp % 3 == 0)
		(void)snprintf(out->metadata, sizeof(out->metadata), "{\"__exported\":true,\"n\":%u}", node.stamp);
	out->node = (sherd_graph_node){.id = naive_id(id),
	                               .semantic_id = sherd_graph_text_of(out->id),
	                               .type = sherd_graph_text_of(types[node.stamp % 3]),
	                               .name = sherd_graph_text_of(out->name),
	                               .file = sherd_graph_text_of(naive_file(node.file)),
	                               .metadata = sherd_graph_text_of(out->metadata),
	                               .content_hash = node.stamp * UINT64_C(0x9e3779b97f4a7c15),
	                               .exported = node.stamp % 3 == 0};
}

void naive_make_edge(unsigned src, unsigned dst, unsigned type, naive_edge edge, naive_record *out)
{
	const char *about = edge.context == NAIVE_NONE ? "" : naive_file(edge.context);
	out->metadata[0] = 0;
	if (edge.context != NAIVE_NONE)
		(void)snprintf(out->metadata, sizeof(out->metadata), "{\"v\":%u,\"__file_context\":\"%s%s\"}",
		               edge.stamp, edge.stamp % 2 ? "" : "__enrichment__/who/", about);
	else if (edge.stamp % 2)
		(void)snprintf(out->metadata, sizeof(out->metadata), "{\"v\":%u}", edge.stamp);
	out->edge = (sherd_graph_edge){.src = naive_id(src),
	                               .dst = naive_id(dst),
	                               .type = sherd_graph_text_of(naive_type(type)),
	                               .metadata = sherd_graph_text_of(out->metadata)};
}

void naive_remove_node(graph_naive *m, unsigned id)
{
	m->nodes[id] = (naive_node){0};
	for (unsigned other = 0; other < NAIVE_IDS; other++)
		for (unsigned t = 0; t < NAIVE_TYPES; t++)
			m->edges[id][other][t] = m->edges[other][id][t] = (naive_edge){0};
}

void naive_forget_file(graph_naive *m, int file, const bool stays[NAIVE_IDS])
{
	for (unsigned id = 0; id < NAIVE_IDS; id++) {
		if (!m->nodes[id].stamp || m->nodes[id].file != file)
			continue;
		if (!stays[id])
			naive_remove_node(m, id);
		else
			memset(m->edges[id], 0, sizeof(m->edges[id]));
	}
	for (unsigned i = 0; i < NAIVE_IDS; i++)
		for (unsigned j = 0; j < NAIVE_IDS; j++)
			for (unsigned t = 0; t < NAIVE_TYPES; t++)
				if (m->edges[i][j][t].stamp && m->edges[i][j][t].context == file)
					m->edges[i][j][t] = (naive_edge){0};
}

sherd_graph_update_result naive_compare(const graph_naive *before, const graph_naive *after)
{
	sherd_graph_update_result c = {0};
	for (unsigned i = 0; i < NAIVE_IDS; i++) {
		const naive_node *a = &before->nodes[i], *b = &after->nodes[i];
		c.nodes_removed += a->stamp && !b->stamp;
		c.nodes_added += !a->stamp && b->stamp;
		c.nodes_changed += a->stamp && b->stamp && (a->stamp != b->stamp || a->file != b->file);
		for (unsigned j = 0; j < NAIVE_IDS; j++)
			for (unsigned t = 0; t < NAIVE_TYPES; t++) {
				const naive_edge *e = &before->edges[i][j][t], *f = &after->edges[i][j][t];
				c.edges_removed += e->stamp && !f->stamp;
				c.edges_added += !e->stamp && f->stamp;
			}
	}
	return c;
}
