#include "engine/rows/claim.h"

#include "base/error.h"
#include "codec/json.h"
#include "engine/rows/clear.h"
#include "engine/rows/files.h"
#include "format/rows/manifest.h"
#include "format/rows/claim.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_TRIES = 100, CLAIM_BYTES = 64 << 10 };

static int describe_us(const rows_claim *c, int64_t time_ns, shd_buf *out, sherd_error *err)
{
	shd_rows_claim m = {.time_ns = time_ns, .process = (uint64_t)getpid(), .has_first = true, .first = c->first};
	size_t bad;
	if (gethostname(m.host, sizeof(m.host) - 1) != 0 || !shd_utf8_valid(m.host, strlen(m.host), &bad))
		m.host[0] = 0;
	shd_rows_claim_encode(&m, out);
	return shd_buf_check(out, err);
}

/* Says who holds the claim, if that can be read. */
static int name_holder(const rows_claim *c, sherd_error *err)
{
	shd_rows_claim m = {0};
	char *text;
	size_t len;
	if (sherd_store_get(&text, &len, c->store, (const char *)c->key.data, CLAIM_BYTES, NULL) < 0)
		return SHERD_ECONFLICT;
	(void)shd_rows_claim_decode(text, len, &m, NULL);
	free(text);
	return shd_fail(err, SHERD_ECONFLICT, "conflict", "process %" PRIu64 " on %s %s", m.process,
	                m.host[0] ? m.host : "an unknown host",
	                shd_can_lock(c->store) ? "is writing" : "may be writing; remove this file if it is dead");
}

typedef struct rows_clearing {
	const rows_claim *claim;
	const sherd_limits *limits;
} rows_clearing;

static int rows_claim_clear_dead(void *arg, shd_str text, sherd_error *err)
{
	const rows_clearing *k = arg;
	const rows_claim *c = k->claim;
	(void)text;
	return shd_rows_clear(c->store, c->folder, (const char *)c->key.data, k->limits, err);
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

/* The number after those of all parts that are there. */
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

/* Looks at the folder: *claimed when somebody else's claim has to go first, else it must be as the writer needs it.
 * Where nobody can tell whether a pack lives, a manifest decides for those that want to begin a set. */
static int rows_claim_look(const rows_claim *c, bool append, bool ours, bool *claimed, uint32_t *next, sherd_error *err)
{
	SHD_DONE(shd_rows_files_done) rows_files files = {0};
	TRY(shd_rows_files_open(&files, c->store, c->folder, NULL, err));
	*claimed = files.has_claim && !ours && (shd_can_lock(c->store) || !files.has_manifest || append);
	if (!*claimed)
		TRY(append ? rows_claim_check_set(c, &files, err) : check_empty(c, &files, err));
	return next_number(&files, next, err);
}

/* ---- the claim */

/* 1 when the claim is ours, 0 when the state changed under us. The folder is looked at before the claim is made, so
 * that a foreign set is never claimed, and again after, since another writer may have finished in between. */
static int try_claim(rows_claim *c, const rows_claim_options *o, sherd_error *err)
{
	SHD_AUTO_BUF text = {0};
	rows_clearing k = {c, o->limits};
	const shd_claim_rules rules = {.mode = SHERD_LOCK_EXCLUSIVE, .clear = rows_claim_clear_dead, .arg = &k};
	const char *key = (const char *)c->key.data;
	bool claimed;
	uint32_t next = 0;
	TRY(rows_claim_look(c, o->append, false, &claimed, &next, err));
	if (claimed)
		return shd_claim_clear(c->store, key, &rules, err);
	c->first = next;
	TRY(describe_us(c, o->time_ns, &text, err));
	TRY(shd_claim_take(&c->claim, c->store, key, &text, &rules, err));
	int rc = rows_claim_look(c, o->append, true, &claimed, &next, err);
	if (rc == SHERD_OK && next == c->first)
		return 1;
	(void)shd_claim_drop(&c->claim, NULL);
	return rc;
}

int shd_rows_claim_open(rows_claim *out, sherd_store *store, const char *folder, const rows_claim_options *options,
                        sherd_error *err)
{
	rows_claim c = {.store = store, .folder = folder};
	sherd_error failure = {0}; /* some come on the way to success */
	int rc = shd_folder_key(&c.key, folder, SHD_ROWS_CLAIM, &failure);
	if (rc == SHERD_OK)
		rc = shd_folder_missing(store, folder, &c.made, &failure);
	for (int tries = 0; rc == SHERD_OK && tries < MOST_TRIES; tries++)
		rc = try_claim(&c, options, &failure);
	if (rc == SHERD_OK)
		rc = shd_fail(&failure, SHERD_ECONFLICT, "conflict", "other writers come and go too fast");
	else if (rc == SHERD_ECONFLICT && strcmp(failure.object, (const char *)c.key.data) == 0)
		rc = name_holder(&c, &failure);
	if (rc > 0) {
		*out = c;
		return SHERD_OK;
	}
	rc = shd_in_object(&failure, rc, c.key.failed ? folder : (const char *)c.key.data);
	shd_folder_remove_made(store, folder, c.made);
	shd_rows_claim_leave(&c);
	return shd_pass(err, rc, &failure);
}

int shd_rows_claim_take_over(rows_claim *out, sherd_store *store, const char *folder, sherd_error *err)
{
	rows_claim c = {.store = store, .folder = folder};
	int rc = shd_folder_key(&c.key, folder, SHD_ROWS_CLAIM, err);
	if (rc == SHERD_OK)
		rc = shd_claim_adopt(&c.claim, store, (const char *)c.key.data, err);
	if (rc == SHERD_OK) {
		*out = c;
		return rc;
	}
	if (rc == SHERD_ECONFLICT)
		rc = shd_in_object(err, name_holder(&c, err), (const char *)c.key.data);
	shd_rows_claim_leave(&c);
	return rc;
}

void shd_rows_claim_leave(rows_claim *claim)
{
	shd_claim_leave(&claim->claim);
	shd_buf_done(&claim->key);
}

void shd_rows_claim_drop(rows_claim *claim)
{
	(void)shd_claim_drop(&claim->claim, NULL);
	shd_folder_remove_made(claim->store, claim->folder, claim->made);
	shd_buf_done(&claim->key);
}
