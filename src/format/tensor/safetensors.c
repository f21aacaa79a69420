#include "format/tensor/safetensors.h"

#include "base/cursor.h"
#include "base/dtype.h"
#include "base/limits.h"
#include "base/map.h"
#include "codec/json.h"

#include <stdlib.h>

#define METADATA_KEY "__metadata__"

/* A tensor while the header is being read. Offsets of data count from the start of the data. */
typedef struct found {
	sherd_tensor tensor;
	uint64_t begin, end;
	uint64_t at; /* of data_offsets, in the header */
	size_t order;
} found;

typedef struct decoder {
	shd_json *json;
	sherd_limits limits;
	shd_arena *arena;
	SHD_VEC(found) found;
	SHD_VEC(sherd_pair) pairs;
} decoder;

int shd_safetensors_decode_length(const void *raw, size_t len, uint64_t file_size, uint64_t *header_len,
                                  sherd_error *err)
{
	shd_cursor c = shd_cursor_over(raw, len);
	uint64_t n = shd_cursor_u64(&c);
	if (c.failed || file_size < SHD_SAFETENSORS_HEAD)
		return shd_fail_at(err, SHERD_ECORRUPT, "truncated", len, "the length of the header ends too early");
	if (n > SHD_SAFETENSORS_MAX_HEADER)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-length", 0, "a header of %llu bytes, more than %u",
		                   (unsigned long long)n, SHD_SAFETENSORS_MAX_HEADER);
	if (n > file_size - SHD_SAFETENSORS_HEAD)
		return shd_fail_at(err, SHERD_ECORRUPT, "truncated", file_size,
		                   "the file ends before its header of %llu bytes does", (unsigned long long)n);
	*header_len = n;
	return SHERD_OK;
}

static int copy_text(decoder *d, shd_str text, const char *what, const char **out, sherd_error *err)
{
	uint64_t at = shd_json_offset(d->json);
	if (text.len && memchr(text.ptr, 0, text.len))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-name", at, "%s has a NUL in it", what);
	char *copy = shd_arena_str(d->arena, text);
	if (!copy)
		return shd_fail_nomem(err);
	*out = copy;
	return SHERD_OK;
}

static int decode_pairs(decoder *d, sherd_error *err)
{
	int rc;
	shd_str text;
	if ((rc = shd_json_peek(d->json, err)) == SHD_JSON_NULL)
		return shd_json_null(d->json, err);
	TRY(rc);
	TRY(shd_json_object(d->json, err));
	while ((rc = shd_json_key(d->json, &text, err)) > 0) {
		sherd_pair pair;
		TRY(copy_text(d, text, "a key of " METADATA_KEY, &pair.key, err));
		TRY(shd_json_string(d->json, &text, err));
		TRY(copy_text(d, text, "a value of " METADATA_KEY, &pair.value, err));
		shd_vec_push(&d->pairs, pair);
	}
	return rc;
}

/* The reference sorts by its own enumeration of types, whose alignment grows: this is each type's place in it, 0 for
 * those that it does not have. */
static unsigned rank_of(sherd_dtype dtype)
{
	static const uint8_t rank[SHERD_DTYPE_COUNT] = {
		[SHERD_BOOL] = 1,    [SHERD_F4] = 2,           [SHERD_F6_E2M3] = 3,      [SHERD_F6_E3M2] = 4,
		[SHERD_U8] = 5,      [SHERD_I8] = 6,           [SHERD_F8_E5M2] = 7,      [SHERD_F8_E4M3] = 8,
		[SHERD_F8_E8M0] = 9, [SHERD_F8_E4M3FNUZ] = 10, [SHERD_F8_E5M2FNUZ] = 11, [SHERD_I16] = 12,
		[SHERD_U16] = 13,    [SHERD_F16] = 14,         [SHERD_BF16] = 15,        [SHERD_I32] = 16,
		[SHERD_U32] = 17,    [SHERD_F32] = 18,         [SHERD_C64] = 19,         [SHERD_F64] = 20,
		[SHERD_I64] = 21,    [SHERD_U64] = 22,
	};
	return (unsigned)dtype < COUNT_OF(rank) ? rank[dtype] : 0;
}

/* A type that is not known is kept by its name. */
static int decode_dtype(decoder *d, sherd_tensor *t, sherd_error *err)
{
	shd_str text;
	TRY(shd_json_string(d->json, &text, err));
	t->dtype = sherd_dtype_by_name(text.ptr, text.len);
	if (rank_of(t->dtype))
		return SHERD_OK;
	if (!text.len || text.len > SHERD_MAX_TYPE_NAME)
		return shd_fail_at(err, SHERD_EUNSUPPORTED, "bad-dtype", shd_json_offset(d->json),
		                   "the name of an element type has %zu bytes, not 1 to %d", text.len,
		                   SHERD_MAX_TYPE_NAME);
	t->dtype = SHERD_OPAQUE;
	return copy_text(d, text, "the name of an element type", &t->type_name, err);
}

static int decode_shape(decoder *d, sherd_tensor *t, sherd_error *err)
{
	uint64_t shape[SHERD_MAX_DIMS];
	uint32_t ndim = 0;
	int rc;
	TRY(shd_json_array(d->json, err));
	while ((rc = shd_json_item(d->json, err)) > 0) {
		uint64_t dim;
		TRY(shd_json_u64(d->json, &dim, err));
		if (ndim == d->limits.dims)
			return shd_fail_at(err, SHERD_ELIMIT, "too-many-dims", shd_json_offset(d->json),
			                   "more than %u dimensions", d->limits.dims);
		shape[ndim++] = dim;
	}
	TRY(rc);
	t->ndim = ndim;
	t->shape = shd_arena_copy(d->arena, shape, ndim * sizeof(shape[0]));
	return t->shape ? SHERD_OK : shd_fail_nomem(err);
}

static int decode_offsets(decoder *d, found *f, sherd_error *err)
{
	uint64_t both[2];
	int n = 0, rc;
	TRY(shd_json_array(d->json, err));
	f->at = shd_json_offset(d->json);
	while ((rc = shd_json_item(d->json, err)) > 0) {
		uint64_t v;
		TRY(shd_json_u64(d->json, &v, err));
		if (n == 2)
			return shd_fail_at(err, SHERD_ECORRUPT, "bad-offsets", shd_json_offset(d->json),
			                   "data_offsets has more than two numbers");
		both[n++] = v;
	}
	TRY(rc);
	if (n != 2)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-offsets", f->at, "data_offsets needs two numbers");
	if (both[0] > both[1])
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-offsets", f->at, "data ends before it begins");
	f->begin = both[0];
	f->end = both[1];
	return SHERD_OK;
}

/* Type, shape and size must agree, but where nobody knows how. */
static int tensor_safetensors_check_size(found *f, sherd_error *err)
{
	sherd_tensor *t = &f->tensor;
	if (t->dtype == SHERD_OPAQUE) {
		t->bytes = f->end - f->begin;
		return SHERD_OK;
	}
	bool sized = sherd_tensor_bytes(&t->bytes, t->dtype, t->ndim, t->shape);
	if (!sized && sherd_dtype_element_bytes(t->dtype))
		return shd_fail_at(err, SHERD_ECORRUPT, "overflow", f->at, "the size of %.128s does not fit 64 bits",
		                   t->name);
	if (!sized)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-shape", f->at,
		                   "the elements of %.128s are no whole number of bytes, or do not fit 64 bits",
		                   t->name);
	if (t->bytes != f->end - f->begin)
		return shd_fail_at(err, SHERD_ECORRUPT, "size-mismatch", f->at,
		                   "%.128s takes %llu bytes, its data_offsets say %llu", t->name,
		                   (unsigned long long)t->bytes, (unsigned long long)(f->end - f->begin));
	return SHERD_OK;
}

static int decode_tensor(decoder *d, found *f, sherd_error *err)
{
	enum { DTYPE = 1, SHAPE = 2, OFFSETS = 4, ALL = 7 };
	unsigned seen = 0;
	shd_str key;
	int rc;
	TRY(shd_json_object(d->json, err));
	uint64_t at = shd_json_offset(d->json);
	while ((rc = shd_json_key(d->json, &key, err)) > 0) {
		if (shd_str_is(key, "dtype")) {
			seen |= DTYPE;
			TRY(decode_dtype(d, &f->tensor, err));
		} else if (shd_str_is(key, "shape")) {
			seen |= SHAPE;
			TRY(decode_shape(d, &f->tensor, err));
		} else if (shd_str_is(key, "data_offsets")) {
			seen |= OFFSETS;
			TRY(decode_offsets(d, f, err));
		} else {
			TRY(shd_json_skip(d->json, err));
		}
	}
	TRY(rc);
	if (seen != ALL)
		return shd_fail_at(err, SHERD_ECORRUPT, "missing-key", at, "%.128s has no %s", f->tensor.name,
		                   !(seen & DTYPE)   ? "dtype"
		                   : !(seen & SHAPE) ? "shape"
		                                     : "data_offsets");
	return tensor_safetensors_check_size(f, err);
}

static int decode_entry(decoder *d, shd_str name, sherd_error *err)
{
	found f = {.order = d->found.count};
	if (name.len > d->limits.name_bytes)
		return shd_fail_at(err, SHERD_ELIMIT, "name-too-long", shd_json_offset(d->json),
		                   "a name of %zu bytes, more than %u", name.len, d->limits.name_bytes);
	TRY(copy_text(d, name, "the name of a tensor", &f.tensor.name, err));
	TRY(decode_tensor(d, &f, err));
	shd_vec_push(&d->found, f);
	return SHERD_OK;
}

static int decode_header(decoder *d, sherd_error *err)
{
	shd_str key;
	int rc;
	TRY(shd_json_object(d->json, err));
	while ((rc = shd_json_key(d->json, &key, err)) > 0) {
		if (shd_str_is(key, METADATA_KEY))
			TRY(decode_pairs(d, err));
		else
			TRY(decode_entry(d, key, err));
	}
	TRY(rc);
	TRY(shd_json_end(d->json, err));
	TRY(shd_vec_check(&d->found, err));
	return shd_vec_check(&d->pairs, err);
}

static int by_data(const void *left, const void *right)
{
	const found *a = left, *b = right;
	if (a->begin != b->begin)
		return a->begin < b->begin ? -1 : 1;
	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

/* Sorted tensors must follow each other from the first byte of data to the last. */
static int check_cover(const found *f, size_t count, uint64_t data, uint64_t file_size, sherd_error *err)
{
	uint64_t end = 0;
	for (size_t i = 0; i < count; end = f[i++].end) {
		if (f[i].begin > end)
			return shd_fail_at(err, SHERD_ECORRUPT, "hole", SHD_SAFETENSORS_HEAD + f[i].at,
			                   "%llu bytes before %.128s belong to no tensor",
			                   (unsigned long long)(f[i].begin - end), f[i].tensor.name);
		if (f[i].begin < end)
			return shd_fail_at(err, SHERD_ECORRUPT, "overlap", SHD_SAFETENSORS_HEAD + f[i].at,
			                   "%.128s begins inside another tensor", f[i].tensor.name);
	}
	if (end > file_size - data)
		return shd_fail_at(err, SHERD_ECORRUPT, "truncated", file_size,
		                   "%llu bytes of data are missing at the end",
		                   (unsigned long long)(end - (file_size - data)));
	if (end < file_size - data)
		return shd_fail_at(err, SHERD_ECORRUPT, "trailing-bytes", data + end,
		                   "%llu bytes after the last tensor", (unsigned long long)(file_size - data - end));
	return SHERD_OK;
}

static int tensor_safetensors_finish(decoder *d, uint64_t data, uint64_t file_size, shd_safetensors *out,
                                     sherd_error *err)
{
	size_t count = d->found.count;
	found *f = d->found.items;
	if (count)
		qsort(f, count, sizeof(*f), by_data);
	TRY(check_cover(f, count, data, file_size, err));

	shd_safetensors_entry *entries = shd_arena_alloc(d->arena, count, sizeof(*entries));
	const sherd_pair *pairs = shd_vec_copy(&d->pairs, d->arena);
	if (!entries || !pairs)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < count; i++)
		entries[i] = (shd_safetensors_entry){.tensor = f[i].tensor, .offset = data + f[i].begin};
	*out = (shd_safetensors){
		.data = data, .count = count, .entries = entries, .pair_count = d->pairs.count, .pairs = pairs};
	return SHERD_OK;
}

int shd_safetensors_decode(const void *header, size_t len, uint64_t file_size, const sherd_limits *limits,
                           shd_arena *arena, shd_safetensors *out, sherd_error *err)
{
	if (len > SHD_SAFETENSORS_MAX_HEADER || file_size < SHD_SAFETENSORS_HEAD + (uint64_t)len)
		return shd_fail(err, SHERD_EINVAL, "bad-length", "a header of %zu bytes in a file of %llu", len,
		                (unsigned long long)file_size);
	if (!len || *(const char *)header != '{')
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-magic", SHD_SAFETENSORS_HEAD,
		                   "the header does not begin with '{'");
	SHD_AUTO(shd_json, shd_json_close) json = NULL;
	TRY(shd_json_open(&json, header, len, limits, err));
	decoder d = {.json = json, .limits = shd_limits_or_default(limits), .arena = arena};
	int rc = shd_shift_offset(err, decode_header(&d, err), SHD_SAFETENSORS_HEAD);
	if (rc >= 0)
		rc = tensor_safetensors_finish(&d, SHD_SAFETENSORS_HEAD + (uint64_t)len, file_size, out, err);
	shd_vec_done(&d.found);
	shd_vec_done(&d.pairs);
	return rc;
}

/* Encoding. */

static int tensor_safetensors_by_place(const void *left, const void *right, void *arg)
{
	const sherd_tensor *tensors = arg, *a = &tensors[*(const size_t *)left], *b = &tensors[*(const size_t *)right];
	unsigned ra = rank_of(a->dtype), rb = rank_of(b->dtype);
	if (ra != rb)
		return ra > rb ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int tensor_safetensors_check_text(const char *text, const char *what, sherd_error *err)
{
	size_t bad;
	if (!shd_utf8_valid(text, strlen(text), &bad))
		return shd_fail(err, SHERD_EINVAL, "bad-utf8", "%s is not UTF-8 at its byte %zu", what, bad);
	return SHERD_OK;
}

static int check_tensor(const sherd_tensor *t, sherd_error *err)
{
	uint64_t bytes = t->bytes;
	bool opaque = t->dtype == SHERD_OPAQUE && shd_tensor_is_typed(t);
	const char *type = sherd_tensor_type(t);
	if (opaque ? rank_of(sherd_dtype_by_name(type, strlen(type))) : !rank_of(t->dtype))
		return shd_fail(err, SHERD_EUNSUPPORTED, "cannot-hold", "safetensors cannot hold %.128s, which is %s%s",
		                t->name, opaque ? "an opaque " : "", type);
	if (strcmp(t->name, METADATA_KEY) == 0)
		return shd_fail(err, SHERD_EUNSUPPORTED, "cannot-hold",
		                "safetensors cannot hold a tensor named " METADATA_KEY);
	TRY(tensor_safetensors_check_text(t->name, "the name of a tensor", err));
	TRY(tensor_safetensors_check_text(type, "the name of a type", err));
	if ((!opaque && !sherd_tensor_bytes(&bytes, t->dtype, t->ndim, t->shape)) || bytes != t->bytes)
		return shd_fail(err, SHERD_EINVAL, "size-mismatch", "%.128s does not have the size its shape gives",
		                t->name);
	return SHERD_OK;
}

static int add_once(shd_map *seen, const char *text, size_t index, sherd_error *err)
{
	bool ok;
	if (shd_map_add(seen, shd_str_of(text), index, &ok) != SHD_MAP_NONE)
		return shd_fail(err, SHERD_EINVAL, "duplicate-key", "%.128s is given twice", text);
	return ok ? SHERD_OK : shd_fail_nomem(err);
}

static int tensor_safetensors_check_pairs(const sherd_pair *pairs, size_t count, sherd_error *err)
{
	SHD_DONE(shd_map_done) shd_map seen = {0};
	for (size_t i = 0; i < count; i++) {
		TRY(tensor_safetensors_check_text(pairs[i].key, "a key of " METADATA_KEY, err));
		TRY(tensor_safetensors_check_text(pairs[i].value, "a value of " METADATA_KEY, err));
		TRY(add_once(&seen, pairs[i].key, i, err));
	}
	return SHERD_OK;
}

static int tensor_safetensors_check_tensors(const sherd_tensor *tensors, size_t count, sherd_error *err)
{
	SHD_DONE(shd_map_done) shd_map seen = {0};
	for (size_t i = 0; i < count; i++) {
		TRY(check_tensor(&tensors[i], err));
		TRY(add_once(&seen, tensors[i].name, i, err));
	}
	return SHERD_OK;
}

/* The text as a JSON string, with the fewest escapes. */
static void tensor_safetensors_put_text(shd_buf *out, const char *text)
{
	shd_json_writer w;
	shd_json_writer_init(&w, out);
	shd_json_put_string(&w, shd_str_of(text));
}

static void tensor_safetensors_put_pairs(shd_buf *out, const sherd_pair *pairs, size_t count)
{
	shd_buf_str(out, "\"" METADATA_KEY "\":{");
	for (size_t i = 0; i < count; i++) {
		if (i)
			shd_buf_u8(out, ',');
		tensor_safetensors_put_text(out, pairs[i].key);
		shd_buf_u8(out, ':');
		tensor_safetensors_put_text(out, pairs[i].value);
	}
	shd_buf_u8(out, '}');
}

static void put_tensor(shd_buf *out, const sherd_tensor *t, uint64_t begin)
{
	tensor_safetensors_put_text(out, t->name);
	shd_buf_str(out, ":{\"dtype\":");
	tensor_safetensors_put_text(out, sherd_tensor_type(t));
	shd_buf_str(out, ",\"shape\":[");
	for (uint32_t i = 0; i < t->ndim; i++)
		shd_buf_printf(out, "%s%llu", i ? "," : "", (unsigned long long)t->shape[i]);
	shd_buf_printf(out, "],\"data_offsets\":[%llu,%llu]}", (unsigned long long)begin,
	               (unsigned long long)(begin + t->bytes));
}

/* Appends the header, padded to a multiple of 8. */
static int put_header(shd_buf *out, const sherd_tensor *tensors, const size_t *order, size_t count,
                      const sherd_pair *pairs, size_t pair_count, sherd_error *err)
{
	size_t start = out->len;
	uint64_t begin = 0;
	shd_buf_u8(out, '{');
	if (pair_count)
		tensor_safetensors_put_pairs(out, pairs, pair_count);
	for (size_t i = 0; i < count; i++) {
		const sherd_tensor *t = &tensors[order[i]];
		if (t->bytes > INT64_MAX - begin)
			return shd_fail(err, SHERD_EUNSUPPORTED, "cannot-hold", "more data than a file can hold");
		if (i || pair_count)
			shd_buf_u8(out, ',');
		put_tensor(out, t, begin);
		begin += t->bytes;
	}
	shd_buf_u8(out, '}');
	while (!out->failed && (out->len - start) % 8)
		shd_buf_u8(out, ' ');
	return shd_buf_check(out, err);
}

int shd_safetensors_encode(const sherd_tensor *tensors, size_t count, const sherd_pair *pairs, size_t pair_count,
                           shd_buf *out, size_t *order, sherd_error *err)
{
	TRY(tensor_safetensors_check_tensors(tensors, count, err));
	TRY(tensor_safetensors_check_pairs(pairs, pair_count, err));
	for (size_t i = 0; i < count; i++)
		order[i] = i;
	if (count)
		qsort_r(order, count, sizeof(*order), tensor_safetensors_by_place, (void *)(uintptr_t)tensors);

	SHD_AUTO_BUF header = {0};
	TRY(put_header(&header, tensors, order, count, pairs, pair_count, err));
	if (header.len > SHD_SAFETENSORS_MAX_HEADER)
		return shd_fail(err, SHERD_EUNSUPPORTED, "cannot-hold", "the header would take %zu bytes, more than %u",
		                header.len, SHD_SAFETENSORS_MAX_HEADER);
	shd_buf_u64(out, header.len);
	shd_buf_append(out, header.data, header.len);
	return shd_buf_check(out, err);
}
