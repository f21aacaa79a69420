/* engine/graph/flush/commit.c - the manifest of a new version, and the moment from which it counts. */
#include "engine/graph/query/counts.h"
#include "engine/graph/flush/index.h"
#include "engine/graph/flush/publish.h"

#include <stdlib.h>

/* Every so manyth version is written in full, so that no version needs many edits to be read. */
enum { FULL_EVERY = 32 };

/* The version to come: what is in the view but for tombstone sets, which are made when it counts. */
typedef struct next {
	graph_flush *flush;
	uint64_t version;
	graph_view view;
	shd_rfdb_descriptor_vec l0[2], l1[2];
	graph_made_run run;
} next;

static void next_done(next *n)
{
	shd_graph_view_done(&n->view, false);
	shd_graph_made_run_drop(&n->flush->graph->place, &n->run);
	for (unsigned kind = 0; kind < 2; kind++) {
		shd_vec_done(&n->l0[kind]);
		shd_vec_done(&n->l1[kind]);
	}
}

/* Old segments that stay, and new ones. */
static int next_list(next *n, shd_rfdb_kind kind, sherd_error *err)
{
	const graph_flush *f = n->flush;
	const graph_list *old = &f->graph->view.lists[kind];
	graph_list *list = &n->view.lists[kind];
	TRY(shd_graph_list_make(list, old->count + f->targets.count, err));
	for (size_t i = 0; i < old->count; i++)
		if (!f->merge[kind][i])
			list->items[list->count++] = old->items[i];
	for (size_t i = 0; i < f->targets.count; i++) {
		graph_segment *made = f->targets.items[i].made;
		if (f->targets.items[i].kind != kind || !made)
			continue;
		made->age = f->graph->next_age++;
		list->items[list->count++] = made;
	}
	shd_graph_list_sort(list);
	return SHERD_OK;
}

/* Oldest first. */
static int commit_describe(next *n, shd_rfdb_kind kind, sherd_error *err)
{
	const graph_list *list = &n->view.lists[kind];
	for (size_t i = list->count; i-- > 0;) {
		shd_rfdb_descriptor_vec *level = list->items[i]->level1 ? &n->l1[kind] : &n->l0[kind];
		shd_vec_push(level, list->items[i]->about);
	}
	TRY(shd_vec_check(&n->l0[kind], err));
	return shd_vec_check(&n->l1[kind], err);
}

static int compare_ids(const void *left, const void *right)
{
	const shd_u128 *a = left, *b = right;
	return *a < *b ? -1 : *a > *b;
}

static int compare_keys(const void *left, const void *right)
{
	return shd_rfdb_edge_key_compare(left, right);
}

/* Tombstones: those before and the new ones, less those that went. */
static int next_dead_nodes(const graph_flush *f, shd_rfdb_id_vec *out, sherd_error *err)
{
	const graph_view *v = &f->graph->view;
	graph_ids gone = {0};
	bool ok = true;
	for (size_t i = 0; ok && i < f->undead_nodes.count; i++)
		(void)shd_graph_ids_add(&gone, f->undead_nodes.items[i], 0, &ok);
	for (size_t i = 0; i < v->dead_node_count; i++)
		if (shd_graph_ids_find(&gone, v->dead_nodes[i]) == GRAPH_IDS_NONE)
			shd_vec_push(out, v->dead_nodes[i]);
	shd_graph_ids_done(&gone);
	shd_vec_append(out, f->dead_nodes.items, f->dead_nodes.count);
	if (!ok)
		return shd_fail_nomem(err);
	TRY(shd_vec_check(out, err));
	if (out->count)
		qsort(out->items, out->count, sizeof(*out->items), compare_ids);
	return SHERD_OK;
}

static int next_dead_edges(const graph_flush *f, shd_rfdb_edge_key_vec *out, sherd_error *err)
{
	const graph_view *v = &f->graph->view;
	const shd_rfdb_edge_key *undead = f->undead_edges.items;
	graph_keys gone = {.stride = sizeof(*undead)};
	bool ok = true;
	for (size_t i = 0; ok && i < f->undead_edges.count; i++)
		(void)shd_graph_keys_add(&gone, undead, &undead[i], (uint32_t)i, &ok);
	for (size_t i = 0; i < v->dead_edge_count; i++)
		if (shd_graph_keys_find(&gone, undead, &v->dead_edges[i]) == GRAPH_KEYS_NONE)
			shd_vec_push(out, v->dead_edges[i]);
	shd_graph_keys_done(&gone);
	shd_vec_append(out, f->dead_edges.items, f->dead_edges.count);
	if (!ok)
		return shd_fail_nomem(err);
	TRY(shd_vec_check(out, err));
	if (out->count)
		qsort(out->items, out->count, sizeof(*out->items), compare_keys);
	return SHERD_OK;
}

static int next_tombstones(next *n, sherd_error *err)
{
	SHD_AUTO_VEC shd_rfdb_id_vec ids = {0};
	SHD_AUTO_VEC shd_rfdb_edge_key_vec keys = {0};
	TRY(next_dead_nodes(n->flush, &ids, err));
	TRY(next_dead_edges(n->flush, &keys, err));
	const shd_rfdb_ids nodes = {ids.items, ids.count};
	const shd_rfdb_edge_keys edges = {keys.items, keys.count};
	return shd_graph_view_bury(&n->view, &nodes, &edges, err);
}

/* The run that the version gets, and which segments runs cover then. */
static int next_cover(next *n, sherd_error *err)
{
	sherd_graph *g = n->flush->graph;
	SHD_AUTO_VEC graph_runs runs = {0};
	if (n->flush->purpose != GRAPH_SPILL)
		TRY(shd_graph_flush_index(n->flush, n->view.lists, &n->run, err));
	if (n->run.run)
		shd_vec_push(&runs, n->run.run);
	shd_vec_append(&runs, g->runs.items, g->runs.count);
	TRY(shd_vec_check(&runs, err));
	if (!shd_vec_reserve(&g->runs, 1)) {
		g->runs.failed = false;
		return shd_fail_nomem(err);
	}
	return shd_graph_cover_make(&n->view.cover, n->view.lists, &runs, err);
}

static shd_rfdb_descriptors commit_list_of(const shd_rfdb_descriptor_vec *v)
{
	return (shd_rfdb_descriptors){v->items, v->count};
}

static shd_rfdb_counts counts_of(const graph_flush *f)
{
	const graph_counts *c = &f->counts;
	return (shd_rfdb_counts){
		.known = true, .of = {c->of[SHD_RFDB_NODES], c->of[SHD_RFDB_EDGES]}, .placed = f->placed};
}

static shd_rfdb_stats stats_of(const next *n)
{
	shd_rfdb_descriptors nodes = commit_list_of(&n->l0[SHD_RFDB_NODES]),
			     edges = commit_list_of(&n->l0[SHD_RFDB_EDGES]);
	return shd_rfdb_stats_of(nodes.items, nodes.count, edges.items, edges.count);
}

static shd_rfdb_compaction compaction_of(const next *n)
{
	const graph_flush *f = n->flush;
	shd_rfdb_compaction c = f->graph->compaction;
	if (f->purpose == GRAPH_COMPACT) {
		c = (shd_rfdb_compaction){.version = n->version, .time_ms = f->time_ns / 1000000};
		for (size_t i = 0; i < f->targets.count; i++)
			c.merged += i == 0 || f->targets.items[i].shard != f->targets.items[i - 1].shard;
	}
	return c;
}

static shd_rfdb_manifest full_of(const next *n)
{
	const graph_view *v = &n->view;
	return (shd_rfdb_manifest){.version = n->version,
	                           .created_at = n->flush->time_ns / 1000000000,
	                           .has_parent = true,
	                           .parent = n->version - 1,
	                           .nodes = commit_list_of(&n->l0[SHD_RFDB_NODES]),
	                           .edges = commit_list_of(&n->l0[SHD_RFDB_EDGES]),
	                           .l1_nodes = commit_list_of(&n->l1[SHD_RFDB_NODES]),
	                           .l1_edges = commit_list_of(&n->l1[SHD_RFDB_EDGES]),
	                           .dead_nodes = {v->dead_nodes, v->dead_node_count},
	                           .dead_edges = {v->dead_edges, v->dead_edge_count},
	                           .stats = stats_of(n),
	                           .compaction = compaction_of(n),
	                           .counts = counts_of(n->flush),
	                           .given_up = n->flush->graph->loaded.manifest.given_up};
}

/* What comes and goes in the lists of one kind; *l1 when one of L1 goes. */
typedef struct list_change {
	shd_rfdb_descriptor_vec added;
	shd_rfdb_number_vec removed;
	bool l1;
} list_change;

static void change_of(const graph_flush *f, shd_rfdb_kind kind, list_change *c)
{
	const graph_list *old = &f->graph->view.lists[kind];
	for (size_t i = 0; i < old->count; i++) {
		if (!f->merge[kind][i])
			continue;
		if (old->items[i]->level1)
			c->l1 = true;
		else
			shd_vec_push(&c->removed, old->items[i]->about.id);
	}
	for (size_t i = 0; i < f->targets.count; i++)
		if (f->targets.items[i].kind == kind && f->targets.items[i].made)
			shd_vec_push(&c->added, f->targets.items[i].made->about);
}

static void encode_edit(const next *n, shd_buf *out)
{
	const graph_flush *f = n->flush;
	list_change nodes = {0}, edges = {0};
	change_of(f, SHD_RFDB_NODES, &nodes);
	change_of(f, SHD_RFDB_EDGES, &edges);
	const shd_rfdb_edit e = {.version = n->version,
	                         .parent = n->version - 1,
	                         .created_at = f->time_ns / 1000000000,
	                         .added_nodes = commit_list_of(&nodes.added),
	                         .added_edges = commit_list_of(&edges.added),
	                         .removed_nodes = {nodes.removed.items, nodes.removed.count},
	                         .removed_edges = {edges.removed.items, edges.removed.count},
	                         .dead_nodes = {f->dead_nodes.items, f->dead_nodes.count},
	                         .undead_nodes = {f->undead_nodes.items, f->undead_nodes.count},
	                         .dead_edges = {f->dead_edges.items, f->dead_edges.count},
	                         .undead_edges = {f->undead_edges.items, f->undead_edges.count},
	                         .has_l1_nodes = nodes.l1,
	                         .l1_nodes = commit_list_of(&n->l1[SHD_RFDB_NODES]),
	                         .has_l1_edges = edges.l1,
	                         .l1_edges = commit_list_of(&n->l1[SHD_RFDB_EDGES]),
	                         .stats = stats_of(n),
	                         .counts = counts_of(f)};
	shd_rfdb_edit_encode(&e, out);
	out->failed =
		out->failed || nodes.added.failed || nodes.removed.failed || edges.added.failed || edges.removed.failed;
	shd_vec_done(&nodes.added);
	shd_vec_done(&nodes.removed);
	shd_vec_done(&edges.added);
	shd_vec_done(&edges.removed);
}

/* full: the manifest, where it is to be written in full. */
static int commit_publish(const next *n, const shd_rfdb_manifest *full, sherd_error *err)
{
	SHD_AUTO_BUF text = {0};
	sherd_graph *g = n->flush->graph;
	if (full)
		TRY(shd_graph_encode_as_edit(g, full, &text, err));
	else
		encode_edit(n, &text);
	return shd_graph_publish(g, n->version, &text, err);
}

/* Nodes that were spilled are noted, until there is a version of them. */
static void take_fresh(const next *n)
{
	sherd_graph *g = n->flush->graph;
	const graph_buffer *b = &g->buffer;
	if (n->flush->purpose != GRAPH_SPILL) {
		shd_graph_fresh_done(&g->fresh);
		for (unsigned kind = 0; kind < 2; kind++)
			for (size_t i = 0; i < g->view.lists[kind].count; i++)
				g->view.lists[kind].items[i]->young = false;
		return;
	}
	for (size_t i = 0; g->fresh.blocks && i < b->node_count; i++)
		if (!b->nodes[i].dead)
			shd_graph_fresh_add(&g->fresh, b->nodes[i].node.id);
}

/* A load that has become long gets its filter, with what was spilled before. */
static int begin_fresh(sherd_graph *g, sherd_error *err)
{
	const graph_list *list = &g->view.lists[SHD_RFDB_NODES];
	uint64_t rows = 0;
	for (size_t i = 0; i < list->count; i++)
		rows += list->items[i]->young ? list->items[i]->rows.rows : 0;
	if (g->fresh.blocks || rows < shd_graph_tuning.full_nodes)
		return SHERD_OK;
	if (!shd_graph_fresh_begin(&g->fresh))
		return shd_fail_nomem(err);
	for (size_t i = 0; i < list->count; i++)
		for (uint64_t row = 0; list->items[i]->young && row < list->items[i]->rows.rows; row++)
			shd_graph_fresh_add(&g->fresh, shd_rfdb_segment_id(&list->items[i]->rows, row));
	return SHERD_OK;
}

/* Nothing in here can fail. */
static void adopt(next *n)
{
	graph_flush *f = n->flush;
	sherd_graph *g = f->graph;
	for (unsigned kind = 0; kind < 2; kind++) {
		for (size_t i = 0; i < g->view.lists[kind].count; i++)
			if (f->merge[kind][i])
				shd_graph_segment_close(g->view.lists[kind].items[i]);
		shd_graph_list_link(&n->view.lists[kind]);
	}
	shd_rfdb_compaction compaction = compaction_of(n);
	shd_graph_view_done(&g->view, false);
	g->view = n->view;
	g->view.one_shard = true;
	g->view.placed = f->placed;
	n->view = (graph_view){0};
	shd_graph_made_run_adopt(g, &n->run);
	for (size_t i = 0; i < f->targets.count; i++)
		f->targets.items[i].made = NULL;
	shd_graph_counts_done(&g->counts);
	g->counts = f->counts;
	f->counts = (graph_counts){0};
	g->compaction = compaction;
	take_fresh(n);
	shd_graph_buffer_done(&g->buffer);
	g->mode = f->purpose == GRAPH_SPILL ? GRAPH_AHEAD : GRAPH_WRITER;
	if (f->purpose != GRAPH_SPILL)
		g->version = n->version;
}

/* Segments that are not part of a version yet, to be removed if they never become one. */
static int note_spilled(const graph_flush *f, sherd_error *err)
{
	sherd_graph *g = f->graph;
	if (!shd_vec_reserve(&g->spilled, f->targets.count)) {
		g->spilled.failed = false; /* what is in it stays, and it can be tried again */
		return shd_fail_nomem(err);
	}
	for (size_t i = 0; i < f->targets.count; i++) {
		const graph_written w = shd_graph_flush_written(&f->targets.items[i]);
		if (f->targets.items[i].made)
			shd_vec_push(&g->spilled, w);
	}
	return SHERD_OK;
}

static bool is_in_view(const sherd_graph *g, const shd_rfdb_file *file)
{
	const graph_list *list = &g->view.lists[file->kind];
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i]->about.id == file->id)
			return true;
	return false;
}

void shd_graph_drop_spilled(sherd_graph *g, bool all)
{
	size_t kept = 0;
	for (size_t i = 0; i < g->spilled.count && g->mode != GRAPH_BROKEN; i++) {
		if (!all && is_in_view(g, &g->spilled.items[i].file))
			g->spilled.items[kept++] = g->spilled.items[i];
		else
			shd_graph_remove_written(&g->place, &g->spilled.items[i]);
	}
	g->spilled.count = g->mode == GRAPH_AHEAD ? kept : 0;
}

static int flush_commit(next *n, sherd_error *err)
{
	sherd_graph *g = n->flush->graph;
	for (unsigned kind = 0; kind < 2; kind++) {
		TRY(next_list(n, kind, err));
		/* Without touching the segments, which the old view still uses. */
		TRY(commit_describe(n, kind, err));
	}
	TRY(next_tombstones(n, err));
	TRY(next_cover(n, err));
	if (n->flush->purpose == GRAPH_SPILL) {
		TRY(note_spilled(n->flush, err));
		TRY(begin_fresh(g, err));
		adopt(n);
		/* What was merged is not needed any more, and nobody has seen it. */
		shd_graph_drop_spilled(g, false);
		return SHERD_OK;
	}
	bool edit = g->buffer.only_updates && n->flush->purpose == GRAPH_COMMIT && g->mode == GRAPH_WRITER &&
	            n->version % FULL_EVERY != 0;
	const shd_rfdb_manifest m = full_of(n);
	SHD_AUTO_BUF full = {0};
	if (!edit) {
		shd_rfdb_manifest_encode(&m, &full);
		TRY(shd_buf_check(&full, err));
	}
	TRY(commit_publish(n, edit ? NULL : &m, err));
	adopt(n);
	shd_graph_made_run_clear(g, &n->run);
	shd_graph_drop_spilled(g, false);
	if (!edit)
		shd_graph_publish_full(&g->place, &m, &full);
	return SHERD_OK;
}

int shd_graph_flush_commit(graph_flush *f, sherd_error *err)
{
	SHD_DONE(next_done) next n = {.flush = f, .version = f->graph->version + 1};
	return flush_commit(&n, err);
}
