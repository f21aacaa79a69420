#include "engine/tensors/npy_folder.h"

#include "codec/crc32.h"
#include "engine/tensors/bundle.h"
#include "engine/tensors/files.h"
#include "engine/publish/head.h"
#include "engine/tensors/folder.h"
#include "format/tensor/npy_manifest.h"

#include <stdatomic.h>
#include <stdlib.h>

SHD_AUTO_DEFINE(sherd_reader, sherd_reader_close)

enum { MOST_TRIES = 8, CHUNK_BYTES = 1 << 20 };

/* One file. It is opened when it is read: there may be more of them than a process may have open. */
typedef struct array {
	const char *key;
	const shd_npy_entry *entry;
	_Atomic bool checked; /* it has the CRC-32 of the manifest */
	char identity[sizeof(((sherd_stat *)0)->identity)];
	shd_npy head;
} array;

typedef struct folder_bundle {
	sherd_bundle base;
	sherd_store *store;
	array *arrays;
} folder_bundle;

int shd_npy_folder_key(shd_buf *out, const char *key, const char *leaf, sherd_error *err)
{
	size_t len = strlen(key);
	if (strcmp(shd_str_leaf(key), SHD_NPY_MANIFEST) == 0)
		len = (size_t)(shd_str_leaf(key) - key);
	shd_buf_append(out, key, len);
	if (len && key[len - 1] != '/')
		shd_buf_u8(out, '/');
	shd_buf_append(out, leaf, strlen(leaf) + 1);
	return shd_buf_check(out, err);
}

static int check_bytes(const sherd_reader *reader, const shd_npy_entry *e, shd_meter *meter, sherd_error *err)
{
	SHD_AUTO_FREE void *buf = malloc(CHUNK_BYTES);
	uint32_t crc = 0;
	if (!buf)
		return shd_fail_nomem(err);
	for (uint64_t at = 0; at < e->bytes;) {
		size_t n = (size_t)(e->bytes - at < CHUNK_BYTES ? e->bytes - at : CHUNK_BYTES);
		TRY(sherd_reader_at(reader, at, buf, n, err));
		crc = shd_crc32(crc, buf, n);
		if (meter)
			TRY(shd_meter_add(meter, n, err));
		at += n;
	}
	if (crc != e->crc32)
		return shd_fail(err, SHERD_ECORRUPT, "bad-crc", "CRC-32 %08x; the manifest says %08x", crc, e->crc32);
	return SHERD_OK;
}

/* Whoever copies an array makes new checksums of it, so it is held against the manifest before its first byte is read.
 * Two threads may do that, and find the same. */
static int check_once(const sherd_reader *reader, array *a, sherd_error *err)
{
	if (atomic_load_explicit(&a->checked, memory_order_acquire))
		return SHERD_OK;
	TRY(shd_in_object(err, check_bytes(reader, a->entry, NULL, err), a->key));
	atomic_store_explicit(&a->checked, true, memory_order_release);
	return SHERD_OK;
}

static int npy_folder_check_size(const sherd_reader *reader, const shd_npy_entry *e, sherd_error *err)
{
	if (sherd_reader_size(reader) == e->bytes)
		return SHERD_OK;
	return shd_fail(err, SHERD_ECORRUPT, "size-mismatch", "%llu bytes; the manifest says %llu",
	                (unsigned long long)sherd_reader_size(reader), (unsigned long long)e->bytes);
}

static int npy_folder_read_part(const sherd_bundle *bundle, size_t index, uint64_t offset, void *buf, size_t len,
                                sherd_error *err)
{
	SHD_AUTO(sherd_reader, sherd_reader_close) reader = NULL;
	const folder_bundle *b = (const folder_bundle *)bundle;
	array *a = &b->arrays[index];
	int rc = sherd_store_read(&reader, b->store, a->key, err);
	if (rc < 0 && rc != SHERD_ENOTFOUND)
		return rc;
	if (rc == SHERD_OK)
		TRY(shd_in_object(err, npy_folder_check_size(reader, a->entry, err), a->key));
	if (rc < 0 || strcmp(sherd_reader_identity(reader), a->identity) != 0)
		return shd_in_object(
			err, shd_fail(err, SHERD_ECONFLICT, "changed", "it was replaced while it was read"), a->key);
	TRY(check_once(reader, a, err));
	return shd_npy_read(reader, &a->head, offset, buf, len, err);
}

static const shd_bundle_ops ops = {.read = npy_folder_read_part};

/* A file that the manifest names, as it says. */
static int npy_folder_open_file(sherd_store *store, const char *key, const shd_npy_entry *e, sherd_reader **out,
                                sherd_error *err)
{
	SHD_AUTO(sherd_reader, sherd_reader_close) reader = NULL;
	int rc = sherd_store_read(&reader, store, key, err);
	if (rc == SHERD_ENOTFOUND)
		rc = shd_fail(err, SHERD_EINCOMPLETE, "missing-shard",
		              "the manifest names this file and it is not there");
	if (rc == SHERD_OK)
		rc = npy_folder_check_size(reader, e, err);
	TRY(shd_in_object(err, rc, key));
	*out = TAKE(reader);
	return SHERD_OK;
}

static int open_array(folder_bundle *b, const char *folder, const shd_npy_entry *e, const sherd_limits *limits,
                      array *a, sherd_tensor *t, sherd_error *err)
{
	SHD_AUTO(sherd_reader, sherd_reader_close) reader = NULL;
	SHD_AUTO_BUF key = {0};
	TRY(shd_npy_folder_key(&key, folder, e->file, err));
	a->key = shd_arena_copy(&b->base.arena, key.data, key.len);
	if (!a->key)
		return shd_fail_nomem(err);
	a->entry = e;
	atomic_init(&a->checked, false);
	TRY(npy_folder_open_file(b->store, a->key, e, &reader, err));
	TRY(shd_npy_read_head(reader, limits, &a->head, err));
	memcpy(a->identity, sherd_reader_identity(reader), strlen(sherd_reader_identity(reader)) + 1);
	*t = (sherd_tensor){.name = e->name,
	                    .dtype = a->head.dtype,
	                    .ndim = a->head.ndim,
	                    .shape = a->head.shape,
	                    .bytes = a->head.bytes};
	return SHERD_OK;
}

static int open_arrays(folder_bundle *b, const char *folder, const shd_npy_manifest *m,
                       const sherd_bundle_options *options, sherd_error *err)
{
	b->arrays = shd_arena_alloc(&b->base.arena, m->count + 1, sizeof(*b->arrays));
	sherd_tensor *tensors = shd_arena_alloc(&b->base.arena, m->count + 1, sizeof(*tensors));
	if (!b->arrays || !tensors)
		return shd_fail_nomem(err);
	b->base.tensors = tensors;
	b->base.count = m->count;
	SHD_DONE(shd_meter_done) shd_meter meter;
	shd_meter_init(&meter, options->progress, m->count);
	TRY(shd_meter_ask(&meter, err));
	for (size_t i = 0; i < m->count; i++) {
		TRY(open_array(b, folder, &m->arrays[i], options->limits, &b->arrays[i], &tensors[i], err));
		TRY(shd_meter_add(&meter, 1, err));
	}
	return SHERD_OK;
}

static int open_set(sherd_bundle **out, sherd_store *store, const char *manifest, const shd_head *head,
                    const sherd_bundle_options *options, sherd_error *err)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) base = NULL;
	shd_npy_manifest m;
	TRY(shd_bundle_new(&base, sizeof(folder_bundle), &ops, SHERD_FORMAT_NPY_FOLDER, err));
	folder_bundle *b = (folder_bundle *)base;
	b->store = store;
	TRY(shd_npy_manifest_decode(head->text, head->len, options->limits, &base->arena, &m, err));
	base->pairs = m.pairs;
	base->pair_count = m.pair_count;
	TRY(open_arrays(b, manifest, &m, options, err));
	TRY(shd_bundle_finish(base, err));
	*out = TAKE(base);
	return SHERD_OK;
}

/* The manifest, and the key that it has. */
static int npy_folder_read_manifest(shd_head *out, sherd_store *store, const char *key, shd_buf *name,
                                    const sherd_limits *limits, sherd_error *err)
{
	TRY(shd_npy_folder_key(name, key, SHD_NPY_MANIFEST, err));
	int rc = shd_head_read(out, store, (const char *)name->data, limits, err);
	if (rc == SHERD_ENOTFOUND)
		rc = shd_fail(err, SHERD_EINCOMPLETE, "incomplete",
		              "NumPy files that are being written, or were left by who died: there is no manifest");
	return shd_in_object(err, rc, key);
}

/* By the folder or its manifest. */
static int open_folder(sherd_bundle **out, shd_evidence *e, const sherd_bundle_options *options, sherd_error *err)
{
	int rc = SHERD_OK;
	bool again = true;
	for (int tries = 0; again && tries < MOST_TRIES; tries++) {
		SHD_AUTO_BUF name = {0};
		shd_head head;
		TRY(npy_folder_read_manifest(&head, e->store, e->key, &name, options->limits, err));
		const char *manifest = (const char *)name.data;
		rc = shd_in_object(err, open_set(out, e->store, manifest, &head, options, err), manifest);
		/* What the manifest named may have gone because another took its place. */
		again = (rc == SHERD_EINCOMPLETE || rc == SHERD_ECORRUPT) &&
		        shd_head_changed(&head, e->store, manifest);
		free(head.text);
	}
	return rc;
}

/* ---- verify */

static int npy_folder_check_file(sherd_report *r, sherd_store *store, const char *key, const shd_npy_entry *e,
                                 const sherd_verify_options *o, shd_meter *meter, sherd_error *err)
{
	SHD_AUTO(sherd_reader, sherd_reader_close) reader = NULL;
	shd_npy head;
	TRY(npy_folder_open_file(store, key, e, &reader, err));
	TRY(shd_npy_read_head(reader, o->limits, &head, err));
	if (!o->quick)
		TRY(shd_in_object(err, check_bytes(reader, e, meter, err), key));
	r->checked += o->quick ? head.data : e->bytes;
	return SHERD_OK;
}

static int check_files(sherd_report *r, sherd_store *store, const char *key, const shd_npy_manifest *m,
                       const sherd_verify_options *o, sherd_error *err)
{
	uint64_t total = 0;
	for (size_t i = 0; i < m->count; i++)
		total += m->arrays[i].bytes;
	SHD_DONE(shd_meter_done) shd_meter meter;
	shd_meter_init(&meter, o->progress, o->quick ? 0 : total);
	for (size_t i = 0; i < m->count; i++) {
		SHD_AUTO_BUF file = {0};
		sherd_error found = {0};
		TRY(shd_npy_folder_key(&file, key, m->arrays[i].file, err));
		const char *name = (const char *)file.data;
		int rc = npy_folder_check_file(r, store, name, &m->arrays[i], o, &meter, &found);
		TRY(shd_report_take(r, rc, &found, key, err));
	}
	return SHERD_OK;
}

/* What else lies in the folder. */
static int check_beside(sherd_report *r, sherd_store *store, const char *key, const shd_npy_manifest *m,
                        sherd_error *err)
{
	SHD_DONE(shd_map_done) shd_map named = {0};
	SHD_AUTO_BUF folder = {0}, claim = {0};
	SHD_DONE(shd_folder_done) shd_folder files = {0};
	sherd_stat stat;
	bool ok = true;
	for (size_t i = 0; ok && i < m->count; i++)
		(void)shd_map_add(&named, shd_str_of(m->arrays[i].file), i, &ok);
	if (!ok)
		return shd_fail_nomem(err);
	TRY(shd_npy_folder_key(&claim, key, SHD_NPY_SAVING, err));
	if (sherd_store_stat(&stat, store, (const char *)claim.data, NULL) == SHERD_OK)
		TRY(shd_report_warn(r, (const char *)claim.data, "claimed", err,
		                    "a conversion is going on, or died: the next one to this folder clears it"));
	TRY(shd_folder_of(&folder, (const char *)claim.data, err));
	TRY(shd_folder_open_suffix(&files, store, (const char *)folder.data, SHD_NPY_SUFFIX, err));
	for (size_t i = 0; i < files.count; i++)
		if (shd_map_find(&named, shd_str_of(files.list[i].name)) == SHD_MAP_NONE)
			TRY(shd_report_warn(r, files.list[i].key, "stray-shard", err, "the manifest does not name it"));
	return SHERD_OK;
}

int shd_npy_folder_verify(sherd_report *r, sherd_store *store, const char *key, const sherd_verify_options *options,
                          sherd_error *err)
{
	SHD_DONE(shd_arena_done) shd_arena arena = {0};
	SHD_AUTO_BUF name = {0};
	sherd_error found = {0};
	shd_npy_manifest m;
	shd_head head;
	int rc = npy_folder_read_manifest(&head, store, key, &name, options->limits, &found);
	TRY(shd_report_take(r, rc, &found, key, err));
	if (rc < 0)
		return SHERD_OK;
	rc = shd_npy_manifest_decode(head.text, head.len, options->limits, &arena, &m, &found);
	r->checked += head.len;
	free(head.text);
	TRY(shd_report_take(r, rc, &found, (const char *)name.data, err));
	if (rc < 0)
		return SHERD_OK;
	TRY(check_files(r, store, key, &m, options, err));
	return check_beside(r, store, key, &m, err);
}

/* ---- the entry */

/* The manifest stands for its folder, under its own name only: a copy elsewhere is the list of nothing. */
static int probe(shd_evidence *e, sherd_error *err)
{
	(void)err;
	return shd_evidence_is_json(e) && strcmp(shd_str_leaf(e->key), SHD_NPY_MANIFEST) == 0;
}

/* There is a manifest, or the claim of who is writing it. */
static int npy_folder_probe_folder(shd_evidence *e, sherd_error *err)
{
	int found = shd_evidence_inside(e, SHD_NPY_MANIFEST, err);
	return found ? found : shd_evidence_inside(e, SHD_NPY_SAVING, err);
}

const shd_format_entry shd_format_npy_folder = {
	.info = {.id = SHERD_FORMAT_NPY_FOLDER,
                 .kind = SHERD_KIND_TENSORS,
                 .name = "npy-folder",
                 .noun = "a folder of NumPy files",
                 .endings = {{"/", SHERD_ENDING_OBJECT}},
                 .folder = true,
                 .written = true,
                 .holds = SHERD_HOLDS_PAIRS | SHERD_HOLDS_MANY | SHERD_HOLDS_EMPTY_NAMES,
                 .takes = SHERD_TAKES_REPLACE,
                 .dtypes = SHD_NPY_DTYPES,
                 .most_dims = SHERD_MAX_DIMS},
	.probe = probe,
	.probe_set = npy_folder_probe_folder,
	.open = open_folder,
	.verify = shd_npy_folder_verify,
	.write = shd_write_npy_folder,
};
