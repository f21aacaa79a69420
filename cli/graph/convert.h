/* cli/graph/convert.h - sherd convert, where a graph is on either side. */
#ifndef SHERD_CLI_GRAPH_CONVERT_H
#define SHERD_CLI_GRAPH_CONVERT_H

#include "base/args.h"

/* Converts between databases and JSON Lines. *done is false, and nothing has happened, when neither side is about
 * graphs. */
int sherd_graph_convert_any(sherd_cli *cli, const sherd_args *args, bool *done, sherd_error *err);

#endif
