#include "format/tensor/npy_manifest.h"

#include "base/limits.h"
#include "base/map.h"
#include "codec/json_members.h"
#include "codec/sha256.h"

#include <inttypes.h>

#define FORMAT "sherd-npy"

enum { MOST_NAME = 200 /* bytes of a file's name before its ending; room for what tells two of them apart */ };

typedef struct decoder {
	sherd_limits limits;
	shd_arena *arena;
	shd_map files; /* names of files, each once */
	SHD_VEC(shd_npy_entry) arrays;
	SHD_VEC(sherd_pair) pairs;
} decoder;

static int npy_manifest_keep(decoder *d, shd_str s, const shd_json *j, const char **out, sherd_error *err)
{
	if (s.len && memchr(s.ptr, 0, s.len))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-name", shd_json_offset(j), "a NUL in the text");
	*out = shd_arena_str(d->arena, s);
	return *out ? SHERD_OK : shd_fail_nomem(err);
}

static int npy_manifest_take_text(void *arg, void *field, shd_json *j, sherd_error *err)
{
	decoder *d = arg;
	shd_str s;
	TRY(shd_json_string(j, &s, err));
	if (s.len > d->limits.name_bytes)
		return shd_fail_at(err, SHERD_ELIMIT, "name-too-long", shd_json_offset(j),
		                   "a name of %zu bytes, more than %u", s.len, d->limits.name_bytes);
	return npy_manifest_keep(d, s, j, field, err);
}

static int npy_manifest_take_file(void *arg, void *field, shd_json *j, sherd_error *err)
{
	decoder *d = arg;
	const char **out = field;
	bool ok;
	TRY(npy_manifest_take_text(arg, field, j, err));
	shd_str s = shd_str_of(*out);
	if (!shd_str_ends(s, SHD_NPY_SUFFIX) || s.len > 255 || strchr(*out, '/'))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-path", shd_json_offset(j),
		                   "%.128s is not the plain name of a NumPy file", *out);
	if (shd_map_add(&d->files, s, 0, &ok) != SHD_MAP_NONE)
		return shd_fail_at(err, SHERD_ECORRUPT, "duplicate-name", shd_json_offset(j),
		                   "two arrays in the file %.128s", *out);
	return ok ? SHERD_OK : shd_fail_nomem(err);
}

static int take_crc(void *arg, void *field, shd_json *j, sherd_error *err)
{
	uint32_t *out = field;
	shd_str s;
	uint8_t raw[4];
	(void)arg;
	TRY(shd_json_string(j, &s, err));
	if (!shd_unhex(s.ptr, s.len, raw, sizeof(raw)))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-text", shd_json_offset(j),
		                   "a CRC-32 is 8 lower-case hexadecimal digits");
	*out = (uint32_t)raw[0] << 24 | (uint32_t)raw[1] << 16 | (uint32_t)raw[2] << 8 | raw[3];
	return SHERD_OK;
}

static int take_array(void *arg, void *field, shd_json *j, sherd_error *err)
{
	static const shd_json_member members[] = {
		{"name", .take = npy_manifest_take_text, .at = offsetof(shd_npy_entry, name), .needed = true},
		{"file", .take = npy_manifest_take_file, .at = offsetof(shd_npy_entry, file), .needed = true},
		{"bytes", SHD_JSON_U64, offsetof(shd_npy_entry, bytes), .needed = true},
		{"crc32", .take = take_crc, .at = offsetof(shd_npy_entry, crc32), .needed = true},
		{0},
	};
	decoder *d = arg;
	shd_npy_entry e = {0};
	(void)field;
	if (d->arrays.count >= d->limits.shards)
		return shd_fail_at(err, SHERD_ELIMIT, "too-many-shards", shd_json_offset(j),
		                   "more than %" PRIu32 " files", d->limits.shards);
	TRY(shd_json_members(j, members, d, &e, err));
	shd_vec_push(&d->arrays, e);
	return shd_vec_check(&d->arrays, err);
}

static int take_arrays(void *arg, void *field, shd_json *j, sherd_error *err)
{
	return shd_json_items(j, take_array, arg, field, err);
}

static int npy_manifest_take_pairs(void *arg, void *field, shd_json *j, sherd_error *err)
{
	decoder *d = arg;
	shd_str key;
	int rc;
	(void)field;
	TRY(shd_json_object(j, err));
	while ((rc = shd_json_key(j, &key, err)) > 0) {
		sherd_pair pair;
		shd_str value;
		TRY(npy_manifest_keep(d, key, j, &pair.key, err));
		TRY(shd_json_string(j, &value, err));
		TRY(npy_manifest_keep(d, value, j, &pair.value, err));
		shd_vec_push(&d->pairs, pair);
	}
	TRY(rc);
	return shd_vec_check(&d->pairs, err);
}

static int npy_manifest_decode(const void *data, size_t len, decoder *d, shd_npy_manifest *out, sherd_error *err)
{
	static const shd_json_member members[] = {
		{"format", SHD_JSON_FORMAT, .text = FORMAT, .needed = true},
		{"version", SHD_JSON_VERSION_1, .needed = true},
		{"arrays", .take = take_arrays, .needed = true},
		{"metadata", .take = npy_manifest_take_pairs},
		{0},
	};
	TRY(shd_json_sealed(data, len, &d->limits, members, d, d, err));
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
	decoder d = {.limits = shd_limits_or_default(limits), .arena = arena};
	int rc = npy_manifest_decode(data, len, &d, out, err);
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
	shd_json_put_key_text(w, "name", e->name);
	shd_json_put_key_text(w, "file", e->file);
	shd_json_put_key_u64(w, "bytes", e->bytes);
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
	shd_json_put_key_text(&w, "format", FORMAT);
	shd_json_put_key_u64(&w, "version", 1);
	shd_json_put_key_array(&w, "arrays", false);
	for (size_t i = 0; i < manifest->count; i++)
		npy_manifest_put_entry(&w, &manifest->arrays[i]);
	shd_json_put_array_end(&w);
	shd_json_put_key_object(&w, "metadata", false);
	for (size_t i = 0; i < manifest->pair_count; i++) {
		shd_json_put_key_text(&w, manifest->pairs[i].key, manifest->pairs[i].value);
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
