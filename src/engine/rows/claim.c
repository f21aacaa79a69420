#include "engine/rows/claim.h"

#include "base/error.h"
#include "codec/json.h"
#include "engine/rows/files.h"
#include "format/rows_manifest.h"
#include "format/rows_marker.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

SHERD_AUTO_DEFINE(sherd_lock, sherd_lock_release)

enum { MOST_TRIES = 100, MARKER_BYTES = 64 << 10 };

static bool can_lock(sherd_store *store)
{
	return sherd_store_caps(store) & SHERD_CAP_LOCK;
}

static sherd_rows_marker marker_of_us(int64_t time_ns)
{
	sherd_rows_marker m = {.time_ns = time_ns, .process = (uint64_t)getpid()};
	size_t bad;
	if (gethostname(m.host, sizeof(m.host) - 1) != 0 || !sherd_utf8_valid(m.host, strlen(m.host), &bad))
		m.host[0] = 0;
	return m;
}

static int create(rows_claim *c, int64_t time_ns, sherd_error *err)
{
	SHERD_AUTO_BUF text = {0};
	const char *key = (const char *)c->key.data;
	const sherd_rows_marker m = marker_of_us(time_ns);
	sherd_rows_marker_encode(&m, &text);
	TRY(sherd_buf_check(&text, err));
	if (can_lock(c->store))
		return sherd_store_create_locked(c->store, key, text.data, text.len, SHERD_LOCK_EXCLUSIVE, &c->lock,
		                                 err);
	return sherd_store_put(c->store, key, SHERD_WRITE_NEW, text.data, text.len, err);
}

static int held_by_other(const rows_claim *c, sherd_error *err)
{
	sherd_rows_marker m = {0};
	char *text;
	size_t len;
	const char *key = (const char *)c->key.data;
	if (sherd_store_get(c->store, key, MARKER_BYTES, &text, &len, NULL) == SHERD_OK) {
		(void)sherd_rows_marker_decode(text, len, &m, NULL);
		free(text);
	}
	const char *host = m.host[0] ? m.host : "an unknown host";
	if (!can_lock(c->store))
		return sherd_fail(err, SHERD_ECONFLICT, "conflict",
		                  "process %" PRIu64 " on %s may be packing; remove this file if it is dead", m.process,
		                  host);
	return sherd_fail(err, SHERD_ECONFLICT, "conflict", "process %" PRIu64 " on %s is packing", m.process, host);
}

/* Is the name one that a pack gives? */
static bool is_part(const char *name)
{
	static const char front[] = "part-";
	if (strncmp(name, front, sizeof(front) - 1) != 0)
		return false;
	name += sizeof(front) - 1;
	return strspn(name, "0123456789") == 5 && strcmp(name + 5, SHERD_ROWS_SUFFIX) == 0;
}

static int remove_parts(sherd_store *store, const rows_files *files, sherd_error *err)
{
	for (size_t i = 0; i < files->count; i++)
		if (is_part(files->list[i].name))
			TRY(sherd_store_remove(store, files->list[i].key, err));
	return SHERD_OK;
}

/* Under the exclusive lock nobody packs. With a manifest the dead pack had finished: only its marker goes. */
static int clear_dead(const rows_claim *c, const char *folder, sherd_error *err)
{
	SHERD_AUTO(sherd_lock, sherd_lock_release) lock = NULL;
	const char *key = (const char *)c->key.data;
	rows_files files;
	int rc = can_lock(c->store) ? sherd_store_lock(c->store, key, SHERD_LOCK_EXCLUSIVE, &lock, err)
	                            : SHERD_ECONFLICT;
	if (rc == SHERD_ENOTFOUND)
		return SHERD_OK;
	if (rc == SHERD_ECONFLICT)
		return held_by_other(c, err);
	TRY(rc);
	TRY(sherd_rows_files_open(&files, c->store, folder, SHERD_ROWS_SUFFIX, err));
	if (!files.has_manifest)
		rc = remove_parts(c->store, &files, err);
	sherd_rows_files_done(&files);
	TRY(rc);
	return sherd_store_remove(c->store, key, err);
}

/* What must not be there, marker left aside. */
static int check_empty(const rows_files *files, const char *folder, sherd_error *err)
{
	SHERD_AUTO_BUF manifest = {0};
	if (files->has_manifest) {
		TRY(sherd_rows_key(&manifest, folder, SHERD_ROWS_MANIFEST, err));
		return sherd_in_object(err, sherd_fail(err, SHERD_EEXIST, "exists", "the folder holds a set of rows"),
		                       (const char *)manifest.data);
	}
	if (files->count)
		return sherd_in_object(err, sherd_fail(err, SHERD_EEXIST, "exists", "the folder holds shards"),
		                       files->list[0].key);
	return SHERD_OK;
}

/* Looks at the folder: *marked when somebody else's marker has to go first, else it must be empty. Where nobody can
 * tell whether a pack lives, a manifest decides. */
static int look(const rows_claim *c, const char *folder, bool ours, bool *marked, sherd_error *err)
{
	rows_files files;
	int rc = SHERD_OK;
	TRY(sherd_rows_files_open(&files, c->store, folder, SHERD_ROWS_SUFFIX, err));
	*marked = files.has_marker && !ours && (can_lock(c->store) || !files.has_manifest);
	if (!*marked)
		rc = check_empty(&files, folder, err);
	sherd_rows_files_done(&files);
	return rc;
}

static void let_go(rows_claim *c)
{
	sherd_lock_release(TAKE(c->lock));
}

/* 1 when the claim is ours, 0 when the state changed under us. The folder is looked at before the marker is made, so
 * that a foreign set is never marked, and again after, since another pack may have finished in between. */
static int try_claim(rows_claim *c, const char *folder, int64_t time_ns, sherd_error *err)
{
	bool marked;
	TRY(look(c, folder, false, &marked, err));
	if (marked)
		return clear_dead(c, folder, err);
	int rc = create(c, time_ns, err);
	if (rc == SHERD_EEXIST)
		return 0;
	TRY(rc);
	rc = look(c, folder, true, &marked, err);
	if (rc == SHERD_OK)
		return 1;
	(void)sherd_store_remove(c->store, (const char *)c->key.data, NULL);
	let_go(c);
	return rc;
}

int sherd_rows_claim_open(rows_claim *out, sherd_store *store, const char *folder, int64_t time_ns, sherd_error *err)
{
	rows_claim c = {.store = store};
	sherd_error failure = {0}; /* some come on the way to success */
	int rc = sherd_rows_key(&c.key, folder, SHERD_ROWS_MARKER, &failure);
	for (int tries = 0; rc == SHERD_OK && tries < MOST_TRIES; tries++)
		rc = try_claim(&c, folder, time_ns, &failure);
	if (rc == SHERD_OK)
		rc = sherd_fail(&failure, SHERD_ECONFLICT, "conflict", "other packs come and go too fast");
	if (rc > 0) {
		*out = c;
		return SHERD_OK;
	}
	rc = sherd_in_object(&failure, rc, c.key.failed ? folder : (const char *)c.key.data);
	sherd_rows_claim_leave(&c);
	if (err)
		*err = failure;
	return rc;
}

void sherd_rows_claim_leave(rows_claim *claim)
{
	let_go(claim);
	sherd_buf_done(&claim->key);
}

int sherd_rows_claim_drop(rows_claim *claim, sherd_error *err)
{
	int rc = sherd_store_remove(claim->store, (const char *)claim->key.data, err);
	sherd_rows_claim_leave(claim);
	return rc;
}
