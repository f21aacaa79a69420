/* engine/graph/shards/held_moves.c - nodes that lie in another shard than the planner says. Other programs place by
 * hash whatever the plan says; compaction puts such nodes right. */
#include "engine/graph/shards/held.h"

typedef struct search {
	sherd_graph *graph;
	SHD_VEC(shd_str) files; /* with live nodes, in directories that have no shard */
	graph_ids *moves;
} search;

/* As the manifest lists the files; one without a list may hold any. */
static bool may_hold_others(const sherd_graph *g, const graph_segment *s)
{
	const shd_rfdb_texts *files = &s->about.files;
	for (size_t i = 0; i < files->count; i++)
		if (!shd_graph_belongs(g, files->items[i], s->shard))
			return true;
	return !files->count;
}

static int note_unplanned(void *arg, const graph_held *held, sherd_error *err)
{
	search *s = arg;
	const sherd_graph *g = s->graph;
	uint64_t at = 0, row;
	uint16_t shard;
	shd_rfdb_node node;
	if (shd_rfdb_plan_find(&g->plan, held->file, &shard))
		return SHERD_OK;
	int rc = shd_graph_held_next(g, held, &at, &row, err);
	if (rc <= 0)
		return rc;
	/* Its texts are looked at before the plan takes them. */
	TRY(shd_graph_segment_read_node(g->view.lists[SHD_RFDB_NODES].items[held->place], row, &node, err));
	shd_vec_push(&s->files, node.file);
	return shd_vec_check(&s->files, err);
}

static int note_moves(void *arg, const graph_held *held, sherd_error *err)
{
	search *s = arg;
	const graph_segment *segment = s->graph->view.lists[SHD_RFDB_NODES].items[held->place];
	uint32_t shard = sherd_graph_shard_of(s->graph, graph_text_out(held->file));
	uint64_t at = 0, row;
	bool ok = true;
	int rc = 0;
	while (ok && shard != segment->shard && (rc = shd_graph_held_next(s->graph, held, &at, &row, err)) > 0)
		(void)shd_graph_ids_add(s->moves, shd_rfdb_segment_id(&segment->rows, row), shard, &ok);
	return ok ? rc : shd_fail_nomem(err);
}

static int each_file(search *s, graph_held_fn *each, sherd_error *err)
{
	const graph_list *list = &s->graph->view.lists[SHD_RFDB_NODES];
	for (size_t i = 0; i < list->count; i++)
		if (may_hold_others(s->graph, list->items[i]))
			TRY(shd_graph_held_each(s->graph, i, each, s, err));
	return SHERD_OK;
}

static int held_moves_plan(search *s, sherd_error *err)
{
	sherd_graph *g = s->graph;
	if (g->config.planner != SHD_RFDB_DIRECTORY)
		return SHERD_OK;
	TRY(each_file(s, note_unplanned, err));
	if (!s->files.count)
		return SHERD_OK;
	int rc = shd_rfdb_plan_extend(&g->plan, s->files.items, s->files.count, NULL, err);
	if (rc < 0)
		g->mode = GRAPH_BROKEN;
	return rc;
}

int shd_graph_held_moves(sherd_graph *g, graph_ids *moves, sherd_error *err)
{
	search s = {.graph = g, .moves = moves};
	int rc = held_moves_plan(&s, err);
	if (rc == SHERD_OK)
		rc = each_file(&s, note_moves, err);
	shd_vec_done(&s.files);
	return rc;
}
