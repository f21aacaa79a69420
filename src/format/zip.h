/* format/zip.h - ZIP archives: what is read of them, and those that are written.
 *
 * An archive is read from its end: the end record tells where the directory lies, the directory where the entries lie.
 * Zip64 and entries whose sizes stand after their bytes are read. Refused: encrypted, divided over several files,
 * entries that overlap, names that climb, more than the limits of the caller, who has rules of its own. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>

#define SHD_ZIP_MAGIC "PK\3\4"
#define SHD_ZIP_TAIL (68u << 10)        /* the end is looked for in so many last bytes */
#define SHD_ZIP_LOCAL 30                /* bytes of a local head before the name */
#define SHD_ZIP_MOST_NAME 4096          /* bytes of a name, whoever reads */
#define SHD_ZIP_MOST_ENTRIES (1u << 20) /* of one archive, whoever reads */
#define SHD_ZIP_MOST_RATIO 1032         /* bytes from one compressed byte: deflate cannot give more */

enum { SHD_ZIP_STORED = 0, SHD_ZIP_DEFLATED = 8 };

/* Flags of an entry. */
enum {
	SHD_ZIP_DESCRIPTOR = 1 << 3, /* crc and sizes stand after the bytes */
	SHD_ZIP_UTF8 = 1 << 11       /* the name is UTF-8; else no byte of it may be above 127 for all to agree */
};

/* What the caller takes; where 0 stands, nothing but what is said above. */
typedef struct shd_zip_limits {
	uint64_t entries;
	uint64_t inflated; /* bytes of all compressed entries, inflated */
	size_t name;       /* bytes of a name */
	bool paths;        /* names are good paths anywhere: no \\, no ':', parts of 255 bytes at most */
} shd_zip_limits;

/* Where the directory lies. */
typedef struct shd_zip_end {
	uint64_t entries;
	uint64_t at, bytes;
} shd_zip_end;

typedef struct shd_zip_entry {
	const char *name;
	uint16_t flags, method;
	uint32_t crc;          /* of the bytes as they were */
	uint64_t stored, size; /* bytes in the archive, and as they were */
	uint64_t head;         /* where its local head lies */
	uint64_t limit;        /* where the next entry or the directory begins */
} shd_zip_entry;

/* Why a name is refused, for a sentence about it: "is empty", "leads out of the archive"; or NULL. */
const char *shd_zip_name_fault(shd_str name, const shd_zip_limits *limits);

/* tail is the end of the file, SHD_ZIP_TAIL bytes or all of it. */
int shd_zip_find_end(const void *tail, size_t len, uint64_t file_size, const shd_zip_limits *limits, shd_zip_end *out,
                     sherd_error *err);
/* Decodes the bytes of the directory; entries are in its order and live in the arena. Folders are left out. */
int shd_zip_decode_directory(const void *data, const shd_zip_end *end, const shd_zip_limits *limits, shd_arena *arena,
                             shd_zip_entry **out, size_t *count, sherd_error *err);
/* Holds the local head (SHD_ZIP_LOCAL bytes and the name) against the directory; *data is where the bytes begin. */
int shd_zip_decode_local(const uint8_t *raw, const shd_zip_entry *entry, uint64_t *data, sherd_error *err);

/* Appends the local head of an entry that lies at entry->head, such that its bytes begin at a multiple of align, a
 * power of two, at most 4096. Its length depends on nothing but head, name, size, flags and method. With
 * SHD_ZIP_DESCRIPTOR neither crc nor stored is known yet; they follow the bytes. */
void shd_zip_put_local(shd_buf *out, const shd_zip_entry *entry, uint32_t align);
/* Appends what follows the bytes of an entry with SHD_ZIP_DESCRIPTOR. */
void shd_zip_put_descriptor(shd_buf *out, const shd_zip_entry *entry);
/* Appends the directory, which lies at byte at, and the end of the archive. */
void shd_zip_put_directory(shd_buf *out, const shd_zip_entry *entries, size_t count, uint64_t at);
