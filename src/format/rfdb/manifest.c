#include "format/rfdb/manifest.h"

#include "format/rfdb/manifest_read.h"

#include <inttypes.h>

/* Keys that a document must have. */
enum {
	HAS_VERSION = 1 << 0,
	HAS_CREATED = 1 << 1,
	HAS_NODES = 1 << 2,
	HAS_EDGES = 1 << 3,
	HAS_STATS = 1 << 4,
	HAS_PARENT = 1 << 5,
	MANIFEST_NEEDS = HAS_VERSION | HAS_CREATED | HAS_NODES | HAS_EDGES | HAS_STATS,
	EDIT_NEEDS = HAS_VERSION | HAS_CREATED | HAS_PARENT | HAS_STATS
};

/* parent_version may be null as well as absent. */
static int take_parent(shd_json *j, bool *has, uint64_t *parent, sherd_error *err)
{
	int type = shd_json_peek(j, err);
	TRY(type);
	*has = type != SHD_JSON_NULL;
	return *has ? shd_json_u64(j, parent, err) : shd_json_null(j, err);
}

/* ---- a manifest */

/* What both kinds of document say in the same words; *known is false when it is none of them. */
static int take_shared(shd_rfdb_reading *r, shd_str key, shd_rfdb_manifest *m, unsigned *has, bool *known,
                       sherd_error *err)
{
	*known = true;
	if (shd_str_is(key, "version")) {
		*has |= HAS_VERSION;
		return shd_json_u64(r->json, &m->version, err);
	}
	if (shd_str_is(key, "created_at")) {
		*has |= HAS_CREATED;
		return shd_json_u64(r->json, &m->created_at, err);
	}
	if (shd_str_is(key, "parent_version")) {
		TRY(take_parent(r->json, &m->has_parent, &m->parent, err));
		*has |= m->has_parent ? HAS_PARENT : 0;
		return SHERD_OK;
	}
	if (shd_str_is(key, "stats")) {
		*has |= HAS_STATS;
		return shd_rfdb_take_stats(r, &m->stats, err);
	}
	if (shd_str_is(key, "tags"))
		return shd_rfdb_take_tags(r, &m->tags, err);
	if (shd_str_is(key, "last_compaction"))
		return shd_rfdb_take_compaction(r, &m->compaction, err);
	if (shd_str_is(key, "live_counts"))
		return shd_rfdb_take_counts(r, &m->counts, err);
	*known = false;
	return SHERD_OK;
}

static int rfdb_manifest_take_member(shd_rfdb_reading *r, shd_str key, shd_rfdb_manifest *m, unsigned *has,
                                     sherd_error *err)
{
	bool known;
	TRY(take_shared(r, key, m, has, &known, err));
	if (known)
		return SHERD_OK;
	if (shd_str_is(key, "node_segments")) {
		*has |= HAS_NODES;
		return shd_rfdb_take_descriptors(r, SHD_RFDB_NODES, &m->nodes, err);
	}
	if (shd_str_is(key, "edge_segments")) {
		*has |= HAS_EDGES;
		return shd_rfdb_take_descriptors(r, SHD_RFDB_EDGES, &m->edges, err);
	}
	if (shd_str_is(key, "l1_node_segments"))
		return shd_rfdb_take_descriptors(r, SHD_RFDB_NODES, &m->l1_nodes, err);
	if (shd_str_is(key, "l1_edge_segments"))
		return shd_rfdb_take_descriptors(r, SHD_RFDB_EDGES, &m->l1_edges, err);
	if (shd_str_is(key, "tombstoned_node_ids"))
		return shd_rfdb_take_ids(r, &m->dead_nodes, err);
	if (shd_str_is(key, "tombstoned_edge_keys"))
		return shd_rfdb_take_edge_keys(r, &m->dead_edges, err);
	if (shd_str_is(key, "given_up"))
		return shd_rfdb_take_numbers(r, &m->given_up, err);
	return shd_json_skip(r->json, err);
}

int shd_rfdb_manifest_decode(const void *data, size_t len, const sherd_limits *limits, shd_arena *arena,
                             shd_rfdb_manifest *out, sherd_error *err)
{
	SHD_AUTO(shd_json, shd_json_close) json = NULL;
	shd_rfdb_manifest m = {0};
	unsigned has = 0;
	shd_str key;
	int rc;
	TRY(shd_rfdb_take_seal(data, len, &m.seal, err));
	TRY(shd_json_open(&json, data, len, limits, err));
	shd_rfdb_reading r = {.json = json, .data = data, .len = len, .arena = arena};
	TRY(shd_json_object(json, err));
	while ((rc = shd_json_key(json, &key, err)) > 0)
		TRY(rfdb_manifest_take_member(&r, key, &m, &has, err));
	TRY(rc);
	TRY(shd_json_end(json, err));
	if ((has & MANIFEST_NEEDS) != MANIFEST_NEEDS)
		return shd_fail(err, SHERD_ECORRUPT, "missing-key",
		                "version, created_at, node_segments, edge_segments and stats are needed");
	*out = m;
	return SHERD_OK;
}

/* ---- an edit */

static int take_changes(shd_rfdb_reading *r, shd_str key, shd_rfdb_edit *e, sherd_error *err)
{
	if (shd_str_is(key, "added_node_segments"))
		return shd_rfdb_take_descriptors(r, SHD_RFDB_NODES, &e->added_nodes, err);
	if (shd_str_is(key, "added_edge_segments"))
		return shd_rfdb_take_descriptors(r, SHD_RFDB_EDGES, &e->added_edges, err);
	if (shd_str_is(key, "removed_node_segment_ids"))
		return shd_rfdb_take_numbers(r, &e->removed_nodes, err);
	if (shd_str_is(key, "removed_edge_segment_ids"))
		return shd_rfdb_take_numbers(r, &e->removed_edges, err);
	if (shd_str_is(key, "added_tombstone_nodes"))
		return shd_rfdb_take_ids(r, &e->dead_nodes, err);
	if (shd_str_is(key, "removed_tombstone_nodes"))
		return shd_rfdb_take_ids(r, &e->undead_nodes, err);
	if (shd_str_is(key, "added_tombstone_edges"))
		return shd_rfdb_take_edge_keys(r, &e->dead_edges, err);
	if (shd_str_is(key, "removed_tombstone_edges"))
		return shd_rfdb_take_edge_keys(r, &e->undead_edges, err);
	return shd_json_skip(r->json, err);
}

/* The list of one level, which may be null: then nothing is said. */
static int take_l1(shd_rfdb_reading *r, shd_rfdb_kind kind, shd_rfdb_descriptors *out, bool *has, sherd_error *err)
{
	int type = shd_json_peek(r->json, err);
	TRY(type);
	*has = type != SHD_JSON_NULL;
	return *has ? shd_rfdb_take_descriptors(r, kind, out, err) : shd_json_null(r->json, err);
}

static int take_edit_member(shd_rfdb_reading *r, shd_str key, shd_rfdb_edit *e, shd_rfdb_manifest *shared,
                            unsigned *has, sherd_error *err)
{
	bool known;
	TRY(take_shared(r, key, shared, has, &known, err));
	if (known)
		return SHERD_OK;
	if (shd_str_is(key, "l1_node_segments"))
		return take_l1(r, SHD_RFDB_NODES, &e->l1_nodes, &e->has_l1_nodes, err);
	if (shd_str_is(key, "l1_edge_segments"))
		return take_l1(r, SHD_RFDB_EDGES, &e->l1_edges, &e->has_l1_edges, err);
	return take_changes(r, key, e, err);
}

int shd_rfdb_edit_decode(const void *data, size_t len, const sherd_limits *limits, shd_arena *arena, shd_rfdb_edit *out,
                         sherd_error *err)
{
	SHD_AUTO(shd_json, shd_json_close) json = NULL;
	shd_rfdb_manifest shared = {0};
	shd_rfdb_edit e = {0};
	unsigned has = 0;
	shd_str key;
	int rc;
	TRY(shd_rfdb_take_seal(data, len, &e.seal, err));
	TRY(shd_json_open(&json, data, len, limits, err));
	shd_rfdb_reading r = {.json = json, .data = data, .len = len, .arena = arena};
	TRY(shd_json_object(json, err));
	while ((rc = shd_json_key(json, &key, err)) > 0)
		TRY(take_edit_member(&r, key, &e, &shared, &has, err));
	TRY(rc);
	TRY(shd_json_end(json, err));
	if ((has & EDIT_NEEDS) != EDIT_NEEDS)
		return shd_fail(err, SHERD_ECORRUPT, "missing-key",
		                "version, parent_version, created_at and stats are needed");
	e.version = shared.version;
	e.parent = shared.parent;
	e.created_at = shared.created_at;
	e.stats = shared.stats;
	e.tags = shared.tags;
	e.compaction = shared.compaction;
	e.counts = shared.counts;
	*out = e;
	return SHERD_OK;
}
