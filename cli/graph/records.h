/* cli/graph/records.h - nodes and edges on their way out: as lines to standard output or to a file, or into the
 * document of
 * --json. */
#pragma once

#include "cli.h"
#include "base/doc.h"

#include <sherd/graph_json.h>

typedef struct cli_records {
	cli_state *cli;
	sherd_error *err;
	sherd_writer *file; /* lines go there; NULL: to standard output */
	cli_doc *doc;       /* values go there; NULL: they are lines */
	const char *change; /* what became of the next record, told with it; NULL: nothing is */
	uint64_t nodes, edges, bytes;
	uint64_t limit;           /* stops after so many; 0: never */
	bool count;               /* records are counted, not printed */
	const sherd_graph *graph; /* of edges: the node at the other end is told too; NULL: it is not */
	sherd_graph_id from;      /* the end that is not the other one */
	int rc;                   /* of the first failure, which stops */
	char *line;
	size_t room;
} cli_records;

/* Callbacks; arg is the cli_records. They say stop after a failure, a signal, or when nobody reads standard output
 * any more. */
bool cli_records_node(void *arg, const sherd_graph_node *node);
bool cli_records_edge(void *arg, const sherd_graph_edge *edge);
/* Frees, and returns rc, or what went wrong before when that is a failure of its own. */
int cli_records_done(cli_records *r, int rc);
