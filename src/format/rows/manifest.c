#include "format/rows/manifest.h"

#include "base/limits.h"
#include "base/map.h"
#include "codec/json.h"
#include "codec/seal.h"
#include "format/rows/shard.h"

#include <inttypes.h>

/* How one of the two lists spells what both say. */
typedef struct dialect {
	const char *format;
	const char *version, *rows, *width; /* keys */
	uint64_t versions;                  /* the newest that is known */
	bool ours;
} dialect;

static const dialect own = {
	.format = "sherd-rows",
	.version = "version",
	.rows = "rows",
	.width = "width",
	.versions = 2,
	.ours = true,
};

static const dialect bf16 = {
	.format = "residual_shard_bf16",
	.version = "format_version",
	.rows = "total_tokens",
	.width = "d_model",
	.versions = 1,
};

#define BF16_DTYPE "bfloat16"

static const shd_rows_kind kinds[] = {
	{SHERD_F32, SHD_ROWS_SUFFIX, SHD_ROWS_HEAD_SIZE, 4},
	{SHERD_F16, ".f16", 0, 2},
	{SHERD_BF16, ".bf16", 0, 2},
};

const shd_rows_kind *shd_rows_kind_of(sherd_dtype dtype)
{
	for (size_t i = 0; i < COUNT_OF(kinds); i++)
		if (kinds[i].dtype == dtype)
			return &kinds[i];
	return NULL;
}

uint64_t shd_rows_blocks(uint64_t payload)
{
	return payload / SHD_ROWS_BLOCK + (payload % SHD_ROWS_BLOCK != 0);
}

enum {
	HAS_FORMAT = 1 << 0,
	HAS_VERSION = 1 << 1,
	HAS_ROWS = 1 << 2,
	HAS_WIDTH = 1 << 3,
	HAS_DTYPE = 1 << 4,
	HAS_SHARDS = 1 << 5,
	HAS_ALL = (1 << 6) - 1,

	HAS_FILE = 1 << 0,
	HAS_FILE_ROWS = 1 << 1,
	HAS_BYTES = 1 << 2,
	HAS_HASH = 1 << 3
};

typedef struct decoder {
	const dialect *d;
	shd_json *json;
	sherd_limits limits;
	shd_arena *arena;
	SHD_VEC(shd_rows_entry) shards;
	shd_rows_manifest m;
	unsigned has;
} decoder;

/* ---- one shard */

static bool is_plain_name(shd_str s)
{
	return s.len && s.len <= 255 && !memchr(s.ptr, '/', s.len) && !memchr(s.ptr, 0, s.len) && !shd_str_is(s, ".") &&
	       !shd_str_is(s, "..");
}

static int rows_manifest_take_file(decoder *d, const char **out, sherd_error *err)
{
	shd_str s;
	TRY(shd_json_string(d->json, &s, err));
	if (!is_plain_name(s))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-path", shd_json_offset(d->json),
		                   "%.*s is not the plain name of a file", s.len > 128 ? 128 : (int)s.len,
		                   s.len ? s.ptr : "");
	*out = shd_arena_str(d->arena, s);
	return *out ? SHERD_OK : shd_fail_nomem(err);
}

static int take_hash(decoder *d, uint8_t out[SHD_SHA256_BYTES], sherd_error *err)
{
	shd_str s;
	TRY(shd_json_string(d->json, &s, err));
	if (!shd_unhex(s.ptr, s.len, out, SHD_SHA256_BYTES))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-text", shd_json_offset(d->json),
		                   "a SHA-256 is 64 lower-case hexadecimal digits");
	return SHERD_OK;
}

/* Eight digits a block, most significant first. */
static int take_crcs(decoder *d, shd_rows_entry *e, sherd_error *err)
{
	shd_str s;
	TRY(shd_json_string(d->json, &s, err));
	uint32_t *crcs = shd_arena_alloc(d->arena, s.len / 8 + 1, sizeof(*crcs));
	if (!crcs)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < s.len / 8; i++) {
		uint8_t raw[4];
		if (!shd_unhex(s.ptr + 8 * i, 8, raw, sizeof(raw)))
			return shd_fail_at(err, SHERD_ECORRUPT, "bad-text", shd_json_offset(d->json),
			                   "a CRC-32 is 8 lower-case hexadecimal digits");
		crcs[i] = (uint32_t)raw[0] << 24 | (uint32_t)raw[1] << 16 | (uint32_t)raw[2] << 8 | raw[3];
	}
	if (s.len % 8)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-length", shd_json_offset(d->json),
		                   "%zu digits are no whole number of CRC-32", s.len);
	e->crcs = crcs;
	e->crc_count = s.len / 8;
	return SHERD_OK;
}

static int take_shard_member(decoder *d, shd_str key, shd_rows_entry *e, unsigned *has, sherd_error *err)
{
	if (shd_str_is(key, "file")) {
		*has |= HAS_FILE;
		return rows_manifest_take_file(d, &e->file, err);
	}
	if (shd_str_is(key, "rows")) {
		*has |= HAS_FILE_ROWS;
		return shd_json_u64(d->json, &e->rows, err);
	}
	if (shd_str_is(key, "bytes")) {
		*has |= HAS_BYTES;
		return shd_json_u64(d->json, &e->bytes, err);
	}
	if (d->d->ours && shd_str_is(key, "sha256")) {
		*has |= HAS_HASH;
		return take_hash(d, e->sha256, err);
	}
	if (d->d->ours && shd_str_is(key, "crc32"))
		return take_crcs(d, e, err);
	return shd_json_skip(d->json, err);
}

static int rows_manifest_take_shard(decoder *d, sherd_error *err)
{
	shd_rows_entry e = {0};
	shd_str key;
	unsigned has = 0;
	int rc;
	if (d->shards.count >= d->limits.shards)
		return shd_fail_at(err, SHERD_ELIMIT, "too-many-shards", shd_json_offset(d->json),
		                   "more than %" PRIu32 " shards", d->limits.shards);
	TRY(shd_json_object(d->json, err));
	uint64_t at = shd_json_offset(d->json);
	while ((rc = shd_json_key(d->json, &key, err)) > 0)
		TRY(take_shard_member(d, key, &e, &has, err));
	TRY(rc);
	unsigned need = HAS_FILE | HAS_FILE_ROWS | HAS_BYTES | (d->d->ours ? HAS_HASH : 0);
	if (has != need)
		return shd_fail_at(err, SHERD_ECORRUPT, "missing-key", at, "a shard needs file, rows%s bytes%s",
		                   d->d->ours ? "," : " and", d->d->ours ? " and sha256" : "");
	shd_vec_push(&d->shards, e);
	return shd_vec_check(&d->shards, err);
}

static int rows_manifest_take_shards(decoder *d, sherd_error *err)
{
	int rc;
	TRY(shd_json_array(d->json, err));
	while ((rc = shd_json_item(d->json, err)) > 0)
		TRY(rows_manifest_take_shard(d, err));
	return rc;
}

/* ---- the document */

static int expect_text(shd_json *j, const char *want, const char *reason, sherd_error *err)
{
	shd_str s;
	TRY(shd_json_string(j, &s, err));
	if (!shd_str_is(s, want))
		return shd_fail_at(err, SHERD_EUNSUPPORTED, reason, shd_json_offset(j), "%.*s, not %s",
		                   s.len > 64 ? 64 : (int)s.len, s.len ? s.ptr : "", want);
	return SHERD_OK;
}

static int rows_manifest_take_version(decoder *d, sherd_error *err)
{
	uint64_t version;
	TRY(shd_json_u64(d->json, &version, err));
	if (!version || version > d->d->versions)
		return shd_fail_at(err, SHERD_EVERSION, "bad-version", shd_json_offset(d->json),
		                   "version %" PRIu64 ", the newest that is known is %" PRIu64, version,
		                   d->d->versions);
	d->m.version = (uint32_t)version;
	return SHERD_OK;
}

static int rows_manifest_take_dtype(decoder *d, sherd_error *err)
{
	shd_str s;
	if (!d->d->ours) {
		d->m.dtype = SHERD_BF16;
		return expect_text(d->json, BF16_DTYPE, "bad-dtype", err);
	}
	TRY(shd_json_string(d->json, &s, err));
	for (size_t i = 0; i < COUNT_OF(kinds); i++)
		if (shd_str_is(s, sherd_dtype_describe(kinds[i].dtype)->name))
			d->m.dtype = kinds[i].dtype;
	if (!d->m.dtype)
		return shd_fail_at(err, SHERD_EUNSUPPORTED, "bad-dtype", shd_json_offset(d->json),
		                   "%.*s, not F32, F16 or BF16", s.len > 64 ? 64 : (int)s.len, s.len ? s.ptr : "");
	return SHERD_OK;
}

static int rows_manifest_take_member(decoder *d, shd_str key, sherd_error *err)
{
	shd_json *j = d->json;
	if (shd_str_is(key, "format")) {
		d->has |= HAS_FORMAT;
		return expect_text(j, d->d->format, "unknown-format", err);
	}
	if (shd_str_is(key, d->d->version)) {
		d->has |= HAS_VERSION;
		return rows_manifest_take_version(d, err);
	}
	if (shd_str_is(key, d->d->rows)) {
		d->has |= HAS_ROWS;
		return shd_json_u64(j, &d->m.rows, err);
	}
	if (shd_str_is(key, d->d->width)) {
		d->has |= HAS_WIDTH;
		return shd_json_u64(j, &d->m.width, err);
	}
	if (shd_str_is(key, "dtype")) {
		d->has |= HAS_DTYPE;
		return rows_manifest_take_dtype(d, err);
	}
	if (shd_str_is(key, "shards")) {
		d->has |= HAS_SHARDS;
		return rows_manifest_take_shards(d, err);
	}
	if (d->d->ours && shd_str_is(key, "fence"))
		return shd_json_u64(j, &d->m.fence, err);
	if (!d->d->ours && shd_str_is(key, "byte_order"))
		return expect_text(j, "little", "bad-dtype", err);
	return shd_json_skip(j, err);
}

static int rows_manifest_check_size(const decoder *d, const shd_rows_entry *e, sherd_error *err)
{
	const shd_rows_kind *kind = shd_rows_kind_of(d->m.dtype);
	uint64_t payload, bytes;
	if (__builtin_mul_overflow(d->m.width, kind->element, &payload) ||
	    __builtin_mul_overflow(payload, e->rows, &payload) ||
	    __builtin_add_overflow(payload, d->d->ours ? kind->head : 0, &bytes))
		return shd_fail(err, SHERD_ECORRUPT, "overflow", "%.128s: %" PRIu64 " rows of width %" PRIu64, e->file,
		                e->rows, d->m.width);
	if (e->bytes != bytes)
		return shd_fail(err, SHERD_ECORRUPT, "size-mismatch",
		                "%.128s: %" PRIu64 " rows of width %" PRIu64 " take %" PRIu64 " bytes, not %" PRIu64,
		                e->file, e->rows, d->m.width, bytes, e->bytes);
	if (e->crcs && e->crc_count != shd_rows_blocks(payload))
		return shd_fail(err, SHERD_ECORRUPT, "bad-length",
		                "%.128s: %zu CRC-32 for %" PRIu64 " blocks of %u bytes", e->file, e->crc_count,
		                shd_rows_blocks(payload), SHD_ROWS_BLOCK);
	return SHERD_OK;
}

/* What holds for our own lists only. */
static int rows_manifest_check_entry(const decoder *d, const shd_rows_entry *e, const shd_rows_entry *before,
                                     shd_map *names, sherd_error *err)
{
	const shd_rows_kind *kind = shd_rows_kind_of(d->m.dtype);
	shd_str name = shd_str_of(e->file);
	bool ok = true;
	if (!shd_str_ends(name, kind->suffix) || name.len == strlen(kind->suffix))
		return shd_fail(err, SHERD_ECORRUPT, "bad-path", "%.128s is not the plain name of a file *%s", e->file,
		                kind->suffix);
	if (!kind->head && !e->crcs)
		return shd_fail(err, SHERD_ECORRUPT, "missing-key", "%.128s: a shard of %s needs crc32", e->file,
		                sherd_dtype_describe(d->m.dtype)->name);
	if (d->m.version == 1 && before && strcmp(before->file, e->file) >= 0)
		return shd_fail(err, SHERD_ECORRUPT, "bad-name", "%.128s does not sort after %.128s", e->file,
		                before->file);
	if (d->m.version > 1 && shd_map_add(names, name, 0, &ok) != SHD_MAP_NONE)
		return shd_fail(err, SHERD_ECORRUPT, "duplicate-name", "%.128s is listed twice", e->file);
	return ok ? SHERD_OK : shd_fail_nomem(err);
}

static int rows_manifest_check_entries(const decoder *d, shd_map *names, sherd_error *err)
{
	const shd_rows_entry *list = d->shards.items;
	uint64_t rows = 0;
	bool overflow = false;
	for (size_t i = 0; i < d->shards.count; i++) {
		TRY(rows_manifest_check_size(d, &list[i], err));
		overflow |= __builtin_add_overflow(rows, list[i].rows, &rows);
		if (d->d->ours)
			TRY(rows_manifest_check_entry(d, &list[i], i ? &list[i - 1] : NULL, names, err));
	}
	if (overflow || rows != d->m.rows)
		return shd_fail(err, SHERD_ECORRUPT, "bad-count",
		                "the shards have %" PRIu64 " rows, the document says %" PRIu64, rows, d->m.rows);
	return SHERD_OK;
}

static int check_document(const decoder *d, sherd_error *err)
{
	shd_map names = {0};
	if (d->has != HAS_ALL)
		return shd_fail(err, SHERD_ECORRUPT, "missing-key", "format, %s, %s, %s, dtype and shards are needed",
		                d->d->version, d->d->rows, d->d->width);
	if (!d->m.width)
		return shd_fail(err, SHERD_ECORRUPT, "bad-width", "rows of width 0");
	if (d->m.version == 1 && d->d->ours && d->m.dtype != SHERD_F32)
		return shd_fail(err, SHERD_EUNSUPPORTED, "bad-dtype", "%s needs version 2",
		                sherd_dtype_describe(d->m.dtype)->name);
	int rc = rows_manifest_check_entries(d, &names, err);
	shd_map_done(&names);
	return rc;
}

static int decode_document(decoder *d, shd_rows_manifest *out, sherd_error *err)
{
	shd_str key;
	int rc;
	TRY(shd_json_object(d->json, err));
	while ((rc = shd_json_key(d->json, &key, err)) > 0)
		TRY(rows_manifest_take_member(d, key, err));
	TRY(rc);
	TRY(shd_json_end(d->json, err));
	TRY(check_document(d, err));
	d->m.count = d->shards.count;
	d->m.shards = shd_vec_copy(&d->shards, d->arena);
	if (!d->m.shards)
		return shd_fail_nomem(err);
	*out = d->m;
	return SHERD_OK;
}

static int rows_manifest_decode(const dialect *as, const void *data, size_t len, const sherd_limits *limits,
                                shd_arena *arena, shd_rows_manifest *out, sherd_error *err)
{
	SHD_AUTO(shd_json, shd_json_close) json = NULL;
	TRY(shd_json_open(&json, data, len, limits, err));
	decoder d = {.d = as, .json = json, .limits = shd_limits_or_default(limits), .arena = arena};
	int rc = decode_document(&d, out, err);
	shd_vec_done(&d.shards);
	return rc;
}

static int check_seal(const void *data, size_t len, sherd_error *err)
{
	if (shd_seal_check(data, len) == SHD_SEAL_GOOD)
		return SHERD_OK;
	return shd_fail(err, SHERD_ECORRUPT, "bad-seal", "the document does not end with the hash of itself");
}

int shd_rows_manifest_decode(const void *data, size_t len, const sherd_limits *limits, shd_arena *arena,
                             shd_rows_manifest *out, sherd_error *err)
{
	TRY(check_seal(data, len, err));
	return rows_manifest_decode(&own, data, len, limits, arena, out, err);
}

int shd_rows_bf16_decode(const void *data, size_t len, const sherd_limits *limits, shd_arena *arena,
                         shd_rows_manifest *out, sherd_error *err)
{
	if (shd_seal_check(data, len) == SHD_SEAL_BROKEN)
		return check_seal(data, len, err);
	return rows_manifest_decode(&bf16, data, len, limits, arena, out, err);
}

int shd_rows_bf16_recognise(const void *data, size_t len, bool *out, sherd_error *err)
{
	SHD_AUTO(shd_json, shd_json_close) j = NULL;
	sherd_error damage;
	shd_str s = {0};
	bool found = false;
	int rc = shd_json_open(&j, data, len, NULL, &damage);
	if (rc >= 0)
		rc = shd_json_object(j, &damage);
	while (rc >= 0 && !found && (rc = shd_json_key(j, &s, &damage)) > 0) {
		found = shd_str_is(s, "format");
		rc = found ? shd_json_string(j, &s, &damage) : shd_json_skip(j, &damage);
	}
	if (rc == SHERD_ENOMEM)
		return shd_fail_nomem(err);
	*out = found && rc >= 0 && shd_str_is(s, bf16.format);
	return SHERD_OK;
}

/* ---- writing */

static void rows_manifest_put_text(shd_json_writer *w, const char *key, const char *text)
{
	shd_json_put_key(w, key);
	shd_json_put_string(w, shd_str_of(text));
}

static void rows_manifest_put_number(shd_json_writer *w, const char *key, uint64_t v)
{
	shd_json_put_key(w, key);
	shd_json_put_u64(w, v);
}

static void rows_manifest_put_entry(shd_json_writer *w, const shd_rows_entry *e, bool with_crcs)
{
	char hex[SHD_SHA256_HEX + 1];
	shd_hex(e->sha256, sizeof(e->sha256), hex);
	shd_json_put_object(w, true);
	rows_manifest_put_text(w, "file", e->file);
	rows_manifest_put_number(w, "rows", e->rows);
	rows_manifest_put_number(w, "bytes", e->bytes);
	rows_manifest_put_text(w, "sha256", hex);
	if (with_crcs && e->crcs) {
		SHD_AUTO_BUF text = {0};
		for (size_t i = 0; i < e->crc_count; i++)
			shd_buf_printf(&text, "%08" PRIx32, e->crcs[i]);
		w->buf->failed |= text.failed;
		shd_json_put_key(w, "crc32");
		shd_json_put_string(w, (shd_str){(const char *)text.data, text.len});
	}
	shd_json_put_object_end(w);
}

void shd_rows_manifest_encode(const shd_rows_manifest *manifest, shd_buf *out)
{
	shd_json_writer w;
	shd_json_writer_init(&w, out);
	shd_json_put_object(&w, false);
	rows_manifest_put_text(&w, "format", own.format);
	rows_manifest_put_number(&w, own.version, manifest->version);
	rows_manifest_put_number(&w, own.rows, manifest->rows);
	rows_manifest_put_number(&w, own.width, manifest->width);
	rows_manifest_put_text(&w, "dtype", sherd_dtype_describe(manifest->dtype)->name);
	if (manifest->version > 1 && manifest->fence)
		rows_manifest_put_number(&w, "fence", manifest->fence);
	shd_json_put_key(&w, "shards");
	shd_json_put_array(&w, false);
	for (size_t i = 0; i < manifest->count; i++)
		rows_manifest_put_entry(&w, &manifest->shards[i], manifest->version > 1);
	shd_json_put_array_end(&w);
	shd_seal_put(&w);
}

static void put_numbers(shd_json_writer *w, const char *key, const double *values, uint64_t count)
{
	shd_json_put_key(w, key);
	shd_json_put_array(w, true);
	for (uint64_t i = 0; i < count; i++)
		shd_json_put_double(w, values[i]);
	shd_json_put_array_end(w);
}

void shd_rows_bf16_encode(const shd_rows_manifest *manifest, uint64_t rows_per_shard, const shd_rows_bf16_stats *stats,
                          shd_buf *out)
{
	shd_json_writer w;
	shd_json_writer_init(&w, out);
	shd_json_put_object(&w, false);
	rows_manifest_put_text(&w, "format", bf16.format);
	rows_manifest_put_number(&w, bf16.version, 1);
	rows_manifest_put_text(&w, "dtype", BF16_DTYPE);
	rows_manifest_put_text(&w, "byte_order", "little");
	rows_manifest_put_number(&w, bf16.width, manifest->width);
	rows_manifest_put_number(&w, "rows_per_shard", rows_per_shard);
	rows_manifest_put_number(&w, bf16.rows, manifest->rows);
	shd_json_put_key(&w, "shards");
	shd_json_put_array(&w, false);
	for (size_t i = 0; i < manifest->count; i++) {
		shd_json_put_object(&w, true);
		rows_manifest_put_text(&w, "file", manifest->shards[i].file);
		rows_manifest_put_number(&w, "rows", manifest->shards[i].rows);
		rows_manifest_put_number(&w, "bytes", manifest->shards[i].bytes);
		shd_json_put_object_end(&w);
	}
	shd_json_put_array_end(&w);
	shd_json_put_key(&w, "stats");
	shd_json_put_object(&w, false);
	put_numbers(&w, "mean", stats->mean, manifest->width);
	put_numbers(&w, "norm", stats->norm, manifest->width);
	shd_json_put_object_end(&w);
	shd_seal_put(&w);
}
