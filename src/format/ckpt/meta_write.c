#include "format/ckpt/meta.h"

#include "format/ckpt/about.h"
#include "format/ckpt/dtype.h"

#include <stdio.h>

static void put_dims(shd_json_writer *w, const char *key, const uint64_t *dims, uint32_t ndim)
{
	shd_json_put_key_array(w, key, true);
	for (uint32_t i = 0; i < ndim; i++)
		shd_json_put_u64(w, dims[i]);
	shd_json_put_array_end(w);
}

static void meta_write_put_entry(shd_json_writer *w, const shd_ckpt_entry *e, bool csharp)
{
	const sherd_tensor *t = &e->tensor;
	shd_json_put_object(w, true);
	shd_json_put_key_text(w, "name", t->name);
	put_dims(w, "shape", t->shape, t->ndim);
	shd_json_put_key(w, "dataType");
	if (csharp)
		shd_json_put_i64(w, shd_ckpt_dtype_number(t->dtype));
	else if (t->dtype == SHERD_OPAQUE) {
		char name[sizeof(SHD_CKPT_OPAQUE) + SHERD_MAX_TYPE_NAME];
		(void)snprintf(name, sizeof(name), SHD_CKPT_OPAQUE "%s", t->type_name);
		shd_json_put_string(w, shd_str_of(name));
	} else
		shd_json_put_string(w, shd_str_of(shd_ckpt_dtype_name(t->dtype)));
	shd_json_put_key_u64(w, "offset", e->offset);
	shd_json_put_key_u64(w, "size", t->bytes);
	if (e->global_shape) {
		put_dims(w, "globalShape", e->global_shape, t->ndim);
		put_dims(w, "globalOffset", e->global_offset, t->ndim);
	}
	shd_ckpt_members_put(e->extra, w);
	shd_json_put_object_end(w);
}

static void put_shard(shd_json_writer *w, const shd_ckpt_meta_shard *s, bool csharp)
{
	shd_json_put_object(w, false);
	shd_json_put_key_u64(w, "rank", s->rank);
	if (s->file) {
		shd_json_put_key_text(w, "filePath", s->file);
	}
	shd_json_put_key_u64(w, "fileSize", s->file_size);
	if (s->listed) {
		shd_json_put_key_array(w, "tensors", false);
		for (size_t i = 0; i < s->count; i++)
			meta_write_put_entry(w, &s->entries[i], csharp);
		shd_json_put_array_end(w);
	}
	shd_json_put_key_text(w, "checksum", s->checksum);
	if (s->sha256) {
		shd_json_put_key_text(w, "sha256", s->sha256);
	}
	shd_json_put_object_end(w);
}

void shd_ckpt_meta_encode(const shd_ckpt_meta *meta, bool csharp, shd_buf *out)
{
	shd_json_writer w;
	shd_json_writer_init(&w, out);
	shd_json_put_object(&w, false);
	shd_json_put_key_text(&w, "version", meta->version);
	if (meta->timestamp[0]) {
		shd_json_put_key_text(&w, "timestamp", meta->timestamp);
	}
	shd_json_put_key_u64(&w, "worldSize", meta->world);
	shd_ckpt_about_put_front(&meta->about, meta->count, &w);
	shd_json_put_key_array(&w, "shards", false);
	for (size_t i = 0; i < meta->count; i++)
		put_shard(&w, &meta->shards[i], csharp);
	shd_json_put_array_end(&w);
	shd_ckpt_about_put_back(&meta->about, &w);
	if (meta->has_set_id) {
		char id[SHERD_SET_ID_TEXT];
		sherd_set_id_format(id, &meta->set_id);
		shd_json_put_key_text(&w, "setId", id);
	}
	shd_seal_put(&w);
}
