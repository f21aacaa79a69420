#include "format/rfdb/manifest.h"

static void put_texts(shd_json_writer *w, const char *key, const shd_rfdb_texts *list)
{
	if (!list->count)
		return;
	shd_json_put_key_array(w, key, true);
	for (size_t i = 0; i < list->count; i++)
		shd_json_put_string(w, list->items[i]);
	shd_json_put_array_end(w);
}

static void put_descriptor(shd_json_writer *w, const shd_rfdb_descriptor *d)
{
	bool nodes = d->kind == SHD_RFDB_NODES;
	shd_json_put_object(w, false);
	shd_json_put_key_u64(w, "segment_id", d->id);
	shd_json_put_key_text(w, "segment_type", nodes ? "Nodes" : "Edges");
	if (d->shard != SHD_RFDB_FLAT)
		shd_json_put_key_u64(w, "shard_id", d->shard);
	shd_json_put_key_u64(w, "record_count", d->rows);
	shd_json_put_key_u64(w, "byte_size", d->bytes);
	put_texts(w, nodes ? "node_types" : "edge_types", &d->types);
	put_texts(w, "file_paths", &d->files);
	if (d->has_sha256) {
		char hex[SHD_SHA256_HEX + 1];
		shd_hex(d->sha256, sizeof(d->sha256), hex);
		shd_json_put_key_text(w, "sha256", hex);
	}
	shd_json_put_object_end(w);
}

static void put_descriptors(shd_json_writer *w, const char *key, const shd_rfdb_descriptors *list, bool always)
{
	if (!list->count && !always)
		return;
	shd_json_put_key_array(w, key, false);
	for (size_t i = 0; i < list->count; i++)
		put_descriptor(w, &list->items[i]);
	shd_json_put_array_end(w);
}

static void put_numbers(shd_json_writer *w, const char *key, const shd_rfdb_numbers *list, bool always)
{
	if (!list->count && !always)
		return;
	shd_json_put_key_array(w, key, true);
	for (size_t i = 0; i < list->count; i++)
		shd_json_put_u64(w, list->items[i]);
	shd_json_put_array_end(w);
}

static void put_ids(shd_json_writer *w, const char *key, const shd_rfdb_ids *list)
{
	if (!list->count)
		return;
	shd_json_put_key_array(w, key, false);
	for (size_t i = 0; i < list->count; i++)
		shd_json_put_u128(w, list->items[i]);
	shd_json_put_array_end(w);
}

static void put_edge_keys(shd_json_writer *w, const char *key, const shd_rfdb_edge_keys *list)
{
	if (!list->count)
		return;
	shd_json_put_key_array(w, key, false);
	for (size_t i = 0; i < list->count; i++) {
		shd_json_put_array(w, true);
		shd_json_put_u128(w, list->items[i].src);
		shd_json_put_u128(w, list->items[i].dst);
		shd_json_put_string(w, list->items[i].type);
		shd_json_put_array_end(w);
	}
	shd_json_put_array_end(w);
}

static void put_tags(shd_json_writer *w, const shd_rfdb_tags *tags)
{
	shd_json_put_key_object(w, "tags", false);
	for (size_t i = 0; i < tags->count; i++) {
		shd_json_put_key_str(w, tags->items[i].key);
		shd_json_put_string(w, tags->items[i].value);
	}
	shd_json_put_object_end(w);
}

static void put_stats(shd_json_writer *w, const shd_rfdb_stats *s)
{
	shd_json_put_key_object(w, "stats", false);
	shd_json_put_key_u64(w, "total_nodes", s->nodes);
	shd_json_put_key_u64(w, "total_edges", s->edges);
	shd_json_put_key_u64(w, "node_segment_count", s->node_segments);
	shd_json_put_key_u64(w, "edge_segment_count", s->edge_segments);
	shd_json_put_object_end(w);
}

static void put_compaction(shd_json_writer *w, const shd_rfdb_compaction *c)
{
	if (!c->version)
		return;
	shd_json_put_key_object(w, "last_compaction", false);
	shd_json_put_key_u64(w, "manifest_version", c->version);
	shd_json_put_key_u64(w, "timestamp_ms", c->time_ms);
	shd_json_put_key_u64(w, "l0_segments_merged", c->merged);
	shd_json_put_object_end(w);
}

static void put_counts_of(shd_json_writer *w, const char *key, const shd_rfdb_types *types)
{
	shd_json_put_key_object(w, key, true);
	for (size_t i = 0; i < types->count; i++) {
		shd_json_put_key_str(w, types->items[i].type);
		shd_json_put_u64(w, types->items[i].count);
	}
	shd_json_put_object_end(w);
}

static void put_counts(shd_json_writer *w, const shd_rfdb_counts *c)
{
	if (!c->known)
		return;
	shd_json_put_key_object(w, "live_counts", false);
	put_counts_of(w, "nodes", &c->of[SHD_RFDB_NODES]);
	put_counts_of(w, "edges", &c->of[SHD_RFDB_EDGES]);
	if (c->placed)
		shd_json_put_key_bool(w, "placed", true);
	shd_json_put_object_end(w);
}

static void manifest_write_begin(shd_json_writer *w, shd_buf *out)
{
	shd_json_writer_init(w, out);
	shd_json_put_object(w, false);
}

void shd_rfdb_manifest_encode(const shd_rfdb_manifest *m, shd_buf *out)
{
	shd_json_writer w;
	manifest_write_begin(&w, out);
	shd_json_put_key_u64(&w, "version", m->version);
	shd_json_put_key_u64(&w, "created_at", m->created_at);
	put_descriptors(&w, "node_segments", &m->nodes, true);
	put_descriptors(&w, "edge_segments", &m->edges, true);
	put_tags(&w, &m->tags);
	put_stats(&w, &m->stats);
	if (m->has_parent)
		shd_json_put_key_u64(&w, "parent_version", m->parent);
	put_ids(&w, "tombstoned_node_ids", &m->dead_nodes);
	put_edge_keys(&w, "tombstoned_edge_keys", &m->dead_edges);
	put_descriptors(&w, "l1_node_segments", &m->l1_nodes, false);
	put_descriptors(&w, "l1_edge_segments", &m->l1_edges, false);
	put_compaction(&w, &m->compaction);
	put_counts(&w, &m->counts);
	put_numbers(&w, "given_up", &m->given_up, false);
	shd_seal_put(&w);
}

void shd_rfdb_edit_encode(const shd_rfdb_edit *e, shd_buf *out)
{
	shd_json_writer w;
	manifest_write_begin(&w, out);
	shd_json_put_key_u64(&w, "version", e->version);
	shd_json_put_key_u64(&w, "parent_version", e->parent);
	shd_json_put_key_u64(&w, "base_checkpoint", 0);
	shd_json_put_key_u64(&w, "created_at", e->created_at);
	put_descriptors(&w, "added_node_segments", &e->added_nodes, false);
	put_descriptors(&w, "added_edge_segments", &e->added_edges, false);
	put_numbers(&w, "removed_node_segment_ids", &e->removed_nodes, false);
	put_numbers(&w, "removed_edge_segment_ids", &e->removed_edges, false);
	put_ids(&w, "added_tombstone_nodes", &e->dead_nodes);
	put_ids(&w, "removed_tombstone_nodes", &e->undead_nodes);
	put_edge_keys(&w, "added_tombstone_edges", &e->dead_edges);
	put_edge_keys(&w, "removed_tombstone_edges", &e->undead_edges);
	put_descriptors(&w, "l1_node_segments", &e->l1_nodes, e->has_l1_nodes);
	put_descriptors(&w, "l1_edge_segments", &e->l1_edges, e->has_l1_edges);
	put_compaction(&w, &e->compaction);
	if (e->tags.count)
		put_tags(&w, &e->tags);
	put_stats(&w, &e->stats);
	put_counts(&w, &e->counts);
	shd_seal_put(&w);
}

/* ---- the small ones */

void shd_rfdb_current_encode(const shd_rfdb_current *current, shd_buf *out)
{
	shd_json_writer w;
	manifest_write_begin(&w, out);
	shd_json_put_key_u64(&w, "version", current->version);
	if (current->fence)
		shd_json_put_key_u64(&w, "fence", current->fence);
	if (current->vacant) {
		shd_json_put_key_bool(&w, "making", true);
	}
	shd_seal_put(&w);
}

void shd_rfdb_config_encode(const shd_rfdb_config *config, shd_buf *out)
{
	shd_json_writer w;
	manifest_write_begin(&w, out);
	shd_json_put_key_u64(&w, "shard_count", config->shards);
	shd_json_put_key_u64(&w, "version", 2);
	shd_json_put_key_u64(&w, "created_at", config->created_at);
	shd_json_put_key_text(&w, "planner", config->planner == SHD_RFDB_DIRECTORY ? "directory" : "hash");
	shd_seal_put(&w);
}

static void put_snapshot(shd_json_writer *w, const shd_rfdb_snapshot *s)
{
	shd_json_put_object(w, false);
	shd_json_put_key_u64(w, "version", s->version);
	shd_json_put_key_u64(w, "created_at", s->created_at);
	put_tags(w, &s->tags);
	put_stats(w, &s->stats);
	shd_json_put_object_end(w);
}

static void put_tag_index(shd_json_writer *w, const shd_rfdb_index *index)
{
	shd_json_put_key_object(w, "tag_index", false);
	for (size_t i = 0; i < index->tagged_count; i++) {
		const struct shd_rfdb_tagged *t = &index->tagged[i];
		bool first = !i || shd_str_compare(t[-1].key, t->key) != 0;
		bool last = i + 1 == index->tagged_count || shd_str_compare(t[1].key, t->key) != 0;
		if (first) {
			shd_json_put_key_str(w, t->key);
			shd_json_put_object(w, false);
		}
		shd_json_put_key_str(w, t->value);
		shd_json_put_u64(w, t->version);
		if (last)
			shd_json_put_object_end(w);
	}
	shd_json_put_object_end(w);
}

void shd_rfdb_index_encode(const shd_rfdb_index *index, shd_buf *out)
{
	shd_json_writer w;
	manifest_write_begin(&w, out);
	shd_json_put_key_u64(&w, "latest_version", index->latest);
	shd_json_put_key_array(&w, "snapshots", false);
	for (size_t i = 0; i < index->count; i++)
		put_snapshot(&w, &index->snapshots[i]);
	shd_json_put_array_end(&w);
	put_tag_index(&w, index);
	put_numbers(&w, "referenced_segments", &index->segments, true);
	shd_seal_put(&w);
}
