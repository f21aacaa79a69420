#include "report/report.h"

#include "base/auto.h"
#include "base/text.h"

#include <sherd/graph.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Edges are looked at of so many nodes at most, taken evenly from all. Degrees are counted by powers of two. */
enum { MOST_NODES = 20000, DEGREES = 20, MOST_TYPES = 100, MOST_SHARDS = 256 };

typedef struct edges_seen {
	const sherd_graph *graph;
	sherd_error *err;
	int rc;
	uint64_t every, at; /* one node in so many */
	uint64_t nodes;     /* that were looked at */
	uint64_t out[DEGREES], in[DEGREES];
	uint64_t edges, crossing; /* from them; to another shard */
	uint64_t dangling;        /* to no node */
	uint64_t degree;
	uint32_t shard; /* of the node at hand */
} edges_seen;

static size_t degree_class(uint64_t degree)
{
	size_t c = 0;
	for (; degree && c + 1 < DEGREES; degree >>= 1)
		c++;
	return c;
}

static bool count_in(void *arg, const sherd_graph_edge *edge)
{
	edges_seen *s = arg;
	(void)edge;
	s->degree++;
	return true;
}

static bool count_out(void *arg, const sherd_graph_edge *edge)
{
	edges_seen *s = arg;
	sherd_graph_node other;
	s->degree++;
	s->edges++;
	int rc = sherd_graph_get(&other, s->graph, edge->dst, s->err);
	if (rc < 0)
		s->rc = rc;
	else if (!rc)
		s->dangling++;
	else
		s->crossing += sherd_graph_shard_of(s->graph, other.file) != s->shard;
	return rc >= 0;
}

static bool look_at_node(void *arg, const sherd_graph_node *node)
{
	edges_seen *s = arg;
	if (s->at++ % s->every)
		return true;
	sherd_graph_id id = node->id;
	s->nodes++;
	s->shard = sherd_graph_shard_of(s->graph, node->file);
	s->degree = 0;
	int rc = sherd_graph_outgoing(s->graph, id, NULL, count_out, s, s->err);
	s->out[degree_class(s->degree)]++;
	s->degree = 0;
	if (rc == SHERD_OK && s->rc == SHERD_OK)
		rc = sherd_graph_incoming(s->graph, id, NULL, count_in, s, s->err);
	s->in[degree_class(s->degree)]++;
	s->rc = s->rc < 0 ? s->rc : rc;
	return s->rc >= 0;
}

/* ---- types */

typedef struct kind_count {
	char *name;
	uint64_t count;
} kind_count;

typedef struct kinds {
	kind_count *items;
	size_t count, room;
	uint64_t sum;
	bool failed;
} kinds;

static bool keep_kind(void *arg, sherd_graph_text type, uint64_t count)
{
	kinds *k = arg;
	if (k->count == k->room) {
		size_t room = k->room ? 2 * k->room : 64;
		kind_count *larger = realloc(k->items, room * sizeof(*larger));
		k->failed |= !larger;
		if (!larger)
			return false;
		k->items = larger;
		k->room = room;
	}
	char *name = strndup(type.ptr ? type.ptr : "", type.len);
	k->failed |= !name;
	if (!name)
		return false;
	k->items[k->count++] = (kind_count){name, count};
	k->sum += count;
	return true;
}

static int kind_by_count(const void *left, const void *right)
{
	const kind_count *a = left, *b = right;
	return a->count != b->count ? (a->count < b->count) - (a->count > b->count) : strcmp(a->name, b->name);
}

static void forget_kinds(kinds *k)
{
	for (size_t i = 0; i < k->count; i++)
		free(k->items[i].name);
	free(k->items);
}

static void put_kinds_table(cli_html *h, const char *caption, kinds *k)
{
	qsort(k->items, k->count, sizeof(*k->items), kind_by_count);
	cli_html_table(h, caption, "type|how many");
	for (size_t i = 0; i < k->count && i < MOST_TYPES; i++) {
		char text[32];
		(void)snprintf(text, sizeof(text), "%" PRIu64, k->items[i].count);
		cli_html_raw(h, "<tr><th scope=\"row\" class=\"name\">");
		cli_html_text(h, k->items[i].name);
		cli_html_raw(h, "</th>");
		cli_html_bar(h, k->sum ? (double)k->items[i].count / (double)k->items[0].count : 0, text);
		cli_html_raw(h, "</tr>\n");
	}
	cli_html_table_end(h);
	if (k->count > MOST_TYPES)
		cli_html_printf(h, "<p>and %zu more</p>\n", k->count - MOST_TYPES);
}

static int add_graph_kinds(cli_report *r, const sherd_graph *g, sherd_error *err)
{
	kinds nodes = {0}, edges = {0};
	int rc = sherd_graph_count_nodes(g, keep_kind, &nodes, err);
	if (rc >= 0)
		rc = sherd_graph_count_edges(g, keep_kind, &edges, err);
	if (rc >= 0 && (nodes.failed || edges.failed))
		rc = cli_no_memory(err);
	if (rc >= 0) {
		cli_report_section(r, "node-types", "Node types");
		put_kinds_table(&r->html, "Nodes of each type", &nodes);
		cli_html_section_end(&r->html);
		cli_report_section(r, "edge-types", "Edge types");
		put_kinds_table(&r->html, "Edges of each type", &edges);
		cli_html_section_end(&r->html);
	}
	forget_kinds(&nodes);
	forget_kinds(&edges);
	return rc < 0 ? rc : SHERD_OK;
}

/* ---- shards */

static int add_graph_shards(cli_report *r, const sherd_graph *g, const sherd_graph_totals *totals, sherd_error *err)
{
	cli_html *h = &r->html;
	uint64_t most = 1;
	sherd_graph_shard s;
	for (uint32_t i = 0; i < totals->shards; i++) {
		TRY(sherd_graph_shard_stats(&s, g, i, err));
		most = s.nodes > most ? s.nodes : most;
	}
	cli_report_section(r, "shards", "Shards");
	double even = totals->shards ? (double)totals->nodes / totals->shards : 0;
	cli_html_printf(h, "<p>%" PRIu32 " shards; the largest has %.2f times the nodes of an even share.</p>\n",
	                totals->shards, even > 0 ? (double)most / even : 1);
	cli_html_table(h, "Nodes, edges and bytes of each shard", "shard|>edges|>segments|>bytes|nodes");
	for (uint32_t i = 0; i < totals->shards && i < MOST_SHARDS; i++) {
		char number[320], size[CLI_TEXT_SIZE];
		TRY(sherd_graph_shard_stats(&s, g, i, err));
		(void)snprintf(number, sizeof(number), *s.name ? "%" PRIu32 " %s" : "%" PRIu32, i, s.name);
		cli_html_raw(h, "<tr><th scope=\"row\" class=\"name\">");
		cli_html_text(h, number);
		cli_html_raw(h, "</th>");
		(void)snprintf(number, sizeof(number), "%" PRIu64, s.edges);
		cli_html_cell(h, "n", number);
		(void)snprintf(number, sizeof(number), "%" PRIu64, s.segments);
		cli_html_cell(h, "n", number);
		cli_text_size(s.bytes, size);
		cli_html_cell(h, "n", size);
		(void)snprintf(number, sizeof(number), "%" PRIu64, s.nodes);
		cli_html_bar(h, (double)s.nodes / (double)most, number);
		cli_html_raw(h, "</tr>\n");
	}
	cli_html_table_end(h);
	cli_html_section_end(h);
	return SHERD_OK;
}

/* ---- degrees */

static void put_degrees(cli_html *h, const char *caption, const uint64_t *classes, uint64_t nodes)
{
	uint64_t most = 1;
	size_t last = 0;
	for (size_t i = 0; i < DEGREES; i++) {
		most = classes[i] > most ? classes[i] : most;
		last = classes[i] ? i : last;
	}
	cli_html_table(h, caption, ">edges|nodes");
	for (size_t i = 0; i <= last; i++) {
		char range[48], text[64];
		uint64_t low = i ? UINT64_C(1) << (i - 1) : 0, high = i ? (UINT64_C(1) << i) - 1 : 0;
		if (low == high)
			(void)snprintf(range, sizeof(range), "%" PRIu64, low);
		else
			(void)snprintf(range, sizeof(range), "%" PRIu64 " to %" PRIu64, low, high);
		(void)snprintf(text, sizeof(text), "%" PRIu64 " (%.1f%%)", classes[i],
		               nodes ? 100 * (double)classes[i] / (double)nodes : 0);
		cli_html_raw(h, "<tr>");
		cli_html_printf(h, "<th scope=\"row\" class=\"n\">%s</th>", range);
		cli_html_bar(h, (double)classes[i] / (double)most, text);
		cli_html_raw(h, "</tr>\n");
	}
	cli_html_table_end(h);
}

static int add_graph_degrees(cli_report *r, const sherd_graph *g, uint64_t nodes, sherd_error *err)
{
	cli_html *h = &r->html;
	edges_seen s = {.graph = g, .err = err, .every = nodes / MOST_NODES + 1};
	int rc = sherd_graph_find(g, NULL, look_at_node, &s, err);
	TRY(s.rc);
	TRY(rc);
	cli_report_section(r, "degrees", "Degrees and edges between shards");
	if (s.every > 1)
		cli_html_printf(h, "<p>Of one node in %" PRIu64 ", %" PRIu64 " in all.</p>\n", s.every, s.nodes);
	cli_html_printf(h,
	                "<p><b>%.1f%%</b> of %" PRIu64 " edges lead to another shard; %" PRIu64
	                " lead to no node.</p>\n<div class=\"grid\">\n",
	                s.edges ? 100 * (double)s.crossing / (double)s.edges : 0, s.edges, s.dangling);
	put_degrees(h, "Edges from a node", s.out, s.nodes);
	put_degrees(h, "Edges to a node", s.in, s.nodes);
	cli_html_raw(h, "</div>\n");
	cli_html_section_end(h);
	return SHERD_OK;
}

static void add_graph_facts(cli_report *r, const sherd_graph *g, const sherd_graph_totals *totals)
{
	char text[CLI_TEXT_COUNT + 8];
	cli_html_fact(&r->facts, "Format", "rfdb, a code graph");
	cli_text_count(totals->nodes, text);
	cli_html_fact(&r->facts, "Nodes", text);
	cli_text_count(totals->edges, text);
	cli_html_fact(&r->facts, "Edges", text);
	cli_text_size(totals->bytes, text);
	cli_html_fact(&r->facts, "Segments", text);
	(void)snprintf(text, sizeof(text), "%" PRIu32, totals->shards);
	cli_html_fact(&r->facts, "Shards", text);
	(void)snprintf(text, sizeof(text), "%" PRIu64, sherd_graph_version(g));
	cli_html_fact(&r->facts, "Version", text);
}

int cli_report_graph(cli_report *r, sherd_error *err)
{
	CLI_AUTO(sherd_graph, sherd_graph_close) g = NULL;
	sherd_graph_totals totals;
	const sherd_graph_options options = {.read_only = true, .pool = r->cli->pool};
	TRY(sherd_graph_open(&g, r->place->store, r->place->key, &options, err));
	TRY(sherd_graph_stats(&totals, g, err));
	add_graph_facts(r, g, &totals);
	TRY(add_graph_kinds(r, g, err));
	TRY(add_graph_shards(r, g, &totals, err));
	return r->quick ? SHERD_OK : add_graph_degrees(r, g, totals.nodes, err);
}
