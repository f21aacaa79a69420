#include "format/tensor/npy_manifest.h"

#include "base/limits.h"
#include "base/map.h"
#include "codec/json.h"
#include "codec/seal.h"
#include "codec/sha256.h"

#include <inttypes.h>

#define FORMAT "sherd-npy"

enum {
	HAS_NAME = 1 << 0,
	HAS_FILE = 1 << 1,
	HAS_BYTES = 1 << 2,
	HAS_CRC = 1 << 3,
	HAS_ENTRY = (1 << 4) - 1,

	HAS_FORMAT = 1 << 0,
	HAS_VERSION = 1 << 1,
	HAS_ARRAYS = 1 << 2,
	HAS_ALL = (1 << 3) - 1,

	MOST_NAME = 200 /* bytes of a file's name before its ending; room for what tells two of them apart */
};

typedef struct decoder {
	shd_json *json;
	sherd_limits limits;
	shd_arena *arena;
	shd_map files; /* names of files, each once */
	SHD_VEC(shd_npy_entry) arrays;
	SHD_VEC(sherd_pair) pairs;
	unsigned has;
} decoder;

static int npy_manifest_take_text(decoder *d, const char **out, sherd_error *err)
{
	shd_str s;
	TRY(shd_json_string(d->json, &s, err));
	if (s.len > d->limits.name_bytes)
		return shd_fail_at(err, SHERD_ELIMIT, "name-too-long", shd_json_offset(d->json),
		                   "a name of %zu bytes, more than %u", s.len, d->limits.name_bytes);
	if (s.len && memchr(s.ptr, 0, s.len))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-name", shd_json_offset(d->json), "a NUL in the text");
	*out = shd_arena_str(d->arena, s);
	return *out ? SHERD_OK : shd_fail_nomem(err);
}

static int npy_manifest_take_file(decoder *d, const char **out, sherd_error *err)
{
	bool ok;
	TRY(npy_manifest_take_text(d, out, err));
	if (!*out)
		return shd_fail_nomem(err);
	shd_str s = shd_str_of(*out);
	if (!shd_str_ends(s, SHD_NPY_SUFFIX) || s.len > 255 || strchr(*out, '/'))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-path", shd_json_offset(d->json),
		                   "%.128s is not the plain name of a NumPy file", *out);
	if (shd_map_add(&d->files, s, 0, &ok) != SHD_MAP_NONE)
		return shd_fail_at(err, SHERD_ECORRUPT, "duplicate-name", shd_json_offset(d->json),
		                   "two arrays in the file %.128s", *out);
	return ok ? SHERD_OK : shd_fail_nomem(err);
}

static int take_crc(decoder *d, uint32_t *out, sherd_error *err)
{
	shd_str s;
	uint8_t raw[4];
	TRY(shd_json_string(d->json, &s, err));
	if (!shd_unhex(s.ptr, s.len, raw, sizeof(raw)))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-text", shd_json_offset(d->json),
		                   "a CRC-32 is 8 lower-case hexadecimal digits");
	*out = (uint32_t)raw[0] << 24 | (uint32_t)raw[1] << 16 | (uint32_t)raw[2] << 8 | raw[3];
	return SHERD_OK;
}

static int take_array(decoder *d, sherd_error *err)
{
	shd_npy_entry e = {0};
	shd_str key;
	unsigned has = 0;
	int rc;
	if (d->arrays.count >= d->limits.shards)
		return shd_fail_at(err, SHERD_ELIMIT, "too-many-shards", shd_json_offset(d->json),
		                   "more than %" PRIu32 " files", d->limits.shards);
	TRY(shd_json_object(d->json, err));
	uint64_t at = shd_json_offset(d->json);
	while ((rc = shd_json_key(d->json, &key, err)) > 0) {
		if (shd_str_is(key, "name")) {
			has |= HAS_NAME;
			TRY(npy_manifest_take_text(d, &e.name, err));
		} else if (shd_str_is(key, "file")) {
			has |= HAS_FILE;
			TRY(npy_manifest_take_file(d, &e.file, err));
		} else if (shd_str_is(key, "bytes")) {
			has |= HAS_BYTES;
			TRY(shd_json_u64(d->json, &e.bytes, err));
		} else if (shd_str_is(key, "crc32")) {
			has |= HAS_CRC;
			TRY(take_crc(d, &e.crc32, err));
		} else {
			TRY(shd_json_skip(d->json, err));
		}
	}
	TRY(rc);
	if (has != HAS_ENTRY)
		return shd_fail_at(err, SHERD_ECORRUPT, "missing-key", at,
		                   "an array needs name, file, bytes and crc32");
	shd_vec_push(&d->arrays, e);
	return shd_vec_check(&d->arrays, err);
}

static int take_arrays(decoder *d, sherd_error *err)
{
	int rc;
	TRY(shd_json_array(d->json, err));
	while ((rc = shd_json_item(d->json, err)) > 0)
		TRY(take_array(d, err));
	return rc;
}

static int npy_manifest_take_pairs(decoder *d, sherd_error *err)
{
	shd_str key;
	int rc;
	TRY(shd_json_object(d->json, err));
	while ((rc = shd_json_key(d->json, &key, err)) > 0) {
		shd_str value;
		sherd_pair pair = {.key = shd_arena_str(d->arena, key)};
		bool nul = key.len && memchr(key.ptr, 0, key.len);
		TRY(shd_json_string(d->json, &value, err));
		nul |= value.len && memchr(value.ptr, 0, value.len);
		if (nul)
			return shd_fail_at(err, SHERD_ECORRUPT, "bad-name", shd_json_offset(d->json),
			                   "a NUL in the text");
		pair.value = shd_arena_str(d->arena, value);
		if (!pair.key || !pair.value)
			return shd_fail_nomem(err);
		shd_vec_push(&d->pairs, pair);
	}
	TRY(rc);
	return shd_vec_check(&d->pairs, err);
}

static int npy_manifest_take_member(decoder *d, shd_str key, sherd_error *err)
{
	if (shd_str_is(key, "format")) {
		shd_str s;
		d->has |= HAS_FORMAT;
		TRY(shd_json_string(d->json, &s, err));
		return shd_str_is(s, FORMAT) ? SHERD_OK
		                             : shd_fail_at(err, SHERD_EUNSUPPORTED, "unknown-format",
		                                           shd_json_offset(d->json), "format is not " FORMAT);
	}
	if (shd_str_is(key, "version")) {
		uint64_t version;
		d->has |= HAS_VERSION;
		TRY(shd_json_u64(d->json, &version, err));
		return version == 1 ? SHERD_OK
		                    : shd_fail_at(err, SHERD_EVERSION, "bad-version", shd_json_offset(d->json),
		                                  "version %" PRIu64 "; this library reads 1", version);
	}
	if (shd_str_is(key, "arrays")) {
		d->has |= HAS_ARRAYS;
		return take_arrays(d, err);
	}
	return shd_str_is(key, "metadata") ? npy_manifest_take_pairs(d, err) : shd_json_skip(d->json, err);
}

static int npy_manifest_decode(decoder *d, shd_npy_manifest *out, sherd_error *err)
{
	shd_str key;
	int rc;
	TRY(shd_json_object(d->json, err));
	while ((rc = shd_json_key(d->json, &key, err)) > 0)
		TRY(npy_manifest_take_member(d, key, err));
	TRY(rc);
	TRY(shd_json_end(d->json, err));
	if (d->has != HAS_ALL)
		return shd_fail_at(err, SHERD_ECORRUPT, "missing-key", 0, "format, version and arrays are needed");
	shd_npy_manifest m = {.count = d->arrays.count,
	                      .arrays = shd_vec_copy(&d->arrays, d->arena),
	                      .pair_count = d->pairs.count,
	                      .pairs = shd_vec_copy(&d->pairs, d->arena)};
	if (!m.arrays || !m.pairs)
		return shd_fail_nomem(err);
	*out = m;
	return SHERD_OK;
}

int shd_npy_manifest_decode(const void *data, size_t len, const sherd_limits *limits, shd_arena *arena,
                            shd_npy_manifest *out, sherd_error *err)
{
	SHD_AUTO(shd_json, shd_json_close) json = NULL;
	if (shd_seal_check(data, len) != SHD_SEAL_GOOD)
		return shd_fail(err, SHERD_ECORRUPT, "bad-seal",
		                "the manifest does not have the hash it must end with");
	TRY(shd_json_open(&json, data, len, limits, err));
	decoder d = {.json = json, .limits = shd_limits_or_default(limits), .arena = arena};
	int rc = npy_manifest_decode(&d, out, err);
	shd_map_done(&d.files);
	shd_vec_done(&d.arrays);
	shd_vec_done(&d.pairs);
	return rc;
}

static int npy_manifest_check_text(const char *text, sherd_error *err)
{
	size_t bad;
	if (!shd_utf8_valid(text, strlen(text), &bad))
		return shd_fail(err, SHERD_EINVAL, "bad-utf8", "a text is not UTF-8 at its byte %zu", bad);
	return SHERD_OK;
}

static void npy_manifest_put_entry(shd_json_writer *w, const shd_npy_entry *e)
{
	char crc[9];
	uint8_t raw[4] = {(uint8_t)(e->crc32 >> 24), (uint8_t)(e->crc32 >> 16), (uint8_t)(e->crc32 >> 8),
	                  (uint8_t)e->crc32};
	shd_hex(raw, sizeof(raw), crc);
	shd_json_put_object(w, true);
	shd_json_put_key(w, "name");
	shd_json_put_string(w, shd_str_of(e->name));
	shd_json_put_key(w, "file");
	shd_json_put_string(w, shd_str_of(e->file));
	shd_json_put_key(w, "bytes");
	shd_json_put_u64(w, e->bytes);
	shd_json_put_key(w, "crc32");
	shd_json_put_string(w, (shd_str){crc, 8});
	shd_json_put_object_end(w);
}

int shd_npy_manifest_encode(const shd_npy_manifest *manifest, shd_buf *out, sherd_error *err)
{
	shd_json_writer w;
	for (size_t i = 0; i < manifest->count; i++)
		TRY(npy_manifest_check_text(manifest->arrays[i].name, err));
	for (size_t i = 0; i < manifest->pair_count; i++) {
		TRY(npy_manifest_check_text(manifest->pairs[i].key, err));
		TRY(npy_manifest_check_text(manifest->pairs[i].value, err));
	}
	shd_json_writer_init(&w, out);
	shd_json_put_object(&w, false);
	shd_json_put_key(&w, "format");
	shd_json_put_string(&w, SHD_STR(FORMAT));
	shd_json_put_key(&w, "version");
	shd_json_put_u64(&w, 1);
	shd_json_put_key(&w, "arrays");
	shd_json_put_array(&w, false);
	for (size_t i = 0; i < manifest->count; i++)
		npy_manifest_put_entry(&w, &manifest->arrays[i]);
	shd_json_put_array_end(&w);
	shd_json_put_key(&w, "metadata");
	shd_json_put_object(&w, false);
	for (size_t i = 0; i < manifest->pair_count; i++) {
		shd_json_put_key(&w, manifest->pairs[i].key);
		shd_json_put_string(&w, shd_str_of(manifest->pairs[i].value));
	}
	shd_json_put_object_end(&w);
	shd_seal_put(&w);
	return shd_buf_check(out, err);
}

void shd_npy_file_name(shd_buf *out, const char *array)
{
	size_t used = 0;
	for (const char *p = array; *p; p++) {
		uint8_t byte = (uint8_t)*p;
		bool letter = (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z';
		bool plain = letter || (byte >= '0' && byte <= '9') || byte == '_' || byte == '-' || byte == '.';
		plain = plain && !(byte == '.' && p == array);
		used += plain ? 1 : 3;
		if (used > MOST_NAME)
			return;
		if (plain)
			shd_buf_u8(out, byte);
		else
			shd_buf_printf(out, "%%%02X", byte);
	}
}
