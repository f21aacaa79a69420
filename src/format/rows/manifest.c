#include "format/rows/manifest.h"

#include "base/limits.h"
#include "base/map.h"
#include "codec/json_members.h"
#include "format/rows/shard.h"

#include <inttypes.h>

#define ROWS_FORMAT "sherd-rows"
#define BF16_FORMAT "residual_shard_bf16"
#define BF16_DTYPE "bfloat16"

/* How one of the two lists spells what both say. */
typedef struct dialect {
	const shd_json_member *document, *shard;
	bool ours;
} dialect;

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

typedef struct decoder {
	const dialect *d;
	sherd_limits limits;
	shd_arena *arena;
	SHD_VEC(shd_rows_entry) shards;
	shd_rows_manifest m;
} decoder;

/* ---- one shard */

static bool is_plain_name(shd_str s)
{
	return s.len && s.len <= 255 && !memchr(s.ptr, '/', s.len) && !memchr(s.ptr, 0, s.len) && !shd_str_is(s, ".") &&
	       !shd_str_is(s, "..");
}

static int rows_manifest_take_file(void *arg, void *field, shd_json *j, sherd_error *err)
{
	const char **out = field;
	shd_str s;
	TRY(shd_json_string(j, &s, err));
	if (!is_plain_name(s))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-path", shd_json_offset(j),
		                   "%.*s is not the plain name of a file", s.len > 128 ? 128 : (int)s.len,
		                   s.len ? s.ptr : "");
	*out = shd_arena_str(((decoder *)arg)->arena, s);
	return *out ? SHERD_OK : shd_fail_nomem(err);
}

/* Eight digits a block, most significant first. */
static int take_crcs(void *arg, void *field, shd_json *j, sherd_error *err)
{
	shd_rows_entry *e = field;
	shd_str s;
	TRY(shd_json_string(j, &s, err));
	uint32_t *crcs = shd_arena_alloc(((decoder *)arg)->arena, s.len / 8 + 1, sizeof(*crcs));
	if (!crcs)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < s.len / 8; i++) {
		uint8_t raw[4];
		if (!shd_unhex(s.ptr + 8 * i, 8, raw, sizeof(raw)))
			return shd_fail_at(err, SHERD_ECORRUPT, "bad-text", shd_json_offset(j),
			                   "a CRC-32 is 8 lower-case hexadecimal digits");
		crcs[i] = (uint32_t)raw[0] << 24 | (uint32_t)raw[1] << 16 | (uint32_t)raw[2] << 8 | raw[3];
	}
	if (s.len % 8)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-length", shd_json_offset(j),
		                   "%zu digits are no whole number of CRC-32", s.len);
	e->crcs = crcs;
	e->crc_count = s.len / 8;
	return SHERD_OK;
}

static int rows_manifest_take_shard(void *arg, void *field, shd_json *j, sherd_error *err)
{
	decoder *d = arg;
	shd_rows_entry e = {0};
	(void)field;
	if (d->shards.count >= d->limits.shards)
		return shd_fail_at(err, SHERD_ELIMIT, "too-many-shards", shd_json_offset(j),
		                   "more than %" PRIu32 " shards", d->limits.shards);
	TRY(shd_json_members(j, d->d->shard, d, &e, err));
	shd_vec_push(&d->shards, e);
	return shd_vec_check(&d->shards, err);
}

static int rows_manifest_take_shards(void *arg, void *field, shd_json *j, sherd_error *err)
{
	return shd_json_items(j, rows_manifest_take_shard, arg, field, err);
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

static int rows_manifest_take_dtype(void *arg, void *field, shd_json *j, sherd_error *err)
{
	sherd_dtype *out = field;
	shd_str s;
	(void)arg;
	TRY(shd_json_string(j, &s, err));
	for (size_t i = 0; i < COUNT_OF(kinds); i++)
		if (shd_str_is(s, sherd_dtype_describe(kinds[i].dtype)->name))
			*out = kinds[i].dtype;
	if (!*out)
		return shd_fail_at(err, SHERD_EUNSUPPORTED, "bad-dtype", shd_json_offset(j),
		                   "%.*s, not F32, F16 or BF16", s.len > 64 ? 64 : (int)s.len, s.len ? s.ptr : "");
	return SHERD_OK;
}

static int take_bf16_dtype(void *arg, void *field, shd_json *j, sherd_error *err)
{
	(void)arg;
	*(sherd_dtype *)field = SHERD_BF16;
	return expect_text(j, BF16_DTYPE, "bad-dtype", err);
}

static int take_byte_order(void *arg, void *field, shd_json *j, sherd_error *err)
{
	(void)arg, (void)field;
	return expect_text(j, "little", "bad-dtype", err);
}

static const shd_json_member own_shard[] = {
	{"file", .take = rows_manifest_take_file, .at = offsetof(shd_rows_entry, file), .needed = true},
	{"rows", SHD_JSON_U64, offsetof(shd_rows_entry, rows), .needed = true},
	{"bytes", SHD_JSON_U64, offsetof(shd_rows_entry, bytes), .needed = true},
	{"sha256", SHD_JSON_SHA256, offsetof(shd_rows_entry, sha256), .needed = true},
	{"crc32", .take = take_crcs},
	{0},
};

static const shd_json_member own_document[] = {
	{"format", SHD_JSON_FORMAT, .text = ROWS_FORMAT, .needed = true},
	{"version", SHD_JSON_VERSION, offsetof(shd_rows_manifest, version), .most = 2, .needed = true},
	{"rows", SHD_JSON_U64, offsetof(shd_rows_manifest, rows), .needed = true},
	{"width", SHD_JSON_U64, offsetof(shd_rows_manifest, width), .needed = true},
	{"dtype", .take = rows_manifest_take_dtype, .at = offsetof(shd_rows_manifest, dtype), .needed = true},
	{"fence", SHD_JSON_U64, offsetof(shd_rows_manifest, fence)},
	{"shards", .take = rows_manifest_take_shards, .needed = true},
	{0},
};

static const shd_json_member bf16_shard[] = {
	{"file", .take = rows_manifest_take_file, .at = offsetof(shd_rows_entry, file), .needed = true},
	{"rows", SHD_JSON_U64, offsetof(shd_rows_entry, rows), .needed = true},
	{"bytes", SHD_JSON_U64, offsetof(shd_rows_entry, bytes), .needed = true},
	{0},
};

static const shd_json_member bf16_document[] = {
	{"format", SHD_JSON_FORMAT, .text = BF16_FORMAT, .needed = true},
	{"format_version", SHD_JSON_VERSION, offsetof(shd_rows_manifest, version), .most = 1, .needed = true},
	{"total_tokens", SHD_JSON_U64, offsetof(shd_rows_manifest, rows), .needed = true},
	{"d_model", SHD_JSON_U64, offsetof(shd_rows_manifest, width), .needed = true},
	{"dtype", .take = take_bf16_dtype, .at = offsetof(shd_rows_manifest, dtype), .needed = true},
	{"byte_order", .take = take_byte_order},
	{"shards", .take = rows_manifest_take_shards, .needed = true},
	{0},
};

static const dialect own = {own_document, own_shard, true}, bf16 = {bf16_document, bf16_shard, false};

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
	SHD_DONE(shd_map_done) shd_map names = {0};
	if (!d->m.width)
		return shd_fail(err, SHERD_ECORRUPT, "bad-width", "rows of width 0");
	if (d->m.version == 1 && d->d->ours && d->m.dtype != SHERD_F32)
		return shd_fail(err, SHERD_EUNSUPPORTED, "bad-dtype", "%s needs version 2",
		                sherd_dtype_describe(d->m.dtype)->name);
	return rows_manifest_check_entries(d, &names, err);
}

static int decode_document(const void *data, size_t len, decoder *d, shd_rows_manifest *out, sherd_error *err)
{
	TRY(shd_json_document(data, len, &d->limits, d->d->document, d, &d->m, err));
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
	decoder d = {.d = as, .limits = shd_limits_or_default(limits), .arena = arena};
	int rc = decode_document(data, len, &d, out, err);
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
	*out = found && rc >= 0 && shd_str_is(s, BF16_FORMAT);
	return SHERD_OK;
}

/* ---- writing */

static void rows_manifest_put_entry(shd_json_writer *w, const shd_rows_entry *e, bool with_crcs)
{
	char hex[SHD_SHA256_HEX + 1];
	shd_hex(e->sha256, sizeof(e->sha256), hex);
	shd_json_put_object(w, true);
	shd_json_put_key_text(w, "file", e->file);
	shd_json_put_key_u64(w, "rows", e->rows);
	shd_json_put_key_u64(w, "bytes", e->bytes);
	shd_json_put_key_text(w, "sha256", hex);
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
	shd_json_put_key_text(&w, "format", ROWS_FORMAT);
	shd_json_put_key_u64(&w, "version", manifest->version);
	shd_json_put_key_u64(&w, "rows", manifest->rows);
	shd_json_put_key_u64(&w, "width", manifest->width);
	shd_json_put_key_text(&w, "dtype", sherd_dtype_describe(manifest->dtype)->name);
	if (manifest->version > 1 && manifest->fence)
		shd_json_put_key_u64(&w, "fence", manifest->fence);
	shd_json_put_key_array(&w, "shards", false);
	for (size_t i = 0; i < manifest->count; i++)
		rows_manifest_put_entry(&w, &manifest->shards[i], manifest->version > 1);
	shd_json_put_array_end(&w);
	shd_seal_put(&w);
}

static void put_numbers(shd_json_writer *w, const char *key, const double *values, uint64_t count)
{
	shd_json_put_key_array(w, key, true);
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
	shd_json_put_key_text(&w, "format", BF16_FORMAT);
	shd_json_put_key_u64(&w, "format_version", 1);
	shd_json_put_key_text(&w, "dtype", BF16_DTYPE);
	shd_json_put_key_text(&w, "byte_order", "little");
	shd_json_put_key_u64(&w, "d_model", manifest->width);
	shd_json_put_key_u64(&w, "rows_per_shard", rows_per_shard);
	shd_json_put_key_u64(&w, "total_tokens", manifest->rows);
	shd_json_put_key_array(&w, "shards", false);
	for (size_t i = 0; i < manifest->count; i++) {
		shd_json_put_object(&w, true);
		shd_json_put_key_text(&w, "file", manifest->shards[i].file);
		shd_json_put_key_u64(&w, "rows", manifest->shards[i].rows);
		shd_json_put_key_u64(&w, "bytes", manifest->shards[i].bytes);
		shd_json_put_object_end(&w);
	}
	shd_json_put_array_end(&w);
	shd_json_put_key_object(&w, "stats", false);
	put_numbers(&w, "mean", stats->mean, manifest->width);
	put_numbers(&w, "norm", stats->norm, manifest->width);
	shd_json_put_object_end(&w);
	shd_seal_put(&w);
}
