/* engine/graph/open.h - the parts of opening that other files of the engine use. */
#ifndef SHERD_ENGINE_GRAPH_OPEN_H
#define SHERD_ENGINE_GRAPH_OPEN_H

#include "engine/graph/graph.h"

int sherd_graph_read_config(const graph_place *p, sherd_rfdb_config *out, sherd_error *err);
/* The lock that one writer at a time holds, ours or the real server; *out is NULL on stores that cannot lock. */
int sherd_graph_lock_writer(const graph_place *p, sherd_lock **out, sherd_error *err);

#endif
