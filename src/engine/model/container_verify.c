#include "engine/model/container_verify.h"

#include "base/cursor.h"
#include "base/meter.h"
#include "base/pool.h"
#include "codec/crc32.h"
#include "engine/model/container_claim.h"
#include "engine/model/container_set.h"

#include <stdlib.h>

enum { PIECE = 256 << 10 };

typedef struct placed {
	uint64_t offset;
	size_t record;
	uint32_t chunk;
} placed;

typedef struct found {
	size_t index;
	int rc;
	sherd_error error;
} found;

/* A file being checked. */
typedef struct check {
	sherd_report *report;
	const container_file *f;
	const char *key;
	uint32_t shard;
	shd_meter *meter;
	shd_arena arena; /* of records */
	SHD_VEC(container_record) records;
	SHD_VEC(placed) chunks;
	pthread_mutex_t lock;
	SHD_VEC(found) damage;
	sherd_error *err;
} check;

static int container_verify_take(check *c, int rc, const sherd_error *failure)
{
	return shd_report_take(c->report, rc, failure, c->key, c->err);
}

/* ---- sections */

static int container_verify_check_head(const container_file *f, const shd_container_section *s, sherd_error *err)
{
	uint8_t head[SHD_SECTION_HEAD];
	TRY(sherd_reader_at(f->reader, s->offset, head, sizeof(head), err));
	return shd_shift_offset(err, shd_section_head_check(s, head, err), s->offset);
}

static int check_crc(check *c, const shd_container_section *s, sherd_error *err)
{
	uint64_t end = shd_section_end(s) - SHD_SECTION_CRC;
	uint8_t tail[SHD_SECTION_CRC];
	uint32_t crc = 0;
	SHD_AUTO_FREE void *room = malloc(PIECE);
	if (!room)
		return shd_fail_nomem(err);
	for (uint64_t at = s->offset; at < end;) {
		size_t n = end - at < PIECE ? (size_t)(end - at) : PIECE;
		TRY(sherd_reader_at(c->f->reader, at, room, n, err));
		crc = shd_crc32(crc, room, n);
		at += n;
		TRY(shd_meter_add(c->meter, n, err));
	}
	TRY(sherd_reader_at(c->f->reader, end, tail, sizeof(tail), err));
	if (crc != s->crc || crc != shd_get_u32(tail))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-crc", s->offset, "%s (type %u) is damaged",
		                   shd_section_name(s->type), s->type);
	return SHERD_OK;
}

/* A section without a CRC, or of a type that is not known, is held against the digest all the same. */
static int check_value(check *c, const shd_container_section *s, sherd_error *err)
{
	SHD_AUTO_FREE uint8_t *room = malloc(PIECE);
	SHD_AUTO_VEC SHD_VEC(shd_digest_value) parts = {0};
	shd_digest_value value;
	if (!room)
		return shd_fail_nomem(err);
	shd_blake3_of("", 0, value.bytes);
	for (uint64_t at = 0; at < s->stored; at += PIECE) {
		size_t n = s->stored - at < PIECE ? (size_t)(s->stored - at) : PIECE;
		TRY(sherd_reader_at(c->f->reader, shd_section_payload(s) + at, room, n, err));
		if (s->stored <= PIECE)
			shd_blake3_of(room, n, value.bytes);
		else
			shd_blake3_part(room, n, at, value.bytes);
		shd_vec_push(&parts, value);
	}
	TRY(shd_vec_check(&parts, err));
	if (parts.count > 1)
		shd_blake3_root((const uint8_t(*)[SHD_BLAKE3_BYTES])parts.items, parts.count, value.bytes);
	return shd_container_file_hold(c->f, s, value.bytes, err);
}

static int check_sections(check *c, bool quick)
{
	for (uint32_t i = 0; i < c->f->head.count; i++) {
		const shd_container_section *s = &c->f->head.sections[i];
		sherd_error failure = {0};
		int rc = container_verify_check_head(c->f, s, &failure);
		if (rc == SHERD_OK && !quick && s->flags & SHD_SECTION_HAS_CRC)
			rc = check_crc(c, s, &failure);
		if (rc == SHERD_OK && !quick && c->f->table && shd_container_digests_has(s))
			rc = check_value(c, s, &failure);
		TRY(container_verify_take(c, rc, &failure));
	}
	return SHERD_OK;
}

/* ---- the index */

static int check_record(const check *c, const shd_container_array *a, sherd_error *err)
{
	bool here = a->shard == c->shard;
	if (!here && (c->shard || a->chunk_count))
		return shd_fail(err, SHERD_ECORRUPT, "bad-rank", "%.128s belongs to shard %u", a->tensor.name,
		                a->shard);
	if (here && a->tensor.bytes && !a->chunk_count)
		return shd_fail(err, SHERD_ECORRUPT, "no-data", "%.128s has no chunks", a->tensor.name);
	return shd_container_file_check(c->f, a, err);
}

static int add_record(check *c, const shd_container_entry *e, const uint8_t *raw, sherd_error *err)
{
	container_record r = {.file = c->f};
	size_t index = c->records.count;
	TRY(shd_container_record_decode(e, raw, &c->f->limits, &c->arena, &r.array, err));
	/* Offsets count from the index here. */
	TRY(shd_shift_offset(err, shd_container_file_bind(c->f, index, e, raw, &c->arena, &r, err),
	                     -shd_section_payload(&c->f->index)));
	TRY(check_record(c, &r.array, err));
	shd_vec_push(&c->records, r);
	for (uint32_t i = 0; i < r.array.chunk_count; i++) {
		placed p = {.offset = r.array.chunks[i].offset, .record = index, .chunk = i};
		shd_vec_push(&c->chunks, p);
	}
	TRY(shd_vec_check(&c->records, err));
	return shd_vec_check(&c->chunks, err);
}

static const char *container_verify_name_of(const check *c, uint64_t record)
{
	return c->records.items[record].array.tensor.name;
}

/* Does the entry come after the one before, if there is one? */
static int check_order(const shd_container_entry *before, const char *last, const shd_container_entry *e,
                       const char *name, uint64_t at, sherd_error *err)
{
	int order = before ? memcmp(before->hash, e->hash, sizeof(e->hash)) : -1;
	order = order ? order : strcmp(last, name);
	if (order == 0)
		return shd_fail_at(err, SHERD_ECORRUPT, "duplicate-name", at, "the index has %.128s twice", name);
	if (order > 0)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-index", at, "entries of the index are not sorted");
	return SHERD_OK;
}

/* Entries are sorted, and records lie one after the other to the end. */
static int container_verify_check_entries(check *c, const uint8_t *index, size_t len, sherd_error *err)
{
	uint64_t end = SHD_CONTAINER_INDEX_HEAD + c->f->arrays * SHD_CONTAINER_ENTRY;
	shd_container_entry before = {0}, e;
	const char *last = ""; /* in the arena: records move when one is added */
	for (uint64_t i = 0; i < c->f->arrays; i++, before = e) {
		uint64_t at = SHD_CONTAINER_INDEX_HEAD + i * SHD_CONTAINER_ENTRY;
		TRY(shd_container_entry_decode(index + at, i, c->f->arrays, len, &e, err));
		if (e.offset != end)
			return shd_fail_at(err, SHERD_ECORRUPT, "bad-index", at, "records do not follow each other");
		TRY(add_record(c, &e, index + e.offset, err));
		TRY(check_order(i ? &before : NULL, last, &e, container_verify_name_of(c, i), at, err));
		last = container_verify_name_of(c, i);
		end += e.length;
	}
	if (end != len)
		return shd_fail_at(err, SHERD_ECORRUPT, "trailing-bytes", end, "bytes after the last record");
	return SHERD_OK;
}

static int container_verify_check_index(check *c, sherd_error *err)
{
	SHD_AUTO_FREE uint8_t *index = NULL;
	size_t len;
	TRY(shd_container_file_section(c->f, &c->f->index, &index, &len, err));
	return shd_shift_offset(err, container_verify_check_entries(c, index, len, err),
	                        shd_section_payload(&c->f->index));
}

/* ---- data */

static const container_record *record_of(const check *c, const placed *p)
{
	return c->records.items + p->record;
}

static const shd_container_chunk *chunk_of(const check *c, const placed *p)
{
	return &record_of(c, p)->array.chunks[p->chunk];
}

static int keep_damage(check *c, size_t index, int rc, const sherd_error *failure, sherd_error *err)
{
	found f = {.index = index, .rc = rc, .error = *failure};
	(void)pthread_mutex_lock(&c->lock);
	shd_vec_push(&c->damage, f);
	int kept = shd_vec_check(&c->damage, err);
	(void)pthread_mutex_unlock(&c->lock);
	return kept;
}

static int check_chunk(void *arg, size_t index, sherd_error *err)
{
	check *c = arg;
	const placed *p = c->chunks.items + index;
	sherd_error failure = {0};
	SHD_AUTO_FREE void *room = malloc(chunk_of(c, p)->raw);
	if (!room)
		return shd_fail_nomem(err);
	int rc = shd_container_read_chunk(record_of(c, p), p->chunk, room, &failure);
	if (rc == SHERD_ECORRUPT)
		return keep_damage(c, index, rc, &failure, err);
	if (rc < 0)
		return shd_pass(err, rc, &failure);
	return shd_meter_add(c->meter, chunk_of(c, p)->stored, err);
}

static int by_index(const void *left, const void *right)
{
	const found *a = left, *b = right;
	return a->index < b->index ? -1 : a->index > b->index;
}

static int check_chunks(check *c, sherd_pool *pool)
{
	size_t count = c->chunks.count;
	TRY(shd_pool_run(pool, count, check_chunk, c, c->err));
	found *list = c->damage.items;
	size_t damaged = c->damage.count;
	if (damaged)
		qsort(list, damaged, sizeof(*list), by_index);
	for (size_t i = 0; i < damaged; i++)
		TRY(container_verify_take(c, list[i].rc, &list[i].error));
	return SHERD_OK;
}

static int container_verify_by_offset(const void *left, const void *right)
{
	const placed *a = left, *b = right;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static int check_zeros(check *c, uint64_t from, uint64_t to, sherd_error *err)
{
	uint8_t raw[4096];
	while (from < to) {
		size_t n = to - from < sizeof(raw) ? (size_t)(to - from) : sizeof(raw);
		TRY(sherd_reader_at(c->f->reader, from, raw, n, err));
		for (size_t i = 0; i < n; i++)
			if (raw[i])
				return shd_fail_at(err, SHERD_ECORRUPT, "bad-padding", from + i,
				                   "ARRAYS: a byte between chunks is not zero");
		from += n;
	}
	return SHERD_OK;
}

/* What lies between the chunks of one section. */
static int check_gaps(check *c, const shd_container_section *s, const placed **next, const placed *end,
                      sherd_error *err)
{
	uint64_t at = shd_section_payload(s);
	for (; *next < end && (*next)->offset < shd_section_end(s); ++*next) {
		const shd_container_chunk *chunk = chunk_of(c, *next);
		if (chunk->offset < at)
			return shd_fail_at(err, SHERD_ECORRUPT, "overlap", chunk->offset,
			                   "chunk %u of %.128s lies over another one", (*next)->chunk,
			                   record_of(c, *next)->array.tensor.name);
		TRY(check_zeros(c, at, chunk->offset, err));
		at = chunk->offset + chunk->stored;
	}
	return check_zeros(c, at, shd_section_payload(s) + s->stored, err);
}

static int check_padding(check *c, sherd_error *err)
{
	placed *list = c->chunks.items;
	size_t count = c->chunks.count;
	const placed *next = list, *end = count ? list + count : list;
	if (count)
		qsort(list, count, sizeof(*list), container_verify_by_offset);
	for (uint32_t i = 0; i < c->f->head.count; i++) {
		const shd_container_section *s = &c->f->head.sections[i];
		if (s->type == SHD_SECTION_ARRAYS && s->offset != c->f->index.offset)
			TRY(check_gaps(c, s, &next, end, err));
	}
	return SHERD_OK;
}

static int container_verify_check_data(check *c, sherd_pool *pool)
{
	sherd_error failure = {0};
	int rc = container_verify_check_index(c, &failure);
	TRY(container_verify_take(c, rc, &failure));
	if (rc < 0) /* then nobody knows where chunks lie */
		return SHERD_OK;
	TRY(container_verify_take(c, check_padding(c, &failure), &failure));
	return check_chunks(c, pool);
}

int shd_container_verify_file(sherd_report *r, const container_file *f, uint32_t shard, const sherd_verify_options *o,
                              sherd_error *err)
{
	shd_meter meter;
	check c = {
		.report = r, .f = f, .key = sherd_reader_key(f->reader), .shard = shard, .meter = &meter, .err = err};
	shd_meter_init(&meter, o->progress, f->head.file_size);
	(void)pthread_mutex_init(&c.lock, NULL);
	int rc = check_sections(&c, o->quick);
	if (rc == SHERD_OK && !o->quick)
		rc = container_verify_check_data(&c, o->pool);
	r->checked += o->quick ? SHD_CONTAINER_FRONT + f->head.count * SHD_SECTION_HEAD : f->head.file_size;
	(void)pthread_mutex_destroy(&c.lock);
	shd_meter_done(&meter);
	shd_arena_done(&c.arena);
	shd_vec_done(&c.records);
	shd_vec_done(&c.chunks);
	shd_vec_done(&c.damage);
	return rc;
}

/* ---- the whole */

static int check_arrays(const shd_container_model *m, sherd_error *err)
{
	for (size_t i = 0; i < m->base.array_count; i++) {
		const container_record *r;
		TRY(shd_container_model_record(m, i, &r, err));
	}
	return SHERD_OK;
}

/* ---- what lies beside a set */

static int warn_of_strays(sherd_report *r, const shd_container_model *m, const char *base,
                          const container_listing *list, sherd_error *err)
{
	for (size_t i = 0; i < list->count; i++) {
		bool ours = false;
		if (m->prefix)
			TRY(shd_container_is_of_set(base, &m->shards, &list->files[i], &ours, err));
		if (!ours)
			TRY(shd_report_warn(r, list->files[i].key, "stray-shard", err, "not of the set of %.128s",
			                    sherd_reader_key(m->file->reader)));
	}
	return SHERD_OK;
}

static int stat_of(const shd_container_model *m, const char *key, bool *there, sherd_stat *stat, sherd_error *err)
{
	sherd_error failure = {0};
	int rc = sherd_store_stat(stat, m->store, key, &failure);
	*there = rc == SHERD_OK;
	if (rc != SHERD_ENOMEM && rc != SHERD_EIO)
		return SHERD_OK;
	return shd_pass(err, rc, &failure);
}

static int warn_of_claim(sherd_report *r, const shd_container_model *m, sherd_error *err)
{
	SHD_AUTO_BUF claim = {0};
	sherd_stat stat;
	bool there;
	if (!m->prefix)
		return SHERD_OK;
	shd_container_claim_name(&claim, m->prefix);
	TRY(shd_buf_check(&claim, err));
	const char *key = (const char *)claim.data;
	TRY(stat_of(m, key, &there, &stat, err));
	return there ? shd_report_warn(r, key, "claimed", err, "a save is going on, or died") : SHERD_OK;
}

/* A set that was replaced meanwhile is checked as it was opened; what lies beside it now is not its. */
static int check_listed(sherd_report *r, const shd_container_model *m, shd_arena *arena, sherd_error *err)
{
	const sherd_reader *reader = m->file->reader;
	const char *base = m->prefix ? m->prefix : sherd_reader_key(reader);
	container_listing list;
	sherd_stat stat;
	bool there;
	TRY(shd_container_list(m->store, base, arena, &list, err));
	TRY(stat_of(m, sherd_reader_key(reader), &there, &stat, err));
	if (!there || strcmp(stat.identity, sherd_reader_identity(reader)) != 0)
		return SHERD_OK;
	TRY(warn_of_claim(r, m, err));
	return warn_of_strays(r, m, base, &list, err);
}

static int check_beside(sherd_report *r, const shd_container_model *m, sherd_error *err)
{
	SHD_DONE(shd_arena_done) shd_arena arena = {0};
	return check_listed(r, m, &arena, err);
}

int shd_container_verify_model(sherd_report *r, const shd_container_model *m, const sherd_verify_options *o,
                               sherd_error *err)
{
	const char *key = sherd_reader_key(m->file->reader);
	sherd_error failure = {0};
	size_t before = sherd_report_errors(r);
	TRY(shd_container_verify_file(r, m->file, 0, o, err));
	for (uint32_t i = 1; i < m->shards.count; i++) {
		const container_file *f;
		int rc = shd_container_model_shard(m, i, &f, &failure);
		TRY(shd_report_take(r, rc, &failure, key, err));
		if (rc == SHERD_OK)
			TRY(shd_container_verify_file(r, f, i, o, err));
	}
	TRY(check_beside(r, m, err));
	if (o->quick || sherd_report_errors(r) > before)
		return SHERD_OK;
	return shd_report_take(r, check_arrays(m, &failure), &failure, key, err);
}
