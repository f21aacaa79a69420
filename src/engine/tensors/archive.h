/* engine/tensors/archive.h - a ZIP archive that is read: its entries by name, and the bytes of each.
 *
 * Opening reads the end and the directory; memory is in proportion to the directory, which is held against the limits
 * before it is read. What lies in front of the bytes of an entry is held against the directory when it is opened. */
#pragma once

#include "base/meter.h"
#include "engine/tensors/zip_kept.h"
#include "format/zip.h"

#include <sherd/limits.h>
#include <sherd/store.h>

typedef struct shd_archive {
	sherd_reader *reader;
	shd_arena arena;
	size_t count;
	const shd_zip_entry *entries;  /* in the order of the directory, without folders */
	const shd_zip_entry **by_name; /* sorted */
} shd_archive;

/* Takes the reader over, also when it fails; shd_archive_done() in either case. */
int shd_archive_open(shd_archive *a, sherd_reader *reader, const shd_zip_limits *rules, const sherd_limits *limits,
                     sherd_error *err);
void shd_archive_done(shd_archive *a);

/* NULL when there is none. */
const shd_zip_entry *shd_archive_find(const shd_archive *a, const char *name);

/* A reader of the entry, which the archive outlives: stored ones are read and mapped in place, compressed ones inflate
 * (zip_stream.h). It has no key; shd_archive_name() gives it <key of the archive>/<name of the entry>. */
int shd_archive_read(const shd_archive *a, const shd_zip_entry *e, sherd_reader **out, sherd_error *err);
int shd_archive_name(const shd_archive *a, const shd_zip_entry *e, sherd_reader *reader, sherd_error *err);
/* Of such a reader: parts that will be read one by one, in an order of their own. Takes the parts over, which were
 * allocated by malloc(). */
void shd_archive_keep(sherd_reader *reader, shd_zip_part *parts, size_t count);

#define SHD_ARCHIVE_CHUNK (1u << 20)

/* All bytes of the entry against its CRC and its sizes; buf has SHD_ARCHIVE_CHUNK bytes, meter may be NULL.
 */
int shd_archive_check(const shd_archive *a, const shd_zip_entry *e, uint8_t *buf, shd_meter *meter, sherd_error *err);
