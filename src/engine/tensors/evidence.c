#include "engine/tensors/evidence.h"

#include "base/cursor.h"
#include "format/zip.h"
#include "store/preread.h"

#include <stdlib.h>

int shd_evidence_open(shd_evidence *e, sherd_store *store, const char *key, sherd_error *err)
{
	sherd_error failure;
	*e = (shd_evidence){.store = store, .key = key};
	if (!*key)
		return SHERD_OK;
	int rc = sherd_store_read(&e->reader, store, key, &failure);
	if (rc == SHERD_ENOTFOUND)
		return SHERD_OK;
	if (rc < 0)
		return shd_pass(err, rc, &failure);
	e->is_object = true;
	e->size = sherd_reader_size(e->reader);
	rc = shd_reader_preread(e->reader, SHD_EVIDENCE_FIRST, &e->first, err);
	if (rc < 0)
		shd_evidence_done(e);
	return rc;
}

void shd_evidence_done(shd_evidence *e)
{
	sherd_reader_close(e->reader);
	free(e->document.text);
	shd_arena_done(&e->arena);
	*e = (shd_evidence){0};
}

bool shd_evidence_is_json(const shd_evidence *e)
{
	size_t i = 0;
	while (i < e->first.len && e->first.ptr[i] && strchr(" \t\r\n", e->first.ptr[i]))
		i++;
	return i < e->first.len && e->first.ptr[i] == '{';
}

int shd_evidence_document(shd_evidence *e, shd_str *out, sherd_error *err)
{
	if (!e->document.text)
		TRY(shd_head_take(&e->document, e->reader, NULL, err));
	*out = (shd_str){e->document.text, e->document.len};
	return SHERD_OK;
}

/* 1 when there is an object of that name, 0 when not; a name too long for a key is no object. */
static int evidence_exists(sherd_store *store, const shd_buf *name, sherd_error *err)
{
	sherd_stat stat;
	sherd_error failure;
	TRY(shd_buf_check(name, err));
	int rc = sherd_store_stat(&stat, store, (const char *)name->data, &failure);
	if (rc == SHERD_ENOTFOUND || rc == SHERD_EINVAL || rc == SHERD_EUNSUPPORTED) /* a special file is no object */
		return 0;
	if (rc < 0 && err)
		*err = failure;
	return rc < 0 ? rc : 1;
}

int shd_evidence_beside(const shd_evidence *e, const char *suffix, sherd_error *err)
{
	SHD_AUTO_BUF name = {0};
	if (!*e->key) /* the outermost folder has no name to go on with */
		return 0;
	shd_buf_printf(&name, "%s%s", e->key, suffix);
	shd_buf_u8(&name, 0);
	return evidence_exists(e->store, &name, err);
}

int shd_evidence_inside(const shd_evidence *e, const char *leaf, sherd_error *err)
{
	SHD_AUTO_BUF name = {0};
	shd_buf_printf(&name, "%s%s%s", e->key, *e->key ? "/" : "", leaf);
	shd_buf_u8(&name, 0);
	return evidence_exists(e->store, &name, err);
}

void shd_evidence_forget(shd_evidence *e)
{
	free(e->document.text);
	e->document = (shd_head){0};
}

int shd_evidence_take_reader(shd_evidence *e, sherd_reader **out, sherd_error *err)
{
	if (!e->reader)
		return sherd_store_read(out, e->store, e->key, err);
	*out = TAKE(e->reader);
	e->first = (shd_str){0}; /* it goes with its reader */
	return SHERD_OK;
}

int shd_evidence_take_head(shd_evidence *e, const char *key, const sherd_limits *limits, shd_head *out,
                           sherd_error *err)
{
	if (!e->document.text || strcmp(e->key, key) != 0)
		return shd_head_read(out, e->store, key, limits, err);
	*out = e->document;
	e->document = (shd_head){0};
	return SHERD_OK;
}

/* ---- archives. Only names are wanted, so that what is odd about an archive does not matter. */

enum { MOST_DIRECTORY = 1 << 20, END = 22, ENTRY = 46 };

static size_t evidence_get_u16(const uint8_t *p)
{
	return (size_t)(p[0] | p[1] << 8);
}

/* Where the directory lies, by the last end record of the tail; nothing when there is none. */
static void find_directory(const uint8_t *tail, size_t len, uint64_t size, uint64_t *at, uint64_t *bytes)
{
	*at = *bytes = 0;
	for (size_t i = len >= END ? len - END + 1 : 0; i-- > 0;) {
		if (memcmp(tail + i, "PK\5\6", 4) != 0)
			continue;
		*bytes = shd_get_u32(tail + i + 12);
		*at = shd_get_u32(tail + i + 16);
		/* A large archive tells it in another record, whose end stands before this one. */
		if (*at == UINT32_MAX && i >= 76 && memcmp(tail + i - 76, "PK\6\6", 4) == 0) {
			*bytes = shd_get_u64(tail + i - 76 + 40);
			*at = shd_get_u64(tail + i - 76 + 48);
		}
		if (*at > size || *bytes > size - *at)
			*at = *bytes = 0;
		return;
	}
}

typedef SHD_VEC(shd_str) name_vec;

static void add_name(name_vec *names, shd_evidence *e, const void *name, size_t len)
{
	shd_str s = {shd_arena_copy(&e->arena, name, len), len};
	names->failed |= !s.ptr;
	shd_vec_push(names, s);
}

static void add_directory(name_vec *names, shd_evidence *e, const uint8_t *data, size_t len)
{
	for (size_t at = 0; len - at >= ENTRY && memcmp(data + at, "PK\1\2", 4) == 0;) {
		size_t name = evidence_get_u16(data + at + 28), more = evidence_get_u16(data + at + 30),
		       comment = evidence_get_u16(data + at + 32);
		if (name > len - at - ENTRY)
			return;
		add_name(names, e, data + at + ENTRY, name);
		if (more + comment > len - at - ENTRY - name)
			return;
		at += ENTRY + name + more + comment;
	}
}

/* The first entry's own head, for archives that were cut off. */
static void add_first(name_vec *names, shd_evidence *e)
{
	const uint8_t *raw = (const uint8_t *)e->first.ptr;
	if (e->first.len < SHD_ZIP_LOCAL)
		return;
	size_t name = evidence_get_u16(raw + 26);
	if (name <= e->first.len - SHD_ZIP_LOCAL)
		add_name(names, e, raw + SHD_ZIP_LOCAL, name);
}

static int list_zip(shd_evidence *e, name_vec *names, sherd_error *err)
{
	uint64_t at, bytes;
	size_t len = e->size < SHD_ZIP_TAIL ? (size_t)e->size : SHD_ZIP_TAIL;
	SHD_AUTO_FREE void *tail = malloc(len);
	if (!tail)
		return shd_fail_nomem(err);
	TRY(sherd_reader_at(e->reader, e->size - len, tail, len, err));
	find_directory(tail, len, e->size, &at, &bytes);
	add_first(names, e);
	if (!bytes)
		return SHERD_OK;
	size_t have = bytes < MOST_DIRECTORY ? (size_t)bytes : MOST_DIRECTORY;
	SHD_AUTO_FREE void *directory = malloc(have);
	if (!directory)
		return shd_fail_nomem(err);
	TRY(sherd_reader_at(e->reader, at, directory, have, err));
	add_directory(names, e, directory, have);
	return SHERD_OK;
}

int shd_evidence_zip(shd_evidence *e, const shd_str **out, size_t *count, sherd_error *err)
{
	if (!e->zip_listed && shd_str_starts(e->first, SHD_ZIP_MAGIC)) {
		SHD_AUTO_VEC name_vec names = {0};
		TRY(list_zip(e, &names, err));
		TRY(shd_vec_check(&names, err));
		e->zip_names = shd_vec_copy(&names, &e->arena);
		if (!e->zip_names)
			return shd_fail_nomem(err);
		e->zip_count = names.count;
	}
	e->zip_listed = true;
	*out = e->zip_names;
	*count = e->zip_count;
	return SHERD_OK;
}
