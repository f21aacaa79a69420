/* fuzz/form_gguf.c - GGUF: keys and tensors one by one, counted anew, the data aligned anew. */
#include "form.h"

enum { VERSION, KEY, TENSOR, DATA };

static bool skip_text(shd_cursor *c)
{
	return shd_cursor_bytes(c, shd_cursor_u64(c)) != NULL;
}

static bool skip_value(shd_cursor *c, uint32_t type, int depth)
{
	static const uint8_t bytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
	if (type >= sizeof(bytes) || depth > 8)
		return false;
	if (type == 8)
		return skip_text(c);
	if (type != 9)
		return shd_cursor_bytes(c, bytes[type]) != NULL;
	uint32_t inner = shd_cursor_u32(c);
	uint64_t count = shd_cursor_u64(c);
	for (uint64_t i = 0; i < count; i++)
		if (c->failed || !skip_value(c, inner, depth + 1))
			return false;
	return !c->failed;
}

static bool skip_tensor(shd_cursor *c)
{
	if (!skip_text(c))
		return false;
	uint64_t dims = shd_cursor_u32(c);
	return shd_cursor_bytes(c, dims * 8 + 12) != NULL;
}

static bool split_gguf(const uint8_t *data, size_t len, form_pieces *out)
{
	shd_cursor c = shd_cursor_over(data, len);
	const uint8_t *magic = shd_cursor_bytes(&c, 4), *version = shd_cursor_bytes(&c, 4);
	uint64_t tensors = shd_cursor_u64(&c), keys = shd_cursor_u64(&c);
	if (c.failed || memcmp(magic, "GGUF", 4) != 0 || tensors > 200 || keys > 200 ||
	    !form_add(out, FORM_FIXED, VERSION, version, 4))
		return false;
	for (uint64_t i = 0; i < keys + tensors; i++) {
		size_t begin = c.pos;
		bool key = i < keys;
		if (key ? !skip_text(&c) || !skip_value(&c, shd_cursor_u32(&c), 0) : !skip_tensor(&c))
			return false;
		if (!form_add(out, FORM_BYTES, key ? KEY : TENSOR, data + begin, c.pos - begin))
			return false;
	}
	size_t at = (c.pos + 31) / 32 * 32;
	return form_add(out, FORM_BYTES, DATA, at < len ? data + at : NULL, at < len ? len - at : 0);
}

static uint64_t put_all(const form_pieces *p, uint32_t tag, shd_buf *out)
{
	uint64_t count = 0;
	for (size_t i = form_find(p, tag, 0); i < p->count; i = form_find(p, tag, i + 1), count++)
		shd_buf_append(out, p->list[i].bytes.data, p->list[i].bytes.len);
	return count;
}

static void join_gguf(const form_pieces *p, shd_buf *out)
{
	SHD_AUTO_BUF keys = {0}, tensors = {0};
	uint64_t key_count = put_all(p, KEY, &keys), tensor_count = put_all(p, TENSOR, &tensors);
	size_t version = form_find(p, VERSION, 0);
	shd_buf_str(out, "GGUF");
	if (version < p->count)
		shd_buf_append(out, p->list[version].bytes.data, p->list[version].bytes.len);
	shd_buf_u64(out, tensor_count);
	shd_buf_u64(out, key_count);
	shd_buf_append(out, keys.data, keys.len);
	shd_buf_append(out, tensors.data, tensors.len);
	size_t data = form_find(p, DATA, 0);
	if (data < p->count && p->list[data].bytes.len)
		shd_buf_zero(out, (32 - out->len % 32) % 32);
	(void)put_all(p, DATA, out);
}

const fuzz_form form_gguf = {split_gguf, join_gguf};
