#include "engine/rows/manifest.h"

#include "base/limits.h"
#include "engine/rows/files.h"
#include "format/rows/shard.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

SHD_AUTO_DEFINE(sherd_reader, sherd_reader_close)

static int rows_manifest_read_all(sherd_store *store, const char *key, const sherd_limits *limits, shd_arena *arena,
                                  shd_rows_manifest *out, rows_manifest_seen *seen, sherd_error *err)
{
	SHD_AUTO(sherd_reader, sherd_reader_close) reader = NULL;
	uint64_t most = shd_limits_or_default(limits).metadata_bytes;
	TRY(sherd_store_read(&reader, store, key, err));
	uint64_t size = sherd_reader_size(reader);
	if (size > most)
		return shd_fail(err, SHERD_ELIMIT, "too-large", "%" PRIu64 " bytes, the limit is %" PRIu64, size, most);
	SHD_AUTO_FREE void *text = malloc((size_t)size + 1);
	if (!text)
		return shd_fail_nomem(err);
	TRY(sherd_reader_at(reader, 0, text, (size_t)size, err));
	if (seen) {
		seen->bytes = size;
		memcpy(seen->identity, sherd_reader_identity(reader), strlen(sherd_reader_identity(reader)) + 1);
	}
	return shd_rows_manifest_decode(text, (size_t)size, limits, arena, out, err);
}

int shd_rows_manifest_read(sherd_store *store, const char *folder, const sherd_limits *limits, shd_arena *arena,
                           shd_rows_manifest *out, rows_manifest_seen *seen, sherd_error *err)
{
	SHD_AUTO_BUF key = {0};
	TRY(shd_folder_key(&key, folder, SHD_ROWS_MANIFEST, err));
	const char *name = (const char *)key.data;
	return shd_in_object(err, rows_manifest_read_all(store, name, limits, arena, out, seen, err), name);
}

int shd_rows_manifest_tell_way_out(sherd_store *store, const char *folder, int rc, sherd_error *err)
{
	rows_files files;
	if (rc != SHERD_ECORRUPT || !err || shd_rows_files_open(&files, store, folder, SHD_ROWS_SUFFIX, NULL) < 0)
		return rc;
	size_t used = strlen(err->message);
	if (files.count)
		(void)snprintf(err->message + used, sizeof(err->message) - used,
		               "; a new manifest can be made of the shards");
	shd_rows_files_done(&files);
	return rc;
}
