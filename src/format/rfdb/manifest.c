#include "format/rfdb/manifest.h"

#include "format/rfdb/manifest_read.h"

#include <inttypes.h>

SHERD_AUTO_DEFINE(sherd_json, sherd_json_close)

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
static int take_parent(sherd_json *j, bool *has, uint64_t *parent, sherd_error *err)
{
	int type = sherd_json_peek(j, err);
	TRY(type);
	*has = type != SHERD_JSON_NULL;
	return *has ? sherd_json_u64(j, parent, err) : sherd_json_null(j, err);
}

/* ---- a manifest */

/* What both kinds of document say in the same words; *known is false when it is none of them. */
static int take_shared(sherd_rfdb_reading *r, sherd_str key, sherd_rfdb_manifest *m, unsigned *has, bool *known,
                       sherd_error *err)
{
	*known = true;
	if (sherd_str_is(key, "version")) {
		*has |= HAS_VERSION;
		return sherd_json_u64(r->json, &m->version, err);
	}
	if (sherd_str_is(key, "created_at")) {
		*has |= HAS_CREATED;
		return sherd_json_u64(r->json, &m->created_at, err);
	}
	if (sherd_str_is(key, "parent_version")) {
		TRY(take_parent(r->json, &m->has_parent, &m->parent, err));
		*has |= m->has_parent ? HAS_PARENT : 0;
		return SHERD_OK;
	}
	if (sherd_str_is(key, "stats")) {
		*has |= HAS_STATS;
		return sherd_rfdb_take_stats(r, &m->stats, err);
	}
	if (sherd_str_is(key, "tags"))
		return sherd_rfdb_take_tags(r, &m->tags, err);
	if (sherd_str_is(key, "last_compaction"))
		return sherd_rfdb_take_compaction(r, &m->compaction, err);
	if (sherd_str_is(key, "live_counts"))
		return sherd_rfdb_take_counts(r, &m->counts, err);
	*known = false;
	return SHERD_OK;
}

static int take_member(sherd_rfdb_reading *r, sherd_str key, sherd_rfdb_manifest *m, unsigned *has, sherd_error *err)
{
	bool known;
	TRY(take_shared(r, key, m, has, &known, err));
	if (known)
		return SHERD_OK;
	if (sherd_str_is(key, "node_segments")) {
		*has |= HAS_NODES;
		return sherd_rfdb_take_descriptors(r, SHERD_RFDB_NODES, &m->nodes, err);
	}
	if (sherd_str_is(key, "edge_segments")) {
		*has |= HAS_EDGES;
		return sherd_rfdb_take_descriptors(r, SHERD_RFDB_EDGES, &m->edges, err);
	}
	if (sherd_str_is(key, "l1_node_segments"))
		return sherd_rfdb_take_descriptors(r, SHERD_RFDB_NODES, &m->l1_nodes, err);
	if (sherd_str_is(key, "l1_edge_segments"))
		return sherd_rfdb_take_descriptors(r, SHERD_RFDB_EDGES, &m->l1_edges, err);
	if (sherd_str_is(key, "tombstoned_node_ids"))
		return sherd_rfdb_take_ids(r, &m->dead_nodes, err);
	if (sherd_str_is(key, "tombstoned_edge_keys"))
		return sherd_rfdb_take_edge_keys(r, &m->dead_edges, err);
	if (sherd_str_is(key, "given_up"))
		return sherd_rfdb_take_numbers(r, &m->given_up, err);
	return sherd_json_skip(r->json, err);
}

int sherd_rfdb_manifest_decode(const void *data, size_t len, const sherd_limits *limits, sherd_arena *arena,
                               sherd_rfdb_manifest *out, sherd_error *err)
{
	SHERD_AUTO(sherd_json, sherd_json_close) json = NULL;
	sherd_rfdb_manifest m = {0};
	unsigned has = 0;
	sherd_str key;
	int rc;
	TRY(sherd_rfdb_take_seal(data, len, &m.seal, err));
	TRY(sherd_json_open(&json, data, len, limits, err));
	sherd_rfdb_reading r = {.json = json, .data = data, .len = len, .arena = arena};
	TRY(sherd_json_object(json, err));
	while ((rc = sherd_json_key(json, &key, err)) > 0)
		TRY(take_member(&r, key, &m, &has, err));
	TRY(rc);
	TRY(sherd_json_end(json, err));
	if ((has & MANIFEST_NEEDS) != MANIFEST_NEEDS)
		return sherd_fail(err, SHERD_ECORRUPT, "missing-key",
		                  "version, created_at, node_segments, edge_segments and stats are needed");
	*out = m;
	return SHERD_OK;
}

/* ---- an edit */

static int take_changes(sherd_rfdb_reading *r, sherd_str key, sherd_rfdb_edit *e, sherd_error *err)
{
	if (sherd_str_is(key, "added_node_segments"))
		return sherd_rfdb_take_descriptors(r, SHERD_RFDB_NODES, &e->added_nodes, err);
	if (sherd_str_is(key, "added_edge_segments"))
		return sherd_rfdb_take_descriptors(r, SHERD_RFDB_EDGES, &e->added_edges, err);
	if (sherd_str_is(key, "removed_node_segment_ids"))
		return sherd_rfdb_take_numbers(r, &e->removed_nodes, err);
	if (sherd_str_is(key, "removed_edge_segment_ids"))
		return sherd_rfdb_take_numbers(r, &e->removed_edges, err);
	if (sherd_str_is(key, "added_tombstone_nodes"))
		return sherd_rfdb_take_ids(r, &e->dead_nodes, err);
	if (sherd_str_is(key, "removed_tombstone_nodes"))
		return sherd_rfdb_take_ids(r, &e->undead_nodes, err);
	if (sherd_str_is(key, "added_tombstone_edges"))
		return sherd_rfdb_take_edge_keys(r, &e->dead_edges, err);
	if (sherd_str_is(key, "removed_tombstone_edges"))
		return sherd_rfdb_take_edge_keys(r, &e->undead_edges, err);
	return sherd_json_skip(r->json, err);
}

/* The list of one level, which may be null: then nothing is said. */
static int take_l1(sherd_rfdb_reading *r, sherd_rfdb_kind kind, sherd_rfdb_descriptors *out, bool *has,
                   sherd_error *err)
{
	int type = sherd_json_peek(r->json, err);
	TRY(type);
	*has = type != SHERD_JSON_NULL;
	return *has ? sherd_rfdb_take_descriptors(r, kind, out, err) : sherd_json_null(r->json, err);
}

static int take_edit_member(sherd_rfdb_reading *r, sherd_str key, sherd_rfdb_edit *e, sherd_rfdb_manifest *shared,
                            unsigned *has, sherd_error *err)
{
	bool known;
	TRY(take_shared(r, key, shared, has, &known, err));
	if (known)
		return SHERD_OK;
	if (sherd_str_is(key, "l1_node_segments"))
		return take_l1(r, SHERD_RFDB_NODES, &e->l1_nodes, &e->has_l1_nodes, err);
	if (sherd_str_is(key, "l1_edge_segments"))
		return take_l1(r, SHERD_RFDB_EDGES, &e->l1_edges, &e->has_l1_edges, err);
	return take_changes(r, key, e, err);
}

int sherd_rfdb_edit_decode(const void *data, size_t len, const sherd_limits *limits, sherd_arena *arena,
                           sherd_rfdb_edit *out, sherd_error *err)
{
	SHERD_AUTO(sherd_json, sherd_json_close) json = NULL;
	sherd_rfdb_manifest shared = {0};
	sherd_rfdb_edit e = {0};
	unsigned has = 0;
	sherd_str key;
	int rc;
	TRY(sherd_rfdb_take_seal(data, len, &e.seal, err));
	TRY(sherd_json_open(&json, data, len, limits, err));
	sherd_rfdb_reading r = {.json = json, .data = data, .len = len, .arena = arena};
	TRY(sherd_json_object(json, err));
	while ((rc = sherd_json_key(json, &key, err)) > 0)
		TRY(take_edit_member(&r, key, &e, &shared, &has, err));
	TRY(rc);
	TRY(sherd_json_end(json, err));
	if ((has & EDIT_NEEDS) != EDIT_NEEDS)
		return sherd_fail(err, SHERD_ECORRUPT, "missing-key",
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
