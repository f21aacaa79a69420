/* engine/graph/open/create.h - folders and configuration of a database. */
#pragma once

#include "engine/graph/graph.h"

/* The folders of shards from .. to-1, durably, on stores that have folders. */
int shd_graph_make_shards(const graph_place *p, uint32_t from, uint32_t to, sherd_error *err);
/* In place of what has the identity, which becomes that of the new one; "": where none is. Else SHERD_ECONFLICT,
 * "changed". 72 bytes. */
int shd_graph_write_config(const graph_place *p, const shd_rfdb_config *config, char *identity, sherd_error *err);
int shd_graph_write_plan(const graph_place *p, const shd_rfdb_plan *plan, char *identity, sherd_error *err);
