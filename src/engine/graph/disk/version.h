/* engine/graph/disk/version.h - reading the manifest of one version: the last full one up to it, and the edits since.
 */
#pragma once

#include "engine/graph/disk/place.h"
#include "format/rfdb/manifest.h"

typedef struct graph_version {
	shd_arena arena;
	shd_rfdb_manifest manifest;
	uint64_t base;          /* the version of the full manifest it was read from */
	char base_identity[72]; /* of that object */
	uint64_t unsealed;      /* documents without a seal: others wrote them */
} graph_version;

/* SHERD_ENOTFOUND when one of its documents is not there. */
int shd_graph_version_load(graph_version *out, const graph_place *p, uint64_t version, sherd_error *err);
void shd_graph_version_done(graph_version *v);
