/* format/rfdb/path.h - the directory of a file, as the hash planner of a graph database sees it.
 * docs/formats/rfdb.md, "Parent of a path". */
#pragma once

#include "base/str.h"

/* A prefix of the path, in its bytes: "src//app.ts" gives "src". Empty when there is no directory. */
shd_str shd_rfdb_path_parent(shd_str path);
