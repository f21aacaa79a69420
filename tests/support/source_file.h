/* tests/support/source_file.h - files of the source tree as test data: corpora and the examples of documents. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Paths count from the source tree ($SHD_SOURCE) unless they begin with a '/'. What cannot be read fails the test.
 * Results are free()d. */
uint8_t *source_file_read(const char *path, size_t *len);

/* Calls each() for every file of a folder, in the order of their names, and returns how many there were. */
typedef void source_file_fn(const char *name, const uint8_t *data, size_t len);
size_t source_folder_each(const char *folder, source_file_fn *each);

/* The bytes of the first block fenced as ```hex in a document: lines of "offset  pairs of digits  |text|", of which
 * the offsets must be right; a line "*" repeats the 16 bytes before it up to the offset of the next. */
uint8_t *source_hex_block(const char *document, size_t *len);
