/* engine/graph/flush/flush.c - one version out of the buffer. The order of steps and why a crash between any two of
 * them is harmless: README.md beside this file. */
#include "engine/graph/flush/flush.h"

#include "base/pool.h"
#include "engine/graph/open/create.h"

#include <stdlib.h>

graph_tuning shd_graph_tuning = {.run_rows = 1 << 20,
                                 .run_some_rows = 1 << 16,
                                 .run_segments = 48,
                                 .full_nodes = 400000,
                                 .full_edges = 2000000,
                                 .full_files = 8000};

graph_target *shd_graph_flush_target(graph_flush *f, uint32_t shard, shd_rfdb_kind kind)
{
	uint32_t *slot = &f->slots[(size_t)shard * 2 + kind];
	if (!*slot) {
		shd_vec_push(&f->targets, (graph_target){.shard = shard, .kind = kind});
		if (f->targets.failed)
			return NULL;
		*slot = (uint32_t)f->targets.count;
	}
	return &f->targets.items[*slot - 1];
}

static int flush_compare(const void *left, const void *right)
{
	const graph_target *a = left, *b = right;
	if (a->shard != b->shard)
		return a->shard < b->shard ? -1 : 1;
	return (int)a->kind - (int)b->kind;
}

static bool see_file(void *arg, const char *name, const sherd_stat *stat)
{
	(void)stat;
	uint64_t *highest = arg;
	shd_rfdb_file file;
	if (shd_rfdb_file_parse(shd_str_of(name), &file) && file.id > *highest)
		*highest = file.id;
	return true;
}

/* Numbers are never used again, not even those of files that no version names. */
static int know_next_segment(sherd_graph *g, sherd_error *err)
{
	uint64_t highest = 0;
	if (g->next_segment)
		return SHERD_OK;
	TRY(shd_graph_place_list(&g->place, SHD_RFDB_SEGMENTS, see_file, &highest, err));
	for (unsigned kind = 0; kind < 2; kind++)
		for (size_t i = 0; i < g->view.lists[kind].count; i++)
			if (g->view.lists[kind].items[i]->about.id > highest)
				highest = g->view.lists[kind].items[i]->about.id;
	if (highest > UINT64_MAX / 2)
		return shd_fail(err, SHERD_ELIMIT, "too-large", "the numbers of segments are used up");
	g->next_segment = highest + 1;
	return SHERD_OK;
}

/* In order, so that neither numbers nor anything else depends on who works when. */
static int number_targets(graph_flush *f, sherd_error *err)
{
	sherd_graph *g = f->graph;
	TRY(know_next_segment(g, err));
	if (f->targets.count)
		qsort(f->targets.items, f->targets.count, sizeof(*f->targets.items), flush_compare);
	for (size_t i = 0; i < f->targets.count; i++)
		f->targets.items[i].id = g->next_segment++;
	return SHERD_OK;
}

static int flush_emit(void *arg, size_t index, sherd_error *err)
{
	graph_flush *f = arg;
	return shd_graph_flush_emit(f, f->by_size[index], err);
}

static int compare_sizes(const void *left, const void *right)
{
	const graph_target *a = *(graph_target *const *)left, *b = *(graph_target *const *)right;
	if (a->rows != b->rows)
		return a->rows > b->rows ? -1 : 1;
	return a < b ? -1 : a > b;
}

static int emit_all(graph_flush *f, sherd_error *err)
{
	f->by_size = malloc((f->targets.count + 1) * sizeof(*f->by_size));
	if (!f->by_size)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < f->targets.count; i++)
		f->by_size[i] = &f->targets.items[i];
	qsort(f->by_size, f->targets.count, sizeof(graph_target *), compare_sizes);
	return shd_pool_run(f->graph->pool, f->targets.count, flush_emit, f, err);
}

/* Folders, plan and number of shards are durable before anything uses them. */
static int extend_shards(graph_flush *f, sherd_error *err)
{
	sherd_graph *g = f->graph;
	if (g->config.planner != SHD_RFDB_DIRECTORY)
		return SHERD_OK;
	if (f->shards > g->config.shards) {
		shd_rfdb_config config = g->config;
		TRY(shd_graph_make_shards(&g->place, config.shards, f->shards, err));
		config.shards = (uint16_t)f->shards;
		TRY(shd_graph_write_config(&g->place, &config, g->config_identity, err));
		g->config = config;
	}
	if (g->plan.place_count == g->plan_written)
		return SHERD_OK;
	TRY(shd_graph_write_plan(&g->place, &g->plan, g->plan_identity, err));
	g->plan_written = g->plan.place_count;
	return SHERD_OK;
}

static uint64_t work_of(const graph_flush *f)
{
	uint64_t rows = 0;
	for (size_t i = 0; i < f->targets.count; i++)
		rows += f->targets.items[i].rows;
	return rows;
}

static int flush_prepare(graph_flush *f, sherd_error *err)
{
	if (f->graph->version == UINT64_MAX)
		return shd_fail(err, SHERD_ELIMIT, "too-large", "the numbers of versions are used up");
	TRY(shd_graph_flush_route(f, err));
	TRY(shd_graph_flush_fold(f, err));
	TRY(number_targets(f, err));
	return extend_shards(f, err);
}

static int flush_make(graph_flush *f, sherd_error *err)
{
	TRY(flush_prepare(f, err));
	f->meter.total = work_of(f);
	TRY(emit_all(f, err));
	TRY(shd_graph_flush_count(f, err));
	TRY(shd_graph_flush_bury(f, err));
	/* What was merged has been read by now. */
	TRY(shd_graph_view_check(&f->graph->view, err));
	return shd_graph_flush_commit(f, err);
}

/* What we wrote, and nothing that has its name by now. */
void shd_graph_remove_written(const graph_place *p, const graph_written *w)
{
	char name[SHD_RFDB_NAME_MAX];
	shd_rfdb_segment_name(w->file.shard, w->file.id, w->file.kind, name);
	if (*w->segment)
		(void)shd_graph_place_remove_if(p, name, w->segment, NULL);
	shd_rfdb_sidecar_name(w->file.shard, w->file.id, w->file.kind, name);
	if (*w->sidecar)
		(void)shd_graph_place_remove_if(p, name, w->sidecar, NULL);
}

graph_written shd_graph_flush_written(const graph_target *t)
{
	graph_written w = {.file = {.shard = t->shard, .id = t->id, .kind = t->kind}};
	memcpy(w.segment, t->segment, sizeof(w.segment));
	memcpy(w.sidecar, t->sidecar, sizeof(w.sidecar));
	return w;
}

/* What was written for a version that did not come about. Numbers are looked for anew, in case others took them. */
static void flush_undo(graph_flush *f)
{
	for (size_t i = 0; i < f->targets.count; i++) {
		const graph_written w = shd_graph_flush_written(&f->targets.items[i]);
		shd_graph_remove_written(&f->graph->place, &w);
	}
	f->graph->next_segment = 0;
}

static void flush_done(graph_flush *f)
{
	for (size_t i = 0; i < f->targets.count; i++) {
		shd_vec_done(&f->targets.items[i].fresh);
		shd_vec_done(&f->targets.items[i].merged);
		shd_vec_done(&f->targets.items[i].unburied_nodes);
		shd_vec_done(&f->targets.items[i].dead_edges);
		shd_vec_done(&f->targets.items[i].undead_edges);
		shd_graph_tally_done(&f->targets.items[i].counts);
		shd_graph_segment_close(f->targets.items[i].made);
	}
	shd_vec_done(&f->targets);
	free(f->by_size);
	free(f->slots);
	free(f->merge[0]);
	free(f->merge[1]);
	free(f->node_shards);
	free(f->known);
	shd_vec_done(&f->dead_nodes);
	shd_vec_done(&f->undead_nodes);
	shd_vec_done(&f->dead_edges);
	shd_vec_done(&f->undead_edges);
	shd_graph_counts_done(&f->counts);
	shd_meter_done(&f->meter);
}

int shd_graph_flush_run(sherd_graph *g, graph_purpose purpose, const graph_ids *moves,
                        const sherd_graph_commit_options *commit, sherd_error *err)
{
	static const sherd_graph_commit_options defaults = {0};
	if (!commit)
		commit = &defaults;
	graph_flush f = {.graph = g,
	                 .purpose = purpose,
	                 .moves = moves && moves->count ? moves : NULL,
	                 .time_ns = commit->time_ns > 0 ? (uint64_t)commit->time_ns : 0};
	shd_meter_init(&f.meter, commit->progress, 0);
	int rc = flush_make(&f, err);
	if (rc < 0)
		rc = shd_graph_view_settle(&g->view, rc, err);
	rc = shd_graph_head_judge(&g->place, &g->head, rc, err);
	/* A broken graph may have been committed: its files stay for the next writer to judge. */
	if (rc < 0 && g->mode != GRAPH_BROKEN)
		flush_undo(&f);
	flush_done(&f);
	return rc;
}

int sherd_graph_flush(sherd_graph *g, const sherd_graph_commit_options *commit, sherd_error *err)
{
	TRY(shd_graph_check_writable(g, err));
	return graph_is_dirty(g) || g->mode == GRAPH_AHEAD ? shd_graph_flush_run(g, GRAPH_COMMIT, NULL, commit, err)
	                                                   : SHERD_OK;
}

int sherd_graph_spill(sherd_graph *g, sherd_error *err)
{
	TRY(shd_graph_check_writable(g, err));
	return graph_is_dirty(g) ? shd_graph_flush_run(g, GRAPH_SPILL, NULL, NULL, err) : SHERD_OK;
}
