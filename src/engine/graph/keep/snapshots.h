/* engine/graph/keep/snapshots.h - the versions of a database, and the index of them. */
#pragma once

#include "engine/graph/graph.h"

/* A manifest that is there. */
typedef struct graph_manifest_file {
	uint64_t version;
	bool edit;
	uint64_t size;
	char identity[72];
} graph_manifest_file;
typedef SHD_VEC(graph_manifest_file) graph_manifest_vec;
typedef SHD_VEC(shd_rfdb_snapshot) graph_snapshot_vec;
typedef SHD_VEC(struct shd_rfdb_tagged) graph_tagged_vec;

/* Those up to a version, into an empty list, by version, the full one first. */
int shd_graph_list_manifests(const graph_place *p, uint64_t up_to, graph_manifest_vec *out, sherd_error *err);

/* The versions that can be opened, oldest first: their manifests can be read and all their segments are there. */
typedef struct graph_snapshots {
	graph_snapshot_vec list;
	graph_snapshot_vec tagged; /* those with tags whose manifests can be read, but segments are gone */
	shd_arena arena;
} graph_snapshots;
int shd_graph_take_snapshots(const graph_place *p, uint64_t up_to, graph_snapshots *out, sherd_error *err);
void shd_graph_snapshots_done(graph_snapshots *s);

/* What tag_index is to say of them, into an empty list: under each tag the newest version
 * that has it, by key and value. */
int shd_graph_index_tags(const shd_rfdb_snapshot *list, size_t count, graph_tagged_vec *out, sherd_error *err);

/* Writes manifest_index.json for a version, trusted: with what the old one says of versions that are still there; else
 * from the manifests alone. written: the manifest of the version, if it was written in full just now; or NULL. */
int shd_graph_write_index(const graph_place *p, uint64_t version, bool trusted, const shd_rfdb_manifest *written,
                          sherd_error *err);
