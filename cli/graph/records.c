#include "graph/records.h"

#include "base/text.h"
#include "base/watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cli_records_print(cli_out *out, const char *json, size_t len)
{
	for (size_t i = 0, from = 0; i <= len;) {
		char escape[CLI_TEXT_ESCAPE];
		size_t n = i < len ? cli_text_char(json + i, len - i) : 0;
		size_t escaped = n && (uint8_t)json[i] >= 0x7F ? cli_text_escape(json + i, n, escape) : 0;
		if (escaped || i == len)
			cli_out_bytes(out, json + from, i - from);
		if (escaped) {
			cli_out_bytes(out, escape, escaped);
			from = i + n;
		}
		i += n ? n : 1;
	}
}

static void put_str(cli_records *r, const char *text)
{
	cli_records_print(&r->cli->out, text, strlen(text));
}

static void put_line(cli_records *r, const char *kind, size_t len)
{
	if (r->change) {
		put_str(r, "{\"change\":\"");
		put_str(r, r->change);
		put_str(r, "\",\"");
		put_str(r, kind);
		put_str(r, "\":");
	}
	cli_records_print(&r->cli->out, r->line, len);
	put_str(r, r->change ? "}\n" : "\n");
}

static void put_value(cli_records *r, const char *kind)
{
	if (!r->change) {
		cli_doc_raw(r->doc, r->line);
		return;
	}
	cli_doc_open(r->doc, '{');
	cli_doc_put_text(r->doc, "change", r->change);
	cli_doc_key(r->doc, kind);
	cli_doc_raw(r->doc, r->line);
	cli_doc_close(r->doc, '}');
}

/* The record was made a line of this length. */
static bool graph_records_deliver(cli_records *r, const char *kind, size_t len)
{
	bool shown = r->rc == SHERD_OK && !r->count;
	if (shown && r->doc)
		put_value(r, kind);
	else if (shown)
		put_line(r, kind, len);
	if (r->rc == SHERD_OK)
		r->rc = cli_watch_check(r->err);
	return r->rc == SHERD_OK && !cli_out_failed() && (!r->limit || r->nodes + r->edges < r->limit);
}

static bool same_id(sherd_graph_id a, sherd_graph_id b)
{
	return a.lo == b.lo && a.hi == b.hi;
}

/* Puts the node at the other end into the line of an edge, which then reads back as the same edge: other keys are
 * passed over there. */
static int add_node(cli_records *r, const sherd_graph_edge *edge, size_t *len)
{
	sherd_graph_node node;
	char *text = NULL;
	size_t room = 0, text_len = 0;
	int rc = sherd_graph_get(&node, r->graph, same_id(edge->src, r->from) ? edge->dst : edge->src, r->err);
	if (rc <= 0)
		return rc;
	rc = sherd_graph_node_line(&text, &room, &text_len, &node, r->err);
	size_t all = *len + text_len + sizeof(",\"node\":}");
	char *larger = rc == SHERD_OK ? realloc(r->line, all) : NULL;
	if (larger) {
		r->line = larger;
		r->room = all;
		*len = *len - 1 + (size_t)snprintf(larger + *len - 1, all - *len + 1, ",\"node\":%s}", text);
	} else if (rc == SHERD_OK) {
		rc = cli_no_memory(r->err);
	}
	sherd_free(text);
	return rc;
}

bool cli_records_node(void *arg, const sherd_graph_node *node)
{
	cli_records *r = arg;
	size_t len = 0;
	r->rc = sherd_graph_node_line(&r->line, &r->room, &len, node, r->err);
	r->nodes++;
	return graph_records_deliver(r, "node", len);
}

bool cli_records_edge(void *arg, const sherd_graph_edge *edge)
{
	cli_records *r = arg;
	size_t len = 0;
	r->rc = sherd_graph_edge_line(&r->line, &r->room, &len, edge, r->err);
	if (r->rc == SHERD_OK && r->graph && !r->count)
		r->rc = add_node(r, edge, &len);
	r->edges++;
	return graph_records_deliver(r, "edge", len);
}

int cli_records_done(cli_records *r, int rc)
{
	sherd_free(r->line);
	r->line = NULL;
	r->room = 0;
	return rc < 0 ? rc : r->rc;
}
