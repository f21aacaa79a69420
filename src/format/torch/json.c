/* format/torch/json.c - values of a pickle as JSON, and as metadata with types. */
#include "codec/json.h"
#include "format/torch/walker.h"

#include <math.h>
#include <stdio.h>

enum { MOST_LEVELS = 56, MOST_HEX = 64 };

static int json_put_value(shd_torch_walker *w, shd_json_writer *j, shd_pickle_value v, uint32_t level,
                          sherd_error *err);

static int put_list(shd_torch_walker *w, shd_json_writer *j, const shd_pickle_list *list, uint32_t level,
                    sherd_error *err)
{
	shd_pickle_value v = {0};
	shd_json_put_array(j, true);
	for (shd_pickle_cursor c = shd_pickle_walk(list); shd_pickle_next(&c, &v);)
		TRY(json_put_value(w, j, v, level, err));
	shd_json_put_array_end(j);
	return SHERD_OK;
}

/* Are all keys texts, and no two alike? Others are written as a list of pairs. */
static int json_is_object(const shd_pickle_list *list, bool *out, sherd_error *err)
{
	SHD_DONE(shd_map_done) shd_map seen = {0};
	shd_pickle_value k = {0}, v = {0};
	bool ok = true;
	*out = true;
	shd_pickle_cursor c = shd_pickle_walk(list);
	while (*out && ok && shd_pickle_next(&c, &k) && shd_pickle_next(&c, &v))
		*out = k.kind == SHD_PICKLE_TEXT && shd_map_add(&seen, shd_pickle_text(k), 0, &ok) == SHD_MAP_NONE;
	return ok ? SHERD_OK : shd_fail_nomem(err);
}

static int json_put_pairs(shd_torch_walker *w, shd_json_writer *j, const shd_pickle_list *list, uint32_t level,
                          sherd_error *err)
{
	shd_pickle_value k = {0}, v = {0};
	bool object;
	TRY(json_is_object(list, &object, err));
	shd_json_put_object(j, true);
	if (!object)
		shd_json_put_key_array(j, "$dict", true);
	shd_pickle_cursor c = shd_pickle_walk(list);
	while (shd_pickle_next(&c, &k) && shd_pickle_next(&c, &v)) {
		if (object) {
			TRY(shd_torch_spend(w, k.len + 4u, err));
			shd_json_put_key_str(j, shd_pickle_text(k));
			TRY(json_put_value(w, j, v, level, err));
		} else {
			shd_json_put_array(j, true);
			TRY(json_put_value(w, j, k, level + 2, err));
			TRY(json_put_value(w, j, v, level + 2, err));
			shd_json_put_array_end(j);
		}
	}
	if (!object)
		shd_json_put_array_end(j);
	shd_json_put_object_end(j);
	return SHERD_OK;
}

static void json_put_bytes(shd_json_writer *j, shd_pickle_value v)
{
	char hex[2 * MOST_HEX + 1] = "";
	shd_json_put_object(j, true);
	for (uint32_t i = 0; i < v.len && i < MOST_HEX; i++)
		(void)snprintf(hex + (size_t)2 * i, 3, "%02x", (uint8_t)v.text[i]);
	shd_json_put_key_text(j, v.len > MOST_HEX ? "$bytes_begin" : "$bytes", hex);
	if (v.len > MOST_HEX)
		shd_json_put_key_u64(j, "$length", v.len);
	shd_json_put_object_end(j);
}

enum { MOST_DECIMAL = 64 }; /* bytes of a number that is written in decimal */

/* Takes digits from the end of a number, little-endian and not negative, until nothing is left of it. */
static void put_decimal(shd_buf *out, uint8_t *number, size_t len, bool negative)
{
	char digits[MOST_DECIMAL * 3];
	size_t n = 0;
	while (len && n < sizeof(digits)) {
		unsigned rest = 0;
		for (size_t i = len; i-- > 0; rest %= 10) {
			rest = rest << 8 | number[i];
			number[i] = (uint8_t)(rest / 10);
		}
		digits[n++] = (char)('0' + rest);
		while (len && !number[len - 1])
			len--;
	}
	if (negative)
		shd_buf_u8(out, '-');
	while (n)
		shd_buf_u8(out, (uint8_t)digits[--n]);
}

/* A text, since it fits no number of JSON's readers. */
static int json_put_long(shd_torch_walker *w, shd_json_writer *j, shd_pickle_value v, sherd_error *err)
{
	SHD_AUTO_BUF text = {0};
	uint8_t number[MOST_DECIMAL];
	bool negative = (uint8_t)v.text[v.len - 1] & 0x80;
	unsigned carry = negative;
	TRY(shd_torch_spend(w, (uint64_t)v.len * 3, err));
	if (v.len <= MOST_DECIMAL) {
		for (uint32_t i = 0; i < v.len; i++, carry >>= 8) {
			carry += negative ? (uint8_t)~v.text[i] : (uint8_t)v.text[i];
			number[i] = (uint8_t)carry;
		}
		put_decimal(&text, number, v.len, negative);
	} else {
		shd_buf_str(&text, "0x");
		for (uint32_t i = v.len; i-- > 0;)
			shd_buf_printf(&text, "%02x", (uint8_t)v.text[i]);
	}
	TRY(shd_buf_check(&text, err));
	shd_json_put_string(j, (shd_str){(const char *)text.data, text.len});
	return SHERD_OK;
}

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* torch.device('cuda', 0) and pathlib.PosixPath('a', 'b') are texts. */
static int put_joined(shd_torch_walker *w, shd_json_writer *j, shd_pickle_value args, char between, sherd_error *err)
{
	SHD_AUTO_BUF text = {0};
	const shd_pickle_value *items;
	size_t n = shd_pickle_tuple(args, &items);
	for (size_t i = 0; i < n; i++) {
		if (i && !(text.len == 1 && text.data[0] == '/'))
			shd_buf_u8(&text, (uint8_t)between);
		if (items[i].kind == SHD_PICKLE_TEXT)
			shd_buf_append(&text, items[i].text, items[i].len);
		else if (items[i].kind == SHD_PICKLE_INT)
			shd_buf_printf(&text, "%lld", (long long)items[i].integer);
		TRY(shd_torch_spend(w, items[i].kind == SHD_PICKLE_TEXT ? items[i].len : 8, err));
	}
	TRY(shd_buf_check(&text, err));
	shd_json_put_string(j, (shd_str){(const char *)text.data, text.len});
	return SHERD_OK;
}

/* Calls that make a value which JSON has; 0 for any other. */
static int put_known(shd_torch_walker *w, shd_json_writer *j, shd_pickle_value v, uint32_t level, sherd_error *err)
{
	static const char *const dicts[] = {"collections.OrderedDict", "builtins.dict", "__builtin__.dict",
	                                    "collections.defaultdict", "collections.Counter"};
	static const char *const lists[] = {"torch.Size",         "builtins.set",          "__builtin__.set",
	                                    "builtins.frozenset", "__builtin__.frozenset", "builtins.list",
	                                    "builtins.tuple"};
	static const char *const paths[] = {"pathlib.PosixPath", "pathlib._local.PosixPath", "pathlib.PurePosixPath",
	                                    "pathlib._local.PurePosixPath"};
	const shd_pickle_call *call = shd_pickle_call_of(v);
	const shd_pickle_value *args;
	const char *name = shd_torch_name_of(w, v);
	size_t n = shd_pickle_tuple(call->args, &args);
	if (is_one_of(name, dicts, COUNT_OF(dicts)) && (!n || strstr(name, "defaultdict"))) {
		TRY(json_put_pairs(w, j, &call->pairs, level, err));
	} else if (n == 1 && is_one_of(name, lists, COUNT_OF(lists)) &&
	           (args[0].kind == SHD_PICKLE_TUPLE || args[0].kind == SHD_PICKLE_LIST)) {
		TRY(put_list(w, j, &args[0].node->items, level, err));
	} else if (n && strcmp(name, "torch.device") == 0) {
		TRY(put_joined(w, j, call->args, ':', err));
	} else if (n && is_one_of(name, paths, COUNT_OF(paths))) {
		TRY(put_joined(w, j, call->args, '/', err));
	} else if (n == 1 && strcmp(name, "torch.serialization._get_layout") == 0 && args[0].kind == SHD_PICKLE_TEXT) {
		TRY(json_put_value(w, j, args[0], level, err));
	} else {
		return 0;
	}
	return 1;
}

/* Anything else is named: what would be called, with what, and what would be done with the result. */
static int put_call(shd_torch_walker *w, shd_json_writer *j, shd_pickle_value v, uint32_t level, sherd_error *err)
{
	const shd_pickle_call *call = shd_pickle_call_of(v);
	const char *name = shd_torch_name_of(w, v);
	TRY(shd_torch_spend(w, strlen(name) + 16, err));
	shd_json_put_object(j, true);
	shd_json_put_key(j, v.kind == SHD_PICKLE_CALL ? "$call" : v.kind == SHD_PICKLE_OBJECT ? "$object" : "$persid");
	if (*name || v.kind == SHD_PICKLE_PERSID)
		shd_json_put_string(j, shd_str_of(name));
	else
		TRY(json_put_value(w, j, call->callee, level, err));
	if (v.kind == SHD_PICKLE_PERSID || call->args.node->items.count) {
		shd_json_put_key(j, "args");
		TRY(json_put_value(w, j, call->args, level, err));
	}
	if (call->node.items.count) {
		shd_json_put_key(j, "items");
		TRY(put_list(w, j, &call->node.items, level, err));
	}
	if (call->pairs.count) {
		shd_json_put_key(j, "pairs");
		TRY(json_put_pairs(w, j, &call->pairs, level, err));
	}
	if (call->state.kind != SHD_PICKLE_NONE) {
		shd_json_put_key(j, "state");
		TRY(json_put_value(w, j, call->state, level, err));
	}
	shd_json_put_object_end(j);
	return SHERD_OK;
}

static int put_global(shd_torch_walker *w, shd_json_writer *j, shd_pickle_value v, sherd_error *err)
{
	shd_str name = shd_str_of(shd_torch_name_of(w, v));
	TRY(shd_torch_spend(w, name.len, err));
	if (shd_str_starts(name, "torch.") && shd_torch_dtype_by_name((shd_str){name.ptr + 6, name.len - 6})) {
		shd_json_put_string(j, name);
		return SHERD_OK;
	}
	shd_json_put_object(j, true);
	shd_json_put_key_text(j, "$global", name.ptr);
	shd_json_put_object_end(j);
	return SHERD_OK;
}

static int put_scalar(shd_torch_walker *w, shd_json_writer *j, shd_pickle_value v, sherd_error *err)
{
	switch (v.kind) {
	case SHD_PICKLE_NONE: shd_json_put_null(j); break;
	case SHD_PICKLE_BOOL: shd_json_put_bool(j, v.integer); break;
	case SHD_PICKLE_INT: shd_json_put_i64(j, v.integer); break;
	case SHD_PICKLE_LONG: return json_put_long(w, j, v, err);
	case SHD_PICKLE_FLOAT:
		if (isfinite(v.real))
			shd_json_put_double(j, v.real);
		else
			shd_json_put_string(j, shd_str_of(isnan(v.real) ? "nan" : v.real < 0 ? "-inf" : "inf"));
		break;
	case SHD_PICKLE_TEXT:
		TRY(shd_torch_spend(w, v.len, err));
		shd_json_put_string(j, shd_pickle_text(v));
		break;
	case SHD_PICKLE_BYTES: json_put_bytes(j, v); break;
	default: return put_global(w, j, v, err);
	}
	return SHERD_OK;
}

static int json_put_value(shd_torch_walker *w, shd_json_writer *j, shd_pickle_value v, uint32_t level, sherd_error *err)
{
	TRY(shd_torch_spend(w, 8, err));
	if (!shd_pickle_has_node(v))
		return put_scalar(w, j, v, err);
	if (level > MOST_LEVELS) { /* also where a value contains itself */
		shd_json_put_string(j, SHD_STR("..."));
		return SHERD_OK;
	}
	if (v.kind == SHD_PICKLE_DICT)
		return json_put_pairs(w, j, &v.node->items, level + 1, err);
	if (v.kind < SHD_PICKLE_CALL)
		return put_list(w, j, &v.node->items, level + 1, err);
	int known = v.kind == SHD_PICKLE_PERSID ? 0 : put_known(w, j, v, level + 1, err);
	return known ? (known < 0 ? known : SHERD_OK) : put_call(w, j, v, level + 1, err);
}

int shd_torch_put_json(shd_torch_walker *w, shd_pickle_value v, shd_buf *out, sherd_error *err)
{
	shd_json_writer j;
	shd_json_writer_init(&j, out);
	TRY(json_put_value(w, &j, v, 0, err));
	return shd_buf_check(out, err);
}

/* ---- with types */

static bool json_has_nul(shd_pickle_value v)
{
	return memchr(v.text, 0, v.len) != NULL;
}

/* The type of a plain value; NONE for others. */
static sherd_dtype scalar_type(shd_pickle_value v)
{
	switch (v.kind) {
	case SHD_PICKLE_BOOL: return SHERD_BOOL;
	case SHD_PICKLE_INT: return SHERD_I64;
	case SHD_PICKLE_LONG: return v.len == 9 && !v.text[8] ? SHERD_U64 : SHERD_DTYPE_NONE;
	case SHD_PICKLE_FLOAT: return SHERD_F64;
	case SHD_PICKLE_TEXT: return json_has_nul(v) ? SHERD_DTYPE_NONE : SHERD_UTF8;
	default: return SHERD_DTYPE_NONE;
	}
}

static size_t value_item_bytes(sherd_dtype type)
{
	return type == SHERD_UTF8 ? sizeof(const char *) : sherd_dtype_element_bytes(type);
}

static int store_item(shd_torch_walker *w, shd_pickle_value v, sherd_dtype type, void *to, sherd_error *err)
{
	if (type == SHERD_BOOL) {
		*(bool *)to = v.integer;
	} else if (type == SHERD_U64) {
		memcpy(to, v.text, sizeof(uint64_t));
	} else if (type == SHERD_UTF8) {
		TRY(shd_torch_spend(w, v.len + 16u, err));
		const char *text = shd_arena_str(w->arena, shd_pickle_text(v));
		if (!text)
			return shd_fail_nomem(err);
		*(const char **)to = text;
	} else {
		memcpy(to, &v.integer, sizeof(v.integer)); /* the real, too */
	}
	return shd_torch_spend(w, 8, err);
}

/* The type that all items of a list have; NONE when there is no such type. */
static sherd_dtype list_type(shd_pickle_value v)
{
	sherd_dtype type = SHERD_DTYPE_NONE;
	shd_pickle_value item = {0};
	if (v.kind != SHD_PICKLE_LIST && v.kind != SHD_PICKLE_TUPLE)
		return type;
	for (shd_pickle_cursor c = shd_pickle_walk(&v.node->items); shd_pickle_next(&c, &item);) {
		sherd_dtype here = scalar_type(item);
		if (!here || (type && here != type))
			return SHERD_DTYPE_NONE;
		type = here;
	}
	return type;
}

int shd_torch_value_of(shd_torch_walker *w, shd_pickle_value v, sherd_value *out, sherd_error *err)
{
	sherd_dtype type = scalar_type(v), items = type ? SHERD_DTYPE_NONE : list_type(v);
	*out = (sherd_value){.type = type ? type : items, .is_array = items, .count = 1};
	if (type || items) {
		out->count = items ? v.node->items.count : 1;
		char *all = shd_arena_alloc(w->arena, out->count, value_item_bytes(out->type));
		shd_pickle_value item = {0};
		if (!all)
			return shd_fail_nomem(err);
		out->items = all;
		if (type)
			return store_item(w, v, type, all, err);
		for (shd_pickle_cursor c = shd_pickle_walk(&v.node->items); shd_pickle_next(&c, &item);
		     all += value_item_bytes(items))
			TRY(store_item(w, item, items, all, err));
		return SHERD_OK;
	}
	SHD_AUTO_BUF json = {0};
	TRY(shd_torch_put_json(w, v, &json, err));
	shd_str text = {(const char *)json.data, json.len};
	if (text.len > 1 && text.ptr[0] == '"' && !memchr(text.ptr, '\\', text.len)) { /* a device, a type: a text */
		const char **one = shd_arena_alloc(w->arena, 1, sizeof(*one));
		if (!one)
			return shd_fail_nomem(err);
		*one = shd_arena_str(w->arena, (shd_str){text.ptr + 1, text.len - 2});
		out->type = SHERD_UTF8;
		out->items = one;
		return *one ? SHERD_OK : shd_fail_nomem(err);
	}
	out->count = 0;
	out->text = shd_arena_str(w->arena, text);
	return out->text ? SHERD_OK : shd_fail_nomem(err);
}
