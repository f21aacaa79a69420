/* engine/graph/transfer/lineage.c - may one version take the place of another one? Only if nothing is lost by it: the
 * source once said what the target says. That is noted where the two met, else it is looked for in old versions. */
#include "engine/graph/transfer/transfer.h"

#include "engine/graph/disk/chain.h"

static int read_synced(const graph_place *p, shd_arena *arena, shd_rfdb_synced *out, sherd_error *err)
{
	shd_str text;
	TRY(shd_graph_place_get(p, SHD_RFDB_SYNCED, arena, &text, NULL, err));
	return shd_rfdb_synced_decode(text.ptr, text.len, arena, out, err);
}

static bool is_noted(const graph_transfer *t, bool push, const char *place, const uint8_t *print)
{
	SHD_DONE(shd_arena_done) shd_arena arena = {0};
	shd_rfdb_synced synced = {0};
	if (read_synced(push ? &t->from.place : &t->to.place, &arena, &synced, NULL) < 0)
		return false;
	const shd_rfdb_synced_with *with = shd_rfdb_synced_find(&synced, shd_str_of(place));
	uint64_t then = with ? push ? with->here : with->there : 0; /* the source's version */
	return with && then <= t->from.version.manifest.version && memcmp(with->print, print, SHD_SHA256_BYTES) == 0;
}

/* What cannot be read any more is passed over. */
static int is_in_history(const graph_transfer *t, const uint8_t *print, bool *found, sherd_error *err)
{
	SHD_AUTO_VEC graph_manifest_vec files = {0};
	SHD_DONE(shd_graph_chain_done) graph_chain chain = {.place = &t->from.place};
	TRY(shd_graph_list_manifests(&t->from.place, t->from.version.manifest.version, &files, err));
	for (size_t i = 0; i < files.count && !*found; i++) {
		uint8_t other[SHD_SHA256_BYTES];
		sherd_error failure = {0};
		int step = shd_graph_chain_step(&chain, &files.items[i], &failure);
		if (step < 0 && step != SHERD_ENOTFOUND && step != SHERD_ECORRUPT)
			return shd_pass(err, step, &failure);
		*found =
			step > 0 && shd_graph_print(&chain.manifest, other) && memcmp(other, print, sizeof(other)) == 0;
	}
	return SHERD_OK;
}

static bool is_empty(const shd_rfdb_manifest *m)
{
	return !m->nodes.count && !m->edges.count && !m->l1_nodes.count && !m->l1_edges.count;
}

int shd_graph_transfer_check(const graph_transfer *t, bool push, const char *place, sherd_error *err)
{
	uint8_t print[SHD_SHA256_BYTES];
	bool found = false;
	if (is_empty(&t->to.version.manifest))
		return SHERD_OK;
	if (shd_graph_print(&t->to.version.manifest, print)) {
		if (is_noted(t, push, place, print))
			return SHERD_OK;
		TRY(is_in_history(t, print, &found, err));
	}
	if (found)
		return SHERD_OK;
	return shd_fail(err, SHERD_ECONFLICT, "diverged", "it holds what the other one never had, which would be lost");
}

void shd_graph_transfer_note(const graph_transfer *t, bool push, const char *place)
{
	SHD_DONE(shd_arena_done) shd_arena arena = {0};
	SHD_AUTO_BUF text = {0};
	const graph_place *p = push ? &t->from.place : &t->to.place;
	uint64_t from = t->from.version.manifest.version, to = t->result.version;
	shd_rfdb_synced_with with = {.place = shd_str_of(place), .here = push ? from : to, .there = push ? to : from};
	shd_rfdb_synced synced = {0};
	size_t bad;
	if (!t->printed || !shd_utf8_valid(place, strlen(place), &bad))
		return;
	memcpy(with.print, t->print, sizeof(with.print));
	(void)read_synced(p, &arena, &synced, NULL);
	const shd_rfdb_synced_with *old = shd_rfdb_synced_find(&synced, with.place);
	if (old && old->here == with.here && old->there == with.there &&
	    memcmp(old->print, with.print, sizeof(with.print)) == 0)
		return;
	shd_rfdb_synced_put(&synced, &with);
	shd_rfdb_synced_encode(&synced, &text);
	(void)shd_graph_place_put(p, SHD_RFDB_SYNCED, SHERD_WRITE_REPLACE, &text, NULL);
}
