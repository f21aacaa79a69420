/* cli/graph/export.h - everything of a graph, as JSON Lines. */
#pragma once

#include "graph/batch.h"
#include "graph/db.h"

typedef struct cli_exported {
	uint64_t nodes, edges, bytes;
} cli_exported;

/* Writes nodes and edges, each where it is wanted; "-" is standard output, one path for both holds the nodes first.
 * Files appear when all is written. */
int cli_export_write(cli_state *cli, const cli_db *db, const cli_sources *to, bool replace, cli_exported *out,
                     sherd_error *err);
