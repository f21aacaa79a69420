#include "format/tensor/safetensors_index.h"

#include "base/limits.h"
#include "base/map.h"
#include "codec/json.h"
#include "codec/seal.h"

#include <stdlib.h>

typedef struct decoder {
	shd_json *json;
	sherd_limits limits;
	shd_arena *arena;
	shd_map file_ids; /* over names in the arena */
	SHD_VEC(shd_safetensors_index_entry) entries;
	SHD_VEC(const char *) files;
	SHD_VEC(sherd_pair) pairs;
	SHD_VEC(sherd_pair) values; /* JSON texts */
	bool has_total_size, has_map;
	uint64_t total_size;
} decoder;

static bool plain_name(shd_str s)
{
	return s.len && !memchr(s.ptr, '/', s.len) && !memchr(s.ptr, 0, s.len) && !shd_str_is(s, ".") &&
	       !shd_str_is(s, "..");
}

static int copy_text(decoder *d, shd_str text, const char **out, sherd_error *err)
{
	if (text.len && memchr(text.ptr, 0, text.len))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-name", shd_json_offset(d->json), "a NUL in the text");
	char *copy = shd_arena_str(d->arena, text);
	if (!copy)
		return shd_fail_nomem(err);
	*out = copy;
	return SHERD_OK;
}

static int copy_name(decoder *d, shd_str name, const char **out, sherd_error *err)
{
	if (name.len > d->limits.name_bytes)
		return shd_fail_at(err, SHERD_ELIMIT, "name-too-long", shd_json_offset(d->json),
		                   "a name of %zu bytes, more than %u", name.len, d->limits.name_bytes);
	return copy_text(d, name, out, err);
}

/* The number of the file in files, which it joins when it is new. */
static int decode_file(decoder *d, uint32_t *out, sherd_error *err)
{
	shd_str text;
	const char *copy = "";
	bool ok;
	TRY(shd_json_string(d->json, &text, err));
	if (!plain_name(text))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-path", shd_json_offset(d->json),
		                   "%.*s is not the plain name of a file", text.len > 128 ? 128 : (int)text.len,
		                   text.len ? text.ptr : "");
	size_t known = shd_map_find(&d->file_ids, text);
	if (known == SHD_MAP_NONE) {
		if (d->file_ids.count == d->limits.shards)
			return shd_fail_at(err, SHERD_ELIMIT, "too-many-shards", shd_json_offset(d->json),
			                   "more than %u files", d->limits.shards);
		known = d->file_ids.count;
		TRY(copy_name(d, text, &copy, err));
		(void)shd_map_add(&d->file_ids, shd_str_of(copy), known, &ok);
		if (!ok)
			return shd_fail_nomem(err);
		shd_vec_push(&d->files, copy);
	}
	*out = (uint32_t)known;
	return SHERD_OK;
}

static int decode_map(decoder *d, sherd_error *err)
{
	shd_str name;
	int rc;
	TRY(shd_json_object(d->json, err));
	while ((rc = shd_json_key(d->json, &name, err)) > 0) {
		shd_safetensors_index_entry entry;
		TRY(copy_name(d, name, &entry.name, err));
		TRY(decode_file(d, &entry.file, err));
		shd_vec_push(&d->entries, entry);
	}
	d->has_map = true;
	return rc;
}

/* Some writers count in floating point: "123.0" is 123. */
static int decode_total(decoder *d, sherd_error *err)
{
	shd_str text;
	uint64_t total = 0;
	size_t i = 0;
	TRY(shd_json_number(d->json, &text, err));
	bool bad = false;
	for (; i < text.len && text.ptr[i] >= '0' && text.ptr[i] <= '9'; i++)
		bad |= __builtin_mul_overflow(total, 10u, &total) ||
		       __builtin_add_overflow(total, (uint64_t)(text.ptr[i] - '0'), &total);
	bad |= i == 0;
	if (i < text.len && text.ptr[i] == '.')
		for (i++; i < text.len && text.ptr[i] == '0';)
			i++;
	if (bad || i < text.len)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-number", shd_json_offset(d->json),
		                   "total_size is not a number of bytes");
	d->has_total_size = true;
	d->total_size = total;
	return SHERD_OK;
}

/* The entry's JSON text, and what it says when that is a text; else that text is the pair. */
static int decode_pair(decoder *d, shd_str key, sherd_error *err)
{
	SHD_AUTO(shd_json, shd_json_close) value = NULL;
	sherd_pair pair, raw;
	shd_str text;
	TRY(copy_text(d, key, &pair.key, err));
	int type = shd_json_peek(d->json, err);
	TRY(type);
	TRY(shd_json_raw(d->json, &text, err));
	raw = (sherd_pair){pair.key, shd_arena_str(d->arena, text)};
	if (!raw.value)
		return shd_fail_nomem(err);
	shd_vec_push(&d->values, raw);
	if (type == SHD_JSON_STRING) {
		TRY(shd_json_open(&value, text.ptr, text.len, &d->limits, err));
		TRY(shd_json_string(value, &text, err));
	}
	TRY(copy_text(d, text, &pair.value, err));
	shd_vec_push(&d->pairs, pair);
	return SHERD_OK;
}

static int decode_metadata(decoder *d, sherd_error *err)
{
	shd_str key;
	int rc;
	if ((rc = shd_json_peek(d->json, err)) == SHD_JSON_NULL)
		return shd_json_null(d->json, err);
	TRY(rc);
	TRY(shd_json_object(d->json, err));
	while ((rc = shd_json_key(d->json, &key, err)) > 0) {
		if (shd_str_is(key, "total_size"))
			TRY(decode_total(d, err));
		else
			TRY(decode_pair(d, key, err));
	}
	return rc;
}

static int decode_document(decoder *d, sherd_error *err)
{
	shd_str key;
	int rc;
	TRY(shd_json_object(d->json, err));
	while ((rc = shd_json_key(d->json, &key, err)) > 0) {
		if (shd_str_is(key, "weight_map"))
			TRY(decode_map(d, err));
		else if (shd_str_is(key, "metadata"))
			TRY(decode_metadata(d, err));
		else
			TRY(shd_json_skip(d->json, err));
	}
	TRY(rc);
	TRY(shd_json_end(d->json, err));
	if (!d->has_map)
		return shd_fail_at(err, SHERD_ECORRUPT, "missing-key", 0, "the index has no weight_map");
	TRY(shd_vec_check(&d->entries, err));
	TRY(shd_vec_check(&d->files, err));
	TRY(shd_vec_check(&d->values, err));
	return shd_vec_check(&d->pairs, err);
}

static int tensor_safetensors_index_finish(decoder *d, shd_safetensors_index *out, sherd_error *err)
{
	shd_safetensors_index index = {
		.count = d->entries.count,
		.entries = shd_vec_copy(&d->entries, d->arena),
		.file_count = (uint32_t)d->file_ids.count,
		.files = shd_vec_copy(&d->files, d->arena),
		.has_total_size = d->has_total_size,
		.total_size = d->total_size,
		.pair_count = d->pairs.count,
		.pairs = shd_vec_copy(&d->pairs, d->arena),
		.value_count = d->values.count,
		.values = shd_vec_copy(&d->values, d->arena),
	};
	if (!index.entries || !index.files || !index.pairs || !index.values)
		return shd_fail_nomem(err);
	*out = index;
	return SHERD_OK;
}

int shd_safetensors_index_decode(const void *data, size_t len, const sherd_limits *limits, shd_arena *arena,
                                 shd_safetensors_index *out, sherd_error *err)
{
	shd_seal seal = shd_seal_check(data, len);
	if (seal == SHD_SEAL_BROKEN)
		return shd_fail(err, SHERD_ECORRUPT, "bad-checksum", "the index does not have the hash it ends with");
	SHD_AUTO(shd_json, shd_json_close) json = NULL;
	TRY(shd_json_open(&json, data, len, limits, err));
	decoder d = {.json = json, .limits = shd_limits_or_default(limits), .arena = arena};
	int rc = decode_document(&d, err);
	if (rc >= 0)
		rc = tensor_safetensors_index_finish(&d, out, err);
	if (rc >= 0)
		out->sealed = seal == SHD_SEAL_GOOD;
	shd_map_done(&d.file_ids);
	shd_vec_done(&d.entries);
	shd_vec_done(&d.files);
	shd_vec_done(&d.pairs);
	shd_vec_done(&d.values);
	return rc;
}

static int tensor_safetensors_index_by_name(const void *left, const void *right)
{
	const shd_safetensors_index_entry *const *a = left, *const *b = right;
	return strcmp((*a)->name, (*b)->name);
}

static int tensor_safetensors_index_check_text(const char *text, sherd_error *err)
{
	size_t bad;
	if (!shd_utf8_valid(text, strlen(text), &bad))
		return shd_fail(err, SHERD_EINVAL, "bad-utf8", "a name is not UTF-8 at its byte %zu", bad);
	return SHERD_OK;
}

static int tensor_safetensors_index_check_key(const char *key, shd_map *seen, sherd_error *err)
{
	bool ok;
	TRY(tensor_safetensors_index_check_text(key, err));
	if (strcmp(key, "total_size") == 0 || shd_map_add(seen, shd_str_of(key), 0, &ok) != SHD_MAP_NONE)
		return shd_fail(err, SHERD_EINVAL, "duplicate-key", "%.128s stands in metadata already", key);
	return ok ? SHERD_OK : shd_fail_nomem(err);
}

int shd_safetensors_index_check_value(const char *json, sherd_error *err)
{
	sherd_limits within = shd_limits_or_default(NULL);
	within.depth -= 2; /* the document, and metadata in it */
	return shd_json_check(json, strlen(json), &within, err);
}

/* Keys of values are put into named, whose pairs are left out. */
static int tensor_safetensors_index_check_pairs(const shd_safetensors_index *index, shd_map *named, sherd_error *err)
{
	SHD_DONE(shd_map_done) shd_map seen = {0};
	for (size_t i = 0; i < index->value_count; i++) {
		TRY(tensor_safetensors_index_check_key(index->values[i].key, named, err));
		TRY(shd_safetensors_index_check_value(index->values[i].value, err));
	}
	for (size_t i = 0; i < index->pair_count; i++) {
		TRY(tensor_safetensors_index_check_key(index->pairs[i].key, &seen, err));
		TRY(tensor_safetensors_index_check_text(index->pairs[i].value, err));
	}
	return SHERD_OK;
}

/* Entries sorted by name, in sorted. */
static int tensor_safetensors_index_check_entries(const shd_safetensors_index *index,
                                                  const shd_safetensors_index_entry **sorted, sherd_error *err)
{
	for (uint32_t i = 0; i < index->file_count; i++) {
		if (!plain_name(shd_str_of(index->files[i])))
			return shd_fail(err, SHERD_EINVAL, "bad-path", "%.128s is not the plain name of a file",
			                index->files[i]);
		TRY(tensor_safetensors_index_check_text(index->files[i], err));
	}
	for (size_t i = 0; i < index->count; i++) {
		sorted[i] = &index->entries[i];
		TRY(tensor_safetensors_index_check_text(sorted[i]->name, err));
		if (sorted[i]->file >= index->file_count)
			return shd_fail(err, SHERD_EINVAL, "bad-path", "%.128s is in no file", sorted[i]->name);
	}
	if (index->count)
		qsort(sorted, index->count, sizeof(*sorted), tensor_safetensors_index_by_name);
	for (size_t i = 1; i < index->count; i++)
		if (strcmp(sorted[i - 1]->name, sorted[i]->name) == 0)
			return shd_fail(err, SHERD_EINVAL, "duplicate-key", "%.128s is given twice", sorted[i]->name);
	return SHERD_OK;
}

static void put_document(shd_buf *out, const shd_safetensors_index *index,
                         const shd_safetensors_index_entry *const *sorted, const shd_map *named)
{
	shd_json_writer w;
	shd_json_writer_init(&w, out);
	shd_json_put_object(&w, false);
	shd_json_put_key_object(&w, "metadata", false);
	if (index->has_total_size) {
		shd_json_put_key_u64(&w, "total_size", index->total_size);
	}
	for (size_t i = 0; i < index->value_count; i++) {
		shd_json_put_key(&w, index->values[i].key);
		shd_json_put_raw(&w, shd_str_of(index->values[i].value));
	}
	for (size_t i = 0; i < index->pair_count; i++) {
		if (shd_map_find(named, shd_str_of(index->pairs[i].key)) != SHD_MAP_NONE)
			continue;
		shd_json_put_key_text(&w, index->pairs[i].key, index->pairs[i].value);
	}
	shd_json_put_object_end(&w);
	shd_json_put_key_object(&w, "weight_map", false);
	for (size_t i = 0; i < index->count; i++) {
		shd_json_put_key_text(&w, sorted[i]->name, index->files[sorted[i]->file]);
	}
	shd_json_put_object_end(&w);
	shd_seal_put(&w);
}

int shd_safetensors_index_encode(const shd_safetensors_index *index, shd_buf *out, sherd_error *err)
{
	SHD_DONE(shd_arena_done) shd_arena scratch = {0};
	const shd_safetensors_index_entry **sorted = shd_arena_alloc(&scratch, index->count, sizeof(sorted[0]));
	if (!sorted)
		return shd_fail_nomem(err);
	SHD_DONE(shd_map_done) shd_map named = {0};
	TRY(tensor_safetensors_index_check_pairs(index, &named, err));
	TRY(tensor_safetensors_index_check_entries(index, sorted, err));
	/* The seal covers the document from its first byte, so it is built apart from what out may hold. */
	SHD_AUTO_BUF document = {0};
	put_document(&document, index, sorted, &named);
	TRY(shd_buf_check(&document, err));
	shd_buf_append(out, document.data, document.len);
	return shd_buf_check(out, err);
}
