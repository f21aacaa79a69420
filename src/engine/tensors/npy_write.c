#include "engine/tensors/files.h"
#include "engine/tensors/folder.h"
#include "engine/tensors/set.h"

#include "base/map.h"
#include "format/tensor/npy.h"
#include "format/tensor/npy_manifest.h"

#include <sherd/detect.h>

static int npy_write_prepare(shd_conversion *c, shd_conversion_object *objects, size_t count, sherd_error *err)
{
	size_t *indices = shd_arena_alloc(&c->arena, count, sizeof(*indices));
	if (!indices)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < count; i++) {
		indices[i] = i;
		objects[i] = (shd_conversion_object){.key = c->key, .tensors = &indices[i], .count = 1, .summed = true};
		TRY(shd_npy_encode(sherd_bundle_tensor(c->from, i), &objects[i].head, err));
	}
	return SHERD_OK;
}

/* The name of the file of array i, without its ending. Where another has it already (on systems that do not tell
 * capitals apart too), or there would be none, "~" and the array's number follow. */
static int put_name(shd_map *taken, shd_arena *arena, const char *array, size_t i, shd_buf *out, sherd_error *err)
{
	SHD_AUTO_BUF name = {0};
	bool ok = true;
	shd_npy_file_name(&name, array);
	shd_buf_append(out, name.data, name.len);
	for (size_t k = 0; k < name.len; k++)
		name.data[k] |= name.data[k] >= 'A' && name.data[k] <= 'Z' ? 0x20 : 0;
	TRY(shd_buf_check(&name, err));
	char *lower = shd_arena_str(arena, (shd_str){(const char *)name.data, name.len});
	if (!lower)
		return shd_fail_nomem(err);
	if (!*array || shd_map_add(taken, shd_str_of(lower), i, &ok) != SHD_MAP_NONE)
		shd_buf_printf(out, "~%zu", i + 1);
	return ok ? SHERD_OK : shd_fail_nomem(err);
}

static int name_files(shd_conversion *c, shd_conversion_set *set, const char *attempt, sherd_error *err)
{
	SHD_DONE(shd_map_done) shd_map taken = {0};
	for (size_t i = 0; i < set->count; i++) {
		SHD_AUTO_BUF key = {0};
		shd_buf_str(&key, set->prefix);
		TRY(put_name(&taken, &c->arena, sherd_bundle_tensor(c->from, i)->name, i, &key, err));
		shd_buf_printf(&key, "%s%s" SHD_NPY_SUFFIX, attempt ? "~" : "", attempt ? attempt : "");
		TRY(shd_buf_check(&key, err));
		set->objects[i].key = shd_arena_str(&c->arena, (shd_str){(const char *)key.data, key.len});
		if (!set->objects[i].key)
			return shd_fail_nomem(err);
	}
	return SHERD_OK;
}

static int encode_manifest(shd_conversion *c, const shd_conversion_set *set, shd_buf *out, sherd_error *err)
{
	shd_npy_entry *entries = shd_arena_alloc(&c->arena, set->count + 1, sizeof(*entries));
	shd_npy_manifest manifest = {.count = set->count, .arrays = entries};
	if (!entries)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < set->count; i++)
		entries[i] = (shd_npy_entry){.name = sherd_bundle_tensor(c->from, i)->name,
		                             .file = set->objects[i].key + strlen(set->prefix),
		                             .bytes = set->objects[i].bytes,
		                             .crc32 = set->objects[i].crc32};
	manifest.pair_count = sherd_bundle_pairs(&manifest.pairs, c->from);
	return shd_npy_manifest_encode(&manifest, out, err);
}

static int decode_manifest(shd_conversion *c, const shd_conversion_set *set, const char *text, size_t len,
                           const char *const **keys, size_t *count, sherd_error *err)
{
	shd_npy_manifest manifest;
	TRY(shd_npy_manifest_decode(text, len, NULL, &c->arena, &manifest, err));
	const char **all = shd_arena_alloc(&c->arena, manifest.count + 1, sizeof(*all));
	if (!all)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < manifest.count; i++) {
		SHD_AUTO_BUF key = {0};
		shd_buf_printf(&key, "%s%s", set->prefix, manifest.arrays[i].file);
		TRY(shd_buf_check(&key, err));
		all[i] = shd_arena_str(&c->arena, (shd_str){(const char *)key.data, key.len});
		if (!all[i])
			return shd_fail_nomem(err);
	}
	*keys = all;
	*count = manifest.count;
	return SHERD_OK;
}

static const shd_conversion_set_ops folder_ops = {
	.name = name_files, .encode = encode_manifest, .decode = decode_manifest, .suffix = SHD_NPY_SUFFIX};

/* A key in the folder, whose name may end in '/'. */
static const char *key_in(shd_conversion *c, const char *leaf)
{
	SHD_AUTO_BUF key = {0};
	size_t len = strlen(c->key);
	shd_buf_printf(&key, "%s%s%s", c->key, len && c->key[len - 1] != '/' ? "/" : "", leaf);
	return key.failed ? NULL : shd_arena_str(&c->arena, (shd_str){(const char *)key.data, key.len});
}

/* A folder is one thing: of two heads in it one would hide the other's set from every command. */
static int npy_write_check_folder(const shd_conversion *c, const char *folder, sherd_error *err)
{
	sherd_error failure = {0};
	sherd_format format;
	int rc = sherd_detect(&format, c->store, folder, &failure);
	if (rc == SHERD_EIO || rc == SHERD_ENOMEM)
		return shd_pass(err, rc, &failure);
	const sherd_format_info *info = rc < 0 ? NULL : sherd_format_describe(format);
	if (!info || (info->kind != SHERD_KIND_ROWS && info->kind != SHERD_KIND_GRAPH))
		return SHERD_OK;
	rc = shd_fail(err, SHERD_EEXIST, "cannot-replace", "the folder holds %s: choose another one", info->noun);
	return shd_in_object(err, rc, *folder ? folder : ".");
}

static int write_folder(shd_conversion *c, shd_conversion_object *objects, size_t count, sherd_error *err)
{
	shd_conversion_set set = {.ops = &folder_ops,
	                          .head = key_in(c, SHD_NPY_MANIFEST),
	                          .claim = key_in(c, SHD_NPY_SAVING),
	                          .prefix = key_in(c, ""),
	                          .objects = objects,
	                          .count = count};
	if (!set.head || !set.claim || !set.prefix)
		return shd_fail_nomem(err);
	size_t len = strlen(set.prefix);
	const char *folder = shd_arena_str(&c->arena, (shd_str){set.prefix, len ? len - 1 : 0});
	if (!folder)
		return shd_fail_nomem(err);
	TRY(npy_write_check_folder(c, folder, err));
	size_t missing;
	TRY(shd_folder_missing(c->store, folder, &missing, err));
	int rc = shd_conversion_set_write(c, &set, err);
	if (rc < 0)
		shd_folder_remove_made(c->store, folder, missing);
	return rc;
}

static int write_as(shd_conversion *c, bool folder, sherd_error *err)
{
	size_t count = sherd_bundle_count(c->from);
	shd_conversion_object *objects = shd_arena_alloc(&c->arena, count + 1, sizeof(*objects));
	if (!objects)
		return shd_fail_nomem(err);
	memset(objects, 0, (count + 1) * sizeof(*objects));
	int rc = npy_write_prepare(c, objects, count, err);
	if (rc == SHERD_OK)
		rc = folder ? write_folder(c, objects, count, err) : shd_conversion_write_one(c, objects, err);
	for (size_t i = 0; i < count; i++)
		shd_buf_done(&objects[i].head);
	return rc;
}

int shd_write_npy_folder(shd_conversion *c, sherd_error *err)
{
	return write_as(c, true, err);
}

int shd_write_npy(shd_conversion *c, sherd_error *err)
{
	return write_as(c, false, err);
}
