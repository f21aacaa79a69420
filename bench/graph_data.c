#include "graph_data.h"

#include "measure.h"

#include "base/rng.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const node_types[] = {"FUNCTION", "CALL",  "VARIABLE", "PARAMETER", "EXPRESSION", "PROPERTY_ACCESS",
                                         "LITERAL",  "SCOPE", "CLASS",    "METHOD",    "IMPORT",     "EXPORT"};
static const char *const edge_types[] = {"CALLS",      "CONTAINS", "ASSIGNED_FROM", "PASSES_ARGUMENT",
                                         "READS_FROM", "DECLARES", "IMPORTS_FROM",  "RETURNS"};
static const char *const edge_metadata[] = {"", "", "", "{\"argIndex\":0}", "", "{\"via\":\"this\"}", "", ""};
enum { NODE_TYPES = 12, EDGE_TYPES = 8 };

void graph_file_path(uint64_t number, char out[GRAPH_PATH])
{
	(void)snprintf(out, GRAPH_PATH, "src/area%llu/unit%llu/file%llu.ts", (unsigned long long)(number / 400),
	               (unsigned long long)(number / 20), (unsigned long long)number);
}

static uint64_t node_random(uint64_t file, unsigned place)
{
	return shd_splitmix64(file * GRAPH_FILE_NODES + place);
}

/* Writes the text id of a node; *name is where its name begins in it. */
static size_t node_text(uint64_t file, const char *path, unsigned place, char *out, size_t room, size_t *name)
{
	uint64_t random = node_random(file, place);
	int at = snprintf(out, room, "%s->%s->", path, node_types[random % NODE_TYPES]);
	*name = (size_t)at;
	/* Half of the names are to be found all over, half only here. */
	if (place % 2)
		return (size_t)(at + snprintf(out + at, room - (size_t)at, "handler%u_%u",
		                              (unsigned)(random >> 32) % 500, place));
	return (size_t)(at + snprintf(out + at, room - (size_t)at, "value%llu_%u", (unsigned long long)file, place));
}

sherd_graph_id graph_node_id(uint64_t file, unsigned place)
{
	char path[GRAPH_PATH], text[192];
	size_t name;
	graph_file_path(file, path);
	return sherd_graph_id_of(text, node_text(file, path, place, text, sizeof(text), &name));
}

static void make_node(graph_file *f, uint64_t file, unsigned place, unsigned edition)
{
	char *text = f->text[place];
	size_t name, len = node_text(file, f->path, place, text, 192, &name);
	uint64_t random = node_random(file, place);
	int more = snprintf(text + len, sizeof(f->text[place]) - len, "{\"column\":%u,\"line\":%u}",
	                    (unsigned)(random >> 40) % 80, place * 7 + edition);
	f->nodes[place] = (sherd_graph_node){.id = sherd_graph_id_of(text, len),
	                                     .semantic_id = {text, len},
	                                     .type = sherd_graph_text_of(node_types[random % NODE_TYPES]),
	                                     .name = {text + name, len - name},
	                                     .file = sherd_graph_text_of(f->path),
	                                     .metadata = {text + len, (size_t)more},
	                                     .content_hash = random ^ edition};
}

/* Two neighbours together have twice the average. */
static unsigned degree_of(uint64_t file, unsigned place, unsigned average)
{
	unsigned first = 1 + (unsigned)(node_random(file, place & ~1u) >> 16) % (2 * average - 1);
	return place % 2 ? 2 * average - first : first;
}

/* The end of the kth edge from a node: no two of one type have the same. */
static sherd_graph_id end_of(const graph_file *f, uint64_t file, unsigned place, unsigned k, graph_size size)
{
	if (k % 5 < 3 || size.files < 2)
		return f->nodes[(place + 1 + k) % GRAPH_FILE_NODES].id;
	uint64_t random = shd_splitmix64(node_random(file, place) + k);
	uint64_t other = (file + 1 + random % (size.files - 1)) % size.files;
	return graph_node_id(other, (unsigned)(random >> 40) % GRAPH_FILE_NODES);
}

void graph_file_make(graph_file *f, uint64_t number, graph_size size, unsigned edition)
{
	graph_file_path(number, f->path);
	for (unsigned place = 0; place < GRAPH_FILE_NODES; place++)
		make_node(f, number, place, edition);
	f->edge_count = 0;
	for (unsigned place = 0; place < GRAPH_FILE_NODES; place++)
		for (unsigned k = 0; k < degree_of(number, place, size.degree); k++)
			f->edges[f->edge_count++] =
				(sherd_graph_edge){.src = f->nodes[place].id,
			                           .dst = end_of(f, number, place, k, size),
			                           .type = sherd_graph_text_of(edge_types[k % EDGE_TYPES]),
			                           .metadata = sherd_graph_text_of(edge_metadata[k % EDGE_TYPES])};
}

/* ---- all of it */

static const graph_data *sorted; /* what the next ones compare places of */

static int compare_ids(sherd_graph_id a, sherd_graph_id b)
{
	if (a.hi != b.hi)
		return a.hi < b.hi ? -1 : 1;
	return a.lo < b.lo ? -1 : a.lo > b.lo;
}

static int compare_texts(sherd_graph_text a, sherd_graph_text b)
{
	int c = memcmp(a.ptr, b.ptr, a.len < b.len ? a.len : b.len);
	return c ? c : (a.len > b.len) - (a.len < b.len);
}

static int by_id(const void *a, const void *b)
{
	return compare_ids(sorted->nodes[*(const uint32_t *)a].id, sorted->nodes[*(const uint32_t *)b].id);
}

static int by_src(const void *a, const void *b)
{
	const sherd_graph_edge *x = &sorted->edges[*(const uint32_t *)a], *y = &sorted->edges[*(const uint32_t *)b];
	int c = compare_ids(x->src, y->src);
	c = c ? c : compare_ids(x->dst, y->dst);
	return c ? c : compare_texts(x->type, y->type);
}

static int by_dst(const void *a, const void *b)
{
	const sherd_graph_edge *x = &sorted->edges[*(const uint32_t *)a], *y = &sorted->edges[*(const uint32_t *)b];
	int c = compare_ids(x->dst, y->dst);
	c = c ? c : compare_ids(x->src, y->src);
	return c ? c : compare_texts(x->type, y->type);
}

static uint32_t *order(size_t count, int (*compare)(const void *, const void *))
{
	uint32_t *out = malloc((count + 1) * sizeof(*out));
	if (!out)
		bench_fail("no memory");
	for (size_t i = 0; i < count; i++)
		out[i] = (uint32_t)i;
	qsort(out, count, sizeof(*out), compare);
	return out;
}

void graph_data_make(graph_data *d, graph_size size)
{
	*d = (graph_data){.size = size};
	d->files = malloc(size.files * sizeof(*d->files));
	d->nodes = malloc(size.files * GRAPH_FILE_NODES * sizeof(*d->nodes));
	d->edges = malloc(size.files * GRAPH_FILE_NODES * size.degree * sizeof(*d->edges));
	if (!d->files || !d->nodes || !d->edges)
		bench_fail("no memory");
	for (uint64_t i = 0; i < size.files; i++) {
		graph_file *f = &d->files[i];
		graph_file_make(f, i, size, 0);
		memcpy(d->nodes + d->node_count, f->nodes, sizeof(f->nodes));
		memcpy(d->edges + d->edge_count, f->edges, f->edge_count * sizeof(*f->edges));
		d->node_count += GRAPH_FILE_NODES;
		d->edge_count += f->edge_count;
	}
	sorted = d;
	d->by_id = order(d->node_count, by_id);
	d->by_src = order(d->edge_count, by_src);
	d->by_dst = order(d->edge_count, by_dst);
}

void graph_data_done(graph_data *d)
{
	free(d->files);
	free(d->nodes);
	free(d->edges);
	free(d->by_id);
	free(d->by_src);
	free(d->by_dst);
	*d = (graph_data){0};
}

static uint64_t see(uint64_t seen, sherd_graph_text text)
{
	return seen * 31 + text.len + (text.len ? (uint64_t)(unsigned char)text.ptr[0] : 0);
}

uint64_t graph_see_node(const sherd_graph_node *n)
{
	uint64_t seen = see(see(n->content_hash, n->semantic_id), n->type);
	return see(see(see(seen, n->name), n->file), n->metadata);
}

uint64_t graph_see_edge(const sherd_graph_edge *e)
{
	return see(see(e->src.lo ^ e->dst.lo * 3, e->type), e->metadata);
}

sherd_graph_id *graph_random_ids(graph_size size, size_t count)
{
	sherd_graph_id *ids = malloc(count * sizeof(*ids));
	if (!ids)
		bench_fail("no memory");
	for (size_t i = 0; i < count; i++) {
		uint64_t random = shd_splitmix64(i ^ UINT64_C(0x5eed) << 40);
		ids[i] = graph_node_id(random % size.files, (unsigned)(random >> 40) % GRAPH_FILE_NODES);
	}
	return ids;
}
