/* engine/ckpt/load_digest.c - loading what the digests of shards vouch for.
 *
 * With SHA-256 a shard is read once, in order; with BLAKE3 its parts are, that hold something wanted, by all workers.
 * What is wanted in one run arrives meanwhile. */
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
	if (x->again != y->again)
		return x->again ? 1 : -1;
	return (source_of(x) > source_of(y)) - (source_of(x) < source_of(y));
}

/* Which parts are read again: of those in one run, what another one began before. */
static void split_parts(load_shard *s)
{
	uint64_t at = 0;
	for (size_t i = 0; i < s->count; i++) {
		part *p = &s->parts[i];
		p->again = p->runs.outer || source_of(p) < at;
		if (!p->again)
			at = source_of(p) + p->bytes;
		s->straight += !p->again;
	}
	qsort(s->parts, s->count, sizeof(part), by_source);
}

static void want_range(load_shard *s, uint64_t from, uint64_t to)
{
	for (uint64_t i = from >> s->log; i << s->log < to; i++)
		s->wanted[i] = 1;
}

/* Marks the parts of the shard that hold something wanted. */
static void mark_wanted(load_shard *s)
{
	for (size_t i = 0; i < s->count; i++) {
		runs r = s->parts[i].runs;
		uint64_t base = s->parts[i].piece->offset;
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
	if (!s->values) {
		l->total += l->ckpt->files[shard].data_size;
		return SHERD_OK;
	}
	ckpt_parts parts = parts_of(l, shard);
	size_t count = shd_ckpt_parts_count(&parts);
	s->wanted = calloc(count + 1, 1);
	if (!s->wanted)
		return shd_fail_nomem(err);
	mark_wanted(s);
	for (size_t i = 0; i < count; i++)
		if (s->wanted[i])
			l->total += parts.size - ((uint64_t)i << s->log) < (uint64_t)1 << s->log
			                    ? parts.size - ((uint64_t)i << s->log)
			                    : (uint64_t)1 << s->log;
	return SHERD_OK;
}

static int plan_shard(load *l, size_t shard, sherd_error *err)
{
	load_shard *s = &l->shards[shard];
	const ckpt_shard *f = &l->ckpt->files[shard];
	if (!s->count)
		return SHERD_OK;
	if (f->checksum[0])
		split_parts(s);
	if (has_blake3(l, shard))
		TRY(plan_blake3(l, shard, err));
	else
		l->total += f->checksum[0] ? f->data_size : 0;
	if (has_blake3(l, shard) && !s->values)
		s->straight = 0;
	for (size_t i = s->straight; i < s->count; i++)
		l->total += s->parts[i].bytes;
	return SHERD_OK;
}

int shd_ckpt_load_plan(load *l, sherd_error *err)
{
	size_t count = l->parts.count;
	l->shards = calloc(l->ckpt->shard_count + 1, sizeof(*l->shards));
	if (!l->shards)
		return shd_fail_nomem(err);
	l->total = 0;
	if (count)
		qsort(l->parts.items, count, sizeof(part), by_source);
	for (size_t i = 0; i < count; i++) {
		load_shard *s = &l->shards[l->parts.items[i].piece->shard];
		if (!s->count++)
			s->parts = &l->parts.items[i];
	}
	for (size_t i = 0; i < l->ckpt->shard_count; i++)
		TRY(plan_shard(l, i, err));
	return SHERD_OK;
}

void shd_ckpt_load_plan_done(load *l)
{
	for (size_t i = 0; l->shards && i < l->ckpt->shard_count; i++)
		free(l->shards[i].wanted);
	free(l->shards);
}

/* ---- SHA-256 */

/* Reads and hashes from *at on: to the end of the part if it lies there, else up to it. */
static int hash_step(load *l, const ckpt_shard *f, part *p, uint64_t *at, shd_sha256 *sha, uint8_t *scratch,
                     sherd_error *err)
{
	bool inside = p && source_of(p) == *at;
	uint64_t stop = inside ? *at + p->bytes : p ? source_of(p) : f->data_size;
	while (*at < stop) {
		size_t n = stop - *at < RUNS_WINDOW ? (size_t)(stop - *at) : RUNS_WINDOW;
		const uint8_t *bytes;
		TRY(shd_runs_fetch(f->reader, f->data_offset + *at, n, scratch, &bytes, err));
		for (size_t done = 0; done < n; done += CACHED) {
			size_t part_bytes = n - done < CACHED ? n - done : CACHED;
			shd_sha256_add(sha, bytes + done, part_bytes);
			if (inside)
				TRY(shd_runs_put(&p->runs, p->runs.dst + (*at - source_of(p)) + done, bytes + done,
				                 part_bytes, err));
		}
		TRY(shd_runs_release(f->reader, f->data_offset + *at, n, scratch, bytes, err));
		*at += n;
		TRY(shd_meter_add(&l->meter, n, err));
	}
	if (inside)
		p->arrived = true;
	return SHERD_OK;
}

static int hash_chain(load *l, size_t shard, uint8_t *scratch, sherd_error *err)
{
	const ckpt_shard *f = &l->ckpt->files[shard];
	const load_shard *s = &l->shards[shard];
	uint8_t hash[SHD_SHA256_BYTES];
	char text[SHD_CKPT_DIGEST_TEXT];
	shd_sha256 sha;
	uint64_t at = 0;
	shd_sha256_init(&sha);
	for (size_t i = 0; i < s->straight; i++)
		while (!s->parts[i].arrived)
			TRY(hash_step(l, f, &s->parts[i], &at, &sha, scratch, err));
	TRY(hash_step(l, f, NULL, &at, &sha, scratch, err));
	shd_sha256_finish(&sha, hash);
	shd_ckpt_digest_text(SHERD_DIGEST_SHA256, hash, text);
	return shd_ckpt_shard_compare(f, text, err);
}

static int load_by_sha256(load *l, size_t shard, sherd_error *err)
{
	const load_shard *s = &l->shards[shard];
	uint8_t *scratch = malloc(RUNS_WINDOW);
	if (!scratch)
		return shd_fail_nomem(err);
	int rc = hash_chain(l, shard, scratch, err);
	free(scratch);
	for (size_t i = 0; rc < 0 && i < s->straight; i++)
		if (s->parts[i].runs.refused)
			return shd_at_index(err, rc, s->parts[i].want);
	return shd_in_reader(err, rc, l->ckpt->files[shard].reader);
}

/* ---- BLAKE3 */

typedef struct tree_load {
	load *load;
	size_t shard;
	ckpt_parts parts;
} tree_load;

/* The first part in one run that does not end before this place. */
static size_t first_after(const load_shard *s, uint64_t at)
{
	size_t low = 0, high = s->straight;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (source_of(&s->parts[middle]) + s->parts[middle].bytes <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Hands out what is wanted of bytes [at, end) of the data. */
static int deliver(const load_shard *s, uint64_t at, uint64_t end, const uint8_t *bytes, sherd_error *err)
{
	for (size_t i = first_after(s, at); i < s->straight && source_of(&s->parts[i]) < end; i++) {
		const part *p = &s->parts[i];
		runs r = p->runs; /* other workers have their own */
		uint64_t start = source_of(p), stop = start + p->bytes;
		uint64_t from = start > at ? start : at, to = stop < end ? stop : end;
		int rc = shd_runs_put(&r, r.dst + (from - start), bytes + (from - at), (size_t)(to - from), err);
		TRY(shd_at_index(err, rc, p->want));
	}
	return SHERD_OK;
}

static int load_tree_part(void *arg, size_t index, const uint8_t *bytes, size_t len, sherd_error *err)
{
	const tree_load *t = arg;
	const load_shard *s = &t->load->shards[t->shard];
	uint64_t at = (uint64_t)index << s->log;
	uint8_t value[SHD_BLAKE3_BYTES];
	shd_ckpt_part_value(&t->parts, index, bytes, len, value);
	if (memcmp(value, s->values[index], sizeof(value)) != 0)
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
	load_shard *s = &l->shards[shard];
	if (!s->values)
		return shd_ckpt_prove_shard(l->ckpt, shard, &l->meter, err);
	tree_load t = {l, shard, parts_of(l, shard)};
	TRY(shd_ckpt_parts_run(&t.parts, 0, shd_ckpt_parts_count(&t.parts), s->wanted, l->pool, load_tree_part, &t,
	                       err));
	for (size_t i = 0; i < s->straight; i++)
		s->parts[i].arrived = true;
	return SHERD_OK;
}

static int load_shard_hashed(void *arg, size_t shard, sherd_error *err)
{
	load *l = arg;
	if (!l->shards[shard].count || !l->ckpt->files[shard].checksum[0])
		return SHERD_OK;
	return has_blake3(l, shard) ? load_by_blake3(l, shard, err) : load_by_sha256(l, shard, err);
}

int shd_ckpt_load_hashed(load *l, sherd_pool *pool, sherd_error *err)
{
	l->pool = pool;
	return shd_pool_run(pool, l->ckpt->shard_count, load_shard_hashed, l, err);
}
