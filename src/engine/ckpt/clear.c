#include "engine/ckpt/clear.h"

#include "engine/ckpt/claim.h"
#include "engine/ckpt/files.h"
#include "engine/ckpt/lent.h"
#include "engine/ckpt/metadata.h"
#include "engine/publish/head.h"
#include "engine/publish/part.h"

static bool is_about_the_data(int rc)
{
	return rc == SHERD_ECORRUPT || rc == SHERD_EVERSION || rc == SHERD_ELIMIT || rc == SHERD_EUNSUPPORTED;
}

int shd_ckpt_committed(sherd_store *store, const char *prefix, ckpt_committed *out, sherd_error *err)
{
	shd_arena arena = {0};
	shd_ckpt_meta meta = {0};
	ckpt_committed c = {0};
	int rc = shd_ckpt_metadata_read(store, prefix, NULL, &arena, &meta, c.identity, err);
	c.there = rc != SHERD_ENOTFOUND;
	c.readable = rc == SHERD_OK;
	c.has_set_id = c.readable && meta.has_set_id;
	c.set_id = meta.set_id;
	shd_arena_done(&arena);
	if (rc < 0 && rc != SHERD_ENOTFOUND && !is_about_the_data(rc))
		return rc;
	*out = c;
	return SHERD_OK;
}

/* Removes these shards, but for those that metadata of another prefix names. */
static int ckpt_clear_remove_files(sherd_store *store, const char *prefix, const ckpt_files *files, shd_meter *meter,
                                   sherd_error *err)
{
	SHD_DONE(shd_ckpt_lent_done) ckpt_lent lent = {0};
	if (!files->count)
		return SHERD_OK;
	TRY(shd_ckpt_lent_open(&lent, store, prefix, NULL, meter, err));
	for (size_t i = 0; i < files->count; i++) {
		TRY(shd_meter_ask(meter, err));
		if (!shd_ckpt_is_lent(&lent, files->list[i].key))
			TRY(shd_part_clear(store, files->list[i].key, files->list[i].identity, err));
	}
	return SHERD_OK;
}

/* Before the first of them goes; metadata was seen with the identity. */
static int ckpt_clear_fence(sherd_store *store, const char *prefix, const char *seen, const ckpt_files *files,
                            sherd_error *err)
{
	SHD_AUTO_BUF key = {0};
	shd_ckpt_name_metadata(&key, prefix);
	TRY(shd_buf_check(&key, err));
	return files->count ? shd_head_fence(store, (const char *)key.data, seen, err) : SHERD_OK;
}

static int clear_by_owner(sherd_store *store, const char *prefix, const char *seen, const sherd_set_id *set_id,
                          shd_meter *meter, sherd_error *err)
{
	SHD_DONE(shd_ckpt_files_done) ckpt_files files = {0};
	TRY(shd_ckpt_files_open(&files, store, prefix, err));
	TRY(shd_ckpt_files_of_set(&files, store, set_id, meter, err));
	TRY(ckpt_clear_fence(store, prefix, seen, &files, err));
	return ckpt_clear_remove_files(store, prefix, &files, meter, err);
}

static int clear_all(sherd_store *store, const char *prefix, const char *seen, shd_meter *meter, sherd_error *err)
{
	SHD_DONE(shd_ckpt_files_done) ckpt_files files = {0};
	TRY(shd_ckpt_files_open(&files, store, prefix, err));
	TRY(ckpt_clear_fence(store, prefix, seen, &files, err));
	return ckpt_clear_remove_files(store, prefix, &files, meter, err);
}

/* Shards are listed first and the claim is looked at last: while it is the holder's, nothing that was listed before
 * can belong to a set that is still to be published. Whoever claims later is not in the list. */
int shd_ckpt_clear_unnamed(sherd_store *store, const char *prefix, const sherd_set_id *holder, sherd_error *err)
{
	SHD_DONE(shd_arena_done) shd_arena arena = {0};
	SHD_DONE(shd_ckpt_files_done) ckpt_files files = {0};
	shd_ckpt_meta meta;
	char identity[72];
	bool claimed = false;
	TRY(shd_ckpt_files_open(&files, store, prefix, err));
	TRY(shd_ckpt_metadata_read(store, prefix, NULL, &arena, &meta, identity, err));
	TRY(shd_ckpt_claimed_by(store, prefix, holder, &claimed, err));
	TRY(shd_ckpt_files_unnamed(&files, &meta, prefix, &arena, err));
	return claimed ? ckpt_clear_remove_files(store, prefix, &files, NULL, err) : SHERD_OK;
}

/* A removal begins with the metadata: while that is there nothing is lost yet, and the set may be the newest by now, so
 * it stays. Without it nothing under the prefix is committed. */
static int finish_removal(sherd_store *store, const char *prefix, const sherd_set_id *set_id, shd_meter *meter,
                          sherd_error *err)
{
	ckpt_committed now;
	TRY(shd_ckpt_committed(store, prefix, &now, err));
	if (!now.there)
		return clear_all(store, prefix, now.identity, meter, err);
	if (now.has_set_id && !shd_set_id_equal(&now.set_id, set_id))
		return clear_by_owner(store, prefix, now.identity, set_id, meter, err);
	return SHERD_OK;
}

int shd_ckpt_clear(sherd_store *store, const char *prefix, const shd_ckpt_claim *claim, shd_meter *meter,
                   sherd_error *err)
{
	ckpt_committed now;
	if (claim->repairing)
		return SHERD_OK;
	if (claim->removing)
		return finish_removal(store, prefix, &claim->set_id, meter, err);
	TRY(shd_ckpt_committed(store, prefix, &now, err));
	if (now.there && now.has_set_id && shd_set_id_equal(&now.set_id, &claim->set_id))
		return shd_ckpt_clear_unnamed(store, prefix, &claim->set_id, err);
	/* Metadata that cannot be read may be this very set's: its shards are what repair would need. */
	if (now.there && !now.readable)
		return SHERD_OK;
	TRY(clear_by_owner(store, prefix, now.identity, &claim->set_id, meter, err));
	/* Shards of the C# layout carry no set id; when nothing is committed they are the dead save's. */
	if (claim->csharp && !now.there) {
		TRY(shd_ckpt_committed(store, prefix, &now, err));
		return now.there ? SHERD_OK : clear_by_owner(store, prefix, now.identity, NULL, meter, err);
	}
	return SHERD_OK;
}
