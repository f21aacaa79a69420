/* engine/ckpt/write.c - one pass over the tensors: each chunk is hashed, summed and appended while it is in the cache;
 * the store writes it while the next ones are hashed. With BLAKE3 by parts, see write_parts.c. */
#include "engine/ckpt/write.h"

#include "base/arena.h"
#include "base/dtype.h"
#include "base/limits.h"
#include "base/map.h"
#include "codec/crc32.h"
#include "codec/json.h"
#include "engine/ckpt/content.h"
#include "engine/ckpt/digest.h"
#include "engine/ckpt/write_parts.h"
#include "format/ckpt/about.h"
#include "format/ckpt/dtype.h"
#include "format/ckpt/index.h"
#include "format/ckpt/name.h"
#include "format/ckpt/shard.h"

#include <inttypes.h>
#include <stdlib.h>

SHD_AUTO_DEFINE(sherd_writer, sherd_writer_abort)

/* Stays in the second-level cache between hashing, summing and copying. */
enum { CHUNK = 256 << 10 };

typedef struct shard_writer {
	const ckpt_shard_spec *spec;
	sherd_writer *writer;
	uint8_t *scratch; /* of CHUNK bytes, for what is read piece by piece */
	shd_arena arena;
	shd_ckpt_entry *entries;
	shd_sha256 sha;
	uint64_t at; /* bytes of data so far */
	/* With BLAKE3: of the full parts in front of the index, and the bytes after those. */
	ckpt_sums sums;
	shd_buf tail;
} shard_writer;

/* ---- what may be written */

uint64_t shd_ckpt_item_bytes(const sherd_ckpt_item *item)
{
	uint64_t bytes = item->tensor.bytes;
	if (shd_dtype_is_sized(item->tensor.dtype))
		(void)sherd_tensor_bytes(&bytes, item->tensor.dtype, item->tensor.ndim, item->tensor.shape);
	return bytes;
}

static shd_ckpt_entry entry_of(const sherd_ckpt_item *item)
{
	shd_ckpt_entry e = {
		.tensor = item->tensor,
		.global_shape = item->global_shape,
		.global_offset = item->global_offset,
		.extra = item->extra && *item->extra ? item->extra : NULL,
	};
	e.tensor.bytes = shd_ckpt_item_bytes(item);
	return e;
}

static int invalid(const sherd_ckpt_item *item, const char *why, sherd_error *err)
{
	return shd_fail(err, SHERD_EINVAL, "bad-argument", "tensor '%.80s': %s",
	                item->tensor.name ? item->tensor.name : "", why);
}

static int check_item(const sherd_ckpt_item *item, bool csharp, sherd_error *err)
{
	sherd_limits limits = shd_limits_or_default(NULL);
	sherd_error inner;
	size_t bad;
	const sherd_tensor *t = &item->tensor;
	if (!t->name || !shd_tensor_is_typed(t) || (t->ndim && !t->shape))
		return invalid(item, "no name, type or shape", err);
	if (strlen(t->name) > limits.name_bytes || !shd_utf8_valid(t->name, strlen(t->name), &bad))
		return invalid(item, "its name is too long or not UTF-8", err);
	if (t->dtype == SHERD_OPAQUE && !shd_utf8_valid(t->type_name, strlen(t->type_name), &bad))
		return invalid(item, "the name of its type is not UTF-8", err);
	if (t->ndim > SHERD_MAX_DIMS)
		return invalid(item, "more than 32 dimensions", err);
	if (!item->global_shape != !item->global_offset)
		return invalid(item, "a global shape and a global offset go together", err);
	TRY(shd_ckpt_members_check(item->extra, SHD_CKPT_OBJECT_TENSOR, NULL, SHERD_EINVAL, err));
	shd_ckpt_entry e = entry_of(item);
	if (shd_ckpt_entry_check(&e, &inner) < 0)
		return shd_fail(err, SHERD_EINVAL, "bad-argument", "%s", inner.message);
	if (t->bytes && t->bytes != e.tensor.bytes)
		return invalid(item, "its size is not what type and shape need", err);
	if (e.tensor.bytes && !item->data && !item->read)
		return invalid(item, "no data", err);
	if (csharp && (shd_ckpt_dtype_number(t->dtype) < 0 || item->global_shape))
		return shd_fail(err, SHERD_EUNSUPPORTED, "cannot-hold", "tensor '%.80s': the C# layout cannot hold %s",
		                t->name, item->global_shape ? "a piece" : sherd_tensor_type(t));
	return SHERD_OK;
}

static int check_items(const sherd_ckpt_shard_items *shard, bool csharp, size_t before, shd_map *names,
                       sherd_error *err)
{
	for (size_t i = 0; i < shard->count; i++) {
		const sherd_ckpt_item *item = &shard->items[i];
		bool ok;
		TRY(shd_at_index(err, check_item(item, csharp, err), before + i));
		if (shd_map_add(names, shd_str_of(item->tensor.name), i, &ok) != SHD_MAP_NONE)
			return shd_at_index(err, invalid(item, "twice in one shard", err), before + i);
		if (!ok)
			return shd_fail_nomem(err);
	}
	return SHERD_OK;
}

static int too_large_for_csharp(uint64_t bytes, sherd_error *err)
{
	return shd_fail(err, SHERD_EUNSUPPORTED, "cannot-hold",
	                "the C# layout holds less than 2 GiB, not %" PRIu64 " bytes", bytes);
}

static int check_csharp_size(const sherd_ckpt_shard_items *shard, sherd_error *err)
{
	uint64_t total = 0;
	for (size_t i = 0; i < shard->count; i++)
		if (__builtin_add_overflow(total, shd_ckpt_item_bytes(&shard->items[i]), &total) || total > INT32_MAX)
			return too_large_for_csharp(total, err);
	return SHERD_OK;
}

int shd_ckpt_items_check(const sherd_ckpt_shard_items *shards, uint32_t count, bool csharp, sherd_error *err)
{
	size_t before = 0;
	for (uint32_t r = 0; r < count; before += shards[r++].count) {
		shd_map names = {0};
		if (shards[r].count > INT32_MAX)
			return shd_fail(err, SHERD_EINVAL, "bad-argument", "%zu tensors in one shard", shards[r].count);
		int rc = check_items(&shards[r], csharp, before, &names, err);
		shd_map_done(&names);
		TRY(rc);
		if (csharp)
			TRY(check_csharp_size(&shards[r], err));
	}
	return SHERD_OK;
}

/* ---- writing */

static int ckpt_write_put(shard_writer *w, const void *bytes, size_t len, sherd_error *err)
{
	w->at += len;
	if (w->spec->dry)
		return SHERD_OK;
	if (w->spec->digest == SHERD_DIGEST_SHA256)
		shd_sha256_add(&w->sha, bytes, len);
	return sherd_writer_append(w->writer, bytes, len, err);
}

/* Bytes up to where a tensor may begin. */
static size_t gap_before(const shard_writer *w)
{
	uint64_t over = (shd_ckpt_head_size(w->spec->digest) + w->at) % SHD_CKPT_ALIGN;
	return over ? (size_t)(SHD_CKPT_ALIGN - over) : 0;
}

static int pad(shard_writer *w, sherd_error *err)
{
	static const uint8_t zeros[SHD_CKPT_ALIGN];
	size_t gap = gap_before(w);
	return gap ? ckpt_write_put(w, zeros, gap, err) : SHERD_OK;
}

/* The next bytes of an item, at most `most` of them; *crc goes on over them. */
static int put_chunk(shard_writer *w, const sherd_ckpt_item *item, uint64_t at, uint64_t most, uint32_t *crc,
                     size_t *len, sherd_error *err)
{
	const uint8_t *from = item->data ? (const uint8_t *)item->data + at : w->scratch;
	*len = most < CHUNK ? (size_t)most : CHUNK;
	if (!item->data)
		TRY(item->read(item->arg, at, w->scratch, *len, err));
	if (!w->spec->dry)
		shd_sha256_add(&w->sha, from, *len);
	*crc = shd_crc32(*crc, from, *len);
	w->at += *len;
	return w->spec->dry ? SHERD_OK : sherd_writer_append(w->writer, from, *len, err);
}

static int write_item(shard_writer *w, const sherd_ckpt_item *item, shd_ckpt_entry *e, sherd_error *err)
{
	uint64_t blocks = shd_ckpt_blocks(e->tensor.bytes);
	uint32_t *crcs = shd_arena_alloc(&w->arena, blocks + 1, sizeof(*crcs));
	if (!crcs)
		return shd_fail_nomem(err);
	if (e->tensor.bytes && !w->spec->csharp)
		TRY(pad(w, err));
	e->offset = w->at;
	e->crcs = crcs;
	memset(crcs, 0, (blocks + 1) * sizeof(*crcs));
	size_t n = 0;
	for (uint64_t at = 0; at < e->tensor.bytes; at += n) {
		uint64_t block = at / SHD_CKPT_BLOCK, end = (block + 1) * SHD_CKPT_BLOCK;
		end = end < e->tensor.bytes ? end : e->tensor.bytes;
		TRY(put_chunk(w, item, at, end - at, &crcs[block], &n, err));
		TRY(shd_meter_add(w->spec->meter, n, err));
	}
	return SHERD_OK;
}

/* All tensors by parts: first their places, which say where the parts are cut, then their bytes. */
static int write_by_parts(shard_writer *w, sherd_error *err)
{
	const ckpt_shard_spec *spec = w->spec;
	ckpt_parts_out out = {
		.items = spec->items,
		.entries = w->entries,
		.count = spec->count,
		.writer = w->writer,
		.head = shd_ckpt_head_size(spec->digest),
		.pool = spec->pool,
		.meter = spec->meter,
	};
	for (size_t i = 0; i < spec->count; i++) {
		shd_ckpt_entry *e = &w->entries[i];
		*e = entry_of(&spec->items[i]);
		w->at += e->tensor.bytes ? gap_before(w) : 0;
		e->offset = w->at;
		w->at += e->tensor.bytes;
	}
	TRY(shd_ckpt_sums_init(&w->sums, w->at, SHD_CKPT_PART_LOG, spec->count, &w->arena, err));
	for (size_t i = 0; i < spec->count; i++) {
		shd_ckpt_entry *e = &w->entries[i];
		if (!e->tensor.bytes)
			continue;
		TRY(shd_ckpt_sums_add_span(&w->sums, e->offset, e->tensor.bytes, &w->arena, err));
		e->crcs = w->sums.spans[w->sums.span_count - 1].crcs;
	}
	return shd_ckpt_write_parts(&out, &w->sums, &w->tail, err);
}

static int write_index(shard_writer *w, ckpt_written *out, sherd_error *err)
{
	const ckpt_shard_spec *spec = w->spec;
	SHD_AUTO_BUF about = {0};
	SHD_AUTO_BUF raw = {0};
	shd_ckpt_index index = {
		.set_id = spec->set_id,
		.rank = spec->rank,
		.world = spec->world,
		.time_ns = spec->time_ns,
		.entries = w->entries,
		.count = spec->count,
	};
	if (spec->digest == SHERD_DIGEST_BLAKE3) {
		index.part_log = w->sums.log;
		index.values = (const uint8_t(*)[SHD_BLAKE3_BYTES])w->sums.values;
		index.value_count = (size_t)(w->sums.size >> w->sums.log);
	}
	if (spec->about)
		shd_ckpt_about_encode(spec->about, &about);
	TRY(shd_buf_check(&about, err));
	if (about.len > UINT32_MAX)
		return shd_fail(err, SHERD_EINVAL, "bad-argument", "training and customFields are too long");
	index.about = (shd_str){(const char *)about.data, about.len};
	shd_ckpt_content(w->entries, spec->count, out->content);
	if (spec->dry)
		return SHERD_OK;
	shd_ckpt_index_encode(&index, &raw);
	shd_buf_append(&w->tail, raw.data, spec->digest == SHERD_DIGEST_BLAKE3 ? raw.len : 0);
	TRY(shd_buf_check(&raw, err));
	TRY(shd_buf_check(&w->tail, err));
	return ckpt_write_put(w, raw.data, raw.len, err);
}

/* Space for the head; what it says is filled in when it is known. */
static int ckpt_write_begin(shard_writer *w, sherd_error *err)
{
	static const uint8_t zeros[SHD_CKPT_HEAD_ROOM];
	const uint32_t head = w->spec->csharp ? SHD_CKPT_CSHARP_HEAD_SIZE : shd_ckpt_head_size(w->spec->digest);
	size_t part;
	if (w->spec->digest == SHERD_DIGEST_BLAKE3) {
		if (w->spec->dry)
			return SHERD_OK;
		TRY(sherd_writer_places(&part, w->writer, err));
		return sherd_writer_put(w->writer, 0, zeros, head, err);
	}
	w->scratch = malloc(CHUNK);
	if (!w->scratch)
		return shd_fail_nomem(err);
	shd_sha256_init(&w->sha);
	if (w->spec->dry)
		return SHERD_OK;
	return sherd_writer_append(w->writer, zeros, head, err);
}

static void finish_hash(shard_writer *w, ckpt_written *out)
{
	uint8_t hash[SHD_SHA256_BYTES];
	shd_sha256_finish(&w->sha, hash);
	shd_ckpt_digest_text(SHERD_DIGEST_SHA256, hash, out->checksum);
}

/* The parts that hold the index have no value in it. */
static int finish_parts(shard_writer *w, ckpt_written *out, sherd_error *err)
{
	const ckpt_parts all = {.size = w->at, .log = w->sums.log};
	const size_t count = shd_ckpt_parts_count(&all), most = (size_t)1 << all.log;
	size_t part = (size_t)(w->sums.size >> all.log);
	SHD_AUTO_FREE uint8_t(*values)[SHD_BLAKE3_BYTES] = calloc(count + 1, sizeof(*values));
	if (!values)
		return shd_fail_nomem(err);
	memcpy(values, w->sums.values, part * sizeof(*values));
	for (size_t at = 0; part < count; part++, at += most) {
		size_t len = w->tail.len - at < most ? w->tail.len - at : most;
		shd_ckpt_part_value(&all, part, w->tail.data + at, len, values[part]);
	}
	shd_ckpt_parts_text((const uint8_t(*)[SHD_BLAKE3_BYTES])values, count, out->checksum);
	return SHERD_OK;
}

static int finish_csharp(shard_writer *w, ckpt_written *out, sherd_error *err)
{
	uint8_t head[SHD_CKPT_CSHARP_HEAD_SIZE];
	if (w->at > INT32_MAX)
		return too_large_for_csharp(w->at, err);
	shd_ckpt_head_encode_csharp(w->spec->rank, (uint32_t)w->spec->count, (uint32_t)w->at, head);
	finish_hash(w, out);
	out->file_size = sizeof(head) + w->at;
	return sherd_writer_fill(w->writer, 0, head, sizeof(head), err);
}

static int ckpt_write_finish(shard_writer *w, ckpt_written *out, sherd_error *err)
{
	uint8_t head[SHD_CKPT_HEAD_ROOM];
	const uint32_t head_size = shd_ckpt_head_size(w->spec->digest);
	if (w->spec->csharp)
		return finish_csharp(w, out, err);
	TRY(write_index(w, out, err));
	if (w->spec->dry)
		return SHERD_OK;
	if (w->spec->digest == SHERD_DIGEST_BLAKE3)
		TRY(finish_parts(w, out, err));
	else
		finish_hash(w, out);
	shd_ckpt_head_encode(w->spec->rank, (uint32_t)w->spec->count, w->at, out->checksum, head);
	out->file_size = head_size + w->at;
	return sherd_writer_fill(w->writer, 0, head, head_size, err);
}

static int ckpt_write_write_all(shard_writer *w, ckpt_written *out, sherd_error *err)
{
	const ckpt_shard_spec *spec = w->spec;
	w->entries = shd_arena_alloc(&w->arena, spec->count + 1, sizeof(*w->entries));
	if (!w->entries)
		return shd_fail_nomem(err);
	TRY(ckpt_write_begin(w, err));
	if (spec->digest == SHERD_DIGEST_BLAKE3)
		TRY(write_by_parts(w, err));
	for (size_t i = 0; i < spec->count && spec->digest == SHERD_DIGEST_SHA256; i++) {
		w->entries[i] = entry_of(&spec->items[i]);
		TRY(write_item(w, &spec->items[i], &w->entries[i], err));
	}
	return ckpt_write_finish(w, out, err);
}

static uint64_t expected_size(const ckpt_shard_spec *spec)
{
	uint64_t size = shd_ckpt_head_size(spec->digest);
	for (size_t i = 0; i < spec->count; i++)
		size += shd_ckpt_item_bytes(&spec->items[i]) + SHD_CKPT_ALIGN;
	return size;
}

/* The metadata of the set that this one replaces, if there is one: who may read that may read this. */
static int name_replaced(const char *key, shd_buf *out, sherd_error *err)
{
	SHD_AUTO_BUF prefix = {0};
	shd_ckpt_name name = shd_ckpt_name_parse(key);
	if (name.kind != SHD_CKPT_NAME_SHARD)
		return SHERD_OK;
	shd_buf_append(&prefix, name.prefix.ptr, name.prefix.len);
	shd_buf_u8(&prefix, 0);
	TRY(shd_buf_check(&prefix, err));
	shd_ckpt_name_metadata(out, (const char *)prefix.data);
	return shd_buf_check(out, err);
}

int shd_ckpt_write_shard(sherd_store *store, const ckpt_shard_spec *spec, ckpt_written *out, sherd_error *err)
{
	SHD_AUTO(sherd_writer, sherd_writer_abort) writer = NULL;
	SHD_AUTO_BUF like = {0};
	sherd_write_options options = {.mode = spec->replaces ? SHERD_WRITE_REPLACE : SHERD_WRITE_NEW,
	                               .if_identity = spec->replaces,
	                               .head = shd_ckpt_head_size(spec->digest),
	                               .size_hint = expected_size(spec),
	                               .identity = out->part.identity};
	out->part = (shd_part){0};
	TRY(name_replaced(spec->key, &like, err));
	options.like = like.data ? (const char *)like.data : NULL;
	if (!spec->dry)
		TRY(sherd_store_write(&writer, store, spec->key, &options, err));
	shard_writer w = {.spec = spec, .writer = writer};
	int rc = ckpt_write_write_all(&w, out, err);
	free(w.scratch);
	shd_buf_done(&w.tail);
	shd_arena_done(&w.arena);
	if (rc == SHERD_OK && spec->wanted && strcmp(out->checksum, spec->wanted) != 0)
		rc = shd_fail(err, SHERD_ECORRUPT, "bad-checksum",
		              "the shard is damaged, and what would take its place is not what was committed");
	TRY(shd_in_object(err, rc, spec->key));
	if (spec->dry)
		return SHERD_OK;
	rc = sherd_writer_commit(TAKE(writer), err);
	shd_part_written(&out->part, rc);
	return rc;
}
