#include "engine/convert/convert.h"

#include "format/npy.h"

/* A name as one part of a key: bytes other than letters, digits, '_', '-' and '.' (and a leading '.') become %XX, so
 * that different names stay different. */
static void put_name(sherd_buf *out, const char *name)
{
	for (const char *p = name; *p; p++) {
		uint8_t byte = (uint8_t)*p;
		bool letter = (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z';
		bool plain = letter || (byte >= '0' && byte <= '9') || byte == '_' || byte == '-' || byte == '.';
		if (plain && !(byte == '.' && p == name))
			sherd_buf_u8(out, byte);
		else
			sherd_buf_printf(out, "%%%02X", byte);
	}
}

static int name_file(sherd_conversion *c, const sherd_tensor *t, const char **out, sherd_error *err)
{
	SHERD_AUTO_BUF key = {0};
	sherd_buf_str(&key, c->key);
	put_name(&key, t->name);
	sherd_buf_str(&key, ".npy");
	TRY(sherd_buf_check(&key, err));
	if (key.len - strlen(c->key) > 255)
		return sherd_fail(err, SHERD_EUNSUPPORTED, "cannot-hold", "%.128s is too long for the name of a file",
		                  t->name);
	*out = sherd_arena_str(&c->arena, (sherd_str){(const char *)key.data, key.len});
	return *out ? SHERD_OK : sherd_fail_nomem(err);
}

static int prepare(sherd_conversion *c, sherd_conversion_object *objects, size_t count, bool folder, sherd_error *err)
{
	size_t *indices = sherd_arena_alloc(&c->arena, count, sizeof(*indices));
	if (!indices)
		return sherd_fail_nomem(err);
	for (size_t i = 0; i < count; i++) {
		const sherd_tensor *t = sherd_bundle_tensor(c->from, i);
		indices[i] = i;
		objects[i].key = c->key;
		objects[i].tensors = &indices[i];
		objects[i].count = 1;
		if (folder)
			TRY(name_file(c, t, &objects[i].key, err));
		TRY(sherd_npy_encode(t, &objects[i].head, err));
	}
	return SHERD_OK;
}

int sherd_convert_npy(sherd_conversion *c, sherd_error *err)
{
	size_t count = sherd_bundle_count(c->from), len = strlen(c->key);
	bool folder = len && c->key[len - 1] == '/';
	if (!count || (count > 1 && !folder))
		return sherd_in_object(err,
		                       sherd_fail(err, SHERD_EUNSUPPORTED, "cannot-hold",
		                                  "a NumPy file holds one tensor, not %zu", count),
		                       c->key);
	sherd_conversion_object *objects = sherd_arena_alloc(&c->arena, count, sizeof(*objects));
	if (!objects)
		return sherd_fail_nomem(err);
	memset(objects, 0, count * sizeof(*objects));
	int rc = prepare(c, objects, count, folder, err);
	if (rc == SHERD_OK)
		rc = sherd_conversion_write(c, objects, count, NULL, err);
	for (size_t i = 0; i < count; i++)
		sherd_buf_done(&objects[i].head);
	return rc;
}
