#include "format/tensor/npy_manifest.h"

#include "base/limits.h"
#include "base/map.h"
#include "codec/json.h"
#include "codec/seal.h"
#include "codec/sha256.h"

#include <inttypes.h>

SHERD_AUTO_DEFINE(sherd_json, sherd_json_close)

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
	sherd_json *json;
	sherd_limits limits;
	sherd_arena *arena;
	sherd_map files;  /* names of files, each once */
	sherd_buf arrays; /* of sherd_npy_entry */
	sherd_buf pairs;  /* of sherd_pair */
	unsigned has;
} decoder;

static int take_text(decoder *d, const char **out, sherd_error *err)
{
	sherd_str s;
	TRY(sherd_json_string(d->json, &s, err));
	if (s.len > d->limits.name_bytes)
		return sherd_fail_at(err, SHERD_ELIMIT, "name-too-long", sherd_json_offset(d->json),
		                     "a name of %zu bytes, more than %u", s.len, d->limits.name_bytes);
	if (s.len && memchr(s.ptr, 0, s.len))
		return sherd_fail_at(err, SHERD_ECORRUPT, "bad-name", sherd_json_offset(d->json), "a NUL in the text");
	*out = sherd_arena_str(d->arena, s);
	return *out ? SHERD_OK : sherd_fail_nomem(err);
}

static int take_file(decoder *d, const char **out, sherd_error *err)
{
	bool ok;
	TRY(take_text(d, out, err));
	if (!*out)
		return sherd_fail_nomem(err);
	sherd_str s = sherd_str_of(*out);
	if (!sherd_str_ends(s, SHERD_NPY_SUFFIX) || s.len > 255 || strchr(*out, '/'))
		return sherd_fail_at(err, SHERD_ECORRUPT, "bad-path", sherd_json_offset(d->json),
		                     "%.128s is not the plain name of a NumPy file", *out);
	if (sherd_map_add(&d->files, s, 0, &ok) != SHERD_MAP_NONE)
		return sherd_fail_at(err, SHERD_ECORRUPT, "duplicate-name", sherd_json_offset(d->json),
		                     "two arrays in the file %.128s", *out);
	return ok ? SHERD_OK : sherd_fail_nomem(err);
}

static int take_crc(decoder *d, uint32_t *out, sherd_error *err)
{
	sherd_str s;
	uint8_t raw[4];
	TRY(sherd_json_string(d->json, &s, err));
	if (!sherd_unhex(s.ptr, s.len, raw, sizeof(raw)))
		return sherd_fail_at(err, SHERD_ECORRUPT, "bad-text", sherd_json_offset(d->json),
		                     "a CRC-32 is 8 lower-case hexadecimal digits");
	*out = (uint32_t)raw[0] << 24 | (uint32_t)raw[1] << 16 | (uint32_t)raw[2] << 8 | raw[3];
	return SHERD_OK;
}

static int take_array(decoder *d, sherd_error *err)
{
	sherd_npy_entry e = {0};
	sherd_str key;
	unsigned has = 0;
	int rc;
	if (d->arrays.len / sizeof(e) >= d->limits.shards)
		return sherd_fail_at(err, SHERD_ELIMIT, "too-many-shards", sherd_json_offset(d->json),
		                     "more than %" PRIu32 " files", d->limits.shards);
	TRY(sherd_json_object(d->json, err));
	uint64_t at = sherd_json_offset(d->json);
	while ((rc = sherd_json_key(d->json, &key, err)) > 0) {
		if (sherd_str_is(key, "name")) {
			has |= HAS_NAME;
			TRY(take_text(d, &e.name, err));
		} else if (sherd_str_is(key, "file")) {
			has |= HAS_FILE;
			TRY(take_file(d, &e.file, err));
		} else if (sherd_str_is(key, "bytes")) {
			has |= HAS_BYTES;
			TRY(sherd_json_u64(d->json, &e.bytes, err));
		} else if (sherd_str_is(key, "crc32")) {
			has |= HAS_CRC;
			TRY(take_crc(d, &e.crc32, err));
		} else {
			TRY(sherd_json_skip(d->json, err));
		}
	}
	TRY(rc);
	if (has != HAS_ENTRY)
		return sherd_fail_at(err, SHERD_ECORRUPT, "missing-key", at,
		                     "an array needs name, file, bytes and crc32");
	sherd_buf_append(&d->arrays, &e, sizeof(e));
	return sherd_buf_check(&d->arrays, err);
}

static int take_arrays(decoder *d, sherd_error *err)
{
	int rc;
	TRY(sherd_json_array(d->json, err));
	while ((rc = sherd_json_item(d->json, err)) > 0)
		TRY(take_array(d, err));
	return rc;
}

static int take_pairs(decoder *d, sherd_error *err)
{
	sherd_str key;
	int rc;
	TRY(sherd_json_object(d->json, err));
	while ((rc = sherd_json_key(d->json, &key, err)) > 0) {
		sherd_str value;
		sherd_pair pair = {.key = sherd_arena_str(d->arena, key)};
		bool nul = key.len && memchr(key.ptr, 0, key.len);
		TRY(sherd_json_string(d->json, &value, err));
		nul |= value.len && memchr(value.ptr, 0, value.len);
		if (nul)
			return sherd_fail_at(err, SHERD_ECORRUPT, "bad-name", sherd_json_offset(d->json),
			                     "a NUL in the text");
		pair.value = sherd_arena_str(d->arena, value);
		if (!pair.key || !pair.value)
			return sherd_fail_nomem(err);
		sherd_buf_append(&d->pairs, &pair, sizeof(pair));
	}
	TRY(rc);
	return sherd_buf_check(&d->pairs, err);
}

static int take_member(decoder *d, sherd_str key, sherd_error *err)
{
	if (sherd_str_is(key, "format")) {
		sherd_str s;
		d->has |= HAS_FORMAT;
		TRY(sherd_json_string(d->json, &s, err));
		return sherd_str_is(s, FORMAT) ? SHERD_OK
		                               : sherd_fail_at(err, SHERD_EUNSUPPORTED, "unknown-format",
		                                               sherd_json_offset(d->json), "format is not " FORMAT);
	}
	if (sherd_str_is(key, "version")) {
		uint64_t version;
		d->has |= HAS_VERSION;
		TRY(sherd_json_u64(d->json, &version, err));
		return version == 1 ? SHERD_OK
		                    : sherd_fail_at(err, SHERD_EVERSION, "bad-version", sherd_json_offset(d->json),
		                                    "version %" PRIu64 "; this library reads 1", version);
	}
	if (sherd_str_is(key, "arrays")) {
		d->has |= HAS_ARRAYS;
		return take_arrays(d, err);
	}
	return sherd_str_is(key, "metadata") ? take_pairs(d, err) : sherd_json_skip(d->json, err);
}

static int decode(decoder *d, sherd_npy_manifest *out, sherd_error *err)
{
	sherd_str key;
	int rc;
	TRY(sherd_json_object(d->json, err));
	while ((rc = sherd_json_key(d->json, &key, err)) > 0)
		TRY(take_member(d, key, err));
	TRY(rc);
	TRY(sherd_json_end(d->json, err));
	if (d->has != HAS_ALL)
		return sherd_fail_at(err, SHERD_ECORRUPT, "missing-key", 0, "format, version and arrays are needed");
	sherd_npy_manifest m = {.count = d->arrays.len / sizeof(sherd_npy_entry),
	                        .arrays = sherd_arena_copy(d->arena, d->arrays.data, d->arrays.len),
	                        .pair_count = d->pairs.len / sizeof(sherd_pair),
	                        .pairs = sherd_arena_copy(d->arena, d->pairs.data, d->pairs.len)};
	if (!m.arrays || !m.pairs)
		return sherd_fail_nomem(err);
	*out = m;
	return SHERD_OK;
}

int sherd_npy_manifest_decode(const void *data, size_t len, const sherd_limits *limits, sherd_arena *arena,
                              sherd_npy_manifest *out, sherd_error *err)
{
	SHERD_AUTO(sherd_json, sherd_json_close) json = NULL;
	if (sherd_seal_check(data, len) != SHERD_SEAL_GOOD)
		return sherd_fail(err, SHERD_ECORRUPT, "bad-seal",
		                  "the manifest does not have the hash it must end with");
	TRY(sherd_json_open(&json, data, len, limits, err));
	decoder d = {.json = json, .limits = sherd_limits_or_default(limits), .arena = arena};
	int rc = decode(&d, out, err);
	sherd_map_done(&d.files);
	sherd_buf_done(&d.arrays);
	sherd_buf_done(&d.pairs);
	return rc;
}

static int check_text(const char *text, sherd_error *err)
{
	size_t bad;
	if (!sherd_utf8_valid(text, strlen(text), &bad))
		return sherd_fail(err, SHERD_EINVAL, "bad-utf8", "a text is not UTF-8 at its byte %zu", bad);
	return SHERD_OK;
}

static void put_entry(sherd_json_writer *w, const sherd_npy_entry *e)
{
	char crc[9];
	uint8_t raw[4] = {(uint8_t)(e->crc32 >> 24), (uint8_t)(e->crc32 >> 16), (uint8_t)(e->crc32 >> 8),
	                  (uint8_t)e->crc32};
	sherd_hex(raw, sizeof(raw), crc);
	sherd_json_put_object(w, true);
	sherd_json_put_key(w, "name");
	sherd_json_put_string(w, sherd_str_of(e->name));
	sherd_json_put_key(w, "file");
	sherd_json_put_string(w, sherd_str_of(e->file));
	sherd_json_put_key(w, "bytes");
	sherd_json_put_u64(w, e->bytes);
	sherd_json_put_key(w, "crc32");
	sherd_json_put_string(w, (sherd_str){crc, 8});
	sherd_json_put_object_end(w);
}

int sherd_npy_manifest_encode(const sherd_npy_manifest *manifest, sherd_buf *out, sherd_error *err)
{
	sherd_json_writer w;
	for (size_t i = 0; i < manifest->count; i++)
		TRY(check_text(manifest->arrays[i].name, err));
	for (size_t i = 0; i < manifest->pair_count; i++) {
		TRY(check_text(manifest->pairs[i].key, err));
		TRY(check_text(manifest->pairs[i].value, err));
	}
	sherd_json_writer_init(&w, out);
	sherd_json_put_object(&w, false);
	sherd_json_put_key(&w, "format");
	sherd_json_put_string(&w, SHERD_STR(FORMAT));
	sherd_json_put_key(&w, "version");
	sherd_json_put_u64(&w, 1);
	sherd_json_put_key(&w, "arrays");
	sherd_json_put_array(&w, false);
	for (size_t i = 0; i < manifest->count; i++)
		put_entry(&w, &manifest->arrays[i]);
	sherd_json_put_array_end(&w);
	sherd_json_put_key(&w, "metadata");
	sherd_json_put_object(&w, false);
	for (size_t i = 0; i < manifest->pair_count; i++) {
		sherd_json_put_key(&w, manifest->pairs[i].key);
		sherd_json_put_string(&w, sherd_str_of(manifest->pairs[i].value));
	}
	sherd_json_put_object_end(&w);
	sherd_seal_put(&w);
	return sherd_buf_check(out, err);
}

void sherd_npy_file_name(sherd_buf *out, const char *array)
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
			sherd_buf_u8(out, byte);
		else
			sherd_buf_printf(out, "%%%02X", byte);
	}
}
