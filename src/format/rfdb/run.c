#include "format/rfdb/run.h"

#include "codec/crc32.h"
#include "format/rfdb/run_layout.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- opening */

static int run_check_head(const uint8_t *p, uint64_t size, sherd_error *err)
{
	if (size < SHD_RFDB_RUN_HEAD)
		return shd_fail_at(err, SHERD_ECORRUPT, "truncated", size, "%" PRIu64 " bytes, a run has at least %d",
		                   size, SHD_RFDB_RUN_HEAD);
	if (shd_get_u64(p) != RUN_MAGIC)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-magic", 0, "does not begin as a run does");
	if (shd_crc32(0, p, RUN_CRC) != shd_get_u32(p + RUN_CRC))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-crc", RUN_CRC, "the head is damaged");
	unsigned version = p[8] | (unsigned)p[9] << 8;
	if (version != 1)
		return shd_fail_at(err, SHERD_EVERSION, "bad-version", 8, "version %u, only 1 is known", version);
	bool zeros = p[RUN_FLAGS] < 4 && !p[RUN_FLAGS + 1];
	for (int i = RUN_ZEROS; i < RUN_CRC; i++)
		zeros = zeros && !p[i];
	if (!zeros)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-head", RUN_FLAGS, "bits that mean nothing are set");
	return SHERD_OK;
}

static int run_take_member(const uint8_t *p, uint64_t at, uint64_t rows[2], shd_rfdb_member *m, sherd_error *err)
{
	if (p[24] > SHD_RFDB_EDGES || (p[24] == SHD_RFDB_NODES && rows[SHD_RFDB_EDGES]))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-type", at + 24, "neither nodes nor, after them, edges");
	*m = (shd_rfdb_member){.id = shd_get_u64(p),
	                       .size = shd_get_u64(p + 8),
	                       .rows = shd_get_u32(p + 16),
	                       .shard = shd_get_u32(p + 20),
	                       .kind = p[24]};
	memcpy(m->sha256, p + 32, sizeof(m->sha256));
	m->first = rows[m->kind];
	rows[m->kind] += m->rows;
	if (!m->rows || rows[m->kind] > UINT32_MAX)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-count", at + 16, "rows that cannot be counted");
	return SHERD_OK;
}

static int run_take_members(shd_rfdb_table_run *r, sherd_error *err)
{
	uint64_t rows[2] = {0}, len = RUN_MEMBER * (uint64_t)r->member_count;
	if (len > r->size - SHD_RFDB_RUN_HEAD)
		return shd_fail_at(err, SHERD_ECORRUPT, "truncated", r->size, "%zu members do not fit",
		                   r->member_count);
	if (shd_crc32(0, r->data + SHD_RFDB_RUN_HEAD, (size_t)len) != shd_get_u32(r->data + RUN_MEMBERS_CRC))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-crc", RUN_MEMBERS_CRC, "the members are damaged");
	r->members = malloc((r->member_count + 1) * sizeof(*r->members));
	if (!r->members)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < r->member_count; i++) {
		uint64_t at = SHD_RFDB_RUN_HEAD + RUN_MEMBER * (uint64_t)i;
		TRY(run_take_member(r->data + at, at, rows, &r->members[i], err));
	}
	for (int t = 0; t < SHD_RFDB_RUN_TABLES; t++) {
		uint64_t entries = r->tables[t].entries, most = rows[shd_rfdb_run_kind((shd_rfdb_run_table)t)];
		if (t == SHD_RFDB_RUN_SOURCES ? entries > most : entries != most)
			return shd_fail_at(err, SHERD_ECORRUPT, "bad-count", RUN_COUNTS + 8 * (uint64_t)t,
			                   "%" PRIu64 " entries for %" PRIu64 " rows", entries, most);
	}
	return SHERD_OK;
}

static int run_open(shd_rfdb_table_run *r, sherd_error *err)
{
	const uint8_t *p = r->data;
	TRY(run_check_head(p, r->size, err));
	r->seed = shd_get_u64(p + 24);
	r->unique[SHD_RFDB_NODES] = p[RUN_FLAGS] & 1;
	r->unique[SHD_RFDB_EDGES] = p[RUN_FLAGS] & 2;
	r->member_count = shd_get_u32(p + 12);
	for (int t = 0; t < SHD_RFDB_RUN_TABLES; t++)
		r->tables[t].entries = shd_get_u64(p + RUN_COUNTS + 8 * (size_t)t);
	TRY(run_take_members(r, err));
	uint64_t size = run_place(r->tables, r->member_count);
	if (size != r->size || shd_get_u64(p + 16) != size)
		return shd_fail_at(err, SHERD_ECORRUPT, size > r->size ? "truncated" : "bad-length", 16,
		                   "%" PRIu64 " bytes, its entries take %" PRIu64, r->size, size);
	return SHERD_OK;
}

int shd_rfdb_run_open(const void *data, uint64_t size, shd_rfdb_table_run *out, sherd_error *err)
{
	shd_rfdb_table_run r = {.data = data, .size = size};
	int rc = run_open(&r, err);
	if (rc < 0) {
		shd_rfdb_run_done(&r);
		return rc;
	}
	*out = r;
	return SHERD_OK;
}

void shd_rfdb_run_done(shd_rfdb_table_run *r)
{
	free(r->members);
	*r = (shd_rfdb_table_run){0};
}

int shd_rfdb_run_fences(const shd_rfdb_table_run *r, shd_rfdb_run_table table, uint32_t **out, sherd_error *err)
{
	const shd_rfdb_pages *t = &r->tables[table];
	const uint8_t *p = r->data + t->fences;
	if (shd_crc32(0, p, (size_t)(4 * t->count)) != shd_get_u32(p + 4 * t->count))
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-crc", t->fences, "the fences are damaged");
	uint32_t *fences = malloc((size_t)(t->count + 1) * sizeof(*fences));
	if (!fences)
		return shd_fail_nomem(err);
	for (uint64_t i = 0; i < t->count; i++)
		fences[i] = shd_get_u32(p + 4 * i);
	*out = fences;
	return SHERD_OK;
}

bool shd_rfdb_run_whole(const shd_rfdb_table_run *r, shd_rfdb_run_table table, uint64_t page)
{
	const shd_rfdb_pages *t = &r->tables[table];
	const uint8_t *p = shd_rfdb_run_page(r, table, page);
	uint64_t before = page * SHD_RFDB_RUN_ENTRIES, left = t->entries - before;
	unsigned count = p[4] | (unsigned)p[5] << 8, of = p[6] | (unsigned)p[7] << 8;
	return count == (left < SHD_RFDB_RUN_ENTRIES ? left : SHD_RFDB_RUN_ENTRIES) && of == (unsigned)table &&
	       shd_get_u64(p + RUN_NUMBER) == t->first + page &&
	       shd_crc32(0, p + 4, SHD_RFDB_RUN_PAGE - 4) == shd_get_u32(p);
}

/* ---- hashes */

static inline uint64_t run_mix(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93u;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93u;
	return x ^ x >> 32;
}

uint64_t shd_rfdb_run_hash_id(uint64_t seed, shd_u128 id)
{
	return run_mix(run_mix((uint64_t)id ^ seed) + (uint64_t)(id >> 64));
}

uint64_t shd_rfdb_run_hash_text(uint64_t seed, shd_str text)
{
	uint64_t h = seed ^ text.len;
	size_t at = 0;
	for (; text.len - at >= 8; at += 8)
		h = run_mix(h + shd_get_u64((const uint8_t *)text.ptr + at));
	uint8_t rest[8] = {0};
	memcpy(rest, text.ptr + at, text.len - at);
	return run_mix(h + shd_get_u64(rest));
}

/* ---- looking up */

void shd_rfdb_run_seek(const shd_rfdb_pages *t, const uint32_t *fences, uint64_t hash, uint64_t *from, uint64_t *to)
{
	uint32_t fence = run_fence(hash);
	/* Hashes are spread evenly: near the guess, in steps that double, then by halves. */
	uint64_t guess = (uint64_t)fence * t->count >> 32, low = guess, high = guess, reach = 8;
	while (low && fences[low] >= fence) {
		low = low > reach ? low - reach : 0;
		reach *= 2;
	}
	for (reach = 8; high < t->count && fences[high] < fence; reach *= 2)
		high = t->count - high > reach ? high + reach : t->count;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		bool below = fences[middle] < fence;
		low = below ? middle + 1 : low;
		high = below ? high : middle;
	}
	/* The page before the first that does not begin below may end with it. */
	*from = low ? low - 1 : 0;
	while (low < t->count && fences[low] == fence)
		low++;
	*to = low;
}

typedef uint16_t run_lanes __attribute__((vector_size(32), aligned(2), may_alias));
enum { RUN_LANES = sizeof(run_lanes) / sizeof(uint16_t) };

_Static_assert(SHD_RFDB_RUN_ENTRIES % 8 == 0, "tags are compared eight or sixteen at a time");

bool shd_rfdb_run_next(const uint8_t *page, uint64_t hash, size_t *at, uint32_t *row)
{
	size_t count = page[4] | (size_t)page[5] << 8, i = *at;
	const uint16_t tag = run_tag(hash);
	const uint8_t *tags = page + RUN_TAGS;
	count = count < SHD_RFDB_RUN_ENTRIES ? count : SHD_RFDB_RUN_ENTRIES;
	for (; i < count; i++) {
		/* Whole lanes without the tag are passed over. */
		while (i + RUN_LANES <= count) {
			run_lanes lanes = *(const run_lanes *)(const void *)(tags + 2 * i);
			run_lanes same = (run_lanes)(lanes == (run_lanes){0} + tag);
			uint64_t any[sizeof(same) / sizeof(uint64_t)];
			memcpy(any, &same, sizeof(any));
			if (any[0] | any[1] | any[2] | any[3])
				break;
			i += RUN_LANES;
		}
		size_t end = i + RUN_LANES < count ? i + RUN_LANES : count;
		for (; i < end; i++) {
			if ((tags[2 * i] | tags[2 * i + 1] << 8) != tag)
				continue;
			*row = shd_get_u32(page + RUN_ROWS + 4 * i);
			*at = i + 1;
			return true;
		}
		i--;
	}
	*at = count;
	return false;
}

const shd_rfdb_member *shd_rfdb_run_member(const shd_rfdb_table_run *r, shd_rfdb_kind kind, uint32_t row,
                                           uint64_t *inside)
{
	size_t low = 0, high = r->member_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const shd_rfdb_member *m = &r->members[middle];
		bool below = m->kind < kind || (m->kind == kind && m->first + m->rows <= row);
		low = below ? middle + 1 : low;
		high = below ? high : middle;
	}
	if (low == r->member_count || r->members[low].kind != kind)
		return NULL;
	*inside = row - r->members[low].first;
	return &r->members[low];
}
