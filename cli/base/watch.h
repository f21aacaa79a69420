/* cli/base/watch.h - signals, and the progress that they end. */
#ifndef SHERD_CLI_BASE_WATCH_H
#define SHERD_CLI_BASE_WATCH_H

#include "cli.h"

/* From here on SIGINT and SIGTERM cancel the work that runs, a second one ends the process, and writing to a pipe that
 * nobody reads, or more than a file may hold, is an error like any other. Fills cli->progress and cli->waiting. */
void sherd_watch_begin(sherd_cli *cli);
/* SHERD_ECANCELLED after a signal; for loops of our own. */
int sherd_watch_check(sherd_error *err);

#endif
