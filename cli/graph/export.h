/* cli/graph/export.h - everything of a graph, as JSON Lines. */
#ifndef SHERD_CLI_GRAPH_EXPORT_H
#define SHERD_CLI_GRAPH_EXPORT_H

#include "graph/batch.h"
#include "graph/db.h"

typedef struct sherd_exported {
	uint64_t nodes, edges, bytes;
} sherd_exported;

/* Writes nodes and edges, each where it is wanted; "-" is standard output, one path for both holds the nodes first.
 * Files appear when all is written. */
int sherd_export_write(sherd_cli *cli, const sherd_db *db, const sherd_sources *to, bool replace, sherd_exported *out,
                       sherd_error *err);

#endif
