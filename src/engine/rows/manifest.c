#include "engine/rows/manifest.h"

#include "engine/publish/head.h"
#include "engine/rows/files.h"

#include <stdio.h>
#include <stdlib.h>

int shd_rows_manifest_read(sherd_store *store, const char *folder, const sherd_limits *limits, shd_arena *arena,
                           shd_rows_manifest *out, rows_manifest_seen *seen, sherd_error *err)
{
	SHD_AUTO_BUF key = {0};
	TRY(shd_folder_key(&key, folder, SHD_ROWS_MANIFEST, err));
	SHD_DONE(shd_head_done) shd_head head = {0};
	TRY(shd_head_read(&head, store, (const char *)key.data, limits, err));
	if (seen) {
		seen->bytes = head.len;
		memcpy(seen->identity, head.identity, sizeof(seen->identity));
	}
	int rc = shd_rows_manifest_decode(head.text, head.len, limits, arena, out, err);
	return shd_in_object(err, rc, (const char *)key.data);
}

int shd_rows_manifest_tell_way_out(sherd_store *store, const char *folder, int rc, sherd_error *err)
{
	SHD_DONE(shd_rows_files_done) rows_files files = {0};
	if (rc != SHERD_ECORRUPT || !err || shd_rows_files_open(&files, store, folder, SHD_ROWS_SUFFIX, NULL) < 0)
		return rc;
	size_t used = strlen(err->message);
	if (files.count)
		(void)snprintf(err->message + used, sizeof(err->message) - used,
		               "; a new manifest can be made of the shards");
	return rc;
}
