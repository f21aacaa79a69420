#include "engine/graph/json/lines.h"

#include <inttypes.h>
#include <stdio.h>

void shd_graph_lines_begin(sherd_graph_lines *l, const char *name, uint64_t offset)
{
	l->at = (graph_line){.name = name, .offset = offset};
	l->next = offset;
	l->before = 0;
}

int shd_graph_lines_parse(sherd_graph_lines *l, sherd_graph_record what, const char *text, size_t len, sherd_error *err)
{
	for (const char *end = text + len; text < end;) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t n = newline ? (size_t)(newline + 1 - text) : (size_t)(end - text);
		TRY(sherd_graph_lines_add(l, what, text, n, err));
		text += n;
	}
	return SHERD_OK;
}

int shd_graph_line_blame(const sherd_graph_lines *l, const graph_line *at, int rc, sherd_error *err)
{
	if (rc >= 0 || !err || rc == SHERD_ENOMEM || rc == SHERD_ECANCELLED)
		return rc;
	char message[sizeof(err->message)];
	memcpy(message, err->message, sizeof(message));
	(void)snprintf(err->message, sizeof(err->message), "line %" PRIu64 ": %.220s", l->before + at->number, message);
	err->offset = at->offset + (err->offset == SHERD_NO_OFFSET ? 0 : err->offset);
	return shd_in_object(err, rc, at->name ? at->name : "");
}

int sherd_graph_lines_blame(const sherd_graph_lines *l, size_t nodes, int rc, sherd_error *err)
{
	if (rc >= 0 || !err || err->index == SHERD_NO_INDEX || err->index >= nodes + l->edges.count)
		return rc;
	bool edge = err->index >= nodes;
	size_t n = (size_t)(edge ? err->index - nodes : err->index);
	if (edge && strcmp(err->reason, "unknown-source") == 0) {
		sherd_graph_text id = l->sources.items[n];
		(void)snprintf(err->message, sizeof(err->message), "no node %.*s, which an edge begins at",
		               id.len < 150 ? (int)id.len : 150, id.ptr);
	}
	if (rc == SHERD_EINVAL)
		err->code = rc = SHERD_ECORRUPT;
	return shd_graph_line_blame(l, edge ? &l->edge_at.items[n] : &l->node_at.items[n], rc, err);
}
