#include "engine/model/container.h"

bool sherd_model_layout_of(sherd_model_layout *out, const sherd_model *model)
{
	const shd_container_model *m = shd_container_of(model);
	if (!m)
		return false;
	*out = (sherd_model_layout){.version = SHD_CONTAINER_VERSION,
	                            .files = m->shards.count ? m->shards.count : 1,
	                            .generation = m->shards.generation,
	                            .features = m->file->head.compatible,
	                            .digest = m->file->table ? m->file->digest : NULL};
	return true;
}

sherd_model_file sherd_model_file_of(const sherd_model *model, uint32_t file)
{
	const shd_container_model *m = shd_container_of(model);
	if (!file)
		return (sherd_model_file){sherd_reader_key(m->file->reader), sherd_reader_size(m->file->reader), true};
	const sherd_reader *reader = m->readers[file - 1];
	return (sherd_model_file){m->keys[file - 1],
	                          reader ? sherd_reader_size(reader) : m->shards.peers[file - 1].size, reader != NULL};
}

int sherd_model_stored_of(sherd_model_stored *out, const sherd_model *model, size_t array, sherd_error *err)
{
	const shd_container_model *m = shd_container_of(model);
	SHD_AUTO(container_record, shd_container_record_close) told = NULL;
	sherd_model_stored s = {.there = true};
	const container_record *r;
	if (!m || array >= model->array_count)
		return shd_fail(err, SHERD_EUNSUPPORTED, "no-index", "no array of a container");
	TRY(shd_container_file_find(m->file, model->arrays[array].name, &told, err));
	s.file = told->array.shard;
	s.there = !s.file || (s.file < m->shards.count && m->readers[s.file - 1]);
	if (s.there) {
		TRY(shd_container_model_record(m, array, &r, err));
		s.chunks = r->array.chunk_count;
		s.chunk_bytes = r->array.chunk_bytes;
		for (uint32_t i = 0; i < s.chunks; i++) {
			s.bytes += r->array.chunks[i].stored;
			s.packed += r->array.chunks[i].codec != SHD_CODEC_NONE;
		}
	}
	*out = s;
	return SHERD_OK;
}
