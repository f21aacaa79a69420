/* engine/graph/verify/verify.h - checks of graph databases. */
#pragma once

#include "engine/tensors/report.h"

/* A folder, "" or "a/b". */
int shd_graph_verify(sherd_report *r, sherd_store *store, const char *folder, const sherd_verify_options *options,
                     sherd_error *err);
