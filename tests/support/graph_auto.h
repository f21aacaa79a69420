/* tests/support/graph_auto.h - stores and graphs that are closed when their block ends. */
#pragma once

#include "base/error.h"

#include <sherd/graph.h>

SHD_AUTO_DEFINE(sherd_store, sherd_store_close)
SHD_AUTO_DEFINE(sherd_graph, sherd_graph_close)
#define SCOPED_STORE SHD_AUTO(sherd_store, sherd_store_close)
#define SCOPED_GRAPH SHD_AUTO(sherd_graph, sherd_graph_close)

/* A new store in memory. */
sherd_store *memory(void);
/* Is the database in the root of the store what this graph shows? */
void assert_stored(sherd_store *store, const sherd_graph *g);
