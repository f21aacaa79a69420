/* format/zip.h - ZIP archives (docs/formats/sdnb.md, The archive): what is read of them, and those that are written.
 *
 * An archive is read from its end: the end record tells where the directory lies, the directory where the entries lie.
 * Refused: encrypted, divided over several files, entries that overlap, names that climb, more than the limits below.
 */
#ifndef SHERD_FORMAT_ZIP_H
#define SHERD_FORMAT_ZIP_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"

#define SHERD_ZIP_MAGIC "PK\3\4"
#define SHERD_ZIP_TAIL (68u << 10)        /* the end is looked for in so many last bytes */
#define SHERD_ZIP_LOCAL 30                /* bytes of a local head before the name */
#define SHERD_ZIP_MOST_NAME 768           /* bytes of a name, 255 of one part */
#define SHERD_ZIP_MOST_ENTRIES 1000       /* of one archive */
#define SHERD_ZIP_MOST_RATIO 1032         /* bytes from one compressed byte: deflate cannot give more */
#define SHERD_ZIP_MOST_TOTAL (1ull << 40) /* bytes of all compressed entries, inflated */

enum { SHERD_ZIP_STORED = 0, SHERD_ZIP_DEFLATED = 8 };

/* Where the directory lies. */
typedef struct sherd_zip_end {
	uint64_t entries;
	uint64_t at, bytes;
} sherd_zip_end;

typedef struct sherd_zip_entry {
	const char *name;
	uint16_t flags, method;
	uint32_t crc;          /* of the bytes as they were */
	uint64_t stored, size; /* bytes in the archive, and as they were */
	uint64_t head;         /* where its local head lies */
	uint64_t limit;        /* where the next entry or the directory begins */
} sherd_zip_entry;

/* tail is the end of the file, SHERD_ZIP_TAIL bytes or all of it. */
int sherd_zip_find_end(const void *tail, size_t len, uint64_t file_size, sherd_zip_end *out, sherd_error *err);
/* Decodes the bytes of the directory; entries are in its order and live in the arena. Folders are left out. */
int sherd_zip_decode_directory(const void *data, const sherd_zip_end *end, sherd_arena *arena, sherd_zip_entry **out,
                               size_t *count, sherd_error *err);
/* Holds the local head (SHERD_ZIP_LOCAL bytes and the name) against the directory; *data is where the bytes begin. */
int sherd_zip_decode_local(const uint8_t *raw, const sherd_zip_entry *entry, uint64_t *data, sherd_error *err);

/* Appends the local head of a stored entry that lies at entry->head, such that its bytes begin at a multiple of align,
 * a power of two, at most 4096. Its length depends on nothing but head, name and size. */
void sherd_zip_put_local(sherd_buf *out, const sherd_zip_entry *entry, uint32_t align);
/* Appends the directory, which lies at byte at, and the end of the archive. */
void sherd_zip_put_directory(sherd_buf *out, const sherd_zip_entry *entries, size_t count, uint64_t at);

#endif
