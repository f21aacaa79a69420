#include "format/tensor/gguf_value.h"

#include "codec/json.h"
#include "format/value.h"

#include <math.h>

int shd_gguf_expect(const shd_gguf_input *in, uint64_t count, uint64_t bytes, const char *what, sherd_error *err)
{
	uint64_t need, at = in->cursor.pos;
	if (__builtin_mul_overflow(count, bytes, &need) || need > in->file_size - at)
		return shd_fail_at(err, SHERD_ECORRUPT, "truncated", at,
		                   "%llu %s do not fit into the %llu bytes that follow", (unsigned long long)count,
		                   what, (unsigned long long)(in->file_size - at));
	return need > in->cursor.len - in->cursor.pos;
}

/* 1 when the number could not be read because more of the file is needed. */
static int take_u64(shd_gguf_input *in, uint64_t *out, const char *what, sherd_error *err)
{
	int more = shd_gguf_expect(in, 1, sizeof(*out), what, err);
	if (more)
		return more;
	*out = shd_cursor_u64(&in->cursor);
	return 0;
}

int shd_gguf_take_text(shd_gguf_input *in, uint64_t most, const char *what, shd_str *out, sherd_error *err)
{
	uint64_t len, at = in->cursor.pos;
	size_t bad;
	int more = take_u64(in, &len, what, err);
	if (more)
		return more;
	more = shd_gguf_expect(in, len, 1, "bytes of text", err);
	if (more)
		return more;
	if (len > most)
		return shd_fail_at(err, SHERD_ELIMIT, "name-too-long", at, "%s has %llu bytes", what,
		                   (unsigned long long)len);
	*out = (shd_str){(const char *)shd_cursor_bytes(&in->cursor, len), (size_t)len};
	if (!shd_utf8_valid(out->ptr, out->len, &bad))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-utf8", at + sizeof(len) + bad, "%s is not UTF-8", what);
	return 0;
}

static uint32_t item_bytes(uint32_t type)
{
	return type == SHD_GGUF_TEXT    ? 8
	       : type == SHD_GGUF_ARRAY ? 12
	                                : sherd_dtype_element_bytes(shd_gguf_value_type(type));
}

static int check_value_type(const shd_gguf_input *in, uint32_t type, const char *key, sherd_error *err)
{
	if (type < SHD_GGUF_TYPES)
		return SHERD_OK;
	return shd_fail_at(err, SHERD_ECORRUPT, "bad-type", in->cursor.pos - 4,
	                   "the value of '%.80s' is of type %u, and there are 0 to 12", key, type);
}

/* Numbers and truth values lie in the file as in memory. */
static int take_items(shd_gguf_input *in, sherd_dtype type, uint64_t count, const char *key, sherd_value *out,
                      sherd_error *err)
{
	size_t bytes = (size_t)(count * sherd_dtype_element_bytes(type)), at = in->cursor.pos;
	const uint8_t *raw = shd_cursor_bytes(&in->cursor, bytes);
	for (size_t i = 0; type == SHERD_BOOL && i < bytes; i++)
		if (raw[i] > 1)
			return shd_fail_at(err, SHERD_ECORRUPT, "bad-type", at + i,
			                   "a truth value of '%.80s' is %u, not 0 or 1", key, raw[i]);
	out->items = shd_arena_copy(in->arena, raw, bytes);
	return out->items ? SHERD_OK : shd_fail_nomem(err);
}

/* ---- what values cannot hold, as JSON */

enum { MOST_NESTED = 60 }; /* what every reader of JSON here takes */

static void put_json_real(shd_json_writer *w, double v)
{
	if (isfinite(v))
		shd_json_put_double(w, v);
	else
		shd_json_put_string(w, shd_str_of(isnan(v) ? "nan" : v < 0 ? "-inf" : "inf"));
}

static void put_json_item(shd_json_writer *w, sherd_dtype type, const uint8_t *raw)
{
	uint64_t bits = 0;
	float f;
	double d;
	memcpy(&bits, raw, sherd_dtype_element_bytes(type));
	memcpy(&f, &bits, sizeof(f));
	memcpy(&d, &bits, sizeof(d));
	switch (type) {
	case SHERD_BOOL: shd_json_put_bool(w, bits); break;
	case SHERD_F32: put_json_real(w, f); break;
	case SHERD_F64: put_json_real(w, d); break;
	case SHERD_I8: shd_json_put_i64(w, (int8_t)bits); break;
	case SHERD_I16: shd_json_put_i64(w, (int16_t)bits); break;
	case SHERD_I32: shd_json_put_i64(w, (int32_t)bits); break;
	case SHERD_I64: shd_json_put_i64(w, (int64_t)bits); break;
	default: shd_json_put_u64(w, bits);
	}
}

static int take_array_head(shd_gguf_input *in, const char *key, uint32_t *type, uint64_t *count, sherd_error *err)
{
	int more = shd_gguf_expect(in, 1, 12, "array", err);
	if (more)
		return more;
	*type = shd_cursor_u32(&in->cursor);
	TRY(check_value_type(in, *type, key, err));
	*count = shd_cursor_u64(&in->cursor);
	return shd_gguf_expect(in, *count, item_bytes(*type), "items of an array", err);
}

/* Depth is bounded. The items of an array whose head was taken. */
static int take_json(shd_gguf_input *in, uint32_t type, uint64_t count, unsigned depth, const char *key,
                     shd_json_writer *w, sherd_error *err)
{
	if (depth > MOST_NESTED || depth >= in->limits.depth)
		return shd_fail_at(err, SHERD_ELIMIT, "too-deep", in->cursor.pos, "arrays in '%.80s' nest too deep",
		                   key);
	shd_json_put_array(w, true);
	for (uint64_t i = 0; i < count; i++) {
		shd_str text;
		uint32_t inner;
		uint64_t inner_count;
		int more;
		if (type == SHD_GGUF_TEXT) {
			more = shd_gguf_take_text(in, UINT64_MAX, "an item of an array", &text, err);
			if (!more)
				shd_json_put_string(w, text);
		} else if (type == SHD_GGUF_ARRAY) {
			more = take_array_head(in, key, &inner, &inner_count, err);
			if (!more)
				more = take_json(in, inner, inner_count, depth + 1, key, w, err);
		} else {
			const uint8_t *raw = shd_cursor_bytes(&in->cursor, item_bytes(type));
			more = !raw;
			if (raw)
				put_json_item(w, shd_gguf_value_type(type), raw);
		}
		if (more)
			return more;
		if (w->buf->len > in->limits.metadata_bytes)
			return shd_fail(err, SHERD_ELIMIT, "too-long", "the text of '%.80s' is too long", key);
	}
	shd_json_put_array_end(w);
	return 0;
}

static int keep_json(const shd_gguf_input *in, const shd_buf *text, sherd_value *out, sherd_error *err)
{
	TRY(shd_buf_check(text, err));
	*out = (sherd_value){
		.key = out->key,
		.text = shd_arena_str(in->arena, (shd_str){(const char *)text->data, text->len}),
	};
	return out->text ? 0 : shd_fail_nomem(err);
}

static int take_array_as_json(shd_gguf_input *in, uint32_t type, uint64_t count, const char *key, sherd_value *out,
                              sherd_error *err)
{
	SHD_AUTO_BUF text = {0};
	shd_json_writer w;
	shd_json_writer_init(&w, &text);
	int more = take_json(in, type, count, 1, key, &w, err);
	return more ? more : keep_json(in, &text, out, err);
}

static bool has_nul(shd_str text)
{
	return text.ptr && text.len && memchr(text.ptr, 0, text.len);
}

static int gguf_take_texts(shd_gguf_input *in, uint64_t count, const char *key, sherd_value *out, sherd_error *err)
{
	size_t begin = in->cursor.pos;
	const char **items = shd_arena_alloc(in->arena, (size_t)count + 1, sizeof(*items));
	if (!items)
		return shd_fail_nomem(err);
	for (uint64_t i = 0; i < count; i++) {
		shd_str text;
		int more = shd_gguf_take_text(in, UINT64_MAX, "an item of an array", &text, err);
		if (more)
			return more;
		if (has_nul(text)) {
			in->cursor.pos = begin;
			return take_array_as_json(in, SHD_GGUF_TEXT, count, key, out, err);
		}
		items[i] = shd_arena_str(in->arena, text);
		if (!items[i])
			return shd_fail_nomem(err);
	}
	out->items = items;
	return 0;
}

static int take_array(shd_gguf_input *in, const char *key, sherd_value *out, sherd_error *err)
{
	uint32_t type;
	uint64_t count;
	int more = take_array_head(in, key, &type, &count, err);
	if (more)
		return more;
	if (type == SHD_GGUF_ARRAY)
		return take_array_as_json(in, type, count, key, out, err);
	out->type = shd_gguf_value_type(type);
	out->is_array = true;
	out->count = (size_t)count;
	return type == SHD_GGUF_TEXT ? gguf_take_texts(in, count, key, out, err)
	                             : take_items(in, out->type, count, key, out, err);
}

static int take_one_text(shd_gguf_input *in, sherd_value *out, sherd_error *err)
{
	shd_str text;
	SHD_AUTO_BUF json = {0};
	int more = shd_gguf_take_text(in, UINT64_MAX, "a value", &text, err);
	if (more)
		return more;
	if (has_nul(text)) {
		shd_json_writer w;
		shd_json_writer_init(&w, &json);
		shd_json_put_string(&w, text);
		return keep_json(in, &json, out, err);
	}
	const char **item = shd_arena_alloc(in->arena, 1, sizeof(*item));
	if (item)
		*item = shd_arena_str(in->arena, text);
	out->items = item;
	return item && *item ? 0 : shd_fail_nomem(err);
}

int shd_gguf_take_value(shd_gguf_input *in, uint32_t type, const char *key, sherd_value *out, sherd_error *err)
{
	TRY(check_value_type(in, type, key, err));
	*out = (sherd_value){.key = out->key, .type = shd_gguf_value_type(type), .count = 1};
	if (type == SHD_GGUF_ARRAY)
		return take_array(in, key, out, err);
	if (type == SHD_GGUF_TEXT)
		return take_one_text(in, out, err);
	int more = shd_gguf_expect(in, 1, item_bytes(type), "value", err);
	return more ? more : take_items(in, out->type, 1, key, out, err);
}

/* ---- writing */

void shd_gguf_put_text(shd_str text, shd_buf *out)
{
	shd_buf_u64(out, text.len);
	shd_buf_append(out, text.ptr, text.len);
}

static uint32_t number_of(sherd_dtype type)
{
	uint32_t number = 0;
	while (number < SHD_GGUF_TYPES && (number == SHD_GGUF_ARRAY || shd_gguf_value_type(number) != type))
		number++;
	return number;
}

static void put_items(const sherd_value *v, shd_buf *out)
{
	if (v->type != SHERD_UTF8) {
		shd_buf_append(out, v->items, v->count * sherd_dtype_element_bytes(v->type));
		return;
	}
	for (size_t i = 0; i < v->count; i++)
		shd_gguf_put_text(shd_str_of(((const char *const *)v->items)[i]), out);
}

/* The texts of JSON, one or an array of them, if one has a NUL; 1 when it was that. */
static int put_texts_with_nul(const char *json, shd_buf *out, sherd_error *err)
{
	SHD_AUTO(shd_json, shd_json_close) j = NULL;
	SHD_AUTO_BUF texts = {0};
	uint64_t count = 0;
	bool nul = false;
	shd_str text;
	int rc = shd_json_open(&j, json, strlen(json), NULL, err);
	TRY(rc);
	bool array = shd_json_peek(j, err) == SHD_JSON_ARRAY;
	if (array)
		TRY(shd_json_array(j, err));
	while (!array || (rc = shd_json_item(j, err)) > 0) {
		int type = shd_json_peek(j, err);
		TRY(type);
		if (type != SHD_JSON_STRING)
			return 0;
		TRY(shd_json_string(j, &text, err));
		shd_gguf_put_text(text, &texts);
		nul |= has_nul(text);
		count++;
		if (!array)
			break;
	}
	TRY(rc);
	if (!nul)
		return 0;
	shd_buf_u32(out, array ? SHD_GGUF_ARRAY : SHD_GGUF_TEXT);
	if (array) {
		shd_buf_u32(out, SHD_GGUF_TEXT);
		shd_buf_u64(out, count);
	}
	shd_buf_append(out, texts.data, texts.len);
	return texts.failed ? shd_fail_nomem(err) : 1;
}

int shd_gguf_put_value(const sherd_value *value, shd_buf *out, sherd_error *err)
{
	if (value->type == SHERD_DTYPE_NONE)
		return put_texts_with_nul(value->text, out, err);
	shd_buf_u32(out, value->is_array ? SHD_GGUF_ARRAY : number_of(value->type));
	if (value->is_array) {
		shd_buf_u32(out, number_of(value->type));
		shd_buf_u64(out, value->count);
	}
	put_items(value, out);
	return 1;
}
