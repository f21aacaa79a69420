/* engine/torch/dcp_write.c - a folder that torch.distributed.checkpoint loads. docs/formats/dcp.md.
 *
 * Published as every set is (engine/tensors/README.md): files first, .metadata last. */
#include "engine/tensors/archive_out.h"
#include "engine/tensors/bundle.h"
#include "engine/tensors/folder.h"
#include "engine/tensors/set.h"
#include "engine/torch/dcp.h"
#include "engine/torch/format.h"
#include "engine/torch/item.h"
#include "format/torch/write.h"

#include <sherd/ckpt.h>
#include <sherd/detect.h>

#include <stdlib.h>

/* Where each entry goes: tensors in their order, then the pairs, if there are any. */
typedef struct layout {
	shd_conversion *conversion;
	size_t tensors, entries;
	uint32_t *file_of;
	shd_dcp_written *written;
	uint32_t files;
} layout;

/* One item: a tensor, or the pairs. */
static int encode_item(const layout *l, size_t entry, shd_buf *out, sherd_error *err)
{
	SHD_DONE(shd_pickle_writer_done) shd_pickle_writer w;
	shd_pickle_writer_init(&w, out, 2);
	if (entry < l->tensors) {
		shd_torch_put_tensor(&w, sherd_bundle_tensor(l->conversion->from, entry), 0);
		return shd_pickle_writer_end(&w, err);
	}
	const sherd_pair *pairs;
	size_t count = sherd_bundle_pairs(&pairs, l->conversion->from);
	shd_pickle_put_op(&w, '}');
	shd_pickle_put_op(&w, '(');
	for (size_t i = 0; i < count; i++) {
		shd_pickle_put_text(&w, pairs[i].key);
		shd_pickle_put_text(&w, pairs[i].value);
	}
	shd_pickle_put_op(&w, 'u');
	return shd_pickle_writer_end(&w, err);
}

/* A whole archive, whose bytes count from its own begin. */
static int dcp_write_write_item(const layout *l, size_t entry, sherd_writer *writer, uint64_t *length, sherd_error *err)
{
	SHD_DONE(shd_archive_out_done) shd_archive_out out = {0};
	SHD_AUTO_BUF pickle = {0};
	TRY(encode_item(l, entry, &pickle, err));
	TRY(shd_archive_out_init(&out, writer, 0, err));
	TRY(shd_torch_put_entry(&out, "data.pkl", pickle.data, pickle.len, err));
	TRY(shd_torch_put_constants(&out, err));
	if (entry < l->tensors)
		TRY(shd_torch_put_storage(l->conversion, &out, "data/0", entry, err));
	TRY(shd_torch_put_entry(&out, "version", "3\n", 2, err));
	TRY(shd_archive_out_finish(&out, err));
	*length = out.at;
	return SHERD_OK;
}

static int dcp_write_write_file(shd_conversion *c, shd_conversion_object *o, sherd_writer *writer, sherd_error *err)
{
	layout *l = (layout *)o->arg;
	uint64_t at = 0;
	(void)c;
	for (size_t i = 0; i < o->count; i++) {
		shd_dcp_written *w = &l->written[o->tensors[i]];
		w->offset = at;
		w->file = shd_str_leaf(o->key);
		TRY(dcp_write_write_item(l, o->tensors[i], writer, &w->length, err));
		at += w->length;
	}
	o->bytes = at;
	return SHERD_OK;
}

/* ---- the set */

static int dcp_write_name_files(shd_conversion *c, shd_conversion_set *set, const char *attempt, sherd_error *err)
{
	for (size_t i = 0; i < set->count; i++) {
		SHD_AUTO_BUF key = {0};
		shd_buf_printf(&key, "%s__0_%zu%s%s" SHD_DCP_SUFFIX, set->prefix, i, attempt ? "~" : "",
		               attempt ? attempt : "");
		TRY(shd_buf_check(&key, err));
		set->objects[i].key = shd_arena_str(&c->arena, (shd_str){(const char *)key.data, key.len});
		if (!set->objects[i].key)
			return shd_fail_nomem(err);
	}
	return SHERD_OK;
}

static int encode_metadata(shd_conversion *c, const shd_conversion_set *set, shd_buf *out, sherd_error *err)
{
	const layout *l = set->arg;
	(void)c;
	return shd_dcp_metadata_encode(l->written, l->entries, out, err);
}

static int dcp_write_decode_metadata(shd_conversion *c, const shd_conversion_set *set, const char *text, size_t len,
                                     const char *const **keys, size_t *count, sherd_error *err)
{
	SHD_DONE(shd_arena_done) shd_arena temporary = {0};
	shd_dcp_metadata m;
	TRY(shd_dcp_metadata_decode(text, len, NULL, &c->arena, &temporary, &m, err));
	const char **all = shd_arena_alloc(&c->arena, m.file_count + 1, sizeof(*all));
	if (!all)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < m.file_count; i++) {
		SHD_AUTO_BUF key = {0};
		shd_buf_printf(&key, "%s%s", set->prefix, m.files[i]);
		TRY(shd_buf_check(&key, err));
		all[i] = shd_arena_str(&c->arena, (shd_str){(const char *)key.data, key.len});
		if (!all[i])
			return shd_fail_nomem(err);
	}
	*keys = all;
	*count = m.file_count;
	return SHERD_OK;
}

static const shd_conversion_set_ops set_ops = {.name = dcp_write_name_files,
                                               .encode = encode_metadata,
                                               .decode = dcp_write_decode_metadata,
                                               .suffix = SHD_DCP_SUFFIX};

/* A key in the folder, whose name may end in '/'. */
static const char *dcp_write_key(shd_conversion *c, const char *leaf)
{
	SHD_AUTO_BUF key = {0};
	size_t len = strlen(c->key);
	shd_buf_printf(&key, "%s%s%s", c->key, len && c->key[len - 1] != '/' ? "/" : "", leaf);
	return key.failed ? NULL : shd_arena_str(&c->arena, (shd_str){(const char *)key.data, key.len});
}

/* A folder is one thing: of two heads in it one would hide the other's set from every command. */
static int dcp_write_check_folder(const shd_conversion *c, const char *folder, sherd_error *err)
{
	sherd_error failure = {0};
	sherd_format format;
	int rc = sherd_detect(&format, c->store, folder, &failure);
	if (rc == SHERD_EIO || rc == SHERD_ENOMEM)
		return shd_pass(err, rc, &failure);
	if (rc < 0 || format == SHERD_FORMAT_DCP)
		return SHERD_OK;
	rc = shd_fail(err, SHERD_EEXIST, "cannot-replace", "the folder holds %s: choose another one",
	              sherd_format_describe(format)->noun);
	return shd_in_object(err, rc, *folder ? folder : ".");
}

/* Larger tensors first, each into the file that has least; pairs go into the first. */
static int dcp_write_plan_files(layout *l, sherd_error *err)
{
	SHD_AUTO_FREE uint64_t *bytes = calloc(l->entries + 1, sizeof(*bytes));
	if (!bytes)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < l->tensors; i++) {
		uint64_t n = sherd_bundle_tensor(l->conversion->from, i)->bytes;
		bytes[i] = n ? n : 1;
	}
	TRY(sherd_plan_whole(l->file_of, bytes, l->tensors, l->files, err));
	if (l->entries > l->tensors)
		l->file_of[l->tensors] = 0;
	return SHERD_OK;
}

static int fill_objects(layout *l, shd_conversion_object *objects, sherd_error *err)
{
	size_t *items = shd_arena_alloc(&l->conversion->arena, l->entries + 1, sizeof(*items)), at = 0;
	if (!items)
		return shd_fail_nomem(err);
	for (uint32_t f = 0; f < l->files; f++)
		objects[f] =
			(shd_conversion_object){.key = l->conversion->key, .write = dcp_write_write_file, .arg = l};
	for (size_t i = 0; i < l->entries; i++)
		objects[l->file_of[i]].count++;
	for (uint32_t f = 0; f < l->files; f++) {
		objects[f].tensors = items + at;
		at += objects[f].count;
		objects[f].count = 0;
	}
	for (size_t i = 0; i < l->entries; i++) {
		shd_conversion_object *o = &objects[l->file_of[i]];
		items[(size_t)(o->tensors - items) + o->count++] = i;
	}
	return SHERD_OK;
}

static int dcp_write_write_set(shd_conversion *c, layout *l, shd_conversion_object *objects, sherd_error *err)
{
	shd_conversion_set set = {.ops = &set_ops,
	                          .head = dcp_write_key(c, SHD_DCP_METADATA),
	                          .claim = dcp_write_key(c, SHD_DCP_SAVING),
	                          .prefix = dcp_write_key(c, ""),
	                          .objects = objects,
	                          .count = l->files,
	                          .arg = l};
	if (!set.head || !set.claim || !set.prefix)
		return shd_fail_nomem(err);
	size_t len = strlen(set.prefix), missing;
	const char *folder = shd_arena_str(&c->arena, (shd_str){set.prefix, len ? len - 1 : 0});
	if (!folder)
		return shd_fail_nomem(err);
	TRY(dcp_write_check_folder(c, folder, err));
	TRY(shd_folder_missing(c->store, folder, &missing, err));
	int rc = shd_conversion_set_write(c, &set, err);
	if (rc < 0)
		shd_folder_remove_made(c->store, folder, missing);
	return rc;
}

static int check_pairs_entry(const shd_conversion *c, sherd_error *err)
{
	if (sherd_bundle_find(c->from, SHD_DCP_PAIRS) == SHERD_NO_TENSOR)
		return SHERD_OK;
	return shd_fail(err, SHERD_EUNSUPPORTED, "cannot-hold", "dcp cannot hold a tensor called " SHD_DCP_PAIRS);
}

int shd_write_dcp(shd_conversion *c, sherd_error *err)
{
	const sherd_pair *pairs;
	layout l = {.conversion = c, .tensors = sherd_bundle_count(c->from)};
	TRY(shd_in_object(err, shd_torch_check_tensors(c, err), c->key));
	TRY(shd_in_object(err, check_pairs_entry(c, err), c->key));
	l.entries = l.tensors + (sherd_bundle_pairs(&pairs, c->from) > 0);
	l.files = c->shards < l.tensors ? c->shards : l.tensors ? (uint32_t)l.tensors : 1;
	l.file_of = shd_arena_alloc(&c->arena, l.entries + 1, sizeof(*l.file_of));
	l.written = shd_arena_alloc(&c->arena, l.entries + 1, sizeof(*l.written));
	shd_conversion_object *objects = shd_arena_alloc(&c->arena, l.files + 1u, sizeof(*objects));
	if (!l.file_of || !l.written || !objects)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < l.entries; i++) {
		const sherd_tensor *t = sherd_bundle_tensor(c->from, i);
		l.written[i] = (shd_dcp_written){.name = t ? t->name : SHD_DCP_PAIRS, .tensor = t};
	}
	TRY(dcp_write_plan_files(&l, err));
	TRY(fill_objects(&l, objects, err));
	return dcp_write_write_set(c, &l, objects, err);
}
