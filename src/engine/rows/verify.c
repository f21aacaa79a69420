#include "engine/rows/verify.h"

#include "base/cursor.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/meter.h"
#include "base/pool.h"
#include "engine/rows/bf16.h"
#include "engine/rows/files.h"
#include "engine/rows/manifest.h"
#include "engine/rows/sums.h"
#include "format/ckpt/shard.h"
#include "format/rows/manifest.h"
#include "format/rows/claim.h"
#include "format/rows/shard.h"

#include <inttypes.h>
#include <stdlib.h>

SHD_AUTO_DEFINE(sherd_reader, sherd_reader_close)

/* One name of the folder, the manifest, or both. */
typedef struct checked {
	const char *key;
	const shd_rows_entry *entry; /* NULL: not listed */
	shd_rows_head head;
	bool good; /* the head was read */
	sherd_report report;
} checked;

typedef struct checking {
	sherd_store *store;
	const char *folder;
	const sherd_verify_options *options;
	sherd_limits limits;
	shd_arena arena;
	rows_files files;
	shd_buf manifest_key;
	shd_rows_manifest manifest;
	bool listed; /* there is a manifest, and it can be read */
	checked *list;
	size_t count;
	shd_meter meter;
	sherd_report *report;
} checking;

static bool is_checkpoint(const uint8_t *raw, uint64_t size)
{
	return size >= 4 && shd_get_u32(raw) == SHD_CKPT_SHARD_MAGIC;
}

/* ---- one shard */

static int warn_about_head(sherd_report *r, const char *key, const shd_rows_head *head, uint64_t size, sherd_error *err)
{
	if (head->reserved)
		TRY(shd_report_warn_at(r, key, "reserved", 28, err, "the reserved field is %" PRIu32 ", not 0",
		                       head->reserved));
	if (size > head->file_bytes)
		TRY(shd_report_warn_at(r, key, "trailing-bytes", head->file_bytes, err,
		                       "%" PRIu64 " bytes after the last row", size - head->file_bytes));
	return SHERD_OK;
}

static int rows_verify_compare(const shd_rows_entry *e, const shd_rows_head *head, uint64_t size, sherd_error *err)
{
	if (head->rows != e->rows)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-count", 8,
		                   "the head says %" PRIu64 " rows, the manifest %" PRIu64, head->rows, e->rows);
	if (size != e->bytes)
		return shd_fail(err, SHERD_ECORRUPT, "size-mismatch",
		                "the file has %" PRIu64 " bytes, the manifest says %" PRIu64, size, e->bytes);
	return SHERD_OK;
}

/* Where the damage begins, as far as blocks tell. */
static int fail_hash(const rows_sums *sums, const shd_rows_entry *e, uint64_t head, sherd_error *err)
{
	char have[SHD_SHA256_HEX + 1], want[SHD_SHA256_HEX + 1];
	size_t block = shd_rows_sums_differ(sums, e);
	shd_hex(e->sha256, sizeof(e->sha256), want);
	shd_hex(sums->sha256, sizeof(sums->sha256), have);
	if (block != SIZE_MAX)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-crc", head + (uint64_t)block * SHD_ROWS_BLOCK,
		                   "block %zu of the values has another CRC-32 than the manifest says", block);
	return shd_fail(err, SHERD_ECORRUPT, "bad-checksum",
	                "the file's SHA-256 is %.16s..., the manifest says %.16s...", have, want);
}

static int check_hash(const checking *g, const shd_rows_entry *e, const sherd_reader *reader, sherd_error *err)
{
	uint64_t head = shd_rows_kind_of(g->manifest.dtype)->head;
	SHD_DONE(shd_rows_sums_done) rows_sums sums = {0};
	TRY(shd_rows_sums_read(&sums, reader, head, sherd_reader_size(reader), (shd_meter *)&g->meter, err));
	bool differs =
		memcmp(sums.sha256, e->sha256, sizeof(e->sha256)) != 0 || shd_rows_sums_differ(&sums, e) != SIZE_MAX;
	return differs ? fail_hash(&sums, e, head, err) : SHERD_OK;
}

static int check_listed(const checking *g, checked *c, const sherd_reader *reader, sherd_error *err)
{
	sherd_error found = {0};
	uint64_t size = sherd_reader_size(reader), seen = c->good ? SHD_ROWS_HEAD_SIZE : 0;
	int rc = c->good ? rows_verify_compare(c->entry, &c->head, size, &found) : SHERD_OK;
	TRY(shd_report_take(&c->report, rc, &found, c->key, err));
	if (g->options->quick)
		return SHERD_OK;
	rc = check_hash(g, c->entry, reader, &found);
	c->report.checked += size - seen;
	return shd_report_take(&c->report, rc, &found, c->key, err);
}

/* A file without a head: its size, and its checksums. */
static int check_values(const checking *g, checked *c, const sherd_reader *reader, sherd_error *err)
{
	sherd_error found = {0};
	uint64_t size = sherd_reader_size(reader);
	int rc = shd_rows_bf16_compare(c->entry, size, &found);
	TRY(shd_report_take(&c->report, rc, &found, c->key, err));
	TRY(check_listed(g, c, reader, err));
	c->good = rc == SHERD_OK;
	c->head = (shd_rows_head){.rows = c->entry->rows, .width = g->manifest.width};
	return SHERD_OK;
}

static int warn_about_checkpoint(checked *c, sherd_error *err)
{
	return shd_report_warn(&c->report, c->key, "left-out", err, "a shard of a checkpoint is no part of the rows");
}

static int warn_about_stray(checked *c, sherd_error *err)
{
	c->good = false; /* its rows are no rows of the set */
	return shd_report_warn(&c->report, c->key, "stray-shard", err,
	                       "the manifest does not name this file: no part of the set");
}

static int rows_verify_check_head(const checking *g, checked *c, const sherd_reader *reader, sherd_error *err)
{
	uint8_t raw[SHD_ROWS_HEAD_SIZE] = {0};
	sherd_error found = {0};
	uint64_t size = sherd_reader_size(reader);
	TRY(sherd_reader_at(reader, 0, raw, size < sizeof(raw) ? (size_t)size : sizeof(raw), err));
	if (!c->entry && is_checkpoint(raw, size))
		return warn_about_checkpoint(c, err);
	int rc = shd_rows_head_decode(raw, size, &c->head, &found);
	TRY(shd_report_take(&c->report, rc, &found, c->key, err));
	c->good = rc == SHERD_OK;
	if (c->good) {
		c->report.checked += SHD_ROWS_HEAD_SIZE;
		TRY(warn_about_head(&c->report, c->key, &c->head, size, err));
	}
	if (c->entry)
		return check_listed(g, c, reader, err);
	return SHERD_OK;
}

static int check_stray(checked *c, const sherd_reader *reader, sherd_error *err)
{
	uint8_t raw[4] = {0};
	uint64_t size = sherd_reader_size(reader);
	TRY(sherd_reader_at(reader, 0, raw, size < sizeof(raw) ? (size_t)size : sizeof(raw), err));
	return is_checkpoint(raw, size) ? warn_about_checkpoint(c, err) : warn_about_stray(c, err);
}

static int rows_verify_check_one(void *arg, size_t index, sherd_error *err)
{
	const checking *g = arg;
	checked *c = &g->list[index];
	SHD_AUTO(sherd_reader, sherd_reader_close) reader = NULL;
	sherd_error found = {0};
	int rc = sherd_store_read(&reader, g->store, c->key, &found);
	if (rc == SHERD_ENOTFOUND && c->entry)
		rc = shd_rows_missing(&found);
	else if (rc == SHERD_ENOTFOUND && g->listed) /* a writer that gave up has removed it */
		return SHERD_OK;
	TRY(shd_report_take(&c->report, rc, &found, c->key, err));
	if (rc < 0)
		return SHERD_OK;
	if (c->entry && !shd_rows_kind_of(g->manifest.dtype)->head)
		return check_values(g, c, reader, err);
	return g->listed && !c->entry ? check_stray(c, reader, err) : rows_verify_check_head(g, c, reader, err);
}

/* ---- a folder */

/* What the manifest lists, whether it was seen in the folder or came since; then the files that look like shards and
 * are not listed. */
static int join_lists(checking *g, sherd_error *err)
{
	const shd_rows_kind *kind = shd_rows_kind_of(g->listed ? g->manifest.dtype : SHERD_F32);
	size_t files = g->files.count, entries = g->manifest.count;
	shd_map names = {0};
	bool ok = shd_map_reserve(&names, entries);
	g->list = calloc(files + entries + 1, sizeof(*g->list));
	for (size_t i = 0; i < entries && ok && g->list; i++) {
		const shd_rows_entry *e = &g->manifest.shards[i];
		SHD_AUTO_BUF key = {0};
		ok = shd_folder_key(&key, g->folder, e->file, NULL) == SHERD_OK;
		const char *copy = ok ? shd_arena_str(&g->arena, shd_str_of((const char *)key.data)) : NULL;
		g->list[g->count++] = (checked){.key = copy, .entry = e};
		(void)shd_map_add(&names, shd_str_of(e->file), i, &ok);
		ok &= copy != NULL;
	}
	for (size_t i = 0; i < files && ok && g->list; i++) {
		shd_str name = shd_str_of(g->files.list[i].name);
		if (shd_str_ends(name, kind->suffix) && shd_map_find(&names, name) == SHD_MAP_NONE)
			g->list[g->count++].key = g->files.list[i].key;
	}
	shd_map_done(&names);
	return ok && g->list ? SHERD_OK : shd_fail_nomem(err);
}

static uint64_t bytes_to_hash(const checking *g)
{
	uint64_t total = 0;
	for (size_t i = 0; i < g->manifest.count && !g->options->quick; i++)
		if (__builtin_add_overflow(total, g->manifest.shards[i].bytes, &total))
			return 0;
	return total;
}

static int rows_verify_check_width(uint64_t *width, const checked *c, sherd_error *err)
{
	if (!*width)
		*width = c->head.width;
	if (*width != c->head.width)
		return shd_fail_at(err, SHERD_ECORRUPT, "width-mismatch", 16, "width %" PRIu64 ", expected %" PRIu64,
		                   c->head.width, *width);
	return SHERD_OK;
}

/* In the order of the rows: do the shards agree, and is there a row at all? */
static int rows_verify_check_together(checking *g, bool complete, sherd_error *err)
{
	sherd_error found = {0};
	uint64_t width = g->manifest.width, rows = 0;
	bool overflow = false;
	for (size_t i = 0; i < g->count; i++) {
		checked *c = &g->list[i];
		if (c->good) {
			TRY(shd_report_take(&c->report, rows_verify_check_width(&width, c, &found), &found, c->key,
			                    err));
			overflow |= __builtin_add_overflow(rows, c->head.rows, &rows);
		}
		TRY(shd_report_merge(g->report, &c->report, err));
	}
	int rc = SHERD_OK;
	if (overflow)
		rc = shd_fail(&found, SHERD_ELIMIT, "too-many-rows", "more rows than 64 bits count");
	else if (!rows && complete && !sherd_report_errors(g->report))
		rc = shd_fail(&found, SHERD_ECORRUPT, "empty", "no shards, or no rows in them");
	return shd_report_take(g->report, rc, &found, *g->folder ? g->folder : ".", err);
}

static int rows_verify_read_manifest(checking *g, sherd_error *err)
{
	sherd_error found = {0};
	rows_manifest_seen seen = {0};
	const char *key = (const char *)g->manifest_key.data;
	int rc = shd_rows_manifest_read(g->store, g->folder, &g->limits, &g->arena, &g->manifest, &seen, &found);
	g->listed = rc == SHERD_OK;
	g->report->checked += seen.bytes;
	return shd_report_take(g->report, rc, &found, key, err);
}

static int check_marks(checking *g, sherd_error *err)
{
	SHD_AUTO_BUF claim = {0};
	sherd_error found = {0};
	TRY(shd_folder_key(&g->manifest_key, g->folder, SHD_ROWS_MANIFEST, err));
	TRY(shd_folder_key(&claim, g->folder, SHD_ROWS_CLAIM, err));
	const char *key = (const char *)claim.data;
	if (g->files.has_manifest) {
		if (g->files.has_claim)
			TRY(shd_report_warn(g->report, key, "claimed", err,
			                    "the set is whole; somebody is appending to it, or died on the way"));
		return rows_verify_read_manifest(g, err);
	}
	if (!g->files.has_claim)
		return shd_report_warn(g->report, (const char *)g->manifest_key.data, "no-manifest", err,
		                       "no checksums: only heads and sizes were checked");
	int rc = shd_fail(&found, SHERD_EINCOMPLETE, "incomplete", "the set is being packed, or its pack died");
	return shd_report_take(g->report, rc, &found, key, err);
}

static int rows_verify_check_folder(checking *g, sherd_error *err)
{
	sherd_error found = {0};
	TRY(shd_rows_files_open(&g->files, g->store, g->folder, NULL, err));
	if (g->files.count > g->limits.shards) {
		int rc = shd_fail(&found, SHERD_ELIMIT, "too-many-shards", "%zu shards, the limit is %" PRIu32,
		                  g->files.count, g->limits.shards);
		return shd_report_take(g->report, rc, &found, *g->folder ? g->folder : ".", err);
	}
	TRY(check_marks(g, err));
	TRY(join_lists(g, err));
	shd_meter_init(&g->meter, g->options->progress, bytes_to_hash(g));
	int rc = shd_pool_run(g->options->pool, g->count, rows_verify_check_one, g, err);
	shd_meter_done(&g->meter);
	TRY(rc);
	return rows_verify_check_together(g, g->files.has_manifest || !g->files.has_claim, err);
}

static int verify_folder(sherd_report *r, sherd_store *store, const char *folder, const sherd_verify_options *options,
                         sherd_error *err)
{
	checking g = {
		.store = store,
		.folder = folder,
		.options = options,
		.limits = shd_limits_or_default(options->limits),
		.report = r,
	};
	int rc = rows_verify_check_folder(&g, err);
	for (size_t i = 0; i < g.count; i++) {
		shd_report_done(&g.list[i].report);
	}
	free(g.list);
	shd_buf_done(&g.manifest_key);
	shd_rows_files_done(&g.files);
	shd_arena_done(&g.arena);
	return rc;
}

static int verify_shard(sherd_report *r, sherd_store *store, const char *key, const sherd_verify_options *options,
                        sherd_error *err)
{
	const checking g = {.store = store, .folder = "", .options = options};
	SHD_AUTO(sherd_reader, sherd_reader_close) reader = NULL;
	checked c = {.key = key};
	TRY(sherd_store_read(&reader, store, key, err));
	int rc = rows_verify_check_head(&g, &c, reader, err);
	if (rc == SHERD_OK)
		rc = shd_report_merge(r, &c.report, err);
	shd_report_done(&c.report);
	TRY(rc);
	return shd_report_warn(r, key, "no-checksum", err,
	                       "a shard has no checksum: only its head and its size were checked");
}

int shd_rows_verify(sherd_report *r, sherd_store *store, const char *key, const sherd_verify_options *options,
                    sherd_error *err)
{
	sherd_stat stat;
	sherd_error found;
	int rc = *key ? sherd_store_stat(&stat, store, key, &found) : SHERD_ENOTFOUND;
	if (rc == SHERD_ENOTFOUND)
		return verify_folder(r, store, key, options, err);
	TRY(shd_pass(err, rc, &found));
	if (!shd_rows_is_manifest(key))
		return verify_shard(r, store, key, options, err);
	SHD_AUTO_BUF folder = {0};
	TRY(shd_folder_of(&folder, key, err));
	return verify_folder(r, store, (const char *)folder.data, options, err);
}
