/* format/rfdb/run_build.c - a run out of the segments that it covers.
 *
 * Each table is sorted by hash in buckets by the first bits of that. A first pass over the rows counts the entries of
 * every bucket; then, as many buckets at a time as memory is to take, a pass puts their entries in place, and they are
 * sorted and written. So memory does not grow with the rows, nothing is written twice, and all workers are busy. */
#include "base/large.h"
#include "base/pool.h"
#include "codec/crc32.h"
#include "format/rfdb/run_layout.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>

/* A bucket has the entries whose hashes begin with its 16 bits. An entry is 32 bits of the hash after these, and the
 * row. */
enum { RUN_BUCKETS = 1 << 16 };
#define RUN_MEMORY ((uint64_t)192 << 20)

/* Rows that a worker goes over at a time. */
enum { RUN_STRETCH = 1 << 16 };

typedef struct stretch {
	size_t part;
	uint64_t from, to;
} stretch;

typedef struct run_building {
	const shd_rfdb_run_plan *plan;
	shd_rfdb_table_run run; /* its head and members; no data */
	SHD_VEC(stretch) stretches;
	shd_rfdb_run_sink *sink;
	void *arg;
	bool twice[2]; /* by kind: an id (source) is in two members */

	/* Of the table at hand. */
	shd_rfdb_run_table table;
	_Atomic uint32_t *counts;  /* entries of each bucket */
	_Atomic uint64_t *cursors; /* where the next one of a bucket goes, of those in memory */
	uint64_t *entries;
	uint64_t low, high; /* buckets in memory */
	uint32_t *fences;
	uint8_t page[SHD_RFDB_RUN_PAGE];
	unsigned filled; /* entries of the page */
	uint64_t pages;  /* that are done */
	struct {
		uint64_t hash; /* its upper 48 bits */
		uint32_t rows[8];
		unsigned count;
	} alike; /* the last entries, with one hash */
} run_building;

static uint64_t run_text_hash(const run_building *b, const shd_rfdb_segment *s, shd_rfdb_column column, uint64_t row)
{
	shd_str text = {"", 0};
	/* A text that is not there cannot be asked for. */
	(void)shd_rfdb_segment_text(s, column, row, &text);
	return shd_rfdb_run_hash_text(b->run.seed, text);
}

/* The hash of the entry that a row gives; false when it gives none. */
static inline bool run_hash(const run_building *b, const shd_rfdb_segment *s, uint64_t row, uint64_t *hash)
{
	switch (b->table) {
	case SHD_RFDB_RUN_SOURCES:
		if (row && memcmp(s->ids + 16 * row, s->ids + 16 * row - 16, 16) == 0)
			return false;
		*hash = shd_rfdb_run_hash_id(b->run.seed, shd_rfdb_segment_id(s, row));
		return true;
	case SHD_RFDB_RUN_IDS: *hash = shd_rfdb_run_hash_id(b->run.seed, shd_rfdb_segment_id(s, row)); return true;
	case SHD_RFDB_RUN_DESTINATIONS:
		*hash = shd_rfdb_run_hash_id(b->run.seed, shd_rfdb_segment_dst(s, row));
		return true;
	case SHD_RFDB_RUN_NAMES: *hash = run_text_hash(b, s, SHD_RFDB_NAME, row); return true;
	default: *hash = run_text_hash(b, s, SHD_RFDB_FILE, row); return true;
	}
}

static bool run_has_rows(const run_building *b, const stretch *at)
{
	return b->plan->parts[at->part].rows->kind == shd_rfdb_run_kind(b->table);
}

static int run_count_some(void *arg, size_t index, sherd_error *err)
{
	run_building *b = arg;
	const stretch *at = &b->stretches.items[index];
	const shd_rfdb_segment *s = b->plan->parts[at->part].rows;
	uint64_t hash;
	(void)err;
	for (uint64_t row = at->from; row < at->to && run_has_rows(b, at); row++)
		if (run_hash(b, s, row, &hash))
			atomic_fetch_add_explicit(&b->counts[hash >> 48], 1, memory_order_relaxed);
	return SHERD_OK;
}

static int run_place_some(void *arg, size_t index, sherd_error *err)
{
	run_building *b = arg;
	const stretch *at = &b->stretches.items[index];
	const shd_rfdb_segment *s = b->plan->parts[at->part].rows;
	uint64_t first = b->run.members[at->part].first, hash;
	(void)err;
	for (uint64_t row = at->from; row < at->to && run_has_rows(b, at); row++) {
		if (!run_hash(b, s, row, &hash) || hash >> 48 < b->low || hash >> 48 >= b->high)
			continue;
		uint64_t slot = atomic_fetch_add_explicit(&b->cursors[(hash >> 48) - b->low], 1, memory_order_relaxed);
		b->entries[slot] = (uint64_t)(uint32_t)(hash >> 16) << 32 | (first + row);
	}
	return SHERD_OK;
}

/* ---- sorting a bucket */

static int run_compare(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;
	return *a < *b ? -1 : *a > *b;
}

/* By the upper half, three times eleven bits; copy has as much room. Ends in copy. */
static void run_radix(uint64_t *list, uint64_t *copy, size_t count)
{
	enum { BITS = 11, SIZE = 1 << BITS };
	for (unsigned shift = 32; shift < 64; shift += BITS) {
		uint32_t ends[SIZE + 1] = {0};
		for (size_t i = 0; i < count; i++)
			ends[(list[i] >> shift) % SIZE + 1]++;
		for (size_t i = 1; i < SIZE; i++)
			ends[i] += ends[i - 1];
		for (size_t i = 0; i < count; i++)
			copy[ends[(list[i] >> shift) % SIZE]++] = list[i];
		uint64_t *kept = list;
		list = copy;
		copy = kept;
	}
}

/* Workers came in any order: rows with one hash are put in theirs. */
static void run_order_rows(uint64_t *list, size_t count)
{
	for (size_t i = 0, next; i < count; i = next) {
		bool ascends = true;
		for (next = i + 1; next < count && list[next] >> 32 == list[i] >> 32; next++)
			ascends = ascends && list[next - 1] < list[next];
		if (!ascends)
			qsort(list + i, next - i, sizeof(*list), run_compare);
	}
}

static uint64_t run_bucket_size(const run_building *b, uint64_t bucket)
{
	return atomic_load_explicit(&b->counts[bucket], memory_order_relaxed);
}

/* Where a bucket begins, after its entries are in place: cursors stand at ends. */
static uint64_t *run_bucket(const run_building *b, uint64_t bucket)
{
	return b->entries + atomic_load(&b->cursors[bucket - b->low]) - run_bucket_size(b, bucket);
}

static int run_sort_some(void *arg, size_t index, sherd_error *err)
{
	enum { FEW = 256 };
	run_building *b = arg;
	uint64_t *list = run_bucket(b, b->low + index);
	size_t count = (size_t)run_bucket_size(b, b->low + index);
	if (count <= FEW) {
		if (count > 1)
			qsort(list, count, sizeof(*list), run_compare);
		return SHERD_OK;
	}
	uint64_t *copy = malloc(count * sizeof(*copy));
	if (!copy)
		return shd_fail_nomem(err);
	run_radix(list, copy, count);
	memcpy(list, copy, count * sizeof(*list));
	run_order_rows(list, count);
	free(copy);
	return SHERD_OK;
}

/* ---- pages */

static int run_put(run_building *b, const void *data, size_t len, sherd_error *err)
{
	return len ? b->sink(b->arg, data, len, err) : SHERD_OK;
}

static int run_end_page(run_building *b, sherd_error *err)
{
	uint8_t *p = b->page;
	if (!b->filled)
		return SHERD_OK;
	p[4] = (uint8_t)b->filled;
	p[5] = (uint8_t)(b->filled >> 8);
	p[6] = (uint8_t)b->table;
	shd_put_u64(p + RUN_NUMBER, b->run.tables[b->table].first + b->pages++);
	shd_put_u32(p, shd_crc32(0, p + 4, SHD_RFDB_RUN_PAGE - 4));
	TRY(run_put(b, p, SHD_RFDB_RUN_PAGE, err));
	memset(p, 0, SHD_RFDB_RUN_PAGE);
	b->filled = 0;
	return SHERD_OK;
}

static shd_u128 run_id_of(const run_building *b, uint32_t row, const shd_rfdb_member **member)
{
	uint64_t inside = 0;
	*member = shd_rfdb_run_member(&b->run, shd_rfdb_run_kind(b->table), row, &inside);
	return shd_rfdb_segment_id(b->plan->parts[*member - b->run.members].rows, inside);
}

/* Is the id of an entry that of one before, in another member? Only entries with one hash are looked at. */
static void run_note_alike(run_building *b, uint64_t hash, uint32_t row)
{
	bool *twice = &b->twice[shd_rfdb_run_kind(b->table)];
	if (*twice || b->table > SHD_RFDB_RUN_SOURCES)
		return;
	if (b->alike.hash != hash)
		b->alike.count = 0;
	b->alike.hash = hash;
	const shd_rfdb_member *mine, *other;
	for (unsigned i = 0; i < b->alike.count && !*twice; i++)
		*twice = run_id_of(b, row, &mine) == run_id_of(b, b->alike.rows[i], &other);
	if (b->alike.count == COUNT_OF(b->alike.rows))
		*twice = true; /* so many are made, or the same: the shortcut is given up */
	else
		b->alike.rows[b->alike.count++] = row;
}

static int run_put_entry(run_building *b, uint64_t bucket, uint64_t entry, sherd_error *err)
{
	uint64_t hash = bucket << 48 | entry >> 32 << 16;
	if (!b->filled)
		b->fences[b->pages] = run_fence(hash);
	uint8_t *tag = b->page + RUN_TAGS + 2 * (size_t)b->filled;
	tag[0] = (uint8_t)run_tag(hash);
	tag[1] = (uint8_t)(run_tag(hash) >> 8);
	shd_put_u32(b->page + RUN_ROWS + 4 * (size_t)b->filled, (uint32_t)entry);
	run_note_alike(b, hash, (uint32_t)entry);
	return ++b->filled == SHD_RFDB_RUN_ENTRIES ? run_end_page(b, err) : SHERD_OK;
}

/* ---- a table */

static int run_ask(const run_building *b, sherd_error *err)
{
	return b->plan->asked ? b->plan->asked(b->plan->arg, err) : SHERD_OK;
}

static int run_over_rows(run_building *b, shd_task_fn *each, sherd_error *err)
{
	TRY(run_ask(b, err));
	return shd_pool_run(b->plan->pool, b->stretches.count, each, b, err);
}

/* The next buckets whose entries fit together, at least one. */
static uint64_t run_choose(run_building *b, uint64_t most)
{
	uint64_t sum = run_bucket_size(b, b->low);
	for (b->high = b->low + 1; b->high < RUN_BUCKETS; b->high++) {
		uint64_t next = run_bucket_size(b, b->high);
		if (sum + next > most)
			break;
		sum += next;
	}
	return sum;
}

static int run_put_buckets(run_building *b, sherd_error *err)
{
	uint64_t at = 0;
	for (uint64_t bucket = b->low; bucket < b->high; bucket++) {
		atomic_store(&b->cursors[bucket - b->low], at);
		at += run_bucket_size(b, bucket);
	}
	TRY(run_over_rows(b, run_place_some, err));
	TRY(shd_pool_run(b->plan->pool, (size_t)(b->high - b->low), run_sort_some, b, err));
	for (uint64_t bucket = b->low; bucket < b->high; bucket++) {
		const uint64_t *list = run_bucket(b, bucket);
		for (uint64_t i = 0; i < run_bucket_size(b, bucket); i++)
			TRY(run_put_entry(b, bucket, list[i], err));
	}
	return SHERD_OK;
}

/* The most entries that are in memory together. */
static uint64_t run_room(run_building *b)
{
	uint64_t most = (b->plan->memory ? b->plan->memory : RUN_MEMORY) / sizeof(uint64_t), room = 0;
	for (b->low = 0; b->low < RUN_BUCKETS; b->low = b->high) {
		uint64_t sum = run_choose(b, most);
		room = sum > room ? sum : room;
	}
	return room;
}

static int run_put_table(run_building *b, sherd_error *err)
{
	uint64_t most = (b->plan->memory ? b->plan->memory : RUN_MEMORY) / sizeof(uint64_t);
	b->pages = b->filled = b->alike.count = 0;
	b->fences = malloc((size_t)(b->run.tables[b->table].count + 1) * sizeof(*b->fences));
	b->entries = shd_large_alloc((size_t)(run_room(b) + 1) * sizeof(*b->entries));
	int rc = b->fences && b->entries ? SHERD_OK : shd_fail_nomem(err);
	for (b->low = 0; rc == SHERD_OK && b->low < RUN_BUCKETS; b->low = b->high) {
		if (run_choose(b, most))
			rc = run_put_buckets(b, err);
	}
	free(b->entries);
	b->entries = NULL;
	return rc == SHERD_OK ? run_end_page(b, err) : rc;
}

static int run_count_table(run_building *b, sherd_error *err)
{
	for (size_t i = 0; i < RUN_BUCKETS; i++)
		atomic_store_explicit(&b->counts[i], 0, memory_order_relaxed);
	return run_over_rows(b, run_count_some, err);
}

/* ---- all of it */

static int run_take_parts(run_building *b, sherd_error *err)
{
	const shd_rfdb_run_plan *plan = b->plan;
	uint64_t rows[2] = {0};
	b->run.members = malloc((plan->count + 1) * sizeof(*b->run.members));
	if (!b->run.members)
		return shd_fail_nomem(err);
	b->run.member_count = plan->count;
	for (size_t i = 0; i < plan->count; i++) {
		shd_rfdb_member *m = &b->run.members[i];
		*m = plan->parts[i].about;
		m->first = rows[m->kind];
		rows[m->kind] += m->rows;
		if (rows[m->kind] > UINT32_MAX)
			return shd_fail(err, SHERD_ELIMIT, "too-many-rows", "%" PRIu64 " rows are too many for a run",
			                rows[m->kind]);
		for (uint64_t from = 0; from < m->rows; from += RUN_STRETCH) {
			uint64_t to = m->rows - from < RUN_STRETCH ? m->rows : from + RUN_STRETCH;
			shd_vec_push(&b->stretches, (stretch){i, from, to});
		}
	}
	for (int t = 0; t < SHD_RFDB_RUN_TABLES; t++)
		b->run.tables[t].entries = rows[shd_rfdb_run_kind((shd_rfdb_run_table)t)];
	return shd_vec_check(&b->stretches, err);
}

static void run_write_members(const run_building *b, uint8_t *p)
{
	for (size_t i = 0; i < b->run.member_count; i++, p += RUN_MEMBER) {
		const shd_rfdb_member *m = &b->run.members[i];
		shd_put_u64(p, m->id);
		shd_put_u64(p + 8, m->size);
		shd_put_u32(p + 16, m->rows);
		shd_put_u32(p + 20, m->shard);
		p[24] = (uint8_t)m->kind;
		memcpy(p + 32, m->sha256, sizeof(m->sha256));
	}
}

static void run_write_head(const run_building *b, uint32_t members_crc, uint8_t *p)
{
	memset(p, 0, SHD_RFDB_RUN_HEAD);
	shd_put_u64(p, RUN_MAGIC);
	p[8] = 1;
	shd_put_u32(p + 12, (uint32_t)b->run.member_count);
	shd_put_u64(p + 16, b->run.size);
	shd_put_u64(p + 24, b->run.seed);
	for (int t = 0; t < SHD_RFDB_RUN_TABLES; t++)
		shd_put_u64(p + RUN_COUNTS + 8 * (size_t)t, b->run.tables[t].entries);
	shd_put_u32(p + RUN_MEMBERS_CRC, members_crc);
}

/* Head and members, up to the first page. The seed follows from the members: whoever chooses ids cannot know it. */
static int run_put_front(run_building *b, uint8_t *front, size_t len, uint8_t head[SHD_RFDB_RUN_HEAD], sherd_error *err)
{
	uint8_t digest[SHD_SHA256_BYTES];
	uint8_t *members = front + SHD_RFDB_RUN_HEAD;
	size_t size = RUN_MEMBER * b->run.member_count;
	run_write_members(b, members);
	shd_sha256_of(members, size, digest);
	b->run.seed = shd_get_u64(digest);
	/* The number of sources follows from the segments alone, but it stands in the head. */
	b->table = SHD_RFDB_RUN_SOURCES;
	TRY(run_count_table(b, err));
	uint64_t sources = 0;
	for (uint64_t i = 0; i < RUN_BUCKETS; i++)
		sources += run_bucket_size(b, i);
	b->run.tables[SHD_RFDB_RUN_SOURCES].entries = sources;
	b->run.size = run_place(b->run.tables, b->run.member_count);
	run_write_head(b, shd_crc32(0, members, size), head);
	memcpy(front, head, SHD_RFDB_RUN_HEAD);
	return run_put(b, front, len, err);
}

static int run_put_fences(run_building *b, uint32_t *const fences[SHD_RFDB_RUN_TABLES], sherd_error *err)
{
	for (int t = 0; t < SHD_RFDB_RUN_TABLES; t++) {
		SHD_AUTO_BUF bytes = {0};
		for (uint64_t i = 0; i < b->run.tables[t].count; i++)
			shd_buf_u32(&bytes, fences[t][i]);
		shd_buf_u32(&bytes, shd_crc32(0, bytes.data, bytes.len));
		TRY(shd_buf_check(&bytes, err));
		TRY(run_put(b, bytes.data, bytes.len, err));
	}
	return SHERD_OK;
}

static int run_put_tables(run_building *b, sherd_error *err)
{
	uint32_t *fences[SHD_RFDB_RUN_TABLES] = {0};
	int rc = SHERD_OK;
	for (b->table = 0; rc == SHERD_OK && b->table < SHD_RFDB_RUN_TABLES; b->table++) {
		rc = run_count_table(b, err);
		if (rc == SHERD_OK)
			rc = run_put_table(b, err);
		fences[b->table] = TAKE(b->fences);
	}
	if (rc == SHERD_OK)
		rc = run_put_fences(b, fences, err);
	for (int t = 0; t < SHD_RFDB_RUN_TABLES; t++)
		free(fences[t]);
	return rc;
}

static int run_build(run_building *b, uint8_t head[SHD_RFDB_RUN_HEAD], sherd_error *err)
{
	TRY(run_take_parts(b, err));
	b->counts = malloc(RUN_BUCKETS * sizeof(*b->counts));
	b->cursors = malloc(RUN_BUCKETS * sizeof(*b->cursors));
	size_t used = SHD_RFDB_RUN_HEAD + RUN_MEMBER * b->run.member_count;
	size_t len = (used + SHD_RFDB_RUN_PAGE - 1) / SHD_RFDB_RUN_PAGE * SHD_RFDB_RUN_PAGE;
	SHD_AUTO_FREE uint8_t *front = calloc(1, len);
	if (!b->counts || !b->cursors || !front)
		return shd_fail_nomem(err);
	TRY(run_put_front(b, front, len, head, err));
	TRY(run_put_tables(b, err));
	head[RUN_FLAGS] = (uint8_t)((b->twice[SHD_RFDB_NODES] ? 0 : 1) | (b->twice[SHD_RFDB_EDGES] ? 0 : 2));
	shd_put_u32(head + RUN_CRC, shd_crc32(0, head, RUN_CRC));
	return SHERD_OK;
}

int shd_rfdb_run_build(const shd_rfdb_run_plan *plan, shd_rfdb_run_sink *sink, void *arg,
                       uint8_t head[SHD_RFDB_RUN_HEAD], uint64_t *size, sherd_error *err)
{
	run_building *b = calloc(1, sizeof(*b));
	if (!b)
		return shd_fail_nomem(err);
	b->plan = plan;
	b->sink = sink;
	b->arg = arg;
	int rc = run_build(b, head, err);
	*size = b->run.size;
	shd_vec_done(&b->stretches);
	free(b->run.members);
	free(b->counts);
	free(b->cursors);
	free(b->fences);
	free(b);
	return rc;
}
