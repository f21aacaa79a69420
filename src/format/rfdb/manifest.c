#include "format/rfdb/manifest.h"

#include "format/rfdb/manifest_read.h"

/* What both kinds of document say in the same words. */
#define SHARED_MEMBERS(type)                                                                             \
	{"version", SHD_JSON_U64, offsetof(type, version), .needed = true},                              \
		{"created_at", SHD_JSON_U64, offsetof(type, created_at), .needed = true},                \
		{"stats", .take = shd_rfdb_take_stats, .at = offsetof(type, stats), .needed = true},     \
		{"tags", .take = shd_rfdb_take_tags, .at = offsetof(type, tags)},                        \
		{"last_compaction", .take = shd_rfdb_take_compaction, .at = offsetof(type, compaction)}, \
	{                                                                                                \
		"live_counts", .take = shd_rfdb_take_counts, .at = offsetof(type, counts)                \
	}

/* ---- a manifest */

/* It may be null as well as absent. */
static int take_parent(void *arg, void *field, shd_json *j, sherd_error *err)
{
	shd_rfdb_manifest *m = field;
	(void)arg;
	int type = shd_json_peek(j, err);
	TRY(type);
	m->has_parent = type != SHD_JSON_NULL;
	return m->has_parent ? shd_json_u64(j, &m->parent, err) : shd_json_null(j, err);
}

static const shd_json_member manifest_members[] = {
	SHARED_MEMBERS(shd_rfdb_manifest),
	{"parent_version", .take = take_parent},
	{"node_segments", .take = shd_rfdb_take_node_segments, .at = offsetof(shd_rfdb_manifest, nodes),
         .needed = true},
	{"edge_segments", .take = shd_rfdb_take_edge_segments, .at = offsetof(shd_rfdb_manifest, edges),
         .needed = true},
	{"l1_node_segments", .take = shd_rfdb_take_node_segments, .at = offsetof(shd_rfdb_manifest, l1_nodes)},
	{"l1_edge_segments", .take = shd_rfdb_take_edge_segments, .at = offsetof(shd_rfdb_manifest, l1_edges)},
	{"tombstoned_node_ids", .take = shd_rfdb_take_ids, .at = offsetof(shd_rfdb_manifest, dead_nodes)},
	{"tombstoned_edge_keys", .take = shd_rfdb_take_edge_keys, .at = offsetof(shd_rfdb_manifest, dead_edges)},
	{"given_up", .take = shd_rfdb_take_numbers, .at = offsetof(shd_rfdb_manifest, given_up)},
	{0},
};

int shd_rfdb_manifest_decode(const void *data, size_t len, const sherd_limits *limits, shd_arena *arena,
                             shd_rfdb_manifest *out, sherd_error *err)
{
	shd_rfdb_manifest m = {0};
	shd_rfdb_reading r = {.data = data, .len = len, .arena = arena};
	TRY(shd_rfdb_take_seal(data, len, &m.seal, err));
	TRY(shd_json_document(data, len, limits, manifest_members, &r, &m, err));
	*out = m;
	return SHERD_OK;
}

/* ---- an edit */

/* The list of one level, which may be null: then nothing is said. */
static int take_l1_nodes(void *arg, void *field, shd_json *j, sherd_error *err)
{
	shd_rfdb_edit *e = field;
	int type = shd_json_peek(j, err);
	TRY(type);
	e->has_l1_nodes = type != SHD_JSON_NULL;
	return e->has_l1_nodes ? shd_rfdb_take_node_segments(arg, &e->l1_nodes, j, err) : shd_json_null(j, err);
}

static int take_l1_edges(void *arg, void *field, shd_json *j, sherd_error *err)
{
	shd_rfdb_edit *e = field;
	int type = shd_json_peek(j, err);
	TRY(type);
	e->has_l1_edges = type != SHD_JSON_NULL;
	return e->has_l1_edges ? shd_rfdb_take_edge_segments(arg, &e->l1_edges, j, err) : shd_json_null(j, err);
}

static const shd_json_member edit_members[] = {
	SHARED_MEMBERS(shd_rfdb_edit),
	{"parent_version", SHD_JSON_U64, offsetof(shd_rfdb_edit, parent), .needed = true},
	{"l1_node_segments", .take = take_l1_nodes},
	{"l1_edge_segments", .take = take_l1_edges},
	{"added_node_segments", .take = shd_rfdb_take_node_segments, .at = offsetof(shd_rfdb_edit, added_nodes)},
	{"added_edge_segments", .take = shd_rfdb_take_edge_segments, .at = offsetof(shd_rfdb_edit, added_edges)},
	{"removed_node_segment_ids", .take = shd_rfdb_take_numbers, .at = offsetof(shd_rfdb_edit, removed_nodes)},
	{"removed_edge_segment_ids", .take = shd_rfdb_take_numbers, .at = offsetof(shd_rfdb_edit, removed_edges)},
	{"added_tombstone_nodes", .take = shd_rfdb_take_ids, .at = offsetof(shd_rfdb_edit, dead_nodes)},
	{"removed_tombstone_nodes", .take = shd_rfdb_take_ids, .at = offsetof(shd_rfdb_edit, undead_nodes)},
	{"added_tombstone_edges", .take = shd_rfdb_take_edge_keys, .at = offsetof(shd_rfdb_edit, dead_edges)},
	{"removed_tombstone_edges", .take = shd_rfdb_take_edge_keys, .at = offsetof(shd_rfdb_edit, undead_edges)},
	{0},
};

int shd_rfdb_edit_decode(const void *data, size_t len, const sherd_limits *limits, shd_arena *arena, shd_rfdb_edit *out,
                         sherd_error *err)
{
	shd_rfdb_edit e = {0};
	shd_rfdb_reading r = {.data = data, .len = len, .arena = arena};
	TRY(shd_rfdb_take_seal(data, len, &e.seal, err));
	TRY(shd_json_document(data, len, limits, edit_members, &r, &e, err));
	*out = e;
	return SHERD_OK;
}
