/* cli/tensors/diff.h - two things that are compared. */
#pragma once

#include "base/args.h"
#include "base/place.h"

#include <sherd/diff.h>

typedef struct cli_diff {
	cli_state *cli;
	const cli_args *args;
	const char *paths[2];
	cli_place places[2];
} cli_diff;

/* Both are graph databases, which then own their places. Returns an exit status, or a failure. */
int cli_diff_graphs(cli_diff *diff, sherd_error *err);
