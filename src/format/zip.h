/* format/zip.h - ZIP archives (docs/formats/sdnb.md, The archive): what is read of them, and those that are written.
 *
 * An archive is read from its end: the end record tells where the directory lies, the directory where the entries lie.
 * Refused: encrypted, divided over several files, entries that overlap, names that climb, more than the limits below.
 */
#ifndef SHD_FORMAT_ZIP_H
#define SHD_FORMAT_ZIP_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"

#define SHD_ZIP_MAGIC "PK\3\4"
#define SHD_ZIP_TAIL (68u << 10)        /* the end is looked for in so many last bytes */
#define SHD_ZIP_LOCAL 30                /* bytes of a local head before the name */
#define SHD_ZIP_MOST_NAME 768           /* bytes of a name, 255 of one part */
#define SHD_ZIP_MOST_ENTRIES 1000       /* of one archive */
#define SHD_ZIP_MOST_RATIO 1032         /* bytes from one compressed byte: deflate cannot give more */
#define SHD_ZIP_MOST_TOTAL (1ull << 40) /* bytes of all compressed entries, inflated */

enum { SHD_ZIP_STORED = 0, SHD_ZIP_DEFLATED = 8 };

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

/* tail is the end of the file, SHD_ZIP_TAIL bytes or all of it. */
int shd_zip_find_end(const void *tail, size_t len, uint64_t file_size, shd_zip_end *out, sherd_error *err);
/* Decodes the bytes of the directory; entries are in its order and live in the arena. Folders are left out. */
int shd_zip_decode_directory(const void *data, const shd_zip_end *end, shd_arena *arena, shd_zip_entry **out,
                             size_t *count, sherd_error *err);
/* Holds the local head (SHD_ZIP_LOCAL bytes and the name) against the directory; *data is where the bytes begin. */
int shd_zip_decode_local(const uint8_t *raw, const shd_zip_entry *entry, uint64_t *data, sherd_error *err);

/* Appends the local head of a stored entry that lies at entry->head, such that its bytes begin at a multiple of align,
 * a power of two, at most 4096. Its length depends on nothing but head, name and size. */
void shd_zip_put_local(shd_buf *out, const shd_zip_entry *entry, uint32_t align);
/* Appends the directory, which lies at byte at, and the end of the archive. */
void shd_zip_put_directory(shd_buf *out, const shd_zip_entry *entries, size_t count, uint64_t at);

#endif
