/* tests/support/rfdb_files.h - segments made by us, and databases that the real server made. */
#pragma once

#include "format/rfdb/writer.h"

/* Segments of rows whose strings and ids follow from their number. sorted: by id; else as they come. */
void rfdb_make_nodes(uint64_t rows, bool sorted, shd_buf *out);
void rfdb_make_edges(uint64_t rows, bool sorted, shd_buf *out);
/* What row they are made of: the node of a number, and the edge. Strings lie in text, which holds 256 bytes. */
shd_rfdb_node rfdb_node(uint64_t number, char *text);
shd_rfdb_edge rfdb_edge(uint64_t number);
/* The segment that a writer holds. */
void rfdb_finish(shd_rfdb_writer *w, shd_buf *out);

/* Unpacks $SHD_FIXTURES/rfdb/<archive>.rfdb.tar.gz into a new folder, to be removed with scratch_remove(). */
char *rfdb_unpack(const char *archive);
/* Calls each() for every file below the folder whose name ends so; how many there were. */
typedef void rfdb_file_fn(const char *path, const uint8_t *data, size_t len);
size_t rfdb_each_file(const char *folder, const char *suffix, rfdb_file_fn *each);
