/* cli/tensors/pick.h - which tensors a word on the command line means. */
#pragma once

#include "cli.h"

#include <sherd/bundle.h>

/* The tensor of that name, or the only one whose name ends with it, after a dot or a slash. SHERD_ENOTFOUND names those
 * that are alike. */
int cli_pick_tensor(size_t *out, const sherd_bundle *bundle, const char *name, sherd_error *err);

/* For completion: the names of all tensors under a path, a line each; those that no line can hold are left out. */
int cli_pick_list(cli_out *out, const char *path, sherd_error *err);

/* Those whose names match the pattern, in stored order; free() them. NULL: all. A word without `*`, `?` and `[` may be
 * a name as above. SHERD_ENOTFOUND when there is none. */
int cli_pick_tensors(size_t **out, size_t *count, const sherd_bundle *bundle, const char *glob, sherd_error *err);
