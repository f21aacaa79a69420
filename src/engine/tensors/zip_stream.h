/* engine/tensors/zip_stream.h - a compressed entry read anywhere.
 *
 * Deflate has no middle: to reach a byte, all before it is inflated. A stream remembers up to SHD_ZIP_POINTS places
 * that it passed, so that going back costs at most the distance of two of them: 1 MiB, or a sixteenth of the entry if
 * that is more. Whatever the entry, it takes less than 5 MiB of memory, and what is kept of it (zip_kept.h). May be
 * shared by threads, which wait for each other. */
#pragma once

#include "base/error.h"
#include "engine/tensors/zip_kept.h"
#include "format/zip.h"

#include <sherd/store.h>

#define SHD_ZIP_POINTS 32

typedef struct shd_zip_stream shd_zip_stream;

/* The bytes of the entry begin at data. The archive outlives the stream. */
int shd_zip_stream_open(shd_zip_stream **out, const sherd_reader *archive, const shd_zip_entry *entry, uint64_t data,
                        sherd_error *err);
void shd_zip_stream_close(shd_zip_stream *s); /* NULL is fine */
/* Before anything is read: parts that will be read one by one, taken over. */
void shd_zip_stream_keep(shd_zip_stream *s, shd_zip_part *parts, size_t count);
/* The range lies in the entry. Errors count from the start of the entry as it was. */
int shd_zip_stream_at(shd_zip_stream *s, uint64_t offset, void *buf, size_t len, sherd_error *err);
/* Does the stream end with the last byte of the entry, in both forms? */
int shd_zip_stream_check_end(shd_zip_stream *s, sherd_error *err);
