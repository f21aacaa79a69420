/* cli/rows/rows.h - a set of rows, named by a path. */
#pragma once

#include "base/place.h"

#include <sherd/rows.h>

/* Opens the set that the place names. A folder without any shard that is known is a set without rows, or one whose
 * first shard is refused: the commands for rows say so. Errors name their objects as the user does. */
int cli_rows_open_place(sherd_rows **out, cli_state *cli, const cli_place *place, bool incomplete, sherd_error *err);
/* The same by the paths of a command: one of a set, or several of shards, in this order. The place is closed after the
 * rows. */
int cli_rows_open_paths(sherd_rows **out, cli_state *cli, cli_place *place, char *const *paths, int count,
                        bool incomplete, sherd_error *err);
/* Tells of finite values that became infinite, unless there are none; with --json the document has to. */
void cli_rows_warn_of_overflow(cli_state *cli, const char *path, uint64_t count, sherd_dtype dtype);
/* Prints what sherd info and sherd rows info tell; incomplete: of a set that is being packed, too. */
int cli_rows_show(cli_state *cli, const char *path, const cli_place *place, bool incomplete, sherd_error *err);
