/* engine/graph/format.h - graph databases in the table of formats. */
#pragma once

#include "engine/tensors/format.h"

extern const shd_format_entry shd_format_rfdb;
extern const shd_format_entry shd_format_rfdb_segment; /* of a database, by itself */
extern const shd_format_entry shd_format_rfdb_part;    /* any other file of one */
extern const shd_format_entry shd_format_jsonl;
