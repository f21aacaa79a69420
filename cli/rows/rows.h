/* cli/rows/rows.h - a set of rows, named by a path. */
#ifndef SHERD_CLI_ROWS_ROWS_H
#define SHERD_CLI_ROWS_ROWS_H

#include "base/place.h"

#include <sherd/rows.h>

/* Opens the set that the place names. A folder without any shard that is known is a set without rows, or one whose
 * first shard is refused: the commands for rows say so. Errors name their objects as the user does. */
int sherd_rows_open_place(sherd_rows **out, sherd_cli *cli, const sherd_place *place, bool incomplete,
                          sherd_error *err);
/* The same by the paths of a command: one of a set, or several of shards, in this order. The place is closed after the
 * rows. */
int sherd_rows_open_paths(sherd_rows **out, sherd_cli *cli, sherd_place *place, char *const *paths, int count,
                          bool incomplete, sherd_error *err);
/* Tells of finite values that became infinite, unless there are none; with --json the document has to. */
void sherd_rows_warn_of_overflow(sherd_cli *cli, const char *path, uint64_t count, sherd_dtype dtype);
/* Prints what sherd info and sherd rows info tell; incomplete: of a set that is being packed, too. */
int sherd_rows_show(sherd_cli *cli, const char *path, const sherd_place *place, bool incomplete, sherd_error *err);

#endif
