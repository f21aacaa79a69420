/* engine/graph/keep/diff.c - what leads from one graph to another. */
#include "engine/graph/keep/diff.h"

#include "engine/graph/buffer/write.h"

typedef struct comparison {
	const sherd_graph *other;
	const sherd_graph_diff_fns *fns;
	bool backwards; /* from the older one: only what the newer one has not is told */
	bool stopped;
	sherd_error *err;
	int rc;
} comparison;

bool shd_graph_same_text(sherd_graph_text a, sherd_graph_text b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

bool shd_graph_same_node(const sherd_graph_node *a, const sherd_graph_node *b)
{
	return a->content_hash == b->content_hash && shd_graph_same_text(a->semantic_id, b->semantic_id) &&
	       shd_graph_same_text(a->type, b->type) && shd_graph_same_text(a->name, b->name) &&
	       shd_graph_same_text(a->file, b->file) && shd_graph_same_text(a->metadata, b->metadata);
}

static bool compare_node(void *arg, const sherd_graph_node *node)
{
	comparison *c = arg;
	sherd_graph_node there;
	c->rc = sherd_graph_get(&there, c->other, node->id, c->err);
	if (c->rc < 0)
		return false;
	if (!c->rc)
		c->stopped = !c->fns->node(c->fns->arg, c->backwards ? SHERD_GRAPH_REMOVED : SHERD_GRAPH_ADDED, node);
	else if (!c->backwards && !shd_graph_same_node(node, &there))
		c->stopped = !c->fns->node(c->fns->arg, SHERD_GRAPH_CHANGED, node);
	return !c->stopped;
}

/* 1 and the metadata, or 0. */
static int metadata_of(const sherd_graph *g, const shd_rfdb_edge_key *key, shd_str *out, sherd_error *err)
{
	graph_row row;
	shd_rfdb_edge edge;
	TRY(shd_graph_settle(g, err));
	const graph_new_edge *fresh = shd_graph_buffer_edge(&g->buffer, key);
	if (fresh) {
		*out = fresh->metadata;
		return !graph_edge_is_dead(fresh);
	}
	int rc = shd_graph_view_edge(&g->view, key, &row, err);
	if (rc <= 0)
		return rc;
	TRY(shd_graph_segment_read_edge(row.segment, row.row, &edge, err));
	*out = edge.metadata;
	return 1;
}

static bool compare_edge(void *arg, const sherd_graph_edge *edge)
{
	comparison *c = arg;
	shd_str there = {"", 0};
	const shd_rfdb_edge_key key = {
		.src = graph_id_in(edge->src), .dst = graph_id_in(edge->dst), .type = graph_text_in(edge->type)};
	c->rc = metadata_of(c->other, &key, &there, c->err);
	if (c->rc < 0)
		return false;
	if (!c->rc)
		c->stopped = !c->fns->edge(c->fns->arg, c->backwards ? SHERD_GRAPH_REMOVED : SHERD_GRAPH_ADDED, edge);
	else if (!c->backwards && !shd_graph_same_text(edge->metadata, graph_text_out(there)))
		c->stopped = !c->fns->edge(c->fns->arg, SHERD_GRAPH_CHANGED, edge);
	return !c->stopped;
}

/* Everything in both. */
static int diff_all(const sherd_graph *from, const sherd_graph *to, const sherd_graph_diff_fns *fns, sherd_error *err)
{
	sherd_error failure = {0};
	comparison c = {.fns = fns, .err = &failure};
	int rc = SHERD_OK;
	for (int backwards = 0; backwards < 2 && rc >= 0 && !c.stopped; backwards++) {
		const sherd_graph *mine = backwards ? from : to;
		c.other = backwards ? to : from;
		c.backwards = backwards;
		if (fns->node)
			rc = sherd_graph_find(mine, NULL, compare_node, &c, &failure);
		if (rc >= 0 && c.rc >= 0 && fns->edge && !c.stopped)
			rc = sherd_graph_edges(mine, NULL, compare_edge, &c, &failure);
		if (c.rc < 0)
			rc = c.rc;
		rc = shd_graph_view_settle(&c.other->view, rc, &failure);
	}
	return shd_pass(err, rc, &failure);
}

int sherd_graph_diff(const sherd_graph *from, const sherd_graph *to, const sherd_graph_diff_fns *fns, sherd_error *err)
{
	int rc = shd_graph_diff_near(from, to, fns, err);
	rc = shd_graph_view_settle(&from->view, rc, err);
	rc = shd_graph_view_settle(&to->view, rc, err);
	return rc ? (rc < 0 ? rc : SHERD_OK) : diff_all(from, to, fns, err);
}
