/* engine/graph/flush/fold.c - which segments are merged.
 *
 * After a segment stands none that is smaller than half of it, all newer ones included: so their number grows with
 * the logarithm of the rows, and a row is written again as often. A file that is committed again and again meets its
 * own rows in the newest segment and replaces them there. When tombstones have become many, the segments that they
 * hide rows of are merged too. */
#include "engine/graph/flush/flush.h"

enum { MANY_TOMBSTONES = 4096, SHARE_OF_TOMBSTONES = 8 };

/* Rows, and bytes of the segments that they are in: merging takes about 100 bytes of memory for each row, and as many
 * as its texts have; this must not grow with the graph. */
enum { MOST_MERGED = 1 << 20, MOST_MERGED_BYTES = 128 << 20 };

static const graph_list *fold_list_of(const graph_flush *f, shd_rfdb_kind kind)
{
	return &f->graph->view.lists[kind];
}

/* A load that is spilled piece by piece meets no readers on its way: its pieces wait until they are enough for a
 * segment that stays. So a row is written twice, however long the load, and the memory of a merge is bounded. A segment
 * of nodes has at most 10,000 files then, unless one piece has: with more the real server needs a zone map that it does
 * not make itself. */
typedef struct pile {
	uint64_t rows, bytes, files;
	size_t pieces;
} pile;

static pile pile_of(const graph_flush *f, const graph_target *t)
{
	const graph_list *list = fold_list_of(f, t->kind);
	graph_range r = shd_graph_list_shard(list, t->shard);
	pile p = {.rows = t->fresh_rows};
	for (size_t i = r.from; i < r.to; i++) {
		const graph_segment *s = list->items[i];
		if (!s->piece)
			continue;
		p.rows += s->rows.rows;
		p.bytes += s->rows.size;
		p.files += s->file_count;
		p.pieces++;
	}
	return p;
}

static bool is_full(const graph_target *t, const pile *p)
{
	const graph_tuning *full = &shd_graph_tuning;
	return p->rows >= (t->kind == SHD_RFDB_NODES ? full->full_nodes : full->full_edges) ||
	       p->files >= full->full_files || p->bytes >= MOST_MERGED_BYTES;
}

/* The pieces of a shard go into its target; what is in front of them was merged before. */
static void fold_pieces(graph_flush *f, graph_target *t)
{
	const graph_list *list = fold_list_of(f, t->kind);
	graph_range r = shd_graph_list_shard(list, t->shard);
	const pile p = pile_of(f, t);
	t->is_piece = f->purpose == GRAPH_SPILL && !is_full(t, &p);
	for (size_t i = r.from; i < r.to && !t->is_piece; i++)
		if (list->items[i]->piece)
			f->merge[t->kind][i] = true;
}

/* The flush after a load: shards that it has pieces for, but no records any more, are looked at too. */
static int call_pieces(graph_flush *f, sherd_error *err)
{
	for (unsigned kind = 0; kind < 2; kind++)
		for (size_t i = 0; i < fold_list_of(f, kind)->count; i++) {
			const graph_segment *s = fold_list_of(f, kind)->items[i];
			if (s->piece && !shd_graph_flush_target(f, s->shard, kind))
				return shd_fail_nomem(err);
		}
	return SHERD_OK;
}

/* The newest first: a segment is taken if it has at most twice the rows that were taken before it. What would become
 * too large is left to compaction. */
static void fold_shard(graph_flush *f, const graph_target *t)
{
	const graph_list *list = fold_list_of(f, t->kind);
	graph_range r = shd_graph_list_shard(list, t->shard);
	bool *merge = f->merge[t->kind];
	uint64_t rows = t->fresh_rows, bytes = 0;
	size_t taken = 0, last = 0;
	for (size_t i = r.from; i < r.to; i++) {
		rows += merge[i] ? list->items[i]->rows.rows : 0;
		bytes += merge[i] ? list->items[i]->rows.size : 0;
	}
	bool alone = !rows;
	for (size_t i = r.from; i < r.to; i++) {
		const shd_rfdb_segment *s = &list->items[i]->rows;
		if (merge[i])
			continue;
		if (s->rows / 2 > rows || s->rows + rows > MOST_MERGED || s->size + bytes > MOST_MERGED_BYTES)
			break;
		merge[i] = true;
		rows += s->rows;
		bytes += s->size;
		last = i;
		taken++;
	}
	/* With nothing to join it, it would only be written again. */
	if (alone && taken == 1)
		merge[last] = false;
}

static uint64_t fold_rows_of(const graph_list *list)
{
	uint64_t rows = 0;
	for (size_t i = 0; i < list->count; i++)
		rows += list->items[i]->rows.rows;
	return rows;
}

/* Merges the segments that hold rows under tombstones. */
static int fold_buried(graph_flush *f, sherd_error *err)
{
	const graph_view *v = &f->graph->view;
	const graph_list *nodes = fold_list_of(f, SHD_RFDB_NODES), *edges = fold_list_of(f, SHD_RFDB_EDGES);
	for (size_t n = 0; n < v->dead_node_count; n++)
		for (size_t i = 0; i < nodes->count; i++) {
			int rc = f->merge[SHD_RFDB_NODES][i] ? 0
			                                     : shd_graph_list_has_node(nodes, i, v->dead_nodes[n], err);
			TRY(rc);
			if (rc)
				f->merge[SHD_RFDB_NODES][i] = true;
		}
	for (size_t n = 0; n < v->dead_edge_count; n++)
		for (size_t i = 0; i < edges->count; i++) {
			int rc = f->merge[SHD_RFDB_EDGES][i]
			                 ? 0
			                 : shd_graph_list_has_edge(edges, i, &v->dead_edges[n], err);
			TRY(rc);
			if (rc)
				f->merge[SHD_RFDB_EDGES][i] = true;
		}
	return SHERD_OK;
}

static bool has_many_tombstones(const graph_flush *f)
{
	const graph_view *v = &f->graph->view;
	uint64_t rows = fold_rows_of(fold_list_of(f, SHD_RFDB_NODES)) + fold_rows_of(fold_list_of(f, SHD_RFDB_EDGES));
	return v->dead_node_count + v->dead_edge_count > MANY_TOMBSTONES + rows / SHARE_OF_TOMBSTONES;
}

/* So many rows of the segment at a place become part of the target of a shard. */
static int hand_rows(graph_flush *f, shd_rfdb_kind kind, size_t place, uint32_t shard, uint64_t rows, sherd_error *err)
{
	graph_target *t = shd_graph_flush_target(f, shard, kind);
	if (!t)
		return shd_fail_nomem(err);
	size_t count = t->merged.count;
	if (!count || t->merged.items[count - 1] != place)
		shd_vec_push(&t->merged, place);
	t->rows += rows;
	return shd_vec_check(&t->merged, err);
}

/* Row by row, since some go to other shards. */
static int fold_hand_out(graph_flush *f, shd_rfdb_kind kind, size_t place, sherd_error *err)
{
	const graph_segment *s = fold_list_of(f, kind)->items[place];
	uint64_t begin = 0;
	uint32_t last = s->shard;
	for (uint64_t row = 0; row < s->rows.rows; row++) {
		uint32_t shard = shd_graph_flush_shard(f, s, shd_rfdb_segment_id(&s->rows, row));
		if (shard == last)
			continue;
		if (row > begin)
			TRY(hand_rows(f, kind, place, last, row - begin, err));
		begin = row;
		last = shard;
	}
	return hand_rows(f, kind, place, last, s->rows.rows - begin, err);
}

/* Every merged segment becomes part of the target of its shard, but for what goes elsewhere. */
static int hand_over(graph_flush *f, shd_rfdb_kind kind, sherd_error *err)
{
	const graph_list *list = fold_list_of(f, kind);
	for (size_t i = 0; i < list->count; i++) {
		const graph_segment *s = list->items[i];
		if (f->merge[kind][i])
			TRY(f->moves ? fold_hand_out(f, kind, i, err)
			             : hand_rows(f, kind, i, s->shard, s->rows.rows, err));
	}
	return SHERD_OK;
}

int shd_graph_flush_fold(graph_flush *f, sherd_error *err)
{
	for (unsigned kind = 0; kind < 2; kind++)
		for (size_t i = 0; f->purpose == GRAPH_COMPACT && i < fold_list_of(f, kind)->count; i++)
			f->merge[kind][i] = true;
	if (f->purpose != GRAPH_COMPACT && has_many_tombstones(f))
		TRY(fold_buried(f, err));
	bool load = f->purpose == GRAPH_SPILL || f->graph->mode == GRAPH_AHEAD;
	if (load && f->purpose != GRAPH_SPILL)
		TRY(call_pieces(f, err));
	for (size_t i = 0; i < f->targets.count; i++) {
		if (load)
			fold_pieces(f, &f->targets.items[i]);
		else
			fold_shard(f, &f->targets.items[i]);
	}
	TRY(hand_over(f, SHD_RFDB_NODES, err));
	TRY(hand_over(f, SHD_RFDB_EDGES, err));
	for (size_t i = 0; i < f->targets.count; i++) {
		TRY(shd_vec_check(&f->targets.items[i].fresh, err));
		f->targets.items[i].rows += f->targets.items[i].fresh_rows;
	}
	return SHERD_OK;
}
