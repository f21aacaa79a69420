#include "format/value.h"

#include "base/map.h"
#include "base/vec.h"
#include "codec/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define JSON_TYPE "JSON"
#define ARRAY_MARK "[]"

static bool is_real(sherd_dtype type)
{
	return type == SHERD_F32 || type == SHERD_F64;
}

bool shd_value_is_scalar(sherd_dtype type)
{
	return (type >= SHERD_BOOL && type <= SHERD_I64) || is_real(type) || type == SHERD_UTF8;
}

static bool is_signed(sherd_dtype type)
{
	return type == SHERD_I8 || type == SHERD_I16 || type == SHERD_I32 || type == SHERD_I64;
}

static size_t item_bytes(sherd_dtype type)
{
	return type == SHERD_UTF8 ? sizeof(const char *) : sherd_dtype_element_bytes(type);
}

/* ---- reading */

static bool parse_type(shd_str name, sherd_value *v)
{
	v->is_array = name.len > strlen(ARRAY_MARK) && shd_str_ends(name, ARRAY_MARK);
	if (v->is_array)
		name.len -= strlen(ARRAY_MARK);
	v->type = sherd_dtype_by_name(name.ptr, name.len);
	return shd_str_is(name, JSON_TYPE) ? !v->is_array
	                                   : shd_value_is_scalar(v->type) && (v->is_array || v->type != SHERD_UTF8);
}

/* What JSON has no numbers for. */
static bool parse_odd_real(shd_str text, double *out)
{
	static const struct {
		const char *text;
		double value;
	} odd[] = {{"nan", NAN}, {"inf", INFINITY}, {"-inf", -INFINITY}};
	for (size_t i = 0; i < COUNT_OF(odd); i++)
		if (shd_str_is(text, odd[i].text)) {
			*out = odd[i].value;
			return true;
		}
	return false;
}

static int not_of_type(sherd_error *err)
{
	return shd_fail(err, SHERD_ECORRUPT, "bad-type", "a value is not of its type");
}

static int take_real(shd_json *j, double *out, sherd_error *err)
{
	shd_str text;
	int type = shd_json_peek(j, err);
	TRY(type);
	if (type != SHD_JSON_STRING)
		return shd_json_double(j, out, err);
	TRY(shd_json_string(j, &text, err));
	return parse_odd_real(text, out) ? SHERD_OK : not_of_type(err);
}

static int take_integer(shd_json *j, sherd_dtype type, uint8_t *out, sherd_error *err)
{
	size_t bytes = item_bytes(type);
	uint64_t bits;
	if (is_signed(type)) {
		int64_t v;
		TRY(shd_json_i64(j, &v, err));
		if (v != (int64_t)((uint64_t)v << (64 - 8 * bytes)) >> (64 - 8 * bytes))
			return not_of_type(err);
		bits = (uint64_t)v;
	} else {
		TRY(shd_json_u64(j, &bits, err));
		if (bytes < 8 && bits >> 8 * bytes)
			return not_of_type(err);
	}
	memcpy(out, &bits, bytes);
	return SHERD_OK;
}

static int take_text(shd_json *j, shd_arena *arena, uint8_t *out, sherd_error *err)
{
	shd_str text;
	TRY(shd_json_string(j, &text, err));
	if (text.len && memchr(text.ptr, 0, text.len))
		return not_of_type(err);
	const char *copy = shd_arena_str(arena, text);
	memcpy(out, &copy, sizeof(copy));
	return copy ? SHERD_OK : shd_fail_nomem(err);
}

static int take_item(shd_json *j, sherd_dtype type, shd_arena *arena, uint8_t *out, sherd_error *err)
{
	if (type == SHERD_UTF8)
		return take_text(j, arena, out, err);
	if (type == SHERD_BOOL)
		return shd_json_bool(j, (bool *)out, err);
	if (!is_real(type))
		return take_integer(j, type, out, err);
	double v;
	TRY(take_real(j, &v, err));
	if (type == SHERD_F32 && isfinite(v) && !isfinite((float)v))
		return not_of_type(err);
	if (type == SHERD_F64)
		memcpy(out, &v, sizeof(v));
	else
		memcpy(out, &(float){(float)v}, sizeof(float));
	return SHERD_OK;
}

static int take_items(shd_json *j, sherd_value *v, shd_arena *arena, shd_buf *items, sherd_error *err)
{
	uint8_t item[8];
	int rc;
	if (!v->is_array) {
		TRY(take_item(j, v->type, arena, item, err));
		shd_buf_append(items, item, item_bytes(v->type));
		v->count = 1;
		return shd_json_end(j, err);
	}
	TRY(shd_json_array(j, err));
	for (v->count = 0; (rc = shd_json_item(j, err)) > 0; v->count++) {
		TRY(take_item(j, v->type, arena, item, err));
		shd_buf_append(items, item, item_bytes(v->type));
	}
	TRY(rc);
	return shd_json_end(j, err);
}

static int parse_value(sherd_value *v, shd_arena *arena, sherd_error *err)
{
	SHD_AUTO(shd_json, shd_json_close) json = NULL;
	SHD_AUTO_BUF items = {0};
	shd_str text = shd_str_of(v->text);
	double odd;
	if (v->type == SHERD_DTYPE_NONE)
		return shd_json_check(text.ptr, text.len, NULL, err);
	if (!v->is_array && is_real(v->type) && parse_odd_real(text, &odd)) {
		float narrow = (float)odd;
		v->count = 1;
		shd_buf_append(&items, v->type == SHERD_F64 ? (void *)&odd : (void *)&narrow, item_bytes(v->type));
	} else {
		TRY(shd_json_open(&json, text.ptr, text.len, NULL, err));
		TRY(take_items(json, v, arena, &items, err));
	}
	TRY(shd_buf_check(&items, err));
	v->items = shd_arena_copy(arena, items.data, items.len);
	return v->items ? SHERD_OK : shd_fail_nomem(err);
}

/* By pair, their types; NULL for those that have none. */
static int take_types(const char *text, const shd_map *keys, shd_arena *arena, const char **types, sherd_error *err)
{
	SHD_AUTO(shd_json, shd_json_close) json = NULL;
	shd_str key, type;
	int rc;
	TRY(shd_json_open(&json, text, strlen(text), NULL, err));
	TRY(shd_json_object(json, err));
	while ((rc = shd_json_key(json, &key, err)) > 0) {
		size_t at = shd_map_find(keys, key);
		TRY(shd_json_string(json, &type, err));
		if (at != SHD_MAP_NONE && !(types[at] = shd_arena_str(arena, type)))
			return shd_fail_nomem(err);
	}
	TRY(rc);
	return shd_json_end(json, err);
}

typedef SHD_VEC(sherd_value) value_vec;

static int take_values(const sherd_pair *pairs, size_t count, size_t types_at, shd_arena *arena, value_vec *out,
                       sherd_error *err)
{
	__attribute__((cleanup(shd_map_done))) shd_map keys = {0};
	const char **types = shd_arena_alloc(arena, count, sizeof(*types));
	bool ok = types != NULL;
	for (size_t i = 0; ok && i < count; i++) {
		types[i] = NULL;
		(void)shd_map_add(&keys, shd_str_of(pairs[i].key), i, &ok);
	}
	if (!ok)
		return shd_fail_nomem(err);
	int rc = take_types(pairs[types_at].value, &keys, arena, types, err);
	if (rc < 0)
		return rc == SHERD_ENOMEM ? rc : SHERD_OK;
	for (size_t i = 0; i < count; i++) {
		sherd_value v = {.key = pairs[i].key, .text = pairs[i].value};
		if (!types[i] || !parse_type(shd_str_of(types[i]), &v))
			continue;
		rc = parse_value(&v, arena, err);
		if (rc == SHERD_ENOMEM)
			return rc;
		if (rc == SHERD_OK)
			shd_vec_push(out, v);
	}
	return shd_vec_check(out, err);
}

int shd_values_of_pairs(const sherd_pair *pairs, size_t pair_count, shd_arena *arena, const sherd_value **out,
                        size_t *count, sherd_error *err)
{
	SHD_AUTO_VEC value_vec values = {0};
	sherd_error none;
	size_t at = 0;
	while (at < pair_count && strcmp(pairs[at].key, SHERD_TYPES_KEY) != 0)
		at++;
	if (at < pair_count && take_values(pairs, pair_count, at, arena, &values, &none) < 0)
		return shd_fail_nomem(err);
	const sherd_value *kept = shd_vec_copy(&values, arena);
	if (!kept)
		return shd_fail_nomem(err);
	*out = kept;
	*count = values.count;
	return SHERD_OK;
}

const char *shd_value_type_of_json(shd_str json)
{
	bool minus = json.len && json.ptr[0] == '-', plain = json.len > minus;
	if (json.len && json.ptr[0] == '"')
		return NULL;
	if (shd_str_is(json, "true") || shd_str_is(json, "false"))
		return "BOOL";
	for (size_t i = minus; i < json.len; i++)
		plain = plain && json.ptr[i] >= '0' && json.ptr[i] <= '9';
	if (plain) /* 2^63 has 19 digits, 2^64 has 20 */
		return json.len - minus < 19 ? (minus ? "I64" : "U64") : JSON_TYPE;
	return json.len && (minus || (json.ptr[0] >= '0' && json.ptr[0] <= '9')) ? "F64" : JSON_TYPE;
}
