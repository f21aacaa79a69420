/* cli/graph/batch.h - nodes and edges read from JSON Lines, with the lines that they stood on. */
#pragma once

#include "graph/lines.h"

#include <sherd/graph_json.h>

typedef struct cli_batch {
	sherd_graph_lines *records;
	cli_position *node_at, *edge_at; /* of each record */
	size_t node_room, edge_room;
} cli_batch;

/* Where nodes and edges come from. One path for both holds lines of both kinds; "-" is standard input. */
typedef struct cli_sources {
	const char *nodes, *edges; /* NULL: none */
} cli_sources;

int cli_batch_open(cli_batch *b, sherd_error *err);
void cli_batch_close(cli_batch *b);
#define CLI_AUTO_BATCH __attribute__((cleanup(cli_batch_close))) cli_batch
void cli_batch_clear(cli_batch *b);
/* Adds lines until they have about so many bytes (0: all of them): 1, or 0 at the end. */
int cli_batch_read(cli_batch *b, cli_lines *in, sherd_graph_record what, size_t bytes, sherd_error *err);

typedef struct cli_loaded {
	uint64_t nodes, edges; /* lines */
	uint64_t skipped;      /* edges among them that were left out */
	bool skip;             /* set before: edges whose source is no node are left out */
} cli_loaded;

/* Adds what the sources hold to the writer, in memory that does not grow with them as far as this side is concerned.
 * Bad lines are SHERD_ECORRUPT with path, line and byte: then the writer is good for closing only. */
int cli_batch_load(cli_state *cli, sherd_graph *graph, const cli_sources *from, cli_loaded *out, sherd_error *err);
/* Reads all that the sources hold. */
int cli_batch_read_all(cli_batch *b, const cli_sources *from, sherd_error *err);

/* What the library says of a record by its index, nodes before edges, is said of its line here, so that the data is to
 * blame, not the usage; the id of a source is told as the line has it. */
int cli_batch_blame(const cli_batch *b, size_t nodes, int rc, sherd_error *err);
