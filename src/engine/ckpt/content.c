#include "engine/ckpt/content.h"

#include "base/dtype.h"

#include <string.h>

static void add_number(shd_sha256 *h, uint64_t v)
{
	uint8_t raw[8];
	for (size_t i = 0; i < sizeof(raw); i++)
		raw[i] = (uint8_t)(v >> (8 * i));
	shd_sha256_add(h, raw, sizeof(raw));
}

/* The length goes first, so that texts cannot run into each other. */
static void add_text(shd_sha256 *h, shd_str text)
{
	add_number(h, text.len);
	if (text.len)
		shd_sha256_add(h, text.ptr, text.len);
}

static void add_dims(shd_sha256 *h, const uint64_t *dims, uint32_t count)
{
	add_number(h, dims ? count : UINT64_MAX);
	for (uint32_t i = 0; dims && i < count; i++)
		add_number(h, dims[i]);
}

void shd_ckpt_content(const shd_ckpt_entry *entries, size_t count, uint8_t out[SHD_SHA256_BYTES])
{
	shd_sha256 h;
	shd_sha256_init(&h);
	add_number(&h, count);
	for (size_t i = 0; i < count; i++) {
		const shd_ckpt_entry *e = &entries[i];
		add_text(&h, shd_str_of(e->tensor.name));
		add_number(&h, (uint64_t)e->tensor.dtype);
		add_dims(&h, e->tensor.ndim ? e->tensor.shape : NULL, e->tensor.ndim);
		add_dims(&h, e->tensor.ndim ? e->global_shape : NULL, e->tensor.ndim);
		add_dims(&h, e->tensor.ndim ? e->global_offset : NULL, e->tensor.ndim);
		add_text(&h, shd_str_of(e->extra ? e->extra : ""));
		add_number(&h, e->tensor.bytes);
		if (e->tensor.dtype == SHERD_OPAQUE)
			add_text(&h, shd_str_of(e->tensor.type_name));
		for (uint64_t b = 0; e->crcs && b < shd_ckpt_blocks(e->tensor.bytes); b++)
			add_number(&h, e->crcs[b]);
	}
	shd_sha256_finish(&h, out);
}

int shd_ckpt_piece_key(const shd_ckpt_entry *e, shd_arena *arena, shd_str *out, sherd_error *err)
{
	const sherd_tensor *t = &e->tensor;
	size_t name = strlen(t->name) + 1, dims = t->ndim * sizeof(uint64_t), len = name + 2 * dims;
	char *key = shd_arena_alloc(arena, len, 1);
	if (!key)
		return shd_fail_nomem(err);
	memcpy(key, t->name, name);
	memset(key + name, 0, dims);
	if (e->global_offset && dims)
		memcpy(key + name, e->global_offset, dims);
	if (dims)
		memcpy(key + name + dims, t->shape, dims);
	*out = (shd_str){key, len};
	return SHERD_OK;
}

bool shd_ckpt_same_checksums(const shd_ckpt_entry *a, const shd_ckpt_entry *b, uint64_t *where)
{
	*where = 0;
	if (!shd_tensor_same_type(&a->tensor, &b->tensor) || a->tensor.bytes != b->tensor.bytes)
		return false;
	for (uint64_t i = 0; i < shd_ckpt_blocks(a->tensor.bytes); i++) {
		*where = i * SHD_CKPT_BLOCK;
		if (a->crcs[i] != b->crcs[i])
			return false;
	}
	return true;
}
