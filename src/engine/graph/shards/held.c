#include "engine/graph/shards/held.h"

int shd_graph_held_each(const sherd_graph *g, size_t place, graph_held_fn *each, void *arg, sherd_error *err)
{
	const graph_segment *s = g->view.lists[SHD_RFDB_NODES].items[place];
	const shd_rfdb_sidecar *x;
	TRY(shd_graph_segment_index(s, GRAPH_BY_FILE, &x, err));
	for (uint32_t i = 0; i < x->by_file.count; i++) {
		graph_held held = {.place = place};
		if (shd_rfdb_groups_at(&x->by_file, &s->rows, i, &held.file, &held.rows))
			TRY(each(arg, &held, err));
	}
	return SHERD_OK;
}

int shd_graph_held_next(const sherd_graph *g, const graph_held *held, uint64_t *at, uint64_t *row, sherd_error *err)
{
	const graph_segment *s = g->view.lists[SHD_RFDB_NODES].items[held->place];
	int rc = 0;
	while (!rc && *at < held->rows.count) {
		*row = shd_rfdb_rows_at(held->rows, (*at)++);
		if (*row < s->rows.rows && !shd_graph_buffer_node(&g->buffer, shd_rfdb_segment_id(&s->rows, *row)))
			rc = shd_graph_view_node_lives(&g->view, held->place, *row, err);
	}
	return rc;
}
