#include "engine/rows/head.h"

#include "engine/publish/head.h"
#include "engine/rows/files.h"

#include <stdlib.h>

int shd_rows_head_read(rows_head *out, sherd_store *store, const char *folder, const sherd_limits *limits,
                       shd_arena *arena, shd_rows_manifest *manifest, sherd_error *err)
{
	rows_manifest_seen seen;
	int rc = shd_rows_manifest_read(store, folder, limits, arena, manifest, &seen, err);
	TRY(shd_rows_manifest_tell_way_out(store, folder, rc, err));
	memcpy(out->identity, seen.identity, sizeof(out->identity));
	return SHERD_OK;
}

int shd_rows_head_look(rows_head *out, sherd_store *store, const char *folder, sherd_error *err)
{
	SHD_AUTO_BUF key = {0};
	SHD_DONE(shd_head_done) shd_head head = {0};
	sherd_error failure = {0};
	TRY(shd_folder_key(&key, folder, SHD_ROWS_MANIFEST, err));
	int rc = shd_head_read(&head, store, (const char *)key.data, NULL, &failure);
	if (rc == SHERD_ENOTFOUND)
		memcpy(out->identity, head.identity, sizeof(out->identity));
	if (rc == SHERD_ENOTFOUND || rc == SHERD_ELIMIT || rc == SHERD_OK)
		return rc != SHERD_ENOTFOUND;
	return shd_pass(err, rc, &failure);
}

/* The name may be another's part by now, when somebody cleared ours. */
static int names_part(void *arg, const char *text, size_t len)
{
	const rows_written *part = arg;
	const char *name = shd_str_leaf(part->key);
	sherd_stat stat;
	if (!memmem(text, len, name, strlen(name)))
		return 0;
	int rc = sherd_store_stat(&stat, part->store, part->key, NULL);
	return rc < 0 ? -1 : strcmp(stat.identity, part->identity) == 0;
}

int shd_rows_head_write(rows_head *head, sherd_store *store, const char *folder, const char *name, const shd_buf *text,
                        const rows_written *part, bool *uncertain, sherd_error *err)
{
	SHD_AUTO_BUF key = {0};
	shd_published now;
	*uncertain = false;
	TRY(shd_buf_check(text, err));
	TRY(shd_folder_key(&key, folder, name, err));
	const shd_publication p = {.store = store,
	                           .key = (const char *)key.data,
	                           .base = head->identity,
	                           .text = text->data,
	                           .len = text->len,
	                           .is_ours = part ? names_part : NULL,
	                           .arg = (void *)part};
	int rc = shd_head_publish(&p, &now, err);
	*uncertain = now.kept;
	if (rc == SHERD_OK || now.kept)
		memcpy(head->identity, now.identity, sizeof(head->identity));
	if (rc == SHERD_EEXIST || rc == SHERD_ECONFLICT)
		rc = shd_fail(err, SHERD_ECONFLICT, "conflict",
		              "somebody else wrote another manifest meanwhile: it stays as it is");
	return shd_in_object(err, rc, p.key);
}
