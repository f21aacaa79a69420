/* cli/graph/sources.h - files of JSON Lines, or standard input, that nodes and edges come from. */
#pragma once

#include "cli.h"

#include <sherd/graph_json.h>

/* One path for both holds lines of both kinds; "-" is standard input. */
typedef struct cli_sources {
	const char *nodes, *edges; /* NULL: none */
} cli_sources;

/* Adds what they hold to the writer. Bad lines are SHERD_ECORRUPT with path, line and byte: then the writer is good for
 * closing only. A signal ends the waiting with SHERD_ECANCELLED. */
int cli_sources_import(cli_state *cli, sherd_graph *graph, const cli_sources *from, bool skip_unknown,
                       sherd_graph_import_result *out, sherd_error *err);
/* Reads all that they hold; *lines is to be closed, whatever is returned. */
int cli_sources_read(sherd_graph_lines **lines, const cli_sources *from, sherd_error *err);
