/* engine/ckpt/load_digest.c - loading what the digests of shards vouch for.
 *
 * With SHA-256 a shard is read once, in order; with BLAKE3 its parts are, that hold something wanted, by all workers.
 * What is wanted is taken from the bytes that were hashed, and from no others. */
#include "engine/ckpt/load.h"

#include "base/pool.h"
#include "engine/ckpt/digest.h"
#include "engine/tensors/blame.h"

#include <inttypes.h>
#include <stdlib.h>

/* What is hashed and then copied: small enough to be in the cache still. */
enum { CACHED = 256 << 10 };

static uint64_t source_of(const part *p)
{
	return p->piece->offset + p->runs.src;
}

static uint64_t source_end(const part *p)
{
	return p->piece->offset + p->runs.end;
}

static bool has_blake3(const load *l, size_t shard)
{
	return shd_ckpt_digest_of(l->ckpt->files[shard].checksum) == SHERD_DIGEST_BLAKE3;
}

/* ---- the plan */

static int by_source(const void *a, const void *b)
{
	const part *x = a, *y = b;
	if (x->piece->shard != y->piece->shard)
		return x->piece->shard < y->piece->shard ? -1 : 1;
	return (source_of(x) > source_of(y)) - (source_of(x) < source_of(y));
}

static void want_range(load_shard *s, uint64_t from, uint64_t to)
{
	for (uint64_t i = from >> s->log; i << s->log < to; i++)
		s->wanted[i] = 1;
}

/* Marks the parts of the shard that hold something wanted. Of runs that begin at most one part apart every part
 * between the first and the last holds some. */
static void mark_wanted(load_shard *s)
{
	for (size_t i = 0; i < s->count; i++) {
		runs r = s->parts[i].runs;
		uint64_t base = s->parts[i].piece->offset;
		for (; r.outer && r.src_step[r.outer - 1] <= (uint64_t)1 << s->log; r.outer--)
			r.length += (r.count[r.outer - 1] - 1) * r.src_step[r.outer - 1];
		do {
			want_range(s, base + r.src, base + r.src + r.length);
			shd_runs_next(&r);
		} while (!r.done);
	}
}

static ckpt_parts parts_of(const load *l, size_t shard)
{
	const ckpt_shard *f = &l->ckpt->files[shard];
	return (ckpt_parts){f->reader, f->data_offset, f->data_size, l->shards[shard].log};
}

static int plan_blake3(load *l, size_t shard, sherd_error *err)
{
	load_shard *s = &l->shards[shard];
	TRY(shd_ckpt_shard_values(l->ckpt, shard, &s->values, &s->log, err));
	if (!s->values)
		s->log = SHD_CKPT_PART_LOG;
	ckpt_parts parts = parts_of(l, shard);
	size_t count = shd_ckpt_parts_count(&parts);
	if (!s->values) {
		s->found = calloc(count + 1, sizeof(*s->found));
		s->hashed = parts.size;
		return s->found ? SHERD_OK : shd_fail_nomem(err);
	}
	s->wanted = calloc(count + 1, 1);
	if (!s->wanted)
		return shd_fail_nomem(err);
	mark_wanted(s);
	for (size_t i = 0; i < count; i++) {
		uint64_t left = parts.size - ((uint64_t)i << s->log), most = (uint64_t)1 << s->log;
		s->hashed += !s->wanted[i] ? 0 : left < most ? left : most;
	}
	return SHERD_OK;
}

static int plan_shard(void *arg, size_t shard, sherd_error *err)
{
	load *l = arg;
	load_shard *s = &l->shards[shard];
	const ckpt_shard *f = &l->ckpt->files[shard];
	TRY(shd_meter_ask(&l->meter, err));
	if (!s->count || !f->checksum[0])
		return SHERD_OK;
	uint64_t reach = 0;
	for (size_t i = 0; i < s->count; i++)
		s->parts[i].reach = reach = source_end(&s->parts[i]) > reach ? source_end(&s->parts[i]) : reach;
	if (has_blake3(l, shard))
		return plan_blake3(l, shard, err);
	s->hashed = f->data_size;
	return SHERD_OK;
}

/* Counts what will be read: of shards with a digest what is hashed, of others what is wanted. */
static int load_plan(load *l, sherd_pool *pool, sherd_error *err)
{
	size_t count = l->parts.count;
	l->shards = calloc(l->ckpt->shard_count + 1, sizeof(*l->shards));
	if (!l->shards)
		return shd_fail_nomem(err);
	if (count)
		qsort(l->parts.items, count, sizeof(part), by_source);
	for (size_t i = 0; i < count; i++) {
		load_shard *s = &l->shards[l->parts.items[i].piece->shard];
		if (!s->count++)
			s->parts = &l->parts.items[i];
	}
	TRY(shd_pool_run(pool, l->ckpt->shard_count, plan_shard, l, err));
	l->meter.total = 0;
	for (size_t i = 0; i < count; i++)
		l->meter.total +=
			l->ckpt->files[l->parts.items[i].piece->shard].checksum[0] ? 0 : l->parts.items[i].bytes;
	for (size_t i = 0; i < l->ckpt->shard_count; i++)
		l->meter.total += l->shards[i].hashed;
	return SHERD_OK;
}

void shd_ckpt_load_hashed_done(load *l)
{
	for (size_t i = 0; l->shards && i < l->ckpt->shard_count; i++) {
		free(l->shards[i].wanted);
		free(l->shards[i].found);
	}
	free(l->shards);
}

/* ---- delivering */

/* The first part of which, or of one before it, something lies behind this place. */
static size_t first_after(const load_shard *s, uint64_t at)
{
	size_t low = 0, high = s->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (s->parts[middle].reach <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Hands out what is wanted of bytes [at, end) of the data. Several threads do, of other bytes each. */
static int deliver(const load_shard *s, uint64_t at, uint64_t end, const uint8_t *bytes, sherd_error *err)
{
	for (size_t i = first_after(s, at); i < s->count && source_of(&s->parts[i]) < end; i++) {
		const part *p = &s->parts[i];
		uint64_t from = source_of(p) > at ? source_of(p) : at;
		if (source_end(p) <= at)
			continue;
		int rc = shd_runs_take(&p->runs, bytes + (from - at), from - p->piece->offset, end - from, err);
		TRY(shd_at_index(err, rc, p->want));
	}
	return SHERD_OK;
}

/* ---- SHA-256 */

static int hash_window(load *l, size_t shard, uint64_t at, size_t len, shd_sha256 *sha, uint8_t *scratch,
                       sherd_error *err)
{
	const ckpt_shard *f = &l->ckpt->files[shard];
	const uint8_t *bytes;
	TRY(shd_in_reader(err, shd_runs_fetch(f->reader, f->data_offset + at, len, scratch, &bytes, err), f->reader));
	for (size_t done = 0; done < len; done += CACHED) {
		size_t n = len - done < CACHED ? len - done : CACHED;
		shd_sha256_add(sha, bytes + done, n);
		TRY(deliver(&l->shards[shard], at + done, at + done + n, bytes + done, err));
	}
	TRY(shd_in_reader(err, shd_runs_release(f->reader, f->data_offset + at, len, scratch, bytes, err), f->reader));
	return shd_meter_add(&l->meter, len, err);
}

static int load_by_sha256(load *l, size_t shard, sherd_error *err)
{
	const ckpt_shard *f = &l->ckpt->files[shard];
	uint8_t hash[SHD_SHA256_BYTES];
	char text[SHD_CKPT_DIGEST_TEXT];
	shd_sha256 sha;
	SHD_AUTO_FREE uint8_t *scratch = malloc(RUNS_WINDOW);
	if (!scratch)
		return shd_fail_nomem(err);
	shd_sha256_init(&sha);
	for (uint64_t at = 0; at < f->data_size; at += RUNS_WINDOW) {
		uint64_t left = f->data_size - at;
		TRY(hash_window(l, shard, at, left < RUNS_WINDOW ? (size_t)left : RUNS_WINDOW, &sha, scratch, err));
	}
	shd_sha256_finish(&sha, hash);
	shd_ckpt_digest_text(SHERD_DIGEST_SHA256, hash, text);
	return shd_ckpt_shard_compare(f, text, err);
}

/* ---- BLAKE3 */

typedef struct tree_load {
	load *load;
	size_t shard;
	ckpt_parts parts;
} tree_load;

static int load_tree_part(void *arg, size_t index, const uint8_t *bytes, size_t len, sherd_error *err)
{
	const tree_load *t = arg;
	const load_shard *s = &t->load->shards[t->shard];
	uint64_t at = (uint64_t)index << s->log;
	uint8_t value[SHD_BLAKE3_BYTES];
	shd_ckpt_part_value(&t->parts, index, bytes, len, value);
	if (s->found)
		memcpy(s->found[index], value, sizeof(value));
	else if (memcmp(value, s->values[index], sizeof(value)) != 0)
		return shd_in_reader(err,
		                     shd_fail_at(err, SHERD_ECORRUPT, "bad-part", t->parts.offset + at,
		                                 "bytes %" PRIu64 " to %" PRIu64 " of the data have another BLAKE3 "
		                                 "value than the index records",
		                                 at, at + len),
		                     t->parts.reader);
	TRY(deliver(s, at, at + len, bytes, err));
	return shd_meter_add(&t->load->meter, len, err);
}

static int load_by_blake3(load *l, size_t shard, sherd_error *err)
{
	const load_shard *s = &l->shards[shard];
	tree_load t = {l, shard, parts_of(l, shard)};
	size_t count = shd_ckpt_parts_count(&t.parts);
	char text[SHD_CKPT_DIGEST_TEXT];
	TRY(shd_ckpt_parts_run(&t.parts, 0, count, s->wanted, l->pool, load_tree_part, &t, err));
	if (!s->found)
		return SHERD_OK;
	shd_ckpt_parts_text((const uint8_t(*)[SHD_BLAKE3_BYTES])s->found, count, text);
	return shd_ckpt_shard_compare(&l->ckpt->files[shard], text, err);
}

static int load_shard_hashed(void *arg, size_t shard, sherd_error *err)
{
	load *l = arg;
	load_shard *s = &l->shards[shard];
	if (!s->count || !l->ckpt->files[shard].checksum[0])
		return SHERD_OK;
	TRY(has_blake3(l, shard) ? load_by_blake3(l, shard, err) : load_by_sha256(l, shard, err));
	for (size_t i = 0; i < s->count; i++)
		s->parts[i].arrived = true;
	return SHERD_OK;
}

int shd_ckpt_load_hashed(load *l, sherd_pool *pool, sherd_error *err)
{
	l->pool = pool;
	TRY(load_plan(l, pool, err));
	return shd_pool_run(pool, l->ckpt->shard_count, load_shard_hashed, l, err);
}
