#include "engine/rows/head.h"

#include "engine/rows/files.h"

int shd_rows_head_read(rows_head *out, sherd_store *store, const char *folder, const sherd_limits *limits,
                       shd_arena *arena, shd_rows_manifest *manifest, sherd_error *err)
{
	rows_manifest_seen seen;
	int rc = shd_rows_manifest_read(store, folder, limits, arena, manifest, &seen, err);
	TRY(shd_rows_manifest_tell_way_out(store, folder, rc, err));
	memcpy(out->identity, seen.identity, sizeof(out->identity));
	return SHERD_OK;
}

static int rows_head_put(const rows_head *head, sherd_store *store, const char *key, const shd_buf *text,
                         rows_head *now, sherd_error *err)
{
	bool there = head->identity[0];
	sherd_writer *writer;
	const sherd_write_options options = {
		.mode = there ? SHERD_WRITE_REPLACE : SHERD_WRITE_NEW,
		.if_identity = there ? head->identity : NULL,
		.identity = now->identity,
	};
	TRY(sherd_store_write(store, key, &options, &writer, err));
	(void)sherd_writer_append(writer, text->data, text->len, NULL);
	return sherd_writer_commit(writer, err);
}

/* After a failure: is the manifest still what it was? */
static bool may_have_changed(const rows_head *head, sherd_store *store, const char *key)
{
	sherd_stat stat;
	int rc = sherd_store_stat(store, key, &stat, NULL);
	if (rc == SHERD_ENOTFOUND)
		return head->identity[0];
	return rc < 0 || strcmp(stat.identity, head->identity) != 0;
}

static int write_text(rows_head *head, sherd_store *store, const char *key, const shd_buf *text, bool *uncertain,
                      sherd_error *err)
{
	rows_head now;
	int rc = rows_head_put(head, store, key, text, &now, err);
	if (rc == SHERD_EEXIST || rc == SHERD_ECONFLICT)
		return shd_fail(err, SHERD_ECONFLICT, "conflict",
		                "somebody else wrote another manifest meanwhile: it stays as it is");
	if (rc < 0)
		*uncertain = may_have_changed(head, store, key);
	else
		*head = now;
	return rc;
}

int shd_rows_head_write(rows_head *head, sherd_store *store, const char *folder, const char *name, const shd_buf *text,
                        bool *uncertain, sherd_error *err)
{
	SHD_AUTO_BUF key = {0};
	*uncertain = false;
	TRY(shd_buf_check(text, err));
	TRY(shd_folder_key(&key, folder, name, err));
	return shd_in_object(err, write_text(head, store, (const char *)key.data, text, uncertain, err),
	                     (const char *)key.data);
}
