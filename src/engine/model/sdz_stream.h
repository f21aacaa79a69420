/* engine/model/sdz_stream.h - a compressed entry read anywhere.
 *
 * Deflate has no middle: to reach a byte, all before it is inflated. A stream remembers up to SHERD_SDZ_POINTS places
 * that it passed, so that going back costs at most the distance of two of them: 1 MiB, or a sixteenth of the entry if
 * that is more. Whatever the entry, it takes less than 5 MiB of memory, and what is kept of it (sdz_kept.h). May be
 * shared by threads, which wait for each other. */
#ifndef SHERD_ENGINE_MODEL_SDZ_STREAM_H
#define SHERD_ENGINE_MODEL_SDZ_STREAM_H

#include "base/error.h"
#include "engine/model/sdz_kept.h"
#include "format/zip.h"

#include <sherd/store.h>

#define SHERD_SDZ_POINTS 32

typedef struct sherd_sdz_stream sherd_sdz_stream;

/* The bytes of the entry begin at data. The archive outlives the stream. */
int sherd_sdz_stream_open(sherd_sdz_stream **out, const sherd_reader *archive, const sherd_zip_entry *entry,
                          uint64_t data, sherd_error *err);
void sherd_sdz_stream_close(sherd_sdz_stream *s); /* NULL is fine */
/* Before anything is read: parts that will be read one by one, taken over. */
void sherd_sdz_stream_keep(sherd_sdz_stream *s, sherd_sdz_part *parts, size_t count);
/* The range lies in the entry. Errors count from the start of the entry as it was. */
int sherd_sdz_stream_at(sherd_sdz_stream *s, uint64_t offset, void *buf, size_t len, sherd_error *err);
/* Does the stream end with the last byte of the entry, in both forms? */
int sherd_sdz_stream_check_end(sherd_sdz_stream *s, sherd_error *err);

#endif
