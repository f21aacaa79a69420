/* engine/graph/buffer/metadata.h - what the engine reads in the metadata of records. */
#ifndef SHERD_ENGINE_GRAPH_BUFFER_METADATA_H
#define SHERD_ENGINE_GRAPH_BUFFER_METADATA_H

#include "base/str.h"

/* Does the object have "__exported": true? */
bool sherd_graph_is_exported(sherd_str metadata);
/* Is it about this file: is its __file_context the file, or "__enrichment__/<who>/" and the file? */
bool sherd_graph_names_file(sherd_str metadata, sherd_str file);
/* Has it a __file_context at all? May say yes of others. */
bool sherd_graph_may_name_file(sherd_str metadata);

#endif
