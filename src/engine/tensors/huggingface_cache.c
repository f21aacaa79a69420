/* engine/tensors/huggingface_cache.c - the files of a cache are called by their hashes: SHA-256 of large ones, git's
 * SHA-1 of the others. */
#include "engine/tensors/huggingface.h"

#include "base/map.h"
#include "base/pool.h"
#include "codec/sha1.h"
#include "codec/sha256.h"
#include "engine/tensors/folder.h"

#include <stdio.h>
#include <stdlib.h>

SHD_AUTO_DEFINE(sherd_reader, sherd_reader_close)

enum { CHUNK = 4 << 20 };

/* One blob, and what was found of it. */
typedef struct cache_blob {
	const shd_folder_file *file;
	sherd_error found; /* code 0: nothing */
	char identity[72]; /* of what was read */
	bool hashed;       /* its name is a hash */
	uint64_t bytes;
} cache_blob;

typedef struct cache_check {
	sherd_store *store;
	cache_blob *blobs;
	shd_meter meter;
} cache_check;

static bool is_hash(const char *name, size_t digits)
{
	return strlen(name) == digits && strspn(name, "0123456789abcdef") == digits;
}

/* Feeds the object to either hash. */
static int hash_object(const sherd_reader *reader, shd_sha256 *long_one, shd_sha1 *short_one, shd_meter *meter,
                       sherd_error *err)
{
	uint64_t size = sherd_reader_size(reader);
	SHD_AUTO_FREE uint8_t *buf = malloc(CHUNK);
	if (!buf)
		return shd_fail_nomem(err);
	for (uint64_t at = 0; at < size;) {
		size_t n = size - at < CHUNK ? (size_t)(size - at) : CHUNK;
		TRY(sherd_reader_at(reader, at, buf, n, err));
		if (long_one)
			shd_sha256_add(long_one, buf, n);
		else
			shd_sha1_add(short_one, buf, n);
		TRY(shd_meter_add(meter, n, err));
		at += n;
	}
	return SHERD_OK;
}

/* git hashes a head of its own before the bytes. */
static int hash_blob(const sherd_reader *reader, bool is_long, shd_meter *meter, char *hex, sherd_error *err)
{
	shd_sha256 long_one;
	shd_sha1 short_one;
	uint8_t raw[SHD_SHA256_BYTES];
	char head[64];
	int head_len = snprintf(head, sizeof(head), "blob %llu", (unsigned long long)sherd_reader_size(reader)) + 1;
	shd_sha256_init(&long_one);
	shd_sha1_init(&short_one);
	shd_sha1_add(&short_one, head, (size_t)head_len);
	TRY(hash_object(reader, is_long ? &long_one : NULL, &short_one, meter, err));
	if (is_long)
		shd_sha256_finish(&long_one, raw);
	else
		shd_sha1_finish(&short_one, raw);
	shd_hex(raw, is_long ? SHD_SHA256_BYTES : SHD_SHA1_BYTES, hex);
	return SHERD_OK;
}

static int check_blob(cache_check *c, cache_blob *b, sherd_error *err)
{
	SHD_AUTO(sherd_reader, sherd_reader_close) reader = NULL;
	bool is_long = is_hash(b->file->name, SHD_SHA256_HEX);
	char hex[SHD_SHA256_HEX + 1];
	b->hashed = is_long || is_hash(b->file->name, SHD_SHA1_HEX);
	if (!b->hashed)
		return SHERD_OK;
	TRY(sherd_store_read(&reader, c->store, b->file->key, err));
	(void)snprintf(b->identity, sizeof(b->identity), "%s", sherd_reader_identity(reader));
	b->bytes = sherd_reader_size(reader);
	TRY(hash_blob(reader, is_long, &c->meter, hex, err));
	if (strcmp(hex, b->file->name) == 0)
		return SHERD_OK;
	return shd_fail(err, SHERD_ECORRUPT, "bad-checksum", "its %s is %.16s..., and its name says otherwise",
	                is_long ? "SHA-256" : "SHA-1 as git has it", hex);
}

/* What is wrong with a blob is a finding; only what is not about the data ends the check. */
static int check_one_blob(void *arg, size_t index, sherd_error *err)
{
	cache_check *c = arg;
	cache_blob *b = &c->blobs[index];
	int rc = check_blob(c, b, &b->found);
	if (rc != SHERD_ENOMEM && rc != SHERD_ECANCELLED)
		return SHERD_OK;
	return shd_pass(err, rc, &b->found);
}

/* Files of the revision that are no blobs which were hashed. */
static int warn_of_others(sherd_report *r, sherd_store *store, const char *snapshot, const shd_map *hashed,
                          shd_folder_want_fn *want, sherd_error *err)
{
	SHD_DONE(shd_folder_done) shd_folder files = {0};
	TRY(shd_folder_open(&files, store, snapshot, want, NULL, err));
	for (size_t i = 0; i < files.count; i++) {
		sherd_stat stat;
		sherd_error failure;
		int rc = sherd_store_stat(&stat, store, files.list[i].key, &failure);
		if (rc < 0)
			TRY(shd_report_take(r, rc, &failure, files.list[i].key, err));
		else if (shd_map_find(hashed, shd_str_of(stat.identity)) == SHD_MAP_NONE)
			TRY(shd_report_warn(r, files.list[i].key, "no-checksum", err,
			                    "no name of a blob tells the hash of this file"));
	}
	return SHERD_OK;
}

static bool want_all(void *arg, shd_str name)
{
	(void)arg;
	return !shd_str_ends(name, ".incomplete") && !shd_str_ends(name, ".lock");
}

static int report_blobs(sherd_report *r, cache_check *c, size_t count, shd_map *hashed, sherd_error *err)
{
	for (size_t i = 0; i < count; i++) {
		const cache_blob *b = &c->blobs[i];
		bool ok = true;
		if (b->found.code)
			TRY(shd_report_take(r, (int)b->found.code, &b->found, b->file->key, err));
		else if (!b->hashed)
			TRY(shd_report_warn(r, b->file->key, "no-checksum", err, "its name is no hash"));
		r->checked += b->bytes;
		if (b->hashed && *b->identity)
			(void)shd_map_add(hashed, shd_str_of(b->identity), i, &ok);
		if (!ok)
			return shd_fail_nomem(err);
	}
	return SHERD_OK;
}

int shd_huggingface_check_cache(sherd_report *r, sherd_store *store, const char *folder, const char *snapshot,
                                const sherd_verify_options *o, sherd_error *err)
{
	SHD_AUTO_BUF blobs = {0};
	SHD_DONE(shd_folder_done) shd_folder files = {0};
	SHD_DONE(shd_map_done) shd_map hashed = {0};
	uint64_t total = 0;
	TRY(shd_folder_key(&blobs, folder, "blobs", err));
	TRY(shd_folder_open(&files, store, (const char *)blobs.data, want_all, NULL, err));
	SHD_AUTO_FREE cache_blob *list = calloc(files.count + 1, sizeof(*list));
	if (!list)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < files.count; i++) {
		list[i].file = &files.list[i];
		total += files.list[i].size;
	}
	cache_check c = {.store = store, .blobs = list};
	shd_meter_init(&c.meter, o->progress, total);
	int rc = shd_pool_run(o->pool, files.count, check_one_blob, &c, err);
	shd_meter_done(&c.meter);
	TRY(rc);
	TRY(report_blobs(r, &c, files.count, &hashed, err));
	return warn_of_others(r, store, snapshot, &hashed, want_all, err);
}
