/* engine/model/salvage.c - what can be had of a damaged container, by the names in its indexes. */
#include "base/meter.h"
#include "engine/tensors/bundle.h"
#include "engine/model/container.h"
#include "engine/model/container_set.h"
#include "engine/tensors/report.h"
#include "format/container/pairs.h"

#include <sherd/model.h>

#include <stdlib.h>

SHD_AUTO_DEFINE(sherd_report, sherd_report_close)

typedef struct salvaged {
	sherd_bundle base;
	size_t file_count;
	container_file **files;
	const container_record **records; /* by tensor */
} salvaged;

static int salvage_read_tensor(const sherd_bundle *b, size_t index, uint64_t offset, void *buf, size_t len,
                               sherd_error *err)
{
	return shd_container_read(((const salvaged *)b)->records[index], offset, buf, len, NULL, NULL, err);
}

static void close_files(sherd_bundle *b)
{
	salvaged *s = (salvaged *)b;
	for (size_t i = 0; i < s->file_count; i++)
		shd_container_file_close(s->files[i]);
	free(s->files);
}

static const shd_bundle_ops ops = {.read = salvage_read_tensor, .close = close_files};

typedef struct told {
	const char *name;
	uint32_t shard;
	const char *key; /* of the file that says so */
} told;

/* A rescue under way. */
typedef struct rescue {
	salvaged *s;
	sherd_store *store;
	const sherd_limits *limits;
	sherd_report *lost;
	shd_map names;                     /* of what was found */
	SHD_VEC(container_record *) found; /* in the arena */
	SHD_VEC(told) missing;             /* what shard 0 says lies elsewhere */
	shd_meter meter;
	sherd_error *err;
} rescue;

static int lose(rescue *r, int rc, const sherd_error *failure, const char *key)
{
	return shd_report_take(r->lost, rc, failure, key, r->err);
}

/* ---- files */

static int add_file(rescue *r, const char *key)
{
	sherd_error failure = {0};
	container_file *f;
	int rc = shd_container_file_rescue(&f, r->store, key, r->limits, &failure);
	if (rc < 0)
		return lose(r, rc, &failure, key);
	r->s->files[r->s->file_count++] = f;
	if (f->walked)
		(void)shd_fail(&failure, SHERD_ECORRUPT, "bad-header", "the HEADER is damaged: sections were searched");
	return f->walked ? lose(r, SHERD_ECORRUPT, &failure, key) : SHERD_OK;
}

/* Shards of one set: that of the shard 0 which is opened, of the shard that was named, or of the first. */
static int keep_one_set(rescue *r, const char *first)
{
	salvaged *s = r->s;
	const uint8_t *set = NULL;
	size_t kept = 0;
	for (size_t i = 0; i < s->file_count; i++) {
		const container_file *f = s->files[i];
		bool wanted = f && first && strcmp(sherd_reader_key(f->reader), first) == 0;
		if (f && !f->walked && (wanted || !set))
			set = f->head.set;
	}
	for (size_t i = 0; i < s->file_count; i++) {
		container_file *f = s->files[i];
		sherd_error failure = {0};
		if (!f || f->walked || !set || memcmp(f->head.set, set, SHD_CONTAINER_SET_BYTES) == 0) {
			s->files[kept++] = f;
			continue;
		}
		(void)shd_fail(&failure, SHERD_ECORRUPT, "other-set", "a shard of another set: left alone");
		int rc = lose(r, SHERD_ECORRUPT, &failure, sherd_reader_key(f->reader));
		if (rc < 0) { /* what is left is still ours to close */
			while (i < s->file_count)
				s->files[kept++] = s->files[i++];
			s->file_count = kept;
			return rc;
		}
		shd_container_file_close(f);
	}
	s->file_count = kept;
	return SHERD_OK;
}

/* Tells of shards that are not there: without shard 0 nobody else knows what they had. */
static int count_shards(rescue *r, const char *base)
{
	shd_container_shards info = {0};
	sherd_error failure = {0};
	for (size_t i = 0; i < r->s->file_count && !info.count; i++) {
		int rc = shd_container_file_shards(r->s->files[i], &r->s->base.arena, &info, &failure);
		if (rc == SHERD_ENOMEM || rc == SHERD_EIO)
			return lose(r, rc, &failure, base);
	}
	if (r->s->file_count >= info.count)
		return SHERD_OK;
	(void)shd_fail(&failure, SHERD_ECORRUPT, "missing-shards", "%zu of %u shards can be read", r->s->file_count,
	               info.count);
	failure.object[0] = 0;
	return lose(r, SHERD_ECORRUPT, &failure, base);
}

static int gather_set(rescue *r, const char *base, const char *named)
{
	shd_arena *arena = &r->s->base.arena;
	container_listing list;
	const char *first = named;
	TRY(shd_container_list(r->store, base, arena, &list, r->err));
	if (!list.count)
		return shd_fail(r->err, SHERD_ENOTFOUND, "not-found", "no container and no shard of one is there");
	r->s->files = calloc(list.count, sizeof(container_file *));
	if (!r->s->files)
		return shd_fail_nomem(r->err);
	int rc = named ? SHERD_OK : shd_container_find_set(r->store, base, arena, &first, r->err);
	if (rc == SHERD_ENOMEM || rc == SHERD_EIO)
		return rc;
	for (size_t i = 0; i < list.count; i++)
		TRY(add_file(r, list.files[i].key));
	TRY(keep_one_set(r, first));
	return count_shards(r, base);
}

static int gather_files(rescue *r, const char *key)
{
	shd_arena *arena = &r->s->base.arena;
	shd_container_name name;
	sherd_stat stat;
	sherd_error failure = {0};
	const char *base;
	int rc = sherd_store_stat(&stat, r->store, key, &failure);
	if (rc == SHERD_OK && shd_container_name_parse(key, &name)) {
		base = shd_arena_str(arena, (shd_str){key, name.base});
		return base ? gather_set(r, base, key) : shd_fail_nomem(r->err);
	}
	if (rc == SHERD_ENOTFOUND) {
		TRY(shd_container_base(r->store, key, arena, &base, r->err));
		return gather_set(r, base, NULL);
	}
	if (rc < 0) {
		if (r->err)
			*r->err = failure;
		return rc;
	}
	r->s->files = calloc(1, sizeof(container_file *));
	return r->s->files ? add_file(r, key) : shd_fail_nomem(r->err);
}

/* ---- arrays */

/* All chunks are there, and what their CRCs say. */
static int check_chunks(rescue *r, const container_record *record, sherd_error *failure)
{
	TRY(shd_container_file_check(record->file, &record->array, failure));
	for (uint32_t i = 0; i < record->array.chunk_count; i++) {
		SHD_AUTO_FREE void *room = malloc(record->array.chunks[i].raw);
		if (!room)
			return shd_fail_nomem(failure);
		TRY(shd_container_read_chunk(record, i, room, failure));
		TRY(shd_meter_add(&r->meter, record->array.chunks[i].stored, failure));
	}
	return SHERD_OK;
}

static int add_array(rescue *r, container_record *record, sherd_error *failure)
{
	const shd_container_array *a = &record->array;
	const char *key = sherd_reader_key(record->file->reader);
	bool ok = true;
	if (a->tensor.bytes && !a->chunk_count) {
		told t = {a->tensor.name, a->shard, key};
		shd_vec_push(&r->missing, t);
		return shd_vec_check(&r->missing, failure);
	}
	if (shd_map_find(&r->names, shd_str_of(a->tensor.name)) != SHD_MAP_NONE)
		return SHERD_OK; /* an empty one, which two shards tell of */
	TRY(check_chunks(r, record, failure));
	(void)shd_map_add(&r->names, shd_str_of(a->tensor.name), 0, &ok);
	shd_vec_push(&r->found, record);
	return ok ? shd_vec_check(&r->found, failure) : shd_fail_nomem(failure);
}

static int take_record(rescue *r, const container_file *f, const uint8_t *index, uint64_t i, sherd_error *failure)
{
	shd_arena *arena = &r->s->base.arena;
	uint64_t at = SHD_CONTAINER_INDEX_HEAD + i * SHD_CONTAINER_ENTRY;
	container_record *record = shd_arena_alloc(arena, 1, sizeof(*record));
	shd_container_entry e;
	if (!record)
		return shd_fail_nomem(failure);
	*record = (container_record){.file = f};
	int rc = shd_container_entry_decode(index + at, i, f->arrays, f->index.stored, &e, failure);
	if (rc >= 0)
		rc = shd_container_record_decode(&e, index + e.offset, &f->limits, arena, &record->array, failure);
	if (rc < 0)
		return shd_shift_offset(failure, rc, shd_section_payload(&f->index));
	return add_array(r, record, failure);
}

/* Each record has its own CRC, so that one that is damaged does not matter to the others. */
static int take_arrays(rescue *r, const container_file *f)
{
	const char *key = sherd_reader_key(f->reader);
	if (f->index.stored > f->limits.metadata_bytes)
		return shd_fail(r->err, SHERD_ELIMIT, "too-large", "an index of %llu bytes",
		                (unsigned long long)f->index.stored);
	SHD_AUTO_FREE void *room = malloc((size_t)f->index.stored);
	if (!room)
		return shd_fail_nomem(r->err);
	TRY(sherd_reader_at(f->reader, shd_section_payload(&f->index), room, (size_t)f->index.stored, r->err));
	for (uint64_t i = 0; i < f->arrays; i++) {
		sherd_error failure = {0};
		TRY(lose(r, take_record(r, f, room, i, &failure), &failure, key));
	}
	return SHERD_OK;
}

/* What shard 0 tells of and nobody has. */
static int report_missing(rescue *r)
{
	const told *list = r->missing.items;
	for (size_t i = 0; i < r->missing.count; i++) {
		sherd_error failure = {0};
		if (shd_map_find(&r->names, shd_str_of(list[i].name)) != SHD_MAP_NONE)
			continue;
		(void)shd_fail(&failure, SHERD_ECORRUPT, "missing-shard",
		               "%.128s is in shard %u, which does not give it", list[i].name, list[i].shard);
		TRY(lose(r, SHERD_ECORRUPT, &failure, list[i].key));
	}
	return SHERD_OK;
}

/* ---- the rest */

static int salvage_take_pairs(rescue *r, const container_file *f)
{
	sherd_bundle *b = &r->s->base;
	const shd_container_section *s = shd_container_find_section(&f->head, SHD_SECTION_METADATA);
	sherd_error failure = {0};
	SHD_AUTO_FREE uint8_t *bytes = NULL;
	size_t len;
	if (!s || b->pairs)
		return SHERD_OK;
	int rc = shd_container_file_section(f, s, &bytes, &len, &failure);
	if (rc == SHERD_OK)
		rc = shd_container_pairs_decode(bytes, len, &b->arena, &b->pairs, &b->pair_count, &failure);
	return lose(r, rc, &failure, sherd_reader_key(f->reader));
}

static int salvage_describe(rescue *r)
{
	salvaged *s = r->s;
	size_t count = r->found.count;
	sherd_tensor *tensors = shd_arena_alloc(&s->base.arena, count + 1, sizeof(*tensors));
	s->records = shd_arena_alloc(&s->base.arena, count + 1, sizeof(*s->records));
	if (!tensors || !s->records)
		return shd_fail_nomem(r->err);
	for (size_t i = 0; i < count; i++) {
		s->records[i] = r->found.items[i];
		tensors[i] = s->records[i]->array.tensor;
	}
	s->base.tensors = tensors;
	s->base.count = count;
	return shd_bundle_finish(&s->base, r->err);
}

static int rescue_all(rescue *r, const char *key)
{
	TRY(gather_files(r, key));
	for (size_t i = 0; i < r->s->file_count; i++) {
		TRY(take_arrays(r, r->s->files[i]));
		TRY(salvage_take_pairs(r, r->s->files[i]));
	}
	TRY(report_missing(r));
	return salvage_describe(r);
}

int sherd_bundle_salvage(sherd_bundle **out, sherd_report **lost, sherd_store *store, const char *key,
                         const sherd_bundle_options *options, sherd_error *err)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	SHD_AUTO(sherd_report, sherd_report_close) report = NULL;
	TRY(shd_report_new(&report, err));
	TRY(shd_bundle_new(&b, sizeof(salvaged), &ops, SHERD_FORMAT_SAMEDIFF_CONTAINER, err));
	rescue r = {.s = (salvaged *)b, .store = store, .lost = report, .err = err};
	r.limits = options ? options->limits : NULL;
	b->store = store;
	shd_meter_init(&r.meter, options ? options->progress : NULL, 0);
	int rc = shd_in_object(err, rescue_all(&r, key), key);
	shd_meter_done(&r.meter);
	shd_map_done(&r.names);
	shd_vec_done(&r.found);
	shd_vec_done(&r.missing);
	TRY(rc);
	*out = TAKE(b);
	*lost = TAKE(report);
	return SHERD_OK;
}
