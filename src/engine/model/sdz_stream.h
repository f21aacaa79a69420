/* engine/model/sdz_stream.h - a compressed entry read anywhere.
 *
 * Deflate has no middle: to reach a byte, all before it is inflated. A stream remembers up to SHD_SDZ_POINTS places
 * that it passed, so that going back costs at most the distance of two of them: 1 MiB, or a sixteenth of the entry if
 * that is more. Whatever the entry, it takes less than 5 MiB of memory, and what is kept of it (sdz_kept.h). May be
 * shared by threads, which wait for each other. */
#ifndef SHD_ENGINE_MODEL_SDZ_STREAM_H
#define SHD_ENGINE_MODEL_SDZ_STREAM_H

#include "base/error.h"
#include "engine/model/sdz_kept.h"
#include "format/zip.h"

#include <sherd/store.h>

#define SHD_SDZ_POINTS 32

typedef struct shd_sdz_stream shd_sdz_stream;

/* The bytes of the entry begin at data. The archive outlives the stream. */
int shd_sdz_stream_open(shd_sdz_stream **out, const sherd_reader *archive, const shd_zip_entry *entry, uint64_t data,
                        sherd_error *err);
void shd_sdz_stream_close(shd_sdz_stream *s); /* NULL is fine */
/* Before anything is read: parts that will be read one by one, taken over. */
void shd_sdz_stream_keep(shd_sdz_stream *s, shd_sdz_part *parts, size_t count);
/* The range lies in the entry. Errors count from the start of the entry as it was. */
int shd_sdz_stream_at(shd_sdz_stream *s, uint64_t offset, void *buf, size_t len, sherd_error *err);
/* Does the stream end with the last byte of the entry, in both forms? */
int shd_sdz_stream_check_end(shd_sdz_stream *s, sherd_error *err);

#endif
