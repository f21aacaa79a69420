/* engine/graph/flush/bury.c - which tombstones come and go with a flush. Those of edges were found when the edges were
 * written (emit_edges.c).
 *
 * A tombstone is needed exactly as long as a segment that stays holds a row under its key. Adding the key again takes
 * it away: it would hide the new row too. */
#include "engine/graph/flush/flush.h"

static bool is_dead_node(const graph_view *v, shd_u128 id)
{
	return shd_graph_ids_find(&v->dead_node_set, id) != GRAPH_IDS_NONE;
}

int shd_graph_flush_has_node(const graph_flush *f, shd_u128 id, sherd_error *err)
{
	SHD_DONE(shd_graph_spots_done) graph_spots spots;
	TRY(shd_graph_view_spots(&f->graph->view, SHD_RFDB_NODES, id, &spots, err));
	for (size_t i = 0; i < spots.count; i++)
		if (!f->merge[SHD_RFDB_NODES][spots.items[i].place])
			return 1;
	return 0;
}

int shd_graph_flush_has_edge(const graph_flush *f, const shd_rfdb_edge_key *key, sherd_error *err)
{
	const graph_list *list = &f->graph->view.lists[SHD_RFDB_EDGES];
	SHD_DONE(shd_graph_spots_done) graph_spots spots;
	int rc = 0;
	TRY(shd_graph_view_spots(&f->graph->view, SHD_RFDB_EDGES, key->src, &spots, err));
	for (size_t i = 0; i < spots.count && !rc; i++) {
		graph_spot *spot = &spots.items[i];
		if (!f->merge[SHD_RFDB_EDGES][spot->place])
			rc = shd_graph_segment_edge_from(list->items[spot->place], key, &spot->row, err);
	}
	return rc;
}

static int bury_nodes(graph_flush *f, sherd_error *err)
{
	const graph_view *v = &f->graph->view;
	const graph_buffer *b = &f->graph->buffer;
	for (size_t i = 0; i < b->node_count; i++) {
		shd_u128 id = b->nodes[i].node.id;
		bool buried = is_dead_node(v, id);
		if (!b->nodes[i].dead) {
			if (buried)
				shd_vec_push(&f->undead_nodes, id);
			continue;
		}
		int rc = buried ? 0 : shd_graph_flush_has_node(f, id, err);
		TRY(rc);
		if (rc)
			shd_vec_push(&f->dead_nodes, id);
	}
	return SHERD_OK;
}

/* Rows under tombstones that were left out of what was merged: the last one takes the tombstone with it. Keys that are
 * added again were seen above. */
static int exhume_nodes(graph_flush *f, const graph_target *t, sherd_error *err)
{
	const graph_buffer *b = &f->graph->buffer;
	const shd_u128 *ids = t->unburied_nodes.items;
	for (size_t i = 0; i < t->unburied_nodes.count; i++) {
		const graph_new_node *fresh = shd_graph_buffer_node(b, ids[i]);
		int rc = fresh && !fresh->dead ? 1 : shd_graph_flush_has_node(f, ids[i], err);
		TRY(rc);
		if (!rc)
			shd_vec_push(&f->undead_nodes, ids[i]);
	}
	return SHERD_OK;
}

/* Tombstones that hide nothing: other programs leave them. */
static void clear_all(graph_flush *f)
{
	const graph_view *v = &f->graph->view;
	shd_vec_append(&f->undead_nodes, v->dead_nodes, v->dead_node_count);
	shd_vec_append(&f->undead_edges, v->dead_edges, v->dead_edge_count);
}

int shd_graph_flush_bury(graph_flush *f, sherd_error *err)
{
	if (f->purpose == GRAPH_COMPACT) {
		clear_all(f);
	} else {
		TRY(bury_nodes(f, err));
		for (size_t i = 0; i < f->targets.count; i++) {
			const graph_target *t = &f->targets.items[i];
			TRY(exhume_nodes(f, t, err));
			shd_vec_append(&f->dead_edges, t->dead_edges.items, t->dead_edges.count);
			shd_vec_append(&f->undead_edges, t->undead_edges.items, t->undead_edges.count);
		}
	}
	TRY(shd_vec_check(&f->dead_nodes, err));
	TRY(shd_vec_check(&f->undead_nodes, err));
	TRY(shd_vec_check(&f->dead_edges, err));
	return shd_vec_check(&f->undead_edges, err);
}
