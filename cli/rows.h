/* cli/rows.h - a set of rows, named by a path. */
#ifndef SHERD_CLI_ROWS_H
#define SHERD_CLI_ROWS_H

#include "place.h"

#include <sherd/rows.h>

/* Prints what sherd info and sherd rows info tell; incomplete: of a set that is being packed, too. */
int sherd_rows_show(sherd_cli *cli, const char *path, const sherd_place *place, bool incomplete, sherd_error *err);

#endif
