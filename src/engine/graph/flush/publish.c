#include "engine/graph/flush/publish.h"

#include "engine/graph/open/open.h"
#include "engine/graph/keep/snapshots.h"

#include <stdlib.h>

/* ---- a whole version as the change of the one before: its lists take the place of those */

static void put_segments(const shd_rfdb_descriptors *list, shd_rfdb_number_vec *out)
{
	for (size_t i = 0; i < list->count; i++)
		shd_vec_push(out, list->items[i].id);
}

static void put_listed(const graph_list *list, shd_rfdb_number_vec *out)
{
	for (size_t i = 0; i < list->count; i++)
		if (!list->items[i]->level1)
			shd_vec_push(out, list->items[i]->about.id);
}

/* Both ascend. */
static void put_undead_nodes(const shd_rfdb_ids *old, const shd_rfdb_ids *now, shd_rfdb_id_vec *out)
{
	size_t at = 0;
	for (size_t i = 0; i < old->count; i++) {
		while (at < now->count && now->items[at] < old->items[i])
			at++;
		if (at == now->count || now->items[at] != old->items[i])
			shd_vec_push(out, old->items[i]);
	}
}

static void put_undead_edges(const shd_rfdb_edge_keys *old, const shd_rfdb_edge_keys *now, shd_rfdb_edge_key_vec *out)
{
	size_t at = 0;
	for (size_t i = 0; i < old->count; i++) {
		while (at < now->count && shd_rfdb_edge_key_compare(&now->items[at], &old->items[i]) < 0)
			at++;
		if (at == now->count || shd_rfdb_edge_key_compare(&now->items[at], &old->items[i]) != 0)
			shd_vec_push(out, old->items[i]);
	}
}

typedef struct change {
	shd_rfdb_number_vec nodes, edges; /* segments that go */
	shd_rfdb_id_vec undead_nodes;
	shd_rfdb_edge_key_vec undead_edges;
} change;

static void encode(const shd_rfdb_manifest *m, const change *c, shd_buf *out)
{
	const shd_rfdb_edit e = {.version = m->version,
	                         .parent = m->parent,
	                         .created_at = m->created_at,
	                         .added_nodes = m->nodes,
	                         .added_edges = m->edges,
	                         .removed_nodes = {c->nodes.items, c->nodes.count},
	                         .removed_edges = {c->edges.items, c->edges.count},
	                         .dead_nodes = m->dead_nodes,
	                         .dead_edges = m->dead_edges,
	                         .undead_nodes = {c->undead_nodes.items, c->undead_nodes.count},
	                         .undead_edges = {c->undead_edges.items, c->undead_edges.count},
	                         .has_l1_nodes = true,
	                         .l1_nodes = m->l1_nodes,
	                         .has_l1_edges = true,
	                         .l1_edges = m->l1_edges,
	                         .tags = m->tags,
	                         .stats = m->stats,
	                         .compaction = m->compaction,
	                         .counts = m->counts};
	shd_rfdb_edit_encode(&e, out);
}

/* What the version has and the next may not. It borrows from the graph, or from base. */
static int take_before(const sherd_graph *g, graph_version *base, change *c, shd_rfdb_ids *nodes,
                       shd_rfdb_edge_keys *edges, sherd_error *err)
{
	if (g->mode != GRAPH_AHEAD) {
		const graph_view *v = &g->view;
		put_listed(&v->lists[SHD_RFDB_NODES], &c->nodes);
		put_listed(&v->lists[SHD_RFDB_EDGES], &c->edges);
		*nodes = (shd_rfdb_ids){v->dead_nodes, v->dead_node_count};
		*edges = (shd_rfdb_edge_keys){v->dead_edges, v->dead_edge_count};
		return SHERD_OK;
	}
	/* Something was spilled since: the version is in the store only. */
	TRY(shd_graph_version_load(base, &g->place, g->version, err));
	put_segments(&base->manifest.nodes, &c->nodes);
	put_segments(&base->manifest.edges, &c->edges);
	*nodes = base->manifest.dead_nodes;
	*edges = base->manifest.dead_edges;
	return SHERD_OK;
}

/* Frees the change. */
static int encode_change(change *c, const shd_rfdb_ids *nodes, const shd_rfdb_edge_keys *edges,
                         const shd_rfdb_manifest *full, shd_buf *out, sherd_error *err)
{
	put_undead_nodes(nodes, &full->dead_nodes, &c->undead_nodes);
	put_undead_edges(edges, &full->dead_edges, &c->undead_edges);
	encode(full, c, out);
	out->failed =
		out->failed || c->nodes.failed || c->edges.failed || c->undead_nodes.failed || c->undead_edges.failed;
	shd_vec_done(&c->nodes);
	shd_vec_done(&c->edges);
	shd_vec_done(&c->undead_nodes);
	shd_vec_done(&c->undead_edges);
	return shd_buf_check(out, err);
}

int shd_graph_encode_as_edit(const sherd_graph *g, const shd_rfdb_manifest *full, shd_buf *out, sherd_error *err)
{
	graph_version base = {0};
	change c = {0};
	shd_rfdb_ids nodes;
	shd_rfdb_edge_keys edges;
	TRY(take_before(g, &base, &c, &nodes, &edges, err));
	int rc = encode_change(&c, &nodes, &edges, full, out, err);
	shd_graph_version_done(&base);
	return rc;
}

int shd_graph_encode_between(const shd_rfdb_manifest *before, const shd_rfdb_manifest *full, shd_buf *out,
                             sherd_error *err)
{
	change c = {0};
	put_segments(&before->nodes, &c.nodes);
	put_segments(&before->edges, &c.edges);
	return encode_change(&c, &before->dead_nodes, &before->dead_edges, full, out, err);
}

/* ---- becoming current */

/* A manifest with the number may be there: we left it, or somebody who died, or who is about to commit it. */
/* NOLINTNEXTLINE(readability-non-const-parameter): written through the options. */
static int flush_publish_claim(char *identity, const graph_place *p, graph_head *head, const char *name,
                               const shd_buf *edit, sherd_error *err)
{
	const sherd_write_options o = {.mode = SHERD_WRITE_NEW, .identity = identity};
	sherd_error failure = {0};
	int rc = shd_graph_place_write(p, name, &o, edit, &failure);
	if (rc == SHERD_EEXIST) {
		TRY(shd_graph_clear_uncommitted(p, head, err));
		rc = shd_graph_place_write(p, name, &o, edit, &failure);
	}
	if (rc == SHERD_EEXIST)
		rc = shd_graph_head_fail(&failure);
	return shd_pass(err, rc, &failure);
}

int shd_graph_publish_edit(const graph_place *p, graph_head *head, uint64_t version, const shd_buf *edit, bool *unknown,
                           sherd_error *err)
{
	char name[SHD_RFDB_NAME_MAX], identity[sizeof(((sherd_stat *)0)->identity)] = "";
	*unknown = false;
	shd_rfdb_manifest_name(version, true, name);
	int rc = flush_publish_claim(identity, p, head, name, edit, err);
	if (rc == SHERD_OK)
		rc = shd_graph_head_advance(p, head, version, &(graph_made){name, identity}, unknown, err);
	if (rc < 0 && !*unknown && *identity)
		(void)shd_graph_place_remove_if(p, name, identity, NULL);
	return rc;
}

int shd_graph_publish(sherd_graph *g, uint64_t version, const shd_buf *edit, sherd_error *err)
{
	bool unknown;
	int rc = shd_graph_publish_edit(&g->place, &g->head, version, edit, &unknown, err);
	if (unknown)
		g->mode = GRAPH_BROKEN;
	return rc;
}

/* Unless somebody reads the version by it. */
static void drop_edit(const graph_place *p, uint64_t version)
{
	char name[SHD_RFDB_NAME_MAX];
	graph_key key;
	sherd_lock *lock = NULL;
	shd_rfdb_manifest_name(version, true, name);
	bool locks = sherd_store_caps(p->store) & SHERD_CAP_LOCK;
	if (locks && (shd_graph_place_key(p, name, &key, NULL) < 0 ||
	              sherd_store_lock(&lock, p->store, key.text, SHERD_LOCK_EXCLUSIVE, NULL) < 0))
		return;
	(void)shd_graph_place_remove(p, name, NULL);
	sherd_lock_release(lock);
}

void shd_graph_publish_full(const graph_place *p, const shd_rfdb_manifest *m, const shd_buf *full)
{
	char name[SHD_RFDB_NAME_MAX];
	shd_rfdb_manifest_name(m->version, false, name);
	bool written = shd_graph_place_put(p, name, SHERD_WRITE_NEW, full, NULL) == SHERD_OK;
	if (written)
		drop_edit(p, m->version);
	/* A cache: who finds an old one makes it anew. */
	(void)shd_graph_write_index(p, m->version, true, written ? m : NULL, NULL);
}
