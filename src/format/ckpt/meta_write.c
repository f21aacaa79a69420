#include "format/ckpt/meta.h"

#include "base/dtype.h"
#include "format/ckpt/about.h"

static void put_dims(sherd_json_writer *w, const char *key, const uint64_t *dims, uint32_t ndim)
{
	sherd_json_put_key(w, key);
	sherd_json_put_array(w, true);
	for (uint32_t i = 0; i < ndim; i++)
		sherd_json_put_u64(w, dims[i]);
	sherd_json_put_array_end(w);
}

static void put_entry(sherd_json_writer *w, const sherd_ckpt_entry *e, bool csharp)
{
	const sherd_tensor *t = &e->tensor;
	sherd_json_put_object(w, true);
	sherd_json_put_key(w, "name");
	sherd_json_put_string(w, sherd_str_of(t->name));
	put_dims(w, "shape", t->shape, t->ndim);
	sherd_json_put_key(w, "dataType");
	if (csharp)
		sherd_json_put_i64(w, sherd_dtype_csharp_number(t->dtype));
	else
		sherd_json_put_string(w, sherd_str_of(sherd_dtype_csharp_name(t->dtype)));
	sherd_json_put_key(w, "offset");
	sherd_json_put_u64(w, e->offset);
	sherd_json_put_key(w, "size");
	sherd_json_put_u64(w, t->bytes);
	if (e->global_shape) {
		put_dims(w, "globalShape", e->global_shape, t->ndim);
		put_dims(w, "globalOffset", e->global_offset, t->ndim);
	}
	sherd_ckpt_members_put(e->extra, w);
	sherd_json_put_object_end(w);
}

static void put_shard(sherd_json_writer *w, const sherd_ckpt_meta_shard *s, bool csharp)
{
	sherd_json_put_object(w, false);
	sherd_json_put_key(w, "rank");
	sherd_json_put_u64(w, s->rank);
	if (s->file) {
		sherd_json_put_key(w, "filePath");
		sherd_json_put_string(w, sherd_str_of(s->file));
	}
	sherd_json_put_key(w, "fileSize");
	sherd_json_put_u64(w, s->file_size);
	if (s->listed) {
		sherd_json_put_key(w, "tensors");
		sherd_json_put_array(w, false);
		for (size_t i = 0; i < s->count; i++)
			put_entry(w, &s->entries[i], csharp);
		sherd_json_put_array_end(w);
	}
	sherd_json_put_key(w, "checksum");
	sherd_json_put_string(w, sherd_str_of(s->checksum));
	if (s->sha256) {
		sherd_json_put_key(w, "sha256");
		sherd_json_put_string(w, sherd_str_of(s->sha256));
	}
	sherd_json_put_object_end(w);
}

void sherd_ckpt_meta_encode(const sherd_ckpt_meta *meta, bool csharp, sherd_buf *out)
{
	sherd_json_writer w;
	sherd_json_writer_init(&w, out);
	sherd_json_put_object(&w, false);
	sherd_json_put_key(&w, "version");
	sherd_json_put_string(&w, sherd_str_of(meta->version));
	if (meta->timestamp[0]) {
		sherd_json_put_key(&w, "timestamp");
		sherd_json_put_string(&w, sherd_str_of(meta->timestamp));
	}
	sherd_json_put_key(&w, "worldSize");
	sherd_json_put_u64(&w, meta->world);
	sherd_ckpt_about_put_front(&meta->about, meta->count, &w);
	sherd_json_put_key(&w, "shards");
	sherd_json_put_array(&w, false);
	for (size_t i = 0; i < meta->count; i++)
		put_shard(&w, &meta->shards[i], csharp);
	sherd_json_put_array_end(&w);
	sherd_ckpt_about_put_back(&meta->about, &w);
	if (meta->has_set_id) {
		char id[SHERD_SET_ID_TEXT];
		sherd_set_id_format(&meta->set_id, id);
		sherd_json_put_key(&w, "setId");
		sherd_json_put_string(&w, sherd_str_of(id));
	}
	sherd_seal_put(&w);
}
