/* cli/graph/records.h - nodes and edges on their way out: as lines to standard output, or into the document of
 * --json. */
#pragma once

#include "cli.h"
#include "base/doc.h"

#include <sherd/graph_json.h>

typedef struct cli_records {
	cli_state *cli;
	sherd_error *err;
	cli_doc *doc;       /* values go there; NULL: they are lines */
	const char *change; /* what became of the next record, told with it; NULL: nothing is */
	uint64_t nodes, edges;
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
/* Lines to standard output. What a terminal would take for a command is escaped, which JSON allows wherever it can
 * stand. */
void cli_records_print(cli_out *out, const char *json, size_t len);
