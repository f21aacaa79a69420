/* engine/ckpt/remove.c - ending one set, or what is left of one.
 *
 * A removal takes the prefix's claim first, marked "removing"; then the metadata
 * goes, or becomes vacant where the store cannot lock, which ends the set, then its
 * shards, then the claim. Whoever finds the claim of a removal that died finishes it,
 * if the metadata is gone. */
#include "engine/ckpt/remove.h"

#include "base/buf.h"
#include "base/str.h"
#include "engine/ckpt/claim.h"
#include "engine/ckpt/clear.h"
#include "engine/ckpt/files.h"
#include "engine/ckpt/lent.h"
#include "engine/ckpt/metadata.h"
#include "engine/publish/head.h"
#include "engine/publish/part.h"
#include "format/ckpt/name.h"

static int replaced_meanwhile(sherd_error *err)
{
	return shd_fail(err, SHERD_ECONFLICT, "conflict", "the set has just been saved, replaced or removed");
}

/* The very metadata that was looked at, before anything else goes: a save that was taken over from, and lives on, asks
 * no claim before it publishes. set: it goes; else only what its set does not name does, and it stays behind a fence.
 */
static int end_metadata(sherd_store *store, const char *prefix, const char *seen, bool set, sherd_error *err)
{
	SHD_AUTO_BUF key = {0};
	shd_ckpt_name_metadata(&key, prefix);
	TRY(shd_buf_check(&key, err));
	int rc = (set ? shd_head_remove : shd_head_fence)(store, (const char *)key.data, seen, err);
	return rc == SHERD_ECONFLICT || rc == SHERD_ENOTFOUND ? replaced_meanwhile(err) : rc;
}

/* Is under the prefix, now that it is claimed, still what was to go? identity "": no metadata; out is then that of a
 * vacant one. */
static int look_again(sherd_store *store, const char *prefix, const char *identity, char out[72], sherd_error *err)
{
	ckpt_committed now;
	TRY(shd_ckpt_committed(store, prefix, &now, err));
	bool same = now.there ? *identity && strcmp(now.identity, identity) == 0 : !*identity;
	memcpy(out, now.identity, sizeof(now.identity));
	return same ? SHERD_OK : replaced_meanwhile(err);
}

/* The files under the prefix that its metadata does not name, which must have the identity. */
static int list_strays(sherd_store *store, const char *prefix, const char *identity, ckpt_files *files, char now[72],
                       sherd_error *err)
{
	SHD_DONE(shd_arena_done) shd_arena arena = {0};
	shd_ckpt_meta meta;
	TRY(shd_ckpt_files_open(files, store, prefix, err));
	int rc = shd_ckpt_metadata_read(store, prefix, NULL, &arena, &meta, now, err);
	if (rc == SHERD_ENOTFOUND || (rc == SHERD_OK && strcmp(now, identity) != 0))
		return replaced_meanwhile(err);
	TRY(rc);
	return shd_ckpt_files_unnamed(files, &meta, prefix, &arena, err);
}

/* Whoever finishes the removal after us removes no other set than the one with this id. Of strays nothing is left to be
 * finished: whoever finds the claim finds the set committed and leaves it. */
static int remove_claimed(sherd_store *store, const char *prefix, const char *identity, const sherd_set_id *id,
                          bool strays, sherd_error *err)
{
	ckpt_hold hold;
	SHD_DONE(shd_ckpt_files_done) ckpt_files files = {0};
	char seen[72] = "";
	shd_ckpt_claim mine = shd_ckpt_claim_of_us(id, 1, 0);
	mine.removing = true;
	TRY(shd_ckpt_hold(&hold, store, prefix, &mine, NULL, NULL, err));
	int rc = strays ? list_strays(store, prefix, identity, &files, seen, err)
	                : look_again(store, prefix, identity, seen, err);
	if (rc == SHERD_OK && !strays)
		rc = shd_ckpt_files_open(&files, store, prefix, err);
	bool begun = rc == SHERD_OK && !strays;
	if (rc == SHERD_OK) {
		rc = end_metadata(store, prefix, seen, *identity && !strays, err);
		begun &= rc != SHERD_ECONFLICT;
	}
	for (size_t i = 0; rc == SHERD_OK && i < files.count; i++)
		rc = shd_part_clear(store, files.list[i].key, files.list[i].identity, err);
	if (rc == SHERD_OK)
		return shd_claim_drop(&hold.held, err);
	if (begun)
		shd_claim_leave(&hold.held); /* the claim stays: the next save, prune or removal goes on */
	else
		(void)shd_claim_drop(&hold.held, NULL);
	return rc;
}

int shd_ckpt_remove_set(sherd_store *store, const char *prefix, const char *identity, sherd_error *err)
{
	ckpt_committed now;
	sherd_set_id id;
	TRY(shd_ckpt_committed(store, prefix, &now, err));
	if (now.there && !*now.identity)
		return shd_fail(err, SHERD_EEXIST, "cannot-replace",
		                "what has the name of the metadata is no file that can be read: remove it first");
	if (!now.there || strcmp(now.identity, identity) != 0)
		return replaced_meanwhile(err);
	id = now.set_id;
	if (!now.has_set_id)
		TRY(sherd_set_id_random(&id, err));
	return remove_claimed(store, prefix, identity, &id, false, err);
}

int shd_ckpt_remove_orphans(sherd_store *store, const char *prefix, sherd_error *err)
{
	sherd_set_id id;
	TRY(sherd_set_id_random(&id, err));
	return remove_claimed(store, prefix, "", &id, false, err);
}

int shd_ckpt_remove_strays(sherd_store *store, const char *prefix, const char *identity, bool dry_run, size_t *count,
                           sherd_error *err)
{
	SHD_DONE(shd_ckpt_files_done) ckpt_files files = {0};
	sherd_set_id id;
	char now[72];
	*count = 0;
	TRY(list_strays(store, prefix, identity, &files, now, err));
	*count = files.count;
	if (!*count || dry_run)
		return SHERD_OK;
	TRY(sherd_set_id_random(&id, err));
	return remove_claimed(store, prefix, identity, &id, true, err);
}

/* Metadata that somebody copied needs the shards of the set that it was copied from. */
static int check_lent(sherd_store *store, const char *prefix, const sherd_ckpt_options *options, sherd_error *err)
{
	SHD_DONE(shd_ckpt_lent_done) ckpt_lent lent = {0};
	shd_meter meter;
	shd_meter_init(&meter, options ? options->progress : NULL, 0);
	int rc = shd_ckpt_lent_open(&lent, store, prefix, options ? options->limits : NULL, &meter, err);
	shd_meter_done(&meter);
	TRY(rc);
	TRY(shd_pass(err, lent.why.code, &lent.why));
	if (lent.borrower)
		return shd_fail(err, SHERD_ECONFLICT, "conflict", "the metadata of %.128s %s: remove that one first",
		                lent.borrower,
		                lent.unsure ? "cannot be read, and may name shards of this set"
		                            : "names shards of this set");
	return SHERD_OK;
}

/* Without metadata: what a dead save or removal left, and shards that belong to nothing. */
static int remove_rest(sherd_store *store, const char *prefix, sherd_ckpt_state *was, sherd_error *err)
{
	ckpt_files files = {0};
	ckpt_claim_look claim = {0};
	int rc = shd_ckpt_claim_look(store, prefix, &claim, err);
	if (rc != SHERD_EUNSUPPORTED) /* no claim, but in the way of ours: that is told when we claim */
		TRY(rc);
	if (claim.there)
		TRY(shd_ckpt_clear_dead(store, prefix, 0, NULL, err));
	TRY(shd_ckpt_files_open(&files, store, prefix, err));
	size_t left = files.count;
	shd_ckpt_files_done(&files);
	if (!claim.there && !left)
		return shd_fail(err, SHERD_ENOTFOUND, "not-found", "no such checkpoint");
	*was = claim.there ? SHERD_CKPT_DEAD : SHERD_CKPT_ORPHANED;
	return left ? shd_ckpt_remove_orphans(store, prefix, err) : SHERD_OK;
}

static int remove_prefix(sherd_store *store, const char *prefix, const sherd_ckpt_options *options,
                         sherd_ckpt_state *was, sherd_error *err)
{
	ckpt_committed now;
	if (!*shd_str_leaf(prefix) || shd_ckpt_name_parse(prefix).kind != SHD_CKPT_NAME_OTHER)
		return shd_fail(err, SHERD_EINVAL, "bad-argument", "this is not the prefix of a checkpoint");
	TRY(check_lent(store, prefix, options, err));
	TRY(shd_ckpt_committed(store, prefix, &now, err));
	if (!now.there)
		return remove_rest(store, prefix, was, err);
	*was = now.readable ? SHERD_CKPT_COMMITTED : SHERD_CKPT_DAMAGED;
	return shd_ckpt_remove_set(store, prefix, now.identity, err);
}

int sherd_ckpt_remove(sherd_store *store, const char *prefix, const sherd_ckpt_options *options, sherd_ckpt_state *was,
                      sherd_error *err)
{
	sherd_ckpt_state found = SHERD_CKPT_COMMITTED;
	TRY(shd_in_object(err, remove_prefix(store, prefix, options, &found, err), prefix));
	if (was)
		*was = found;
	return SHERD_OK;
}
