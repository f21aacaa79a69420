/* cli/base/watch.h - signals, and the progress that they end. */
#pragma once

#include "base/args.h"

/* From here on SIGINT and SIGTERM cancel the work that runs, a second one ends the process, and writing to a pipe that
 * nobody reads, or more than a file may hold, is an error like any other. Fills cli->progress and cli->waiting. */
int cli_watch_begin(cli_state *cli, const cli_args *args, sherd_error *err);
/* Where rc says that the work was cancelled: by a signal. Returns rc. */
int cli_watch_blame(int rc, sherd_error *err);
/* SHERD_ECANCELLED after a signal; for loops of our own. */
int cli_watch_check(sherd_error *err);
