/* engine/graph/format.h - graph databases in the table of formats. */
#ifndef SHERD_ENGINE_GRAPH_FORMAT_H
#define SHERD_ENGINE_GRAPH_FORMAT_H

#include "engine/tensors/format.h"

extern const sherd_format_entry sherd_format_rfdb;
extern const sherd_format_entry sherd_format_rfdb_segment; /* of a database, by itself */
extern const sherd_format_entry sherd_format_rfdb_part;    /* any other file of one */
extern const sherd_format_entry sherd_format_jsonl;

#endif
