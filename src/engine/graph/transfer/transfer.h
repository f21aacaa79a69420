/* engine/graph/transfer/transfer.h - what one database says becomes the newest version of another one.
 *
 * Versions and segments have numbers of their own in each place. A segment is known by the hash of its bytes; what the
 * version that the target began with names is not sent again, and nothing else that lies there is used: it may be about
 * to go. On stores without locks the numbers of what is sent are drawn by lot, so that no name is ever given to two
 * objects, and a loser removes nothing but its own. */
#pragma once

#include "base/meter.h"
#include "engine/graph/graph.h"
#include "engine/graph/open/creation.h"
#include "format/rfdb/synced.h"

/* A database, at one version. */
typedef struct graph_side {
	graph_place place;
	graph_head head;
	graph_version version;
	shd_rfdb_config config;
	char config_identity[72];
	sherd_lock *lock; /* on the manifest of the source, on LOCK of the target */
} graph_side;

/* A segment of the source. */
typedef struct graph_sending {
	const shd_rfdb_descriptor *from;
	size_t about;          /* its place among the target's descriptors */
	bool there;            /* the target's version names it */
	graph_written written; /* what was sent, to be removed if it never counts */
} graph_sending;

typedef struct graph_transfer {
	graph_side from, to;
	bool fresh; /* the target is made */
	graph_creation creation;
	SHD_VEC(shd_rfdb_descriptor) abouts; /* as the target's manifest lists them: nodes, edges, L1 of both */
	SHD_VEC(graph_sending) segments;     /* by the number in the source */
	shd_rfdb_manifest next;              /* of the target; borrows from abouts and the source */
	bool printed;                        /* all segments have a hash */
	uint8_t print[SHD_SHA256_BYTES];     /* of the source */
	sherd_pool *pool;
	shd_meter meter;
	sherd_graph_transfer_result result;
} graph_transfer;

/* What a version says, whatever its numbers: equal for versions of equal segments, in the same order, under the same
 * tombstones. False when the hash of a segment is not known. */
bool shd_graph_print(const shd_rfdb_manifest *m, uint8_t out[SHD_SHA256_BYTES]);

/* Finds what is to be sent, and numbers it. */
int shd_graph_transfer_plan(graph_transfer *t, sherd_error *err);
/* Sends it, durably. */
int shd_graph_transfer_send(graph_transfer *t, sherd_error *err);
/* Removes what was sent. */
void shd_graph_transfer_undo(graph_transfer *t);

/* Has the source said, at some time, what the target says? Else SHERD_ECONFLICT, "diverged". record is where the
 * source's or the target's synced.json lies, and place the name of the other one there. */
int shd_graph_transfer_check(const graph_transfer *t, bool push, const char *place, sherd_error *err);
/* Notes that both say the same. A failure costs no more than a look at old versions next time. */
void shd_graph_transfer_note(const graph_transfer *t, bool push, const char *place);
