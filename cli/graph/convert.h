/* cli/graph/convert.h - sherd convert, where a graph is on either side. */
#pragma once

#include "base/args.h"

/* Converts between databases and JSON Lines. *done is false, and nothing has happened, when neither side is about
 * graphs. */
int cli_graph_convert_any(cli_state *cli, const cli_args *args, bool *done, sherd_error *err);
