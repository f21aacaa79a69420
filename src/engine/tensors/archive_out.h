/* engine/tensors/archive_out.h - a ZIP archive that is written in one pass, entry after entry.
 *
 * The length of an entry is known when it begins; its CRC, and how long it is when compressed, follow its bytes. */
#pragma once

#include "codec/deflate.h"
#include "format/zip.h"

#include <sherd/store.h>

/* Entries up to this are compressed whole, by the level that was asked for; longer ones in pieces, by level 1. */
#define SHD_ARCHIVE_WHOLE ((uint64_t)64 << 20)

typedef struct shd_archive_out {
	sherd_writer *writer; /* lent */
	uint64_t at;          /* bytes so far */
	shd_arena arena;
	SHD_VEC(shd_zip_entry) entries;
	shd_zip_entry entry; /* which is being written */
	shd_deflate *whole, *pieces;
	shd_buf raw, packed;
} shd_archive_out;

/* level: of deflate, 1 to 12; 0: entries are stored. shd_archive_out_done() also when it fails. */
int shd_archive_out_init(shd_archive_out *o, sherd_writer *writer, int level, sherd_error *err);
void shd_archive_out_done(shd_archive_out *o);

/* Then size bytes are appended, no more and no less. Stored entries begin at a multiple of align. */
int shd_archive_out_begin(shd_archive_out *o, const char *name, uint64_t size, uint32_t align, sherd_error *err);
int shd_archive_out_append(shd_archive_out *o, const void *buf, size_t len, sherd_error *err);
int shd_archive_out_end(shd_archive_out *o, sherd_error *err);

/* The directory, after the last entry. The writer is committed by who opened it. */
int shd_archive_out_finish(shd_archive_out *o, sherd_error *err);
