/* cli/graph/batch.h - nodes and edges read from JSON Lines, with the lines that they stood on. */
#ifndef SHERD_CLI_GRAPH_BATCH_H
#define SHERD_CLI_GRAPH_BATCH_H

#include "graph/lines.h"

#include <sherd/graph_json.h>

typedef struct sherd_batch {
	sherd_graph_lines *records;
	sherd_position *node_at, *edge_at; /* of each record */
	size_t node_room, edge_room;
} sherd_batch;

/* Where nodes and edges come from. One path for both holds lines of both kinds; "-" is standard input. */
typedef struct sherd_sources {
	const char *nodes, *edges; /* NULL: none */
} sherd_sources;

int sherd_batch_open(sherd_batch *b, sherd_error *err);
void sherd_batch_close(sherd_batch *b);
void sherd_batch_clear(sherd_batch *b);
/* Adds lines until they have about so many bytes (0: all of them): 1, or 0 at the end. */
int sherd_batch_read(sherd_batch *b, sherd_lines *in, sherd_graph_record what, size_t bytes, sherd_error *err);

typedef struct sherd_loaded {
	uint64_t nodes, edges; /* lines */
	uint64_t skipped;      /* edges among them that were left out */
	bool skip;             /* set before: edges whose source is no node are left out */
} sherd_loaded;

/* Adds what the sources hold to the writer, in memory that does not grow with them as far as this side is concerned.
 * Bad lines are SHERD_ECORRUPT with path, line and byte: then the writer is good for closing only. */
int sherd_batch_load(sherd_cli *cli, sherd_graph *graph, const sherd_sources *from, sherd_loaded *out,
                     sherd_error *err);
/* Reads all that the sources hold. */
int sherd_batch_read_all(sherd_batch *b, const sherd_sources *from, sherd_error *err);

/* What the library says of an edge, with the id of its source as the line says it. */
int sherd_batch_blame_edge(const sherd_batch *b, size_t edge, int rc, sherd_error *err);
/* What the library says of an argument is said of a line here, so that the data is to blame, not the usage. */
int sherd_batch_blame(const sherd_position *at, int rc, sherd_error *err);

#endif
