#include "format/zip.h"

#include "base/cursor.h"
#include "base/map.h"
#include "codec/json.h"

#include <stdlib.h>

enum {
	END_BYTES = 22,
	LOCATOR_BYTES = 20,
	RECORD_BYTES = 56,
	RECORD_COUNTED = 12, /* bytes of the record that its length does not count */
	CENTRAL_BYTES = 46,
	EXTRA_ZIP64 = 1,
	FLAG_ENCRYPTED = 1 << 0 | 1 << 6 | 1 << 13,
	ONLY_DISK16 = 0xffff,
	MOST_PART = 255
};

#define ELSEWHERE UINT32_MAX /* in place of a size or offset: it stands in the Zip64 field */
#define LOCAL_MAGIC 0x04034b50u
#define CENTRAL_MAGIC 0x02014b50u
#define END_MAGIC 0x06054b50u
#define RECORD_MAGIC 0x06064b50u
#define LOCATOR_MAGIC 0x07064b50u

static uint16_t zip_get_u16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static int refuse_disks(uint64_t offset, sherd_error *err)
{
	return shd_fail_at(err, SHERD_EUNSUPPORTED, "multi-volume", offset, "an archive in several files");
}

/* The last place in the tail where an end record fits the end of the file; len when there is none. */
static size_t find_magic(const uint8_t *tail, size_t len)
{
	for (size_t i = len < END_BYTES ? 0 : len - END_BYTES + 1; i-- > 0;)
		if (shd_get_u32(tail + i) == END_MAGIC && zip_get_u16(tail + i + 20) == len - i - END_BYTES)
			return i;
	return len;
}

/* The Zip64 record in front of its locator, which lies at byte end of the tail. base: where the tail begins. */
static int take_record(const uint8_t *tail, size_t end, uint64_t base, shd_zip_end *out, uint64_t *limit,
                       sherd_error *err)
{
	shd_cursor l = shd_cursor_over(tail + end + 4, LOCATOR_BYTES - 4);
	uint32_t disk = shd_cursor_u32(&l);
	uint64_t at = shd_cursor_u64(&l);
	uint32_t disks = shd_cursor_u32(&l);
	if (disk || disks > 1)
		return refuse_disks(base + end, err);
	if (at < base || at > base + end || base + end - at < RECORD_BYTES)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-offsets", base + end + 8,
		                   "the Zip64 record is not in front of its locator");
	shd_cursor c = shd_cursor_over(tail + (at - base), end - (size_t)(at - base));
	uint32_t magic = shd_cursor_u32(&c);
	uint64_t bytes = shd_cursor_u64(&c);
	(void)shd_cursor_u32(&c); /* versions */
	disk = shd_cursor_u32(&c);
	uint32_t disk_of_directory = shd_cursor_u32(&c);
	uint64_t here = shd_cursor_u64(&c);
	out->entries = shd_cursor_u64(&c);
	out->bytes = shd_cursor_u64(&c);
	out->at = shd_cursor_u64(&c);
	if (magic != RECORD_MAGIC || bytes != c.len - RECORD_COUNTED)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-index", at, "no Zip64 record");
	if (disk || disk_of_directory || here != out->entries)
		return refuse_disks(at, err);
	*limit = at;
	return SHERD_OK;
}

/* Before anything is allocated for them. */
static int zip_check_count(const shd_zip_end *e, uint64_t most, uint64_t at, sherd_error *err)
{
	most = most && most < SHD_ZIP_MOST_ENTRIES ? most : SHD_ZIP_MOST_ENTRIES;
	if (e->entries > most)
		return shd_fail_at(err, SHERD_ELIMIT, "too-many-entries", at, "%llu entries, the limit is %llu",
		                   (unsigned long long)e->entries, (unsigned long long)most);
	if (e->entries > e->bytes / CENTRAL_BYTES)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-index", at, "%llu entries in a directory of %llu bytes",
		                   (unsigned long long)e->entries, (unsigned long long)e->bytes);
	return SHERD_OK;
}

int shd_zip_find_end(const void *tail, size_t len, uint64_t file_size, const shd_zip_limits *limits, shd_zip_end *out,
                     sherd_error *err)
{
	const uint8_t *bytes = tail;
	uint64_t base = file_size - len;
	size_t found = find_magic(bytes, len);
	if (found == len)
		return shd_fail_at(err, SHERD_ECORRUPT, "truncated", file_size,
		                   "the archive has no end: it was cut off, or is none");
	shd_cursor c = shd_cursor_over(bytes + found + 4, END_BYTES - 4);
	uint16_t disk = shd_cursor_u16(&c), disk_of_directory = shd_cursor_u16(&c);
	uint16_t here = shd_cursor_u16(&c);
	shd_zip_end e = {.entries = shd_cursor_u16(&c)};
	uint64_t limit = base + found;
	e.bytes = shd_cursor_u32(&c);
	e.at = shd_cursor_u32(&c);
	bool many = found >= LOCATOR_BYTES && shd_get_u32(bytes + found - LOCATOR_BYTES) == LOCATOR_MAGIC;
	if ((disk && !(many && disk == ONLY_DISK16)) ||
	    (disk_of_directory && !(many && disk_of_directory == ONLY_DISK16)) || here != e.entries)
		return refuse_disks(base + found, err);
	if (many)
		TRY(take_record(bytes, found - LOCATOR_BYTES, base, &e, &limit, err));
	if (e.at > limit || e.bytes != limit - e.at)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-offsets", base + found,
		                   "a directory of %llu bytes at %llu does not reach from there to its end",
		                   (unsigned long long)e.bytes, (unsigned long long)e.at);
	TRY(zip_check_count(&e, limits->entries, base + found, err));
	*out = e;
	return SHERD_OK;
}

const char *shd_zip_name_fault(shd_str name, const shd_zip_limits *limits)
{
	size_t bad;
	if (!name.len)
		return "is empty";
	if (name.len > SHD_ZIP_MOST_NAME || (limits->name && name.len > limits->name))
		return "is too long";
	if (memchr(name.ptr, 0, name.len) || !shd_utf8_valid(name.ptr, name.len, &bad))
		return "is not UTF-8 text";
	if (limits->paths && (memchr(name.ptr, '\\', name.len) || memchr(name.ptr, ':', name.len)))
		return "has \\ or : in it";
	for (size_t i = 0, part = 0; i <= name.len; i++) {
		if (i < name.len && name.ptr[i] != '/')
			continue;
		shd_str p = {name.ptr + part, i - part};
		if ((!p.len && i < name.len) || shd_str_is(p, ".") || shd_str_is(p, ".."))
			return "leads out of the archive";
		if (limits->paths && p.len > MOST_PART)
			return "has a part of more than 255 bytes";
		part = i + 1;
	}
	return NULL;
}

/* Finds the Zip64 field among the extra ones, and takes from it what the head has no room for, in their order. */
static int take_extra(const uint8_t *extra, size_t len, uint64_t at, shd_zip_entry *e, sherd_error *err)
{
	shd_cursor c = shd_cursor_over(extra, len);
	uint64_t *const fields[] = {&e->size, &e->stored, &e->head};
	while (shd_cursor_left(&c) >= 4) {
		uint16_t id = shd_cursor_u16(&c), n = shd_cursor_u16(&c);
		const uint8_t *p = shd_cursor_bytes(&c, n);
		if (!p || id != EXTRA_ZIP64)
			continue;
		shd_cursor f = shd_cursor_over(p, n);
		for (size_t i = 0; i < COUNT_OF(fields); i++)
			if (*fields[i] == ELSEWHERE)
				*fields[i] = shd_cursor_u64(&f);
		return shd_shift_offset(err, shd_cursor_check(&f, "a Zip64 field", err), at);
	}
	for (size_t i = 0; i < COUNT_OF(fields); i++)
		if (*fields[i] == ELSEWHERE)
			return shd_fail_at(err, SHERD_ECORRUPT, "bad-length", at, "an entry lacks its Zip64 field");
	return shd_shift_offset(err, shd_cursor_check(&c, "an extra field", err), at);
}

static int zip_check_entry(const shd_zip_entry *e, uint64_t at, sherd_error *err)
{
	if (e->flags & FLAG_ENCRYPTED)
		return shd_fail_at(err, SHERD_EUNSUPPORTED, "encrypted", at, "%.128s is encrypted", e->name);
	if (e->method != SHD_ZIP_STORED && e->method != SHD_ZIP_DEFLATED)
		return shd_fail_at(err, SHERD_EUNSUPPORTED, "bad-codec", at, "%.128s is compressed by method %u",
		                   e->name, e->method);
	if (e->method == SHD_ZIP_STORED && e->stored != e->size)
		return shd_fail_at(err, SHERD_ECORRUPT, "size-mismatch", at,
		                   "%.128s is stored in %llu bytes and has %llu", e->name,
		                   (unsigned long long)e->stored, (unsigned long long)e->size);
	if (e->method == SHD_ZIP_DEFLATED && e->size / SHD_ZIP_MOST_RATIO > e->stored)
		return shd_fail_at(err, SHERD_ELIMIT, "too-large", at, "%.128s claims %llu bytes from %llu", e->name,
		                   (unsigned long long)e->size, (unsigned long long)e->stored);
	return SHERD_OK;
}

/* A directory being read. */
typedef struct directory {
	shd_cursor c;
	uint64_t at; /* where it lies in the archive */
	const shd_zip_limits *limits;
	shd_arena *arena;
	uint64_t inflated; /* bytes of compressed entries so far */
} directory;

static int take_entry(directory *d, shd_zip_entry *e, sherd_error *err)
{
	shd_cursor *c = &d->c;
	uint64_t at = d->at + c->pos;
	const uint8_t *p = shd_cursor_bytes(c, CENTRAL_BYTES);
	if (p && shd_get_u32(p) != CENTRAL_MAGIC)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-index", at, "the directory has no entry here");
	uint16_t name_len = p ? zip_get_u16(p + 28) : 0, extra_len = p ? zip_get_u16(p + 30) : 0;
	const char *name = (const char *)shd_cursor_bytes(c, name_len);
	uint64_t extra_at = d->at + c->pos;
	const uint8_t *extra = shd_cursor_bytes(c, extra_len);
	(void)shd_cursor_bytes(c, p ? zip_get_u16(p + 32) : 0);
	TRY(shd_shift_offset(err, shd_cursor_check(c, "the directory", err), d->at));
	const char *fault = shd_zip_name_fault((shd_str){name, name_len}, d->limits);
	if (fault)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-name", at + CENTRAL_BYTES, "the name of an entry %s",
		                   fault);
	*e = (shd_zip_entry){.name = shd_arena_str(d->arena, (shd_str){name, name_len}),
	                     .flags = zip_get_u16(p + 8),
	                     .method = zip_get_u16(p + 10),
	                     .crc = shd_get_u32(p + 16),
	                     .stored = shd_get_u32(p + 20),
	                     .size = shd_get_u32(p + 24),
	                     .head = shd_get_u32(p + 42)};
	if (!e->name)
		return shd_fail_nomem(err);
	uint16_t disk = zip_get_u16(p + 34);
	if (disk && disk != ONLY_DISK16)
		return refuse_disks(at, err);
	TRY(take_extra(extra, extra_len, extra_at, e, err));
	TRY(zip_check_entry(e, at, err));
	if (e->head >= d->at || e->stored > d->at - e->head)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-offsets", at, "%.128s lies outside", e->name);
	if (e->method == SHD_ZIP_DEFLATED && __builtin_add_overflow(d->inflated, e->size, &d->inflated))
		d->inflated = UINT64_MAX;
	if (d->limits->inflated && d->inflated > d->limits->inflated)
		return shd_fail_at(err, SHERD_ELIMIT, "too-large", at,
		                   "the entries take more than %llu bytes when inflated",
		                   (unsigned long long)d->limits->inflated);
	return SHERD_OK;
}

static int by_head(const void *a, const void *b)
{
	const shd_zip_entry *const *x = a, *const *y = b;
	return (*x)->head < (*y)->head ? -1 : (*x)->head > (*y)->head;
}

/* Tells each entry where the next one begins, and refuses those that reach beyond. */
static int limit_entries(shd_zip_entry *entries, size_t count, uint64_t end, sherd_error *err)
{
	shd_zip_entry **order = malloc((count + 1) * sizeof(shd_zip_entry *));
	int rc = SHERD_OK;
	if (!order)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < count; i++)
		order[i] = &entries[i];
	if (count)
		qsort(order, count, sizeof(order[0]), by_head);
	for (size_t i = 0; rc == SHERD_OK && i < count; i++) {
		shd_zip_entry *e = order[i];
		e->limit = i + 1 < count ? order[i + 1]->head : end;
		if (e->limit - e->head < SHD_ZIP_LOCAL + strlen(e->name) ||
		    e->limit - e->head - SHD_ZIP_LOCAL - strlen(e->name) < e->stored)
			rc = shd_fail_at(err, SHERD_ECORRUPT, "overlap", e->head, "%.128s reaches into what follows it",
			                 e->name);
	}
	free(order);
	return rc;
}

static int zip_check_names(const shd_zip_entry *entries, size_t count, sherd_error *err)
{
	shd_map names = {0};
	int rc = SHERD_OK;
	for (size_t i = 0; rc == SHERD_OK && i < count; i++) {
		bool ok;
		if (shd_map_add(&names, shd_str_of(entries[i].name), i, &ok) != SHD_MAP_NONE)
			rc = shd_fail_at(err, SHERD_ECORRUPT, "duplicate-name", entries[i].head,
			                 "%.128s is there twice", entries[i].name);
		else if (!ok)
			rc = shd_fail_nomem(err);
	}
	shd_map_done(&names);
	return rc;
}

static bool is_folder(const shd_zip_entry *e)
{
	return e->name[strlen(e->name) - 1] == '/';
}

int shd_zip_decode_directory(const void *data, const shd_zip_end *end, const shd_zip_limits *limits, shd_arena *arena,
                             shd_zip_entry **out, size_t *count, sherd_error *err)
{
	directory d = {.c = shd_cursor_over(data, (size_t)end->bytes), .at = end->at, .limits = limits, .arena = arena};
	shd_zip_entry *entries = shd_arena_alloc(arena, (size_t)end->entries + 1, sizeof(*entries));
	size_t kept = 0;
	if (!entries)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < end->entries; i++)
		TRY(take_entry(&d, &entries[i], err));
	TRY(shd_shift_offset(err, shd_cursor_end(&d.c, "the directory", err), end->at));
	TRY(limit_entries(entries, (size_t)end->entries, end->at, err));
	for (size_t i = 0; i < end->entries; i++)
		if (!is_folder(&entries[i]))
			entries[kept++] = entries[i];
	TRY(zip_check_names(entries, kept, err));
	*out = entries;
	*count = kept;
	return SHERD_OK;
}

/* What stands in front of the bytes agrees with the directory, or stands elsewhere: after them, or in a field. */
static bool sizes_agree(const uint8_t *raw, const shd_zip_entry *e)
{
	uint32_t crc = shd_get_u32(raw + 14), stored = shd_get_u32(raw + 18), size = shd_get_u32(raw + 22);
	bool behind = e->flags & SHD_ZIP_DESCRIPTOR;
	return (crc == e->crc || (behind && !crc)) &&
	       (stored == e->stored || stored == ELSEWHERE || (behind && !stored)) &&
	       (size == e->size || size == ELSEWHERE || (behind && !size));
}

int shd_zip_decode_local(const uint8_t *raw, const shd_zip_entry *e, uint64_t *data, sherd_error *err)
{
	size_t name_len = strlen(e->name);
	if (shd_get_u32(raw) != LOCAL_MAGIC)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-magic", e->head, "%.128s does not begin here", e->name);
	if (zip_get_u16(raw + 6) != e->flags || zip_get_u16(raw + 8) != e->method || !sizes_agree(raw, e) ||
	    zip_get_u16(raw + 26) != name_len || memcmp(raw + SHD_ZIP_LOCAL, e->name, name_len) != 0)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-head", e->head,
		                   "the head of %.128s differs from the directory", e->name);
	uint64_t skip = SHD_ZIP_LOCAL + name_len + zip_get_u16(raw + 28);
	if (e->limit - e->head < skip || e->limit - e->head - skip < e->stored)
		return shd_fail_at(err, SHERD_ECORRUPT, "overlap", e->head, "%.128s reaches into what follows it",
		                   e->name);
	*data = e->head + skip;
	return SHERD_OK;
}
