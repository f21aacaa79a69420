/* tests/support/graph_moved.h - databases whose nodes lie in other shards than the planner says, as after commits of
 * the real server. For programs without cmocka too: what cannot be done ends the program. */
#pragma once

#include <sherd/graph.h>

/* The planner by directory, which knows no directory yet, over what lies there by hash. Nobody has the database open.
 */
void graph_plan_by_directory(sherd_store *store, const char *folder);
/* By hash: one shard more. By directory: what belongs to a shard belongs to the next one. */
void graph_plan_otherwise(sherd_store *store, const char *folder);

/* Lies every row of a node in the shard that the planner says, and every edge with its source? After compaction, when
 * rows are what lives. */
void graph_check_placed(const sherd_graph *g);
