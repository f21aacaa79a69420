/* engine/graph/open/creation.h - a database from its first file to the moment that it counts.
 *
 * graph.making is there first, then a current.json without a version, which belongs to whoever wrote it last; it gets
 * its version last, if it still is the same object, and then graph.making goes. So whatever a crash leaves is known: a
 * folder with graph.making and no version holds what nobody has finished, and who makes a database there next clears
 * it. A folder with parts of a database and neither of them has been damaged, and is left alone. */
#pragma once

#include "engine/graph/disk/head.h"
#include "engine/publish/claim.h"

#include <sherd/graph.h>

typedef struct graph_creation {
	const graph_place *place;
	shd_claim lock; /* the writer's, on LOCK */
	size_t missing; /* parts of the folder's path that were not there before */
	bool claimed;   /* graph.making is ours */
	bool has_head;  /* the head was ours */
	graph_head head;
	char config_identity[72], plan_identity[72], manifest_identity[72];
	uint32_t shards; /* whose folders there may be */
} graph_creation;

/* Everything of an empty version 1 but current.json. SHERD_EEXIST when a database is there ("exists"), or what is left
 * of one ("leftovers"). After a failure all is as before. NULL layout: defaults. */
int shd_graph_creation_begin(graph_creation *m, const graph_place *p, const sherd_graph_layout *layout, int64_t time_ns,
                             sherd_error *err);
/* Makes version 1 current. */
int shd_graph_creation_publish(graph_creation *m, sherd_error *err);
/* After rc: the database is whole, or everything that was made goes again, as far as it can be removed. Returns rc. */
int shd_graph_creation_end(graph_creation *m, int rc);
