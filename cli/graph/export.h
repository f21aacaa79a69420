/* cli/graph/export.h - everything of a graph, as JSON Lines. */
#pragma once

#include "graph/db.h"
#include "graph/sources.h"

/* Writes nodes and edges, each where it is wanted; "-" is standard output, one path for both holds the nodes first.
 * Files appear when all is written. */
int cli_export_write(cli_state *cli, const cli_db *db, const cli_sources *to, bool replace,
                     sherd_graph_export_result *out, sherd_error *err);
