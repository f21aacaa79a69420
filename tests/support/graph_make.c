#include "support/graph_make.h"

#include "base/buf.h"
#include "base/rng.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>

sherd_graph_id graph_id(const char *text)
{
	return sherd_graph_id_of(text, strlen(text));
}

sherd_graph_node graph_node(const char *id, const char *type, const char *name, const char *file)
{
	return (sherd_graph_node){.id = graph_id(id),
	                          .semantic_id = sherd_graph_text_of(id),
	                          .type = sherd_graph_text_of(type),
	                          .name = sherd_graph_text_of(name),
	                          .file = sherd_graph_text_of(file),
	                          .metadata = sherd_graph_text_of("")};
}

sherd_graph_edge graph_edge(const char *src, const char *dst, const char *type, const char *metadata)
{
	return (sherd_graph_edge){.src = graph_id(src),
	                          .dst = graph_id(dst),
	                          .type = sherd_graph_text_of(type),
	                          .metadata = sherd_graph_text_of(metadata)};
}

void graph_add_node(sherd_graph *g, const char *id, const char *type, const char *name, const char *file)
{
	sherd_graph_node n = graph_node(id, type, name, file);
	assert_ok(sherd_graph_add_nodes(g, &n, 1, err));
}

void graph_add_edge(sherd_graph *g, const char *src, const char *dst, const char *type, const char *metadata)
{
	sherd_graph_edge e = graph_edge(src, dst, type, metadata);
	assert_ok(sherd_graph_add_edges(g, &e, 1, err));
}

void graph_add_random(sherd_graph *g, unsigned nodes, unsigned edges, unsigned directories, uint64_t seed)
{
	static const char *const types[] = {"FUNCTION", "CLASS", "MODULE", "http:route", "VARIABLE"};
	static const char *const links[] = {"CALLS", "CONTAINS", "IMPORTS_FROM"};
	for (unsigned i = 0; i < nodes; i++) {
		char id[32], name[32], file[64];
		uint64_t r = shd_splitmix64(seed + i);
		(void)snprintf(id, sizeof(id), "n%u", i);
		(void)snprintf(name, sizeof(name), "name%u", (unsigned)(r >> 40) % 50);
		(void)snprintf(file, sizeof(file), "src/d%u/f%u.js", (unsigned)(r % directories),
		               (unsigned)(r >> 20) % 7);
		graph_add_node(g, id, types[(r >> 8) % 5], name, file);
	}
	for (unsigned i = 0; nodes && i < edges; i++) {
		char src[32], dst[32], metadata[48];
		uint64_t r = shd_splitmix64(seed * 31 + i);
		(void)snprintf(src, sizeof(src), "n%u", (unsigned)(r % nodes));
		(void)snprintf(dst, sizeof(dst), "n%u", (unsigned)((r >> 24) % nodes));
		(void)snprintf(metadata, sizeof(metadata), "{\"line\":%u}", i);
		graph_add_edge(g, src, dst, links[(r >> 50) % 3], i % 3 ? "" : metadata);
	}
}

sherd_graph *graph_open(sherd_store *store, const char *folder, const sherd_graph_options *options)
{
	sherd_graph *g = NULL;
	assert_ok(sherd_graph_open(&g, store, folder, options, err));
	return g;
}

sherd_graph *graph_create(sherd_store *store, const char *folder, const sherd_graph_layout *layout, sherd_pool *pool)
{
	const sherd_graph_options o = {.pool = pool};
	assert_ok(sherd_graph_create(store, folder, layout, 1700000000000000000, err));
	return graph_open(store, folder, &o);
}

void graph_flush(sherd_graph *g)
{
	const sherd_graph_commit_options c = {.time_ns = 1700000001000000000};
	assert_ok(sherd_graph_flush(g, &c, err));
	assert_int_equal(sherd_graph_pending(g), 0);
}

typedef struct lines {
	SHD_VEC(char *) starts;
} lines;

static bool put(lines *l, char *line)
{
	shd_vec_push(&l->starts, line);
	return true;
}

static bool put_node(void *arg, const sherd_graph_node *n)
{
	char id[SHERD_GRAPH_ID_TEXT], *line = NULL;
	sherd_graph_id_format(id, n->id);
	if (asprintf(&line, "N %s|%.*s|%.*s|%.*s|%.*s|%.*s|%llu|%d\n", id, (int)n->semantic_id.len, n->semantic_id.ptr,
	             (int)n->type.len, n->type.ptr, (int)n->name.len, n->name.ptr, (int)n->file.len, n->file.ptr,
	             (int)n->metadata.len, n->metadata.ptr, (unsigned long long)n->content_hash, n->exported) < 0)
		abort();
	return put(arg, line);
}

static bool put_edge(void *arg, const sherd_graph_edge *e)
{
	char src[SHERD_GRAPH_ID_TEXT], dst[SHERD_GRAPH_ID_TEXT], *line = NULL;
	sherd_graph_id_format(src, e->src);
	sherd_graph_id_format(dst, e->dst);
	if (asprintf(&line, "E %s|%s|%.*s|%.*s\n", src, dst, (int)e->type.len, e->type.ptr, (int)e->metadata.len,
	             e->metadata.ptr) < 0)
		abort();
	return put(arg, line);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *join(lines *l)
{
	shd_buf text = {0};
	char **list = l->starts.items;
	size_t count = l->starts.count;
	if (count)
		qsort(list, count, sizeof(*list), compare);
	for (size_t i = 0; i < count; i++) {
		shd_buf_str(&text, list[i]);
		free(list[i]);
	}
	shd_buf_append(&text, "", 1);
	shd_vec_done(&l->starts);
	return (char *)text.data;
}

char *graph_dump(const sherd_graph *g)
{
	lines l = {0};
	assert_ok(sherd_graph_find(g, NULL, put_node, &l, err));
	assert_ok(sherd_graph_edges(g, NULL, put_edge, &l, err));
	return join(&l);
}

/* Walks over everything by one kind of read and compares with what the other kinds give. */
typedef struct checking {
	const sherd_graph *graph;
	lines out, in;
	size_t nodes, edges;
} checking;

static bool is_id(void *arg, const sherd_graph_node *n)
{
	const sherd_graph_id *id = arg;
	if (n->id.lo != id->lo || n->id.hi != id->hi)
		return true;
	*(sherd_graph_id *)arg = (sherd_graph_id){0, 0};
	return false;
}

static bool check_node(void *arg, const sherd_graph_node *n)
{
	checking *c = arg;
	lines alone = {0}, again = {0};
	sherd_graph_node got;
	assert_ok(sherd_graph_get(&got, c->graph, n->id, err));
	(void)put_node(&alone, n);
	(void)put_node(&again, &got);
	char *a = join(&alone), *b = join(&again);
	assert_string_equal(a, b);
	free(a);
	free(b);
	assert_int_equal(sherd_graph_exists(c->graph, n->id, NULL), 1);
	const sherd_graph_query by_all = {.type = n->type, .file = n->file, .name = n->name};
	const sherd_graph_query by_name = {
		.name = n->name, .file = {n->file.ptr, n->file.len / 2}, .file_prefix = true};
	sherd_graph_id id = n->id;
	assert_ok(sherd_graph_find(c->graph, &by_all, is_id, &id, err));
	assert_true(id.lo == 0 && id.hi == 0);
	id = n->id;
	assert_ok(sherd_graph_find(c->graph, &by_name, is_id, &id, err));
	assert_true(id.lo == 0 && id.hi == 0);
	assert_ok(sherd_graph_outgoing(c->graph, n->id, NULL, put_edge, &c->out, err));
	assert_ok(sherd_graph_incoming(c->graph, n->id, NULL, put_edge, &c->in, err));
	c->nodes++;
	return true;
}

static bool count_types(void *arg, sherd_graph_text type, uint64_t count)
{
	(void)type;
	assert_true(count > 0);
	*(uint64_t *)arg += count;
	return true;
}

void assert_consistent(const sherd_graph *g)
{
	checking c = {.graph = g};
	lines all = {0};
	sherd_graph_totals totals;
	uint64_t by_type = 0, in_shards = 0;
	assert_ok(sherd_graph_find(g, NULL, check_node, &c, err));
	assert_ok(sherd_graph_edges(g, NULL, put_edge, &all, err));
	size_t edges = all.starts.count;
	/* Every node is known here, so the edges from all nodes are all edges, and so are those to all nodes. */
	char *every = join(&all), *out = join(&c.out), *in = join(&c.in);
	assert_string_equal(every, out);
	assert_string_equal(every, in);
	free(every);
	free(out);
	free(in);
	assert_ok(sherd_graph_stats(&totals, g, err));
	assert_int_equal(totals.nodes, c.nodes);
	assert_int_equal(totals.edges, edges);
	assert_ok(sherd_graph_count_nodes(g, count_types, &by_type, err));
	assert_int_equal(by_type, c.nodes);
	for (uint32_t i = 0; i < totals.shards; i++) {
		sherd_graph_shard s;
		assert_ok(sherd_graph_shard_stats(&s, g, i, err));
		in_shards += s.nodes;
	}
	if (!sherd_graph_pending(g))
		assert_int_equal(in_shards, c.nodes);
}

void assert_same_graph(const sherd_graph *a, const sherd_graph *b)
{
	char *x = graph_dump(a), *y = graph_dump(b);
	assert_string_equal(x, y);
	free(x);
	free(y);
	assert_consistent(a);
	assert_consistent(b);
}

static bool count_node(void *arg, const sherd_graph_node *n)
{
	(void)n;
	++*(size_t *)arg;
	return true;
}

static bool count_edge(void *arg, const sherd_graph_edge *e)
{
	(void)e;
	++*(size_t *)arg;
	return true;
}

size_t graph_count(const sherd_graph *g, const char *type, const char *file, const char *name)
{
	size_t n = 0;
	const sherd_graph_query q = {.type = sherd_graph_text_of(type),
	                             .file = sherd_graph_text_of(file),
	                             .name = sherd_graph_text_of(name)};
	assert_ok(sherd_graph_find(g, &q, count_node, &n, err));
	return n;
}

size_t graph_count_out(const sherd_graph *g, const char *id, const char *type)
{
	size_t n = 0;
	sherd_graph_text t = sherd_graph_text_of(type);
	const sherd_graph_types types = {&t, type ? 1 : 0};
	assert_ok(sherd_graph_outgoing(g, graph_id(id), &types, count_edge, &n, err));
	return n;
}

size_t graph_count_in(const sherd_graph *g, const char *id, const char *type)
{
	size_t n = 0;
	sherd_graph_text t = sherd_graph_text_of(type);
	const sherd_graph_types types = {&t, type ? 1 : 0};
	assert_ok(sherd_graph_incoming(g, graph_id(id), &types, count_edge, &n, err));
	return n;
}
