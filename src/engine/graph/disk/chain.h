/* engine/graph/disk/chain.h - the manifests of all versions one after the other, each read and applied once.
 *
 * To read one version takes the last full manifest and the edits since; to read all of them so would take the square
 * of their number. */
#pragma once

#include "engine/graph/keep/snapshots.h"

typedef struct graph_chain {
	const graph_place *place;
	bool whole;                 /* manifest is that of the last step */
	shd_rfdb_manifest manifest; /* borrowed from what follows, until the next step */
	uint64_t base;              /* the version of the full one that it comes from */
	uint64_t unsealed;          /* documents since then that others wrote */
	shd_arena documents, lists[2];
	unsigned turn;
} graph_chain;

/* Goes on to the version of the file. Files come as shd_graph_list_manifests() has them; an edit beside the full
 * manifest of its version is passed over: 0, else 1. SHERD_ENOTFOUND when what it is an edit of is not there; after a
 * failure later edits fail likewise, up to the next full one. */
int shd_graph_chain_step(graph_chain *c, const graph_manifest_file *file, sherd_error *err);
void shd_graph_chain_done(graph_chain *c);
