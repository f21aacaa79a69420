#include "engine/rows/claim.h"

#include "base/error.h"
#include "codec/json.h"
#include "engine/rows/clear.h"
#include "engine/rows/files.h"
#include "format/rows/manifest.h"
#include "format/rows/marker.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

SHD_AUTO_DEFINE(sherd_lock, sherd_lock_release)

enum { MOST_TRIES = 100, MARKER_BYTES = 64 << 10 };

static bool can_lock(sherd_store *store)
{
	return sherd_store_caps(store) & SHERD_CAP_LOCK;
}

static shd_rows_marker marker_of_us(const rows_claim *c, int64_t time_ns)
{
	shd_rows_marker m = {.time_ns = time_ns, .process = (uint64_t)getpid(), .has_first = true, .first = c->first};
	size_t bad;
	if (gethostname(m.host, sizeof(m.host) - 1) != 0 || !shd_utf8_valid(m.host, strlen(m.host), &bad))
		m.host[0] = 0;
	return m;
}

static void let_go(rows_claim *c)
{
	sherd_lock_release(TAKE(c->lock));
}

static int know_marker(rows_claim *c, sherd_error *err)
{
	sherd_stat stat;
	TRY(sherd_store_stat(c->store, (const char *)c->key.data, &stat, err));
	memcpy(c->identity, stat.identity, sizeof(c->identity));
	return SHERD_OK;
}

static int put_marker(rows_claim *c, const shd_buf *text, sherd_error *err)
{
	sherd_writer *writer;
	const sherd_write_options options = {.mode = SHERD_WRITE_NEW, .size_hint = text->len, .identity = c->identity};
	TRY(sherd_store_write(c->store, (const char *)c->key.data, &options, &writer, err));
	(void)sherd_writer_append(writer, text->data, text->len, NULL); /* which its commit tells */
	return sherd_writer_commit(writer, err);
}

static int rows_claim_create(rows_claim *c, int64_t time_ns, sherd_error *err)
{
	SHD_AUTO_BUF text = {0};
	const char *key = (const char *)c->key.data;
	const shd_rows_marker m = marker_of_us(c, time_ns);
	shd_rows_marker_encode(&m, &text);
	TRY(shd_buf_check(&text, err));
	if (!can_lock(c->store))
		return put_marker(c, &text, err);
	TRY(sherd_store_create_locked(c->store, key, text.data, text.len, SHERD_LOCK_EXCLUSIVE, &c->lock, err));
	int rc = know_marker(c, err);
	if (rc == SHERD_ENOTFOUND)
		rc = shd_fail(err, SHERD_ECONFLICT, "conflict", "somebody removed this marker while it was held");
	else if (rc < 0)
		(void)sherd_store_remove(c->store, key, NULL);
	if (rc < 0)
		let_go(c);
	return rc;
}

static int held_by_other(const rows_claim *c, sherd_error *err)
{
	shd_rows_marker m = {0};
	char *text;
	size_t len;
	const char *key = (const char *)c->key.data;
	if (sherd_store_get(c->store, key, MARKER_BYTES, &text, &len, NULL) == SHERD_OK) {
		(void)shd_rows_marker_decode(text, len, &m, NULL);
		free(text);
	}
	const char *host = m.host[0] ? m.host : "an unknown host";
	if (!can_lock(c->store))
		return shd_fail(err, SHERD_ECONFLICT, "conflict",
		                "process %" PRIu64 " on %s may be writing; remove this file if it is dead", m.process,
		                host);
	return shd_fail(err, SHERD_ECONFLICT, "conflict", "process %" PRIu64 " on %s is writing", m.process, host);
}

/* Under the exclusive lock nobody writes. */
static int rows_claim_clear_dead(const rows_claim *c, const sherd_limits *limits, sherd_error *err)
{
	SHD_AUTO(sherd_lock, sherd_lock_release) lock = NULL;
	const char *key = (const char *)c->key.data;
	int rc = can_lock(c->store) ? sherd_store_lock(c->store, key, SHERD_LOCK_EXCLUSIVE, &lock, err)
	                            : SHERD_ECONFLICT;
	if (rc == SHERD_ENOTFOUND)
		return SHERD_OK;
	if (rc == SHERD_ECONFLICT)
		return held_by_other(c, err);
	TRY(rc);
	TRY(shd_rows_clear(c->store, c->folder, key, limits, err));
	return sherd_store_remove(c->store, key, err);
}

/* ---- what must be there, and what must not */

static int refuse_in(const rows_claim *c, const char *name, int code, const char *reason, const char *why,
                     sherd_error *err)
{
	SHD_AUTO_BUF key = {0};
	TRY(shd_folder_key(&key, c->folder, name, err));
	return shd_in_object(err, shd_fail(err, code, reason, "%s", why), (const char *)key.data);
}

static int check_empty(const rows_claim *c, const rows_files *files, sherd_error *err)
{
	if (files->has_manifest)
		return refuse_in(c, SHD_ROWS_MANIFEST, SHERD_EEXIST, "exists", "the folder holds a set of rows", err);
	if (files->count)
		return refuse_in(c, files->list[0].name, SHERD_EEXIST, "exists", "the folder holds shards", err);
	return SHERD_OK;
}

static int rows_claim_check_set(const rows_claim *c, const rows_files *files, sherd_error *err)
{
	if (files->has_manifest)
		return SHERD_OK;
	if (files->has_foreign)
		return refuse_in(c, SHD_ROWS_BF16_MANIFEST, SHERD_EUNSUPPORTED, "unknown-format",
		                 "rows can be appended to a set with rows.manifest.json only", err);
	if (files->count)
		return refuse_in(c, SHD_ROWS_MANIFEST, SHERD_EUNSUPPORTED, "no-manifest", "the set has no manifest",
		                 err);
	return refuse_in(c, SHD_ROWS_MANIFEST, SHERD_ENOTFOUND, "not-found", "no set of rows is there", err);
}

/* The number behind those of all parts that are there. */
static int next_number(const rows_files *files, uint32_t *out, sherd_error *err)
{
	uint32_t next = 0;
	for (size_t i = 0; i < files->count; i++) {
		int number = shd_rows_part_number(files->list[i].name);
		if (number >= 0 && (uint32_t)number >= next)
			next = (uint32_t)number + 1;
	}
	if (next >= ROWS_MOST_PARTS)
		return shd_fail(err, SHERD_ELIMIT, "too-many-shards",
		                "there is a part of the last number: pack the set anew");
	*out = next;
	return SHERD_OK;
}

/* Looks at the folder: *marked when somebody else's marker has to go first, else it must be as the writer needs it.
 * Where nobody can tell whether a pack lives, a manifest decides for those that want to begin a set. */
static int rows_claim_look(const rows_claim *c, bool append, bool ours, bool *marked, uint32_t *next, sherd_error *err)
{
	rows_files files;
	TRY(shd_rows_files_open(&files, c->store, c->folder, NULL, err));
	*marked = files.has_marker && !ours && (can_lock(c->store) || !files.has_manifest || append);
	int rc = SHERD_OK;
	if (!*marked)
		rc = append ? rows_claim_check_set(c, &files, err) : check_empty(c, &files, err);
	if (rc == SHERD_OK)
		rc = next_number(&files, next, err);
	shd_rows_files_done(&files);
	return rc;
}

/* ---- folders */

/* Is there a folder under this part of a path? Stores without folders have all of them. */
static int rows_claim_has_folder(sherd_store *store, const char *path, size_t len, sherd_error *err)
{
	char key[SHERD_MAX_KEY + 1];
	sherd_error found = {0};
	sherd_stat stat;
	if (len >= sizeof(key))
		return 1;
	memcpy(key, path, len);
	key[len] = 0;
	int rc = sherd_store_stat(store, key, &stat, &found);
	if (rc == SHERD_OK)
		return shd_in_object(
			err,
			shd_fail(err, SHERD_EEXIST, "not-a-folder", "a file is there: rows are written into a folder"),
			key);
	return rc != SHERD_ENOTFOUND || strcmp(found.reason, "not-found") != 0;
}

/* Counts the parts of the folder's path that are not there. */
static int count_missing(rows_claim *c, sherd_error *err)
{
	const char *folder = c->folder;
	c->made = 0;
	for (size_t len = strlen(folder); len;) {
		int there = rows_claim_has_folder(c->store, folder, len, err);
		TRY(there);
		if (there)
			break;
		c->made++;
		while (len && folder[len - 1] != '/')
			len--;
		len -= len > 0;
	}
	if (!(sherd_store_caps(c->store) & SHERD_CAP_MKDIR))
		c->made = 0;
	return SHERD_OK;
}

static void remove_made(const rows_claim *c)
{
	char key[SHERD_MAX_KEY + 1];
	size_t len = strlen(c->folder);
	if (len >= sizeof(key))
		return;
	memcpy(key, c->folder, len + 1);
	for (size_t i = 0; i < c->made && len; i++) {
		if (sherd_store_rmdir(c->store, key, NULL) < 0)
			return;
		while (len && key[len - 1] != '/')
			len--;
		len -= len > 0;
		key[len] = 0;
	}
}

/* ---- the claim */

/* 1 when the claim is ours, 0 when the state changed under us. The folder is looked at before the marker is made, so
 * that a foreign set is never marked, and again after, since another writer may have finished in between. */
static int try_claim(rows_claim *c, const rows_claim_options *o, sherd_error *err)
{
	bool marked;
	uint32_t next = 0;
	TRY(rows_claim_look(c, o->append, false, &marked, &next, err));
	if (marked)
		return rows_claim_clear_dead(c, o->limits, err);
	c->first = next;
	int rc = rows_claim_create(c, o->time_ns, err);
	if (rc == SHERD_EEXIST)
		return 0;
	TRY(rc);
	rc = rows_claim_look(c, o->append, true, &marked, &next, err);
	if (rc == SHERD_OK && next == c->first)
		return 1;
	(void)sherd_store_remove_if(c->store, (const char *)c->key.data, c->identity, NULL);
	let_go(c);
	return rc;
}

int shd_rows_claim_open(rows_claim *out, sherd_store *store, const char *folder, const rows_claim_options *options,
                        sherd_error *err)
{
	rows_claim c = {.store = store, .folder = folder};
	sherd_error failure = {0}; /* some come on the way to success */
	int rc = shd_folder_key(&c.key, folder, SHD_ROWS_MARKER, &failure);
	if (rc == SHERD_OK)
		rc = count_missing(&c, &failure);
	for (int tries = 0; rc == SHERD_OK && tries < MOST_TRIES; tries++)
		rc = try_claim(&c, options, &failure);
	if (rc == SHERD_OK)
		rc = shd_fail(&failure, SHERD_ECONFLICT, "conflict", "other writers come and go too fast");
	if (rc > 0) {
		*out = c;
		return SHERD_OK;
	}
	rc = shd_in_object(&failure, rc, c.key.failed ? folder : (const char *)c.key.data);
	remove_made(&c);
	shd_rows_claim_leave(&c);
	if (err)
		*err = failure;
	return rc;
}

int shd_rows_claim_take_over(rows_claim *out, sherd_store *store, const char *folder, sherd_error *err)
{
	rows_claim c = {.store = store, .folder = folder};
	int rc = shd_folder_key(&c.key, folder, SHD_ROWS_MARKER, err);
	const char *key = (const char *)c.key.data;
	if (rc == SHERD_OK)
		rc = can_lock(store) ? sherd_store_lock(store, key, SHERD_LOCK_EXCLUSIVE, &c.lock, err)
		                     : SHERD_ECONFLICT;
	if (rc == SHERD_ECONFLICT)
		rc = held_by_other(&c, err);
	if (rc == SHERD_OK)
		rc = know_marker(&c, err);
	if (rc == SHERD_OK) {
		*out = c;
		return rc;
	}
	rc = shd_in_object(err, rc, c.key.failed ? folder : key);
	shd_rows_claim_leave(&c);
	return rc;
}

void shd_rows_claim_leave(rows_claim *claim)
{
	let_go(claim);
	shd_buf_done(&claim->key);
}

void shd_rows_claim_drop(rows_claim *claim)
{
	/* Somebody may have removed it by hand, and another writer made its own. */
	(void)sherd_store_remove_if(claim->store, (const char *)claim->key.data, claim->identity, NULL);
	remove_made(claim);
	shd_rows_claim_leave(claim);
}
