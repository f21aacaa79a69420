/* engine/rows/writer.h - what packing knows beyond the public writer. */
#pragma once

#include <sherd/rows.h>

/* How many rows will be appended in all: then no shard has to be hashed again because it ended early. */
void shd_rows_writer_expect(sherd_rows_writer *writer, uint64_t rows);

/* Commits, and tells what the options ask for. */
int shd_rows_pack_commit(sherd_rows_writer *writer, const sherd_rows_pack_options *options, sherd_error *err);
/* A writer for so many rows, after checking that they can be packed; options are not NULL. */
int shd_rows_pack_open(sherd_rows_writer **out, sherd_store *store, const char *folder, uint64_t rows, uint64_t width,
                       const sherd_rows_pack_options *options, sherd_error *err);
