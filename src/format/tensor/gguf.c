#include "format/tensor/gguf.h"

#include "base/limits.h"
#include "base/map.h"
#include "format/tensor/gguf_value.h"
#include "format/value.h"

#include <stdlib.h>

/* The least that a key with its value, and the description of a tensor take. */
enum { LEAST_PAIR = 8 + 4 + 1, LEAST_TENSOR = 8 + 4 + 4 + 8, FIRST = 24 };

/* What the head says about the file itself. */
typedef struct gguf_head {
	shd_gguf_input in;
	uint64_t tensors, keys;
	uint64_t alignment;
	const char *types; /* the text of SHERD_TYPES_KEY; or NULL */
	sherd_value *values;
	shd_gguf_entry *entries;
	shd_gguf *out;
} gguf_head;

/* ---- the first bytes */

static int gguf_check_version(uint32_t version, sherd_error *err)
{
	if (version == 2 || version == 3)
		return SHERD_OK;
	if (version && !(version & 0xffff))
		return shd_fail_at(
			err, SHERD_EUNSUPPORTED, "big-endian", 4,
			"a big-endian GGUF file, which is not read here; gguf_convert_endian.py of llama.cpp turns "
			"it round");
	if (version == 1)
		return shd_fail_at(
			err, SHERD_EUNSUPPORTED, "bad-version", 4,
			"GGUF version 1, whose lengths have 4 bytes, is not read here; convert the model anew");
	return shd_fail_at(err, version ? SHERD_EVERSION : SHERD_ECORRUPT, "bad-version", 4,
	                   "GGUF version %u, and only 2 and 3 are known", version);
}

static int take_first(gguf_head *h, sherd_error *err)
{
	shd_cursor *c = &h->in.cursor;
	const uint8_t *magic = shd_cursor_bytes(c, 4);
	h->out->version = shd_cursor_u32(c);
	h->tensors = shd_cursor_u64(c);
	h->keys = shd_cursor_u64(c);
	if (c->failed)
		return c->len < h->in.file_size ? 1 : shd_cursor_check(c, "the head", err);
	if (memcmp(magic, SHD_GGUF_MAGIC, 4) != 0)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-magic", 0, "a GGUF file begins otherwise");
	TRY(gguf_check_version(h->out->version, err));
	int more = shd_gguf_expect(&h->in, h->keys, LEAST_PAIR, "keys", err);
	return more ? more : shd_gguf_expect(&h->in, h->tensors, LEAST_TENSOR, "tensors", err);
}

/* ---- keys and values */

/* A whole number that is not negative, of any type. */
static bool whole_number(const sherd_value *v, uint64_t *out)
{
	uint32_t bytes = sherd_dtype_element_bytes(v->type);
	bool is_signed = v->type == SHERD_I8 || v->type == SHERD_I16 || v->type == SHERD_I32 || v->type == SHERD_I64;
	bool is_unsigned = v->type == SHERD_U8 || v->type == SHERD_U16 || v->type == SHERD_U32 || v->type == SHERD_U64;
	*out = 0;
	if (v->is_array || !(is_signed || is_unsigned))
		return false;
	memcpy(out, v->items, bytes);
	return !(is_signed && *out >> (8 * bytes - 1));
}

static int take_split(gguf_head *h, const sherd_value *v, uint64_t at, bool *taken, sherd_error *err)
{
	static const char *const keys[] = {"no", "count", "tensors.count"};
	uint64_t *const numbers[] = {&h->out->split_no, &h->out->split_count, &h->out->split_tensors};
	*taken = false;
	if (!shd_str_starts(shd_str_of(v->key), SHD_GGUF_SPLIT))
		return SHERD_OK;
	for (size_t i = 0; i < COUNT_OF(keys); i++) {
		if (strcmp(v->key + strlen(SHD_GGUF_SPLIT), keys[i]) != 0)
			continue;
		*taken = true;
		if (!whole_number(v, numbers[i]))
			return shd_fail_at(err, SHERD_ECORRUPT, "bad-type", at, "'%s' is no count", v->key);
	}
	return SHERD_OK;
}

/* What is said of the file itself. *kept: the value is one for others, too. */
static int look_at(gguf_head *h, const sherd_value *v, uint64_t at, bool *kept, sherd_error *err)
{
	bool split;
	TRY(take_split(h, v, at, &split, err));
	*kept = !split;
	if (strcmp(v->key, SHD_GGUF_ALIGNMENT) == 0) {
		if (v->type != SHERD_U32 || !whole_number(v, &h->alignment) || !h->alignment)
			return shd_fail_at(err, SHERD_ECORRUPT, "bad-head", at,
			                   "'" SHD_GGUF_ALIGNMENT "' is no U32 above 0");
	} else if (strcmp(v->key, SHERD_TYPES_KEY) == 0) {
		*kept = false;
		h->types = v->type == SHERD_UTF8 && !v->is_array ? *(const char *const *)v->items : NULL;
	}
	return SHERD_OK;
}

static int take_key(gguf_head *h, shd_map *seen, const char **out, sherd_error *err)
{
	uint64_t at = h->in.cursor.pos;
	bool ok;
	shd_str key;
	int more = shd_gguf_take_text(&h->in, h->in.limits.name_bytes, "a key", &key, err);
	if (more)
		return more;
	if (key.len && memchr(key.ptr, 0, key.len))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-name", at, "a key has a NUL in it");
	char *copy = shd_arena_str(h->in.arena, key);
	if (!copy)
		return shd_fail_nomem(err);
	if (shd_map_add(seen, shd_str_of(copy), 0, &ok) != SHD_MAP_NONE)
		return shd_fail_at(err, SHERD_ECORRUPT, "duplicate-key", at, "the key '%.80s' is there twice", copy);
	*out = copy;
	return ok ? 0 : shd_fail_nomem(err);
}

static int take_pair(gguf_head *h, shd_map *seen, sherd_error *err)
{
	uint64_t at = h->in.cursor.pos;
	sherd_value *v = &h->values[h->out->value_count];
	bool kept;
	int more = take_key(h, seen, &v->key, err);
	if (!more)
		more = shd_gguf_expect(&h->in, 1, 4, "type of a value", err);
	if (!more)
		more = shd_gguf_take_value(&h->in, shd_cursor_u32(&h->in.cursor), v->key, v, err);
	if (more)
		return more;
	TRY(look_at(h, v, at, &kept, err));
	h->out->value_count += kept;
	return 0;
}

/* Texts that were JSON when they were written are that again. */
static int restore_json(gguf_head *h, sherd_error *err)
{
	SHD_AUTO_VEC SHD_VEC(sherd_pair) texts = {0};
	const sherd_value *typed;
	size_t count, next = 0;
	if (!h->types)
		return SHERD_OK;
	for (size_t i = 0; i < h->out->value_count; i++)
		if (h->values[i].type == SHERD_UTF8 && !h->values[i].is_array)
			shd_vec_push(&texts, (sherd_pair){h->values[i].key, *(const char *const *)h->values[i].items});
	shd_vec_push(&texts, (sherd_pair){SHERD_TYPES_KEY, h->types});
	TRY(shd_vec_check(&texts, err));
	TRY(shd_values_of_pairs(texts.items, texts.count, h->in.arena, &typed, &count, err));
	for (size_t i = 0; i < h->out->value_count && next < count; i++) {
		if (strcmp(h->values[i].key, typed[next].key) != 0)
			continue;
		if (typed[next].type == SHERD_DTYPE_NONE)
			h->values[i] = (sherd_value){.key = h->values[i].key, .text = typed[next].text};
		next++;
	}
	return SHERD_OK;
}

static int take_pairs(gguf_head *h, sherd_error *err)
{
	SHD_DONE(shd_map_done) shd_map seen = {0};
	h->values = shd_arena_alloc(h->in.arena, (size_t)h->keys + 1, sizeof(*h->values));
	if (!h->values)
		return shd_fail_nomem(err);
	h->out->values = h->values;
	for (uint64_t i = 0; i < h->keys; i++) {
		int more = take_pair(h, &seen, err);
		if (more)
			return more;
	}
	return restore_json(h, err);
}

/* ---- tensors */

/* Dimensions come with that of neighbours in memory first. */
static int gguf_take_shape(gguf_head *h, sherd_tensor *t, sherd_error *err)
{
	uint64_t at = h->in.cursor.pos, shape[SHD_GGUF_DIMS];
	int more = shd_gguf_expect(&h->in, 1, 4, "number of dimensions", err);
	if (more)
		return more;
	t->ndim = shd_cursor_u32(&h->in.cursor);
	if (t->ndim > SHD_GGUF_DIMS)
		return shd_fail_at(err, SHERD_ECORRUPT, "too-many-dims", at,
		                   "tensor '%.80s' has %u dimensions, more than 4", t->name, t->ndim);
	more = shd_gguf_expect(&h->in, t->ndim, 8, "dimensions", err);
	if (more)
		return more;
	for (uint32_t i = t->ndim; i-- > 0;) {
		shape[i] = shd_cursor_u64(&h->in.cursor);
		if (shape[i] > INT64_MAX)
			return shd_fail_at(err, SHERD_ECORRUPT, "bad-shape", h->in.cursor.pos - 8,
			                   "a dimension of tensor '%.80s' is negative", t->name);
	}
	t->shape = shd_arena_copy(h->in.arena, shape, t->ndim * sizeof(shape[0]));
	return t->shape ? 0 : shd_fail_nomem(err);
}

static int take_type(gguf_head *h, sherd_tensor *t, sherd_error *err)
{
	uint64_t at = h->in.cursor.pos;
	uint32_t number = shd_cursor_u32(&h->in.cursor);
	t->dtype = shd_gguf_dtype(number);
	if (!t->dtype)
		return shd_fail_at(err, SHERD_EUNSUPPORTED, "bad-dtype", at,
		                   "tensor '%.80s' is of ggml's type %u, which is not known here", t->name, number);
	if (!sherd_tensor_bytes(&t->bytes, t->dtype, t->ndim, t->shape))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-shape", at,
		                   "tensor '%.80s': its rows are no whole number of blocks of %s, or it is too large",
		                   t->name, sherd_tensor_type(t));
	return SHERD_OK;
}

static int take_name(gguf_head *h, const char **out, sherd_error *err)
{
	uint64_t at = h->in.cursor.pos;
	shd_str name;
	int more = shd_gguf_take_text(&h->in, h->in.limits.name_bytes, "the name of a tensor", &name, err);
	if (more)
		return more;
	if (name.len && memchr(name.ptr, 0, name.len))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-name", at, "the name of a tensor has a NUL in it");
	*out = shd_arena_str(h->in.arena, name);
	return *out ? 0 : shd_fail_nomem(err);
}

static int gguf_take_tensor(gguf_head *h, shd_gguf_entry *e, sherd_error *err)
{
	*e = (shd_gguf_entry){0};
	int more = take_name(h, &e->tensor.name, err);
	if (!more)
		more = gguf_take_shape(h, &e->tensor, err);
	if (!more)
		more = shd_gguf_expect(&h->in, 1, 12, "type and offset of a tensor", err);
	if (more)
		return more;
	TRY(take_type(h, &e->tensor, err));
	e->offset = shd_cursor_u64(&h->in.cursor);
	if (e->offset % h->alignment)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-offsets", h->in.cursor.pos - 8,
		                   "the data of tensor '%.80s' begins at %llu, no multiple of %llu", e->tensor.name,
		                   (unsigned long long)e->offset, (unsigned long long)h->alignment);
	return 0;
}

static int take_tensors(gguf_head *h, sherd_error *err)
{
	int more = shd_gguf_expect(&h->in, h->tensors, LEAST_TENSOR, "tensors", err);
	if (more)
		return more;
	h->entries = shd_arena_alloc(h->in.arena, (size_t)h->tensors + 1, sizeof(*h->entries));
	if (!h->entries)
		return shd_fail_nomem(err);
	for (uint64_t i = 0; i < h->tensors; i++) {
		more = gguf_take_tensor(h, &h->entries[i], err);
		if (more)
			return more;
	}
	h->out->entries = h->entries;
	h->out->count = (size_t)h->tensors;
	return 0;
}

/* ---- where the data lie */

static int by_offset(const void *left, const void *right)
{
	const shd_gguf_entry *a = *(const shd_gguf_entry *const *)left, *b = *(const shd_gguf_entry *const *)right;
	return (a->offset > b->offset) - (a->offset < b->offset);
}

static int check_overlap(const gguf_head *h, sherd_error *err)
{
	size_t count = 0;
	SHD_AUTO_FREE const shd_gguf_entry **order = calloc(h->out->count + 1, sizeof(shd_gguf_entry *));
	if (!order)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < h->out->count; i++)
		if (h->entries[i].tensor.bytes)
			order[count++] = &h->entries[i];
	qsort(order, count, sizeof(*order), by_offset);
	for (size_t i = 1; i < count; i++)
		if (order[i]->offset - order[i - 1]->offset < order[i - 1]->tensor.bytes)
			return shd_fail_at(err, SHERD_ECORRUPT, "overlap", order[i]->offset,
			                   "tensors '%.80s' and '%.80s' overlap", order[i - 1]->tensor.name,
			                   order[i]->tensor.name);
	return SHERD_OK;
}

/* Makes offsets count from the start of the file, and holds them against its end. */
static int place_data(gguf_head *h, sherd_error *err)
{
	uint64_t at = h->in.cursor.pos, size = h->in.file_size, over = at % h->alignment;
	uint64_t data = over ? at + (h->alignment - over) : at;
	h->out->data = data < size ? data : size; /* with nothing behind it the padding may be missing */
	for (size_t i = 0; i < h->out->count; i++) {
		shd_gguf_entry *e = &h->entries[i];
		uint64_t bytes = e->tensor.bytes;
		if (bytes && (data > size || e->offset > size - data || bytes > size - data - e->offset))
			return shd_fail_at(err, SHERD_ECORRUPT, "truncated", size,
			                   "the file ends before the data of tensor '%.80s' does", e->tensor.name);
		e->offset = bytes ? data + e->offset : h->out->data;
	}
	return check_overlap(h, err);
}

int shd_gguf_decode(const void *data, size_t len, uint64_t file_size, const sherd_limits *limits, shd_arena *arena,
                    shd_gguf *out, sherd_error *err)
{
	*out = (shd_gguf){0};
	gguf_head h = {.in = {.cursor = shd_cursor_over(data, len),
	                      .file_size = file_size,
	                      .limits = shd_limits_or_default(limits),
	                      .arena = arena},
	               .alignment = SHD_GGUF_DEFAULT_ALIGNMENT,
	               .out = out};
	int more = take_first(&h, err);
	if (!more)
		more = take_pairs(&h, err);
	if (!more)
		more = take_tensors(&h, err);
	return more ? more : place_data(&h, err);
}
