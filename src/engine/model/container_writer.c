#include "engine/model/container_writer.h"

#include "engine/model/pairs.h"
#include "format/container/pairs.h"

#include <stdlib.h>

/* What SDNB files say of their own layout. */
#define FORMAT_TYPE "nd4j.format.type"

/* ---- opening */

/* Tells sets apart that were not made of the same graph, metadata and number of shards, or do not replace the same set:
 * else one that is saved again after another had its place would be named by what it replaces. */
static void identify(sherd_model_writer *w)
{
	shd_sha256 sha;
	static const uint8_t nothing[sizeof(w->shards.replaces)];
	uint8_t hash[SHD_SHA256_BYTES], numbers[8];
	shd_put_u32(numbers, w->shards.count);
	shd_put_u32(numbers + 4, w->shards.generation);
	shd_sha256_init(&sha);
	shd_sha256_add(&sha, numbers, sizeof(numbers));
	if (memcmp(w->shards.replaces, nothing, sizeof(nothing)) != 0)
		shd_sha256_add(&sha, w->shards.replaces, sizeof(w->shards.replaces));
	shd_sha256_add(&sha, w->pairs.data, w->pairs.len);
	shd_sha256_add(&sha, w->parts.graph, w->parts.graph_len);
	shd_sha256_finish(&sha, hash);
	memcpy(w->set, hash, sizeof(w->set));
}

static int container_writer_take_pairs(sherd_model_writer *w, const sherd_model *model,
                                       const sherd_model_save_options *options, sherd_error *err)
{
	const sherd_pair *pairs;
	size_t count, own = 0;
	sherd_pair *kept = shd_arena_alloc(&w->arena, model->pair_count + 1, sizeof(*kept));
	if (!kept)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < model->pair_count; i++)
		if (strcmp(model->pairs[i].key, FORMAT_TYPE) != 0)
			kept[own++] = model->pairs[i];
	TRY(shd_model_join_pairs(kept, own, options, &w->arena, &pairs, &count, err));
	shd_container_pairs_encode(pairs, count, &w->pairs);
	return shd_buf_check(&w->pairs, err);
}

static int read_model(void *arg, size_t array, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	const sherd_model *model = arg;
	return model->ops->read(model, array, offset, buf, len, err);
}

static int container_writer_prepare(sherd_model_writer *w, const sherd_model *model,
                                    const sherd_model_save_options *options, sherd_error *err)
{
	uint64_t total = 0;
	unsigned workers = sherd_pool_workers(options->pool);
	TRY(container_writer_take_pairs(w, model, options, err));
	TRY(shd_container_parts_make(model, options->without_updater, &w->arena, &w->parts, err));
	TRY(shd_container_targets_plan(w, options->shards, err));
	identify(w);
	TRY(shd_container_batch_init(&w->batch, workers, w->level, err));
	for (size_t i = 0; i < w->parts.count; i++)
		total += w->parts.list[i].a.tensor.bytes;
	shd_meter_init(&w->meter, options->progress, total);
	w->metered = true;
	w->batch.digest = w->digest;
	w->batch.pool = options->pool;
	w->batch.meter = &w->meter;
	w->batch.read = read_model;
	w->batch.arg = (void *)(uintptr_t)model;
	/* What stands there already is better said now than after all the work. */
	return shd_container_target_begin(w, 0, err);
}

/* A container is written packed or not; its graph tells. */
static bool is_packed(const container_file *f)
{
	const shd_container_section *s = shd_container_find_section(&f->head, SHD_SECTION_GRAPH);
	return s && (s->flags & SHD_SECTION_CODEC);
}

int shd_container_writer_open(sherd_model_writer **out, sherd_store *store, const char *key, const sherd_model *model,
                              const sherd_model_save_options *options, sherd_error *err)
{
	sherd_model_writer *w = calloc(1, sizeof(*w));
	if (!w)
		return shd_fail_nomem(err);
	w->store = store;
	w->replace = options->replace;
	w->if_identity = options->if_identity;
	w->written = options->written;
	w->kept = shd_container_of(model);
	w->current = SHERD_NO_ARRAY;
	w->as_it_was = options->as_it_was && w->kept;
	w->digest = options->digest == SHERD_DIGEST_BLAKE3 || (w->as_it_was && w->kept->file->table);
	if (w->as_it_was)
		w->level = is_packed(w->kept->file);
	else if (options->compress == SHERD_COMPRESS_DEFLATE)
		w->level = options->level ? options->level : 1;
	w->key = shd_arena_str(&w->arena, shd_str_of(key));
	int rc = w->key ? SHERD_OK : shd_fail_nomem(err);
	if (rc == SHERD_OK)
		rc = container_writer_prepare(w, model, options, err);
	if (rc == SHERD_OK)
		*out = w;
	else
		sherd_model_writer_abort(w);
	return shd_in_object(err, rc, key);
}

/* ---- arrays */

static uint8_t width_of(const shd_container_array *a)
{
	uint32_t width = sherd_dtype_element_bytes(a->tensor.dtype);
	return width > 1 && width <= UINT8_MAX ? (uint8_t)width : 0;
}

/* Writes what is in the batch, and closes the files that nothing more will come for. */
static int flush(sherd_model_writer *w, sherd_error *err)
{
	TRY(shd_container_batch_run(&w->batch, err));
	for (size_t i = 0; i < w->batch.used; i++) {
		const container_slot *s = &w->batch.slots[i];
		container_part *p = &w->parts.list[w->parts.part_of[s->array]];
		shd_vec_push(&p->chunks, s->chunk);
		TRY(shd_vec_check(&p->chunks, err));
		if (w->batch.digest) {
			shd_vec_push(&p->values, s->value);
			TRY(shd_vec_check(&p->values, err));
		}
		if (s->from + s->len < p->a.tensor.bytes)
			continue;
		uint32_t target = w->target_of[p - w->parts.list];
		if (--w->targets[target].left == 0 && target)
			TRY(shd_container_target_finish(w, target, err));
	}
	w->batch.used = 0;
	return SHERD_OK;
}

/* The slot that the next bytes of the part go to. */
static int open_slot(sherd_model_writer *w, container_part *p, container_slot **out, sherd_error *err)
{
	uint32_t target = w->target_of[p - w->parts.list];
	container_slot *s;
	if (w->batch.used == w->batch.count)
		TRY(flush(w, err));
	TRY(shd_container_target_begin(w, target, err));
	TRY(shd_container_batch_slot(&w->batch, &s, err));
	s->len = 0;
	s->from = p->given;
	s->array = p->array;
	s->to = &w->targets[target].out;
	s->width = w->level ? width_of(&p->a) : 0;
	s->aligned = !w->level && p->given == 0;
	s->fetched = true;
	s->kept = NULL;
	*out = s;
	return SHERD_OK;
}

static int container_writer_append(sherd_model_writer *w, container_part *p, const uint8_t *bytes, size_t len,
                                   sherd_error *err)
{
	while (len) {
		container_slot *s = &w->batch.slots[w->batch.used];
		if (p->given % SHD_CONTAINER_CHUNK == 0)
			TRY(open_slot(w, p, &s, err));
		size_t n = SHD_CONTAINER_CHUNK - s->len < len ? SHD_CONTAINER_CHUNK - s->len : len;
		memcpy(s->raw + s->len, bytes, n);
		s->len += (uint32_t)n;
		p->given += n;
		bytes += n;
		len -= n;
		if (p->given % SHD_CONTAINER_CHUNK == 0 || p->given == p->a.tensor.bytes)
			w->batch.used++;
	}
	return SHERD_OK;
}

/* Arrays are given one after the other, none beyond its size. */
static int container_writer_choose(sherd_model_writer *w, size_t array, size_t len, size_t *part, sherd_error *err)
{
	if (array >= w->parts.array_count)
		return shd_fail(err, SHERD_EINVAL, "out-of-range", "array %zu of %zu", array, w->parts.array_count);
	*part = w->parts.part_of[array];
	if (*part == SHERD_NO_ARRAY)
		return SHERD_OK;
	const container_part *p = &w->parts.list[*part];
	const container_part *before = w->current == SHERD_NO_ARRAY ? p : &w->parts.list[w->current];
	if (before != p && before->given < before->a.tensor.bytes)
		return shd_fail(err, SHERD_EINVAL, "incomplete", "%.128s is not whole when %.100s begins",
		                before->a.tensor.name, p->a.tensor.name);
	if (len > p->a.tensor.bytes - p->given)
		return shd_fail(err, SHERD_EINVAL, "bad-range", "%.128s has %llu bytes, not more", p->a.tensor.name,
		                (unsigned long long)p->a.tensor.bytes);
	return SHERD_OK;
}

/* Keeps the first failure, which every later call repeats. */
static int container_writer_keep(sherd_model_writer *w, int rc, const sherd_error *failure, sherd_error *err)
{
	if (rc < 0 && w->rc == SHERD_OK) {
		w->rc = rc;
		w->failure = *failure;
	}
	if (w->rc < 0 && err)
		*err = w->failure;
	return w->rc;
}

int sherd_model_writer_append(sherd_model_writer *writer, size_t array, const void *bytes, size_t len, sherd_error *err)
{
	sherd_error failure = {0};
	size_t part = SHERD_NO_ARRAY;
	int rc = writer->rc;
	if (rc == SHERD_OK)
		rc = container_writer_choose(writer, array, len, &part, &failure);
	if (rc == SHERD_OK && part != SHERD_NO_ARRAY) {
		writer->current = part;
		rc = container_writer_append(writer, &writer->parts.list[part], bytes, len, &failure);
	}
	return container_writer_keep(writer, shd_in_object(&failure, rc, writer->key), &failure, err);
}

/* The record of an array whose chunks are copied as they are; NULL when they are not. */
static int record_to_keep(const sherd_model_writer *w, const container_part *p, const container_record **out,
                          sherd_error *err)
{
	const container_record *r;
	*out = NULL;
	if (!w->as_it_was || !p->a.tensor.bytes)
		return SHERD_OK;
	TRY(shd_container_model_record(w->kept, p->array, &r, err));
	*out = r;
	return SHERD_OK;
}

static int pull(sherd_model_writer *w, container_part *p, sherd_error *err)
{
	const container_record *kept;
	TRY(record_to_keep(w, p, &kept, err));
	if (kept)
		p->a.chunk_bytes = kept->array.chunk_bytes;
	while (p->given < p->a.tensor.bytes) {
		container_slot *s;
		uint64_t left = p->a.tensor.bytes - p->given;
		TRY(open_slot(w, p, &s, err));
		s->len = left < p->a.chunk_bytes ? (uint32_t)left : p->a.chunk_bytes;
		s->fetched = false;
		s->kept = kept;
		if (kept)
			s->aligned = p->given == 0 && kept->array.chunks[0].codec == SHD_CODEC_NONE;
		p->given += s->len;
		w->batch.used++;
	}
	return SHERD_OK;
}

int shd_container_writer_pull(sherd_model_writer *w, sherd_error *err)
{
	sherd_error failure = {0};
	uint32_t targets = w->shards.count ? w->shards.count : 1;
	int rc = SHERD_OK;
	/* The first file last, as it stays open to the end. */
	for (uint32_t t = targets; rc == SHERD_OK && t-- > 0;)
		for (size_t i = 0; rc == SHERD_OK && i < w->parts.count; i++)
			if (w->target_of[i] == t)
				rc = pull(w, &w->parts.list[i], &failure);
	return container_writer_keep(w, rc, &failure, err);
}

/* ---- the end */

static int container_writer_publish(sherd_model_writer *w, sherd_error *err)
{
	for (size_t i = 0; i < w->parts.count; i++)
		if (w->parts.list[i].given < w->parts.list[i].a.tensor.bytes)
			return shd_fail(err, SHERD_EINVAL, "incomplete", "%.128s is not whole",
			                w->parts.list[i].a.tensor.name);
	TRY(flush(w, err));
	for (uint32_t i = 1; i < w->shards.count; i++)
		if (!w->targets[i].committed)
			TRY(shd_container_target_finish(w, i, err));
	return shd_container_target_finish(w, 0, err);
}

static uint64_t count_written(const sherd_model_writer *w)
{
	uint64_t bytes = w->peers[0].size;
	for (uint32_t i = 1; i < w->shards.count; i++)
		bytes += w->peers[i].size;
	return bytes;
}

int sherd_model_writer_commit(sherd_model_writer *writer, sherd_error *err)
{
	sherd_error failure = {0};
	int rc = writer->rc;
	if (rc == SHERD_OK)
		rc = container_writer_publish(writer, &failure);
	rc = container_writer_keep(writer, shd_in_object(&failure, rc, writer->key), &failure, err);
	if (rc == SHERD_OK)
		rc = shd_in_object(err, shd_container_targets_clear(writer, err), writer->key);
	if (rc == SHERD_OK && writer->written)
		*writer->written = count_written(writer);
	sherd_model_writer_abort(writer);
	return rc;
}

void sherd_model_writer_abort(sherd_model_writer *writer)
{
	if (!writer)
		return;
	shd_container_targets_abort(writer);
	if (writer->unknown)
		shd_claim_leave(&writer->claim);
	else
		(void)shd_claim_drop(&writer->claim, NULL);
	shd_container_batch_done(&writer->batch);
	if (writer->metered)
		shd_meter_done(&writer->meter);
	shd_container_parts_done(&writer->parts);
	shd_buf_done(&writer->pairs);
	free(writer->targets);
	free(writer->peers);
	shd_arena_done(&writer->arena);
	free(writer);
}
