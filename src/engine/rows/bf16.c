#include "engine/rows/bf16.h"

#include "base/limits.h"
#include "engine/rows/files.h"

#include <inttypes.h>
#include <stdlib.h>

int shd_rows_bf16_read(sherd_store *store, const char *folder, const sherd_limits *limits, shd_arena *arena,
                       shd_rows_manifest *out, sherd_error *err)
{
	SHD_AUTO_BUF key = {0};
	SHD_AUTO_FREE char *text = NULL;
	size_t len;
	TRY(shd_folder_key(&key, folder, SHD_ROWS_BF16_MANIFEST, err));
	const char *name = (const char *)key.data;
	TRY(sherd_store_get(&text, &len, store, name, shd_limits_or_default(limits).metadata_bytes, err));
	return shd_in_object(err, shd_rows_bf16_decode(text, len, limits, arena, out, err), name);
}

int shd_rows_missing(sherd_error *err)
{
	return shd_fail(err, SHERD_EINCOMPLETE, "missing-shard", "the manifest lists it, but it is not there");
}

int shd_rows_bf16_compare(const shd_rows_entry *e, uint64_t size, sherd_error *err)
{
	if (size < e->bytes)
		return shd_fail_at(err, SHERD_ECORRUPT, "truncated", size,
		                   "the manifest says %" PRIu64 " bytes, the file has %" PRIu64, e->bytes, size);
	if (size > e->bytes)
		return shd_fail(err, SHERD_ECORRUPT, "size-mismatch",
		                "the manifest says %" PRIu64 " bytes, the file has %" PRIu64, e->bytes, size);
	return SHERD_OK;
}

int shd_rows_bf16_check(sherd_store *store, const char *folder, const shd_rows_entry *entry, sherd_error *err)
{
	SHD_AUTO_BUF key = {0};
	sherd_stat stat;
	TRY(shd_folder_key(&key, folder, entry->file, err));
	const char *name = (const char *)key.data;
	int rc = sherd_store_stat(&stat, store, name, err);
	if (rc == SHERD_ENOTFOUND)
		rc = shd_rows_missing(err);
	else if (rc == SHERD_OK)
		rc = shd_rows_bf16_compare(entry, stat.size, err);
	return shd_in_object(err, rc, name);
}
