#include "engine/rows/format.h"

#include "base/limits.h"
#include "engine/rows/files.h"
#include "engine/rows/verify.h"
#include "format/rows/manifest.h"
#include "format/rows/claim.h"
#include "format/rows/shard.h"

#include <stdlib.h>

SHD_AUTO_DEFINE(sherd_reader, sherd_reader_close)

/* Manifests stand for their folders, under their own names only: a copy elsewhere is the list of nothing. */
static int probe_manifest(shd_evidence *e, sherd_error *err)
{
	(void)err;
	return shd_evidence_is_json(e) && strcmp(shd_str_leaf(e->key), SHD_ROWS_MANIFEST) == 0;
}

/* Is there a shard among these? Checkpoints use the same extension, so the first bytes are asked. */
static int has_shards(sherd_store *store, const rows_files *files, sherd_error *err)
{
	bool found = false;
	for (size_t i = 0; i < files->count && !found; i++) {
		char magic[sizeof(SHD_ROWS_MAGIC) - 1];
		SHD_AUTO(sherd_reader, sherd_reader_close) reader = NULL;
		int rc = sherd_store_read(&reader, store, files->list[i].key, err);
		if (rc == SHERD_ENOTFOUND)
			continue;
		TRY(rc);
		if (sherd_reader_size(reader) < sizeof(magic))
			continue;
		TRY(sherd_reader_at(reader, 0, magic, sizeof(magic), err));
		found = memcmp(magic, SHD_ROWS_MAGIC, sizeof(magic)) == 0;
	}
	return found;
}

/* A manifest, the claim of who is packing, or shards. */
static int rows_format_probe_folder(shd_evidence *e, sherd_error *err)
{
	rows_files files;
	int found = shd_evidence_inside(e, SHD_ROWS_MANIFEST, err);
	if (!found)
		found = shd_evidence_inside(e, SHD_ROWS_CLAIM, err);
	if (found)
		return found;
	TRY(shd_rows_files_open(&files, e->store, e->key, SHD_ROWS_SUFFIX, err));
	found = has_shards(e->store, &files, err);
	shd_rows_files_done(&files);
	return found;
}

static int is_bf16(sherd_store *store, const char *folder, sherd_error *err)
{
	SHD_AUTO_BUF key = {0};
	SHD_AUTO_FREE char *text = NULL;
	size_t len;
	bool found = false;
	sherd_error failure = {0};
	TRY(shd_folder_key(&key, folder, SHD_ROWS_BF16_MANIFEST, err));
	uint64_t most = shd_limits_or_default(NULL).metadata_bytes;
	int rc = sherd_store_get(&text, &len, store, (const char *)key.data, most, &failure);
	if (rc == SHERD_ENOTFOUND || rc == SHERD_ELIMIT)
		return 0;
	if (rc < 0)
		return shd_pass(err, rc, &failure);
	TRY(shd_rows_bf16_recognise(text, len, &found, err));
	return found;
}

static int probe_bf16_manifest(shd_evidence *e, sherd_error *err)
{
	SHD_AUTO_BUF folder = {0};
	if (!shd_evidence_is_json(e) || strcmp(shd_str_leaf(e->key), SHD_ROWS_BF16_MANIFEST) != 0)
		return 0;
	TRY(shd_folder_of(&folder, e->key, err));
	return is_bf16(e->store, (const char *)folder.data, err);
}

/* Ours go first, where both are there. */
static int probe_bf16_folder(shd_evidence *e, sherd_error *err)
{
	int ours = shd_evidence_inside(e, SHD_ROWS_MANIFEST, err);
	return ours ? (ours < 0 ? ours : 0) : is_bf16(e->store, e->key, err);
}

#define ROWS_DTYPES                                                                              \
	(SHERD_DTYPE_BIT(SHERD_F16) | SHERD_DTYPE_BIT(SHERD_BF16) | SHERD_DTYPE_BIT(SHERD_F32) | \
	 SHERD_DTYPE_BIT(SHERD_F64))

const shd_format_entry shd_format_rows = {
	.info = {.id = SHERD_FORMAT_ROWS,
                 .kind = SHERD_KIND_ROWS,
                 .name = "rows",
                 .noun = "a set of rows",
                 .folder = true,
                 .written = true,
                 .holds = SHERD_HOLDS_MANY | SHERD_HOLDS_EMPTY_NAMES,
                 .dtypes = ROWS_DTYPES,
                 .most_dims = SHERD_MAX_DIMS},
	.magic = {SHD_ROWS_MAGIC, sizeof(SHD_ROWS_MAGIC) - 1},
	.probe = probe_manifest,
	.probe_set = rows_format_probe_folder,
	.open = shd_bundle_open_rows,
	.open_rows = shd_rows_open_found,
	.verify = shd_rows_verify,
	.write = shd_write_rows,
};

const shd_format_entry shd_format_rows_bf16 = {
	.info = {.id = SHERD_FORMAT_ROWS_BF16,
                 .kind = SHERD_KIND_ROWS,
                 .name = "rows-bf16",
                 .noun = "a set of rows",
                 .folder = true,
                 .written = true,
                 .holds = SHERD_HOLDS_MANY | SHERD_HOLDS_EMPTY_NAMES,
                 .dtypes = ROWS_DTYPES,
                 .most_dims = SHERD_MAX_DIMS},
	.probe = probe_bf16_manifest,
	.probe_set = probe_bf16_folder,
	.open = shd_bundle_open_rows,
	.open_rows = shd_rows_open_found_bf16,
	.verify = shd_rows_verify_bf16,
	.write = shd_write_rows,
};
