#include "codec/json.h"
#include "format/tensor/gguf_value.h"

enum { MOST_KEY = 65535, LEAST_ALIGNMENT = 8, MOST_ALIGNMENT = 1 << 20 };

typedef struct gguf_out {
	shd_buf *buf;
	uint64_t keys;
	uint32_t alignment;
	SHD_VEC(const char *) json; /* keys of texts that are JSON */
} gguf_out;

static int cannot_hold_key(const char *key, const char *why, sherd_error *err)
{
	return shd_fail(err, SHERD_EUNSUPPORTED, "cannot-hold", "gguf cannot hold the key '%.80s', %s", key, why);
}

static int take_alignment(gguf_out *g, const sherd_value *v, sherd_error *err)
{
	bool number = v && v->type == SHERD_U32 && !v->is_array;
	uint32_t alignment = number ? *(const uint32_t *)v->items : 0;
	if (alignment < LEAST_ALIGNMENT || alignment > MOST_ALIGNMENT || alignment & (alignment - 1))
		return cannot_hold_key(SHD_GGUF_ALIGNMENT, "which must be a U32 and a power of two from 8 to 1048576",
		                       err);
	g->alignment = alignment;
	return SHERD_OK;
}

static bool is_left_out(const char *key)
{
	static const char *const split[] = {"no", "count", "tensors.count"};
	for (size_t i = 0; i < COUNT_OF(split); i++)
		if (shd_str_starts(shd_str_of(key), SHD_GGUF_SPLIT) && shd_str_ends(shd_str_of(key), split[i]) &&
		    strlen(key) == strlen(SHD_GGUF_SPLIT) + strlen(split[i]))
			return true;
	return strcmp(key, SHERD_TYPES_KEY) == 0;
}

/* v is its value when it has a type, else NULL. */
static int put_pair(gguf_out *g, const sherd_pair *pair, const sherd_value *v, sherd_error *err)
{
	if (is_left_out(pair->key))
		return SHERD_OK;
	if (strlen(pair->key) > MOST_KEY)
		return cannot_hold_key(pair->key, "which is longer than 65535 bytes", err);
	if (strcmp(pair->key, SHD_GGUF_ALIGNMENT) == 0)
		TRY(take_alignment(g, v, err));
	shd_gguf_put_text(shd_str_of(pair->key), g->buf);
	g->keys++;
	int done = v ? shd_gguf_put_value(v, g->buf, err) : 0;
	TRY(done);
	if (done)
		return SHERD_OK;
	shd_buf_u32(g->buf, SHD_GGUF_TEXT);
	shd_gguf_put_text(shd_str_of(pair->value), g->buf);
	if (v)
		shd_vec_push(&g->json, pair->key);
	return SHERD_OK;
}

/* Which texts are JSON, as other formats tell it. */
static int put_json_keys(gguf_out *g, sherd_error *err)
{
	SHD_AUTO_BUF text = {0};
	shd_json_writer w;
	TRY(shd_vec_check(&g->json, err));
	if (!g->json.count)
		return SHERD_OK;
	shd_json_writer_init(&w, &text);
	shd_json_put_object(&w, true);
	for (size_t i = 0; i < g->json.count; i++) {
		shd_json_put_key(&w, g->json.items[i]);
		shd_json_put_string(&w, SHD_STR("JSON"));
	}
	shd_json_put_object_end(&w);
	TRY(shd_buf_check(&text, err));
	shd_gguf_put_text(shd_str_of(SHERD_TYPES_KEY), g->buf);
	shd_buf_u32(g->buf, SHD_GGUF_TEXT);
	shd_gguf_put_text((shd_str){(const char *)text.data, text.len}, g->buf);
	g->keys++;
	return SHERD_OK;
}

static int put_pairs(gguf_out *g, const sherd_pair *pairs, size_t pair_count, const sherd_value *values,
                     size_t value_count, sherd_error *err)
{
	size_t next = 0;
	for (size_t i = 0; i < pair_count; i++) {
		bool typed = next < value_count && strcmp(values[next].key, pairs[i].key) == 0;
		TRY(put_pair(g, &pairs[i], typed ? &values[next] : NULL, err));
		next += typed;
	}
	return put_json_keys(g, err);
}

static int gguf_put_tensor(const gguf_out *g, const sherd_tensor *t, uint64_t *offset, sherd_error *err)
{
	uint32_t number;
	if (t->ndim > SHD_GGUF_DIMS || strlen(t->name) > SHD_GGUF_NAME || !shd_gguf_number(&number, t->dtype))
		return shd_fail(err, SHERD_EUNSUPPORTED, "cannot-hold", "gguf cannot hold %.128s", t->name);
	shd_gguf_put_text(shd_str_of(t->name), g->buf);
	shd_buf_u32(g->buf, t->ndim);
	for (uint32_t i = t->ndim; i-- > 0;) {
		if (t->shape[i] > INT64_MAX)
			return shd_fail(err, SHERD_EUNSUPPORTED, "cannot-hold", "gguf cannot hold the shape of %.128s",
			                t->name);
		shd_buf_u64(g->buf, t->shape[i]);
	}
	shd_buf_u32(g->buf, number);
	shd_buf_u64(g->buf, *offset);
	uint64_t padding = (g->alignment - t->bytes % g->alignment) % g->alignment;
	if (__builtin_add_overflow(*offset, t->bytes, offset) || __builtin_add_overflow(*offset, padding, offset))
		return shd_fail(err, SHERD_EUNSUPPORTED, "cannot-hold", "gguf cannot hold that many bytes");
	return SHERD_OK;
}

static int gguf_put_head(gguf_out *g, const sherd_tensor *tensors, size_t count, const sherd_pair *pairs,
                         size_t pair_count, const sherd_value *values, size_t value_count, sherd_error *err)
{
	uint64_t offset = 0;
	size_t begin = g->buf->len;
	shd_buf_str(g->buf, SHD_GGUF_MAGIC);
	shd_buf_u32(g->buf, 3);
	shd_buf_u64(g->buf, count);
	shd_buf_u64(g->buf, 0);
	TRY(put_pairs(g, pairs, pair_count, values, value_count, err));
	for (size_t i = 0; i < count; i++)
		TRY(gguf_put_tensor(g, &tensors[i], &offset, err));
	shd_buf_zero(g->buf, (size_t)((g->alignment - (g->buf->len - begin) % g->alignment) % g->alignment));
	TRY(shd_buf_check(g->buf, err));
	shd_put_u64(g->buf->data + begin + 16, g->keys);
	return SHERD_OK;
}

int shd_gguf_encode(const sherd_tensor *tensors, size_t count, const sherd_pair *pairs, size_t pair_count,
                    const sherd_value *values, size_t value_count, shd_buf *out, uint32_t *alignment, sherd_error *err)
{
	gguf_out g = {.buf = out, .alignment = SHD_GGUF_DEFAULT_ALIGNMENT};
	int rc = gguf_put_head(&g, tensors, count, pairs, pair_count, values, value_count, err);
	shd_vec_done(&g.json);
	*alignment = g.alignment;
	return rc;
}
