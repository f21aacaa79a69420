#include "base/map.h"
#include "codec/json.h"
#include "format/value.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t value_bits(sherd_dtype type, const void *item)
{
	uint64_t bits = 0;
	memcpy(&bits, item, sherd_dtype_element_bytes(type));
	return bits;
}

/* A real that JSON has no number for is a word: a text among others, and bare by itself. */
static void put_real(shd_json_writer *w, double v, bool alone)
{
	const char *word = isnan(v) ? "nan" : v < 0 ? "-inf" : "inf";
	if (isfinite(v))
		shd_json_put_double(w, v);
	else if (alone)
		shd_json_put_raw(w, shd_str_of(word));
	else
		shd_json_put_string(w, shd_str_of(word));
}

static void put_item(shd_json_writer *w, sherd_dtype type, const void *item, bool alone)
{
	uint64_t bits = type == SHERD_UTF8 ? 0 : value_bits(type, item);
	switch (type) {
	case SHERD_BOOL: shd_json_put_bool(w, bits); break;
	case SHERD_F32: put_real(w, *(const float *)item, alone); break;
	case SHERD_F64: put_real(w, *(const double *)item, alone); break;
	case SHERD_I8: shd_json_put_i64(w, (int8_t)bits); break;
	case SHERD_I16: shd_json_put_i64(w, (int16_t)bits); break;
	case SHERD_I32: shd_json_put_i64(w, (int32_t)bits); break;
	case SHERD_I64: shd_json_put_i64(w, (int64_t)bits); break;
	case SHERD_UTF8: shd_json_put_string(w, shd_str_of(*(const char *const *)item)); break;
	default: shd_json_put_u64(w, bits);
	}
}

/* What a value's text is; the bytes are those of a pair. */
static void put_text(const sherd_value *v, shd_buf *out)
{
	shd_json_writer w;
	size_t step = v->type == SHERD_UTF8 ? sizeof(const char *) : sherd_dtype_element_bytes(v->type);
	shd_json_writer_init(&w, out);
	if (v->type == SHERD_DTYPE_NONE)
		shd_buf_str(out, v->text);
	else if (!v->is_array && v->type == SHERD_UTF8)
		shd_buf_str(out, *(const char *const *)v->items);
	else if (!v->is_array)
		put_item(&w, v->type, v->items, true);
	else {
		shd_json_put_array(&w, true);
		for (size_t i = 0; i < v->count; i++)
			put_item(&w, v->type, (const uint8_t *)v->items + i * step, false);
		shd_json_put_array_end(&w);
	}
}

static int value_mistake(const sherd_value *v, const char *what, sherd_error *err)
{
	return shd_fail(err, SHERD_EINVAL, "bad-argument", "the value of '%.80s' %s", v->key ? v->key : "", what);
}

static bool is_text(const char *text)
{
	size_t bad;
	return text && shd_utf8_valid(text, strlen(text), &bad);
}

static int check_value(const sherd_value *v, sherd_error *err)
{
	bool json = v->type == SHERD_DTYPE_NONE;
	if (!is_text(v->key) || strcmp(v->key, SHERD_TYPES_KEY) == 0)
		return value_mistake(v, "has a key that is no text, or ours", err);
	int rc = json && is_text(v->text) ? shd_json_check(v->text, strlen(v->text), NULL, NULL) : SHERD_OK;
	if (rc == SHERD_ENOMEM)
		return shd_fail_nomem(err);
	if (json ? v->is_array || !is_text(v->text) || rc < 0
	         : !shd_value_is_scalar(v->type) || (v->count && !v->items) || (!v->is_array && v->count != 1))
		return value_mistake(v, "is of no type that values have, or no JSON", err);
	for (size_t i = 0; v->type == SHERD_UTF8 && i < v->count; i++)
		if (!is_text(((const char *const *)v->items)[i]))
			return value_mistake(v, "is not UTF-8", err);
	return SHERD_OK;
}

static bool has_type(const sherd_value *v)
{
	return v->is_array || v->type != SHERD_UTF8;
}

static void put_types(const sherd_value *values, size_t count, shd_buf *out)
{
	shd_json_writer w;
	shd_json_writer_init(&w, out);
	shd_json_put_object(&w, true);
	for (size_t i = 0; i < count; i++) {
		char name[16];
		const sherd_dtype_info *info = sherd_dtype_describe(values[i].type);
		if (!has_type(&values[i]))
			continue;
		(void)snprintf(name, sizeof(name), "%s%s", info ? info->name : "JSON", values[i].is_array ? "[]" : "");
		shd_json_put_key(&w, values[i].key);
		shd_json_put_string(&w, shd_str_of(name));
	}
	shd_json_put_object_end(&w);
}

static int check_values(const sherd_value *values, size_t count, sherd_error *err)
{
	__attribute__((cleanup(shd_map_done))) shd_map keys = {0};
	for (size_t i = 0; i < count; i++) {
		bool ok;
		TRY(check_value(&values[i], err));
		if (shd_map_add(&keys, shd_str_of(values[i].key), i, &ok) != SHD_MAP_NONE)
			return value_mistake(&values[i], "is there twice", err);
		if (!ok)
			return shd_fail_nomem(err);
	}
	return SHERD_OK;
}

int sherd_pairs_of_values(sherd_pair **out, size_t *count, const sherd_value *values, size_t value_count,
                          sherd_error *err)
{
	SHD_AUTO_BUF texts = {0}; /* key and value of each pair, with their NULs */
	size_t pairs = value_count;
	bool typed = false;
	TRY(check_values(values, value_count, err));
	for (size_t i = 0; i < value_count; i++) {
		shd_buf_append(&texts, values[i].key, strlen(values[i].key) + 1);
		put_text(&values[i], &texts);
		shd_buf_u8(&texts, 0);
		typed |= has_type(&values[i]);
	}
	if (typed) {
		shd_buf_append(&texts, SHERD_TYPES_KEY, sizeof(SHERD_TYPES_KEY));
		put_types(values, value_count, &texts);
		shd_buf_u8(&texts, 0);
		pairs++;
	}
	TRY(shd_buf_check(&texts, err));
	sherd_pair *all = malloc((pairs + 1) * sizeof(*all) + texts.len);
	if (!all)
		return shd_fail_nomem(err);
	char *at = memcpy(all + pairs + 1, texts.data ? texts.data : (const uint8_t *)"", texts.len);
	for (size_t i = 0; i < pairs; i++) {
		all[i].key = at;
		all[i].value = at + strlen(at) + 1;
		at += strlen(all[i].key) + strlen(all[i].value) + 2;
	}
	*out = all;
	*count = pairs;
	return SHERD_OK;
}
