/* engine/graph/open.h - the parts of opening that other files of the engine use. */
#ifndef SHERD_ENGINE_GRAPH_OPEN_H
#define SHERD_ENGINE_GRAPH_OPEN_H

#include "engine/graph/graph.h"

int sherd_graph_read_config(const graph_place *p, sherd_rfdb_config *out, sherd_error *err);
/* The lock that one writer at a time holds, ours or the real server; *out is NULL on stores that cannot lock. */
int sherd_graph_lock_writer(const graph_place *p, sherd_lock **out, sherd_error *err);

/* A writer at version 1 of a database that is being made: nothing names its version yet, and whoever makes it holds
 * the lock. */
int sherd_graph_open_making(sherd_graph **out, const graph_place *p, sherd_pool *pool, sherd_error *err);

#endif
