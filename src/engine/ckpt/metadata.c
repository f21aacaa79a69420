#include "engine/ckpt/metadata.h"

#include "engine/publish/head.h"
#include "format/ckpt/name.h"

#include <inttypes.h>
#include <stdlib.h>

int shd_ckpt_metadata_read(sherd_store *store, const char *prefix, const sherd_limits *limits, shd_arena *arena,
                           shd_ckpt_meta *out, char identity[72], sherd_error *err)
{
	SHD_AUTO_BUF key = {0};
	SHD_DONE(shd_head_done) shd_head head = {0};
	shd_ckpt_name_metadata(&key, prefix);
	TRY(shd_buf_check(&key, err));
	int rc = shd_head_read(&head, store, (const char *)key.data, limits, err);
	memcpy(identity, head.identity, sizeof(head.identity));
	if (rc == SHERD_ELIMIT && err)
		err->reason = "too-long"; /* as of everything that is too long in a checkpoint */
	if (rc == SHERD_OK)
		rc = shd_ckpt_meta_decode(head.text, head.len, limits, arena, out, err);
	return shd_in_object(err, rc, (const char *)key.data);
}

bool shd_ckpt_metadata_changed(sherd_store *store, const char *prefix, const char *identity)
{
	SHD_AUTO_BUF key = {0};
	sherd_stat now;
	shd_ckpt_name_metadata(&key, prefix);
	if (key.failed || !identity[0])
		return false;
	int rc = sherd_store_stat(&now, store, (const char *)key.data, NULL);
	return rc == SHERD_ENOTFOUND || (rc == SHERD_OK && strcmp(now.identity, identity) != 0);
}

int shd_ckpt_metadata_files(const shd_ckpt_meta *meta, const char *prefix, shd_arena *arena, shd_map *out,
                            sherd_error *err)
{
	for (size_t i = 0; i < meta->count; i++) {
		const shd_ckpt_meta_shard *m = &meta->shards[i];
		SHD_AUTO_BUF plain = {0};
		const char *file = m->file, *behind = file ? shd_ckpt_meta_file_behind(file) : NULL;
		bool ok = true;
		if (!file) {
			shd_ckpt_name_shard(&plain, shd_str_leaf(prefix), m->rank, NULL);
			TRY(shd_buf_check(&plain, err));
			file = shd_arena_str(arena, shd_str_of((const char *)plain.data));
			if (!file)
				return shd_fail_nomem(err);
		}
		if (behind)
			(void)shd_map_add(out, shd_str_of(behind), i, &ok);
		if (ok)
			(void)shd_map_add(out, shd_str_of(file), i, &ok);
		if (!ok)
			return shd_fail_nomem(err);
	}
	return SHERD_OK;
}

int shd_ckpt_files_unnamed(ckpt_files *files, const shd_ckpt_meta *meta, const char *prefix, shd_arena *arena,
                           sherd_error *err)
{
	SHD_DONE(shd_map_done) shd_map named = {0};
	size_t chosen = 0;
	TRY(shd_ckpt_metadata_files(meta, prefix, arena, &named, err));
	for (size_t i = 0; i < files->count; i++)
		if (shd_map_find(&named, shd_str_of(shd_str_leaf(files->list[i].key))) == SHD_MAP_NONE)
			files->list[chosen++] = files->list[i];
	files->count = chosen;
	return SHERD_OK;
}

static int ckpt_metadata_check_head(const ckpt_shard *f, const shd_ckpt_meta_shard *m, sherd_error *err)
{
	if (f->rank != m->rank)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-rank", 4, "the shard is of rank %" PRIu32 ", not %" PRIu32,
		                   f->rank, m->rank);
	if (strcmp(f->checksum, m->checksum) != 0)
		return shd_fail_at(
			err, SHERD_ECORRUPT, "bad-checksum", 12,
			"the shard's checksum is not the one in the metadata: damage, or another set's shard");
	if (m->listed && f->tensors != m->count)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-count", f->data_offset - (f->four_byte ? 8 : 12),
		                   "the shard's count of tensors is %" PRIu32 ", the metadata's %zu", f->tensors,
		                   m->count);
	return SHERD_OK;
}

/* The checksum of the metadata stands in for one that the shard has no room for. */
static int check_named(ckpt_shard *f, const shd_ckpt_meta_shard *m, sherd_error *err)
{
	TRY(ckpt_metadata_check_head(f, m, err));
	if (!f->checksum[0] && m->sha256) {
		memcpy(f->checksum, m->sha256, SHD_SHA256_HEX + 1);
		f->by_metadata = true;
	}
	return SHERD_OK;
}

static int open_beside(ckpt_shard *out, sherd_store *store, const char *prefix, const shd_ckpt_meta_shard *m,
                       const char *file, shd_buf *key, sherd_error *err)
{
	key->len = 0;
	if (file)
		shd_ckpt_name_beside(key, prefix, file);
	else
		shd_ckpt_name_shard(key, prefix, m->rank, NULL);
	TRY(shd_buf_check(key, err));
	return shd_ckpt_shard_open(out, store, (const char *)key->data, m->file_size, err);
}

int shd_ckpt_named_shard_open(ckpt_shard *out, sherd_store *store, const char *prefix, const shd_ckpt_meta_shard *m,
                              sherd_error *err)
{
	SHD_AUTO_BUF key = {0};
	ckpt_shard f;
	const char *behind = m->file ? shd_ckpt_meta_file_behind(m->file) : NULL;
	int rc = open_beside(&f, store, prefix, m, m->file, &key, err);
	if (rc == SHERD_ENOTFOUND && behind)
		rc = open_beside(&f, store, prefix, m, behind, &key, err);
	if (key.failed)
		return rc;
	if (rc == SHERD_ENOTFOUND)
		rc = shd_fail(err, SHERD_ECORRUPT, "missing-shard", "the shard of rank %" PRIu32 " is missing",
		              m->rank);
	else if (rc == SHERD_OK && (rc = check_named(&f, m, err)) < 0)
		shd_ckpt_shard_done(&f);
	TRY(shd_in_object(err, rc, (const char *)key.data));
	*out = f;
	return SHERD_OK;
}
