/* engine/graph/verify/version.c - what a version promises about all its segments together. */
#include "engine/graph/verify/check.h"

#include <inttypes.h>

/* ---- the version, out of segments that are open already */

static int verify_version_open_once(const graph_checking *c, graph_checked *one, sherd_error *err)
{
	return one->segment ? SHERD_OK : shd_graph_segment_open(&one->segment, &c->place, &one->about, false, err);
}

static int fill_list(graph_checking *c, graph_list *list, shd_rfdb_kind kind, const shd_rfdb_descriptors *l0,
                     const shd_rfdb_descriptors *l1, sherd_error *err)
{
	TRY(shd_graph_list_make(list, l0->count + l1->count, err));
	for (size_t i = 0; i < l0->count + l1->count; i++) {
		bool level1 = i < l1->count;
		const shd_rfdb_descriptor *about = level1 ? &l1->items[i] : &l0->items[i - l1->count];
		size_t place = shd_graph_checking_place(c, about);
		uint32_t shard = about->shard == SHD_RFDB_FLAT ? 0 : about->shard;
		if (place == SHD_MAP_NONE)
			return shd_fail(err, SHERD_ENOTFOUND, "changed", "the manifest was replaced meanwhile");
		if (about->kind != kind)
			return shd_fail(err, SHERD_ECORRUPT, "bad-type", "segment %" PRIu64 " is of the other kind",
			                about->id);
		if (shard >= c->shards)
			return shd_fail(err, SHERD_ECORRUPT, "out-of-range",
			                "segment %" PRIu64 " is in shard %" PRIu32 " of %" PRIu32, about->id, shard,
			                c->shards);
		graph_checked *one = graph_checked_at(c, place);
		TRY(verify_version_open_once(c, one, err));
		one->proof.place = place;
		one->segment->proof = &one->proof;
		one->segment->level1 = level1;
		one->segment->age = i;
		list->items[list->count++] = one->segment;
	}
	shd_graph_list_sort(list);
	shd_graph_list_link(list);
	return SHERD_OK;
}

static int verify_version_check_together(graph_checking *c, const graph_view *v, const shd_rfdb_counts *said,
                                         sherd_error *err)
{
	TRY(shd_graph_checking_apart(c, v, SHD_RFDB_NODES, err));
	TRY(shd_graph_checking_apart(c, v, SHD_RFDB_EDGES, err));
	if (v->placed)
		TRY(shd_graph_checking_sources(c, v, err));
	return shd_graph_checking_counts(c, v, said, err);
}

static int verify_version_check(graph_checking *c, graph_view *v, const shd_rfdb_manifest *m, sherd_error *err)
{
	TRY(fill_list(c, &v->lists[SHD_RFDB_NODES], SHD_RFDB_NODES, &m->nodes, &m->l1_nodes, err));
	TRY(fill_list(c, &v->lists[SHD_RFDB_EDGES], SHD_RFDB_EDGES, &m->edges, &m->l1_edges, err));
	TRY(shd_graph_cover_make(&v->cover, v->lists, &c->runs, err));
	v->one_shard = m->counts.known;
	v->placed = m->counts.known && m->counts.placed;
	TRY(shd_graph_view_bury(v, &m->dead_nodes, &m->dead_edges, err));
	return m->counts.known && !c->options->quick ? verify_version_check_together(c, v, &m->counts, err) : SHERD_OK;
}

int shd_graph_checking_version(graph_checking *c, const shd_rfdb_manifest *m, sherd_error *err)
{
	graph_view v = {0};
	int rc = shd_graph_view_settle(&v, verify_version_check(c, &v, m, err), err);
	shd_graph_view_done(&v, false);
	return rc;
}
