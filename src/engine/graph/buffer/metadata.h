/* engine/graph/buffer/metadata.h - what the engine reads in the metadata of records. */
#pragma once

#include "base/str.h"

/* Does the object have "__exported": true? */
bool shd_graph_is_exported(shd_str metadata);
/* Is it about this file: is its __file_context the file, or "__enrichment__/<who>/" and the file? */
bool shd_graph_names_file(shd_str metadata, shd_str file);
/* Has it a __file_context at all? May say yes of others. */
bool shd_graph_may_name_file(shd_str metadata);
