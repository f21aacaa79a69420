/* engine/ckpt/check.c - hashes of shards and checksums of pieces. */
#include "engine/ckpt/ckpt.h"

#include "base/pool.h"
#include "codec/crc32.h"
#include "engine/tensors/blame.h"
#include "engine/ckpt/digest.h"

#include <inttypes.h>
#include <stdlib.h>

enum { CHUNK = 256 << 10 };

/* Room to note for every block that it was checked. */
static int make_notes(ckpt_crcs *x, sherd_error *err)
{
	uint64_t total = 0;
	uint64_t *first = shd_arena_alloc(&x->arena, x->index.count + 1, sizeof(*first));
	if (!first)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < x->index.count; i++) {
		first[i] = total;
		total += shd_ckpt_blocks(x->index.entries[i].tensor.bytes);
	}
	x->first_block = first;
	x->proven = shd_arena_alloc(&x->arena, total + 1, sizeof(*x->proven));
	if (!x->proven)
		return shd_fail_nomem(err);
	for (uint64_t i = 0; i < total; i++)
		atomic_init(&x->proven[i], 0);
	return SHERD_OK;
}

static int load_index(const sherd_ckpt *c, size_t shard, ckpt_crcs *x, sherd_error *err)
{
	const shd_ckpt_meta_shard *m = &c->meta.shards[shard];
	TRY(shd_ckpt_shard_index(&c->files[shard], &c->limits, &x->arena, &x->index, &x->present, err));
	if (!x->present && c->meta.has_set_id)
		return shd_fail(err, SHERD_ECORRUPT, "no-index", "the shard has lost its index");
	if (!x->present)
		return SHERD_OK;
	if (x->index.count != m->count)
		return shd_fail(err, SHERD_ECORRUPT, "bad-index",
		                "the index's count of tensors is %zu, the metadata's %zu", x->index.count, m->count);
	return make_notes(x, err);
}

/* What is damaged once is damaged for all tensors of the shard: it is read and told the same way again. */
static int check_remember(ckpt_crcs *x, int rc, const sherd_error *found, sherd_error *err)
{
	if (rc == SHERD_ECORRUPT && !x->broken)
		x->broken = shd_arena_copy(&x->arena, found, sizeof(*found)); /* NULL: then it is read again */
	return shd_pass(err, rc, found);
}

static int found_before(const ckpt_crcs *x, sherd_error *found)
{
	*found = *x->broken;
	return x->broken->code;
}

int shd_ckpt_shard_indexed(const sherd_ckpt *c, size_t shard, bool *indexed, sherd_error *err)
{
	ckpt_crcs *x = &c->crcs[shard];
	sherd_error found = {0};
	int rc = SHERD_OK;
	(void)pthread_mutex_lock(&x->lock);
	if (x->broken && !x->loaded)
		rc = found_before(x, &found);
	else if (!x->loaded)
		rc = shd_in_reader(&found, load_index(c, shard, x, &found), c->files[shard].reader);
	x->loaded |= rc == SHERD_OK;
	rc = check_remember(x, rc, &found, err);
	*indexed = x->present;
	(void)pthread_mutex_unlock(&x->lock);
	return rc;
}

int shd_ckpt_piece_crcs(const sherd_ckpt *c, const sherd_ckpt_piece *piece, const uint32_t **out, sherd_error *err)
{
	const ckpt_crcs *x = &c->crcs[piece->shard];
	bool indexed;
	TRY(shd_ckpt_shard_indexed(c, piece->shard, &indexed, err));
	if (!indexed) {
		*out = NULL;
		return SHERD_OK;
	}
	const shd_ckpt_entry *e = &x->index.entries[piece->entry];
	if (e->offset != piece->offset || e->tensor.bytes != piece->bytes)
		return shd_in_reader(err,
		                     shd_fail_at(err, SHERD_ECORRUPT, "bad-index", e->where,
		                                 "tensor '%.80s' lies elsewhere in the metadata", e->tensor.name),
		                     c->files[piece->shard].reader);
	*out = e->crcs;
	return SHERD_OK;
}

int shd_ckpt_shard_compare(const ckpt_shard *s, const char *text, sherd_error *err)
{
	bool blake3 = shd_ckpt_digest_of(s->checksum) == SHERD_DIGEST_BLAKE3;
	int skip = blake3 ? 7 : 0; /* the word in front of the digits */
	if (strcmp(text, s->checksum) == 0)
		return SHERD_OK;
	return shd_in_reader(err,
	                     shd_fail_at(err, SHERD_ECORRUPT, "bad-checksum", s->by_metadata ? s->data_offset : 12,
	                                 "the data's %s is %.16s..., the %s says %.16s...",
	                                 blake3 ? "BLAKE3" : "SHA-256", text + skip,
	                                 s->by_metadata ? "metadata" : "head", s->checksum + skip),
	                     s->reader);
}

static int hash_shard(const ckpt_shard *s, sherd_pool *pool, shd_meter *meter, sherd_error *err)
{
	char text[SHD_CKPT_DIGEST_TEXT];
	if (!s->checksum[0])
		return SHERD_OK;
	TRY(shd_in_reader(err,
	                  shd_ckpt_digest_range(s->reader, s->data_offset, s->data_size,
	                                        shd_ckpt_digest_of(s->checksum), pool, meter, text, err),
	                  s->reader));
	return shd_ckpt_shard_compare(s, text, err);
}

typedef struct tail_values {
	ckpt_parts parts;
	uint8_t (*values)[SHD_BLAKE3_BYTES];
} tail_values;

static int take_tail_value(void *arg, size_t part, const uint8_t *bytes, size_t len, sherd_error *err)
{
	const tail_values *t = arg;
	(void)err;
	shd_ckpt_part_value(&t->parts, part, bytes, len, t->values[part]);
	return SHERD_OK;
}

/* Stored values are those of parts in front of the index; the rest of the data is short. */
static int root_values(const ckpt_shard *s, ckpt_crcs *x, sherd_error *err)
{
	tail_values t = {.parts = {s->reader, s->data_offset, s->data_size, x->index.part_log}};
	char text[SHD_CKPT_DIGEST_TEXT];
	size_t stored = x->index.value_count, count = shd_ckpt_parts_count(&t.parts);
	SHD_AUTO_FREE void *room = calloc(count + 1, sizeof(*t.values));
	if (!room)
		return shd_fail_nomem(err);
	t.values = room;
	memcpy(t.values, x->index.values, stored * sizeof(*t.values));
	TRY(shd_ckpt_parts_run(&t.parts, stored, count - stored, NULL, NULL, take_tail_value, &t, err));
	shd_ckpt_parts_text((const uint8_t(*)[SHD_BLAKE3_BYTES])t.values, count, text);
	if (strcmp(text, s->checksum) != 0)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-checksum", 12,
		                   "the values of parts that the index records, and the data behind them, come to "
		                   "BLAKE3 %.16s..., the head says %.16s...",
		                   text + 7, s->checksum + 7);
	x->values = shd_arena_copy(&x->arena, room, count * sizeof(*t.values));
	return x->values ? SHERD_OK : shd_fail_nomem(err);
}

int shd_ckpt_shard_values(const sherd_ckpt *c, size_t shard, const uint8_t (**values)[SHD_BLAKE3_BYTES], unsigned *log,
                          sherd_error *err)
{
	ckpt_crcs *x = &c->crcs[shard];
	bool indexed;
	sherd_error found = {0};
	int rc = SHERD_OK;
	TRY(shd_ckpt_shard_indexed(c, shard, &indexed, err));
	(void)pthread_mutex_lock(&x->lock);
	if (indexed && x->index.part_log && !x->values)
		rc = x->broken
		             ? found_before(x, &found)
		             : shd_in_reader(&found, root_values(&c->files[shard], x, &found), c->files[shard].reader);
	rc = check_remember(x, rc, &found, err);
	*values = x->values;
	*log = indexed ? x->index.part_log : 0;
	(void)pthread_mutex_unlock(&x->lock);
	return rc;
}

static int check_block(const ckpt_shard *f, const shd_ckpt_entry *e, uint64_t block, uint8_t *buf, sherd_error *err)
{
	uint64_t start = block * SHD_CKPT_BLOCK, end = start + SHD_CKPT_BLOCK, base = f->data_offset + e->offset;
	uint32_t crc = 0;
	end = end < e->tensor.bytes ? end : e->tensor.bytes;
	for (uint64_t at = start; at < end; at += CHUNK) {
		size_t n = end - at < CHUNK ? (size_t)(end - at) : CHUNK;
		TRY(sherd_reader_at(f->reader, base + at, buf, n, err));
		crc = shd_crc32(crc, buf, n);
	}
	if (crc != e->crcs[block])
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-crc", base + start,
		                   "tensor '%.80s': bytes %" PRIu64 " to %" PRIu64 " have CRC-32 %08" PRIx32
		                   ", not %08" PRIx32,
		                   e->tensor.name, start, end, crc, e->crcs[block]);
	return SHERD_OK;
}

static int prove_blocks(const sherd_ckpt *c, const sherd_ckpt_piece *p, uint64_t from, uint64_t to, sherd_error *err)
{
	const ckpt_crcs *x = &c->crcs[p->shard];
	const ckpt_shard *f = &c->files[p->shard];
	_Atomic(uint8_t) *proven = x->proven + x->first_block[p->entry];
	uint8_t *buf = NULL;
	int rc = SHERD_OK;
	for (uint64_t b = from / SHD_CKPT_BLOCK; rc == SHERD_OK && b * SHD_CKPT_BLOCK < to; b++) {
		if (atomic_load(&proven[b]))
			continue;
		if (!buf && !(buf = malloc(CHUNK)))
			return shd_fail_nomem(err);
		rc = check_block(f, &x->index.entries[p->entry], b, buf, err);
		if (rc == SHERD_OK)
			atomic_store(&proven[b], 1);
	}
	free(buf);
	return shd_in_reader(err, rc, f->reader);
}

/* Whoever else needs the shard waits for the hash, which it would have to make as well. */
static int prove_shard(const sherd_ckpt *c, size_t shard, sherd_pool *pool, shd_meter *meter, sherd_error *err)
{
	ckpt_crcs *x = &c->crcs[shard];
	sherd_error found = {0};
	int rc = SHERD_OK;
	(void)pthread_mutex_lock(&x->lock);
	if (x->broken)
		rc = found_before(x, &found);
	else if (!x->hashed)
		rc = hash_shard(&c->files[shard], pool, meter, &found);
	x->hashed = rc == SHERD_OK;
	rc = check_remember(x, rc, &found, err);
	(void)pthread_mutex_unlock(&x->lock);
	return rc;
}

int shd_ckpt_prove(const sherd_ckpt *c, const sherd_ckpt_piece *piece, uint64_t from, uint64_t to, sherd_error *err)
{
	const uint32_t *crcs = NULL;
	TRY(shd_ckpt_piece_crcs(c, piece, &crcs, err));
	return crcs ? prove_blocks(c, piece, from, to, err) : prove_shard(c, piece->shard, NULL, NULL, err);
}

typedef struct proving {
	const sherd_ckpt *ckpt;
	bool *wanted; /* by shard */
	sherd_pool *pool;
	shd_meter *meter;
} proving;

static int prove_wanted(void *arg, size_t shard, sherd_error *err)
{
	const proving *g = arg;
	return g->wanted[shard] ? prove_shard(g->ckpt, shard, g->pool, g->meter, err) : SHERD_OK;
}

static int want(proving *g, size_t tensor, sherd_error *err)
{
	const sherd_ckpt_piece *pieces;
	size_t count = sherd_ckpt_pieces(&pieces, g->ckpt, tensor);
	for (size_t i = 0; i < count; i++) {
		const ckpt_shard *f = &g->ckpt->files[pieces[i].shard];
		bool indexed;
		if (g->wanted[pieces[i].shard] || !f->checksum[0])
			continue;
		TRY(shd_ckpt_shard_indexed(g->ckpt, pieces[i].shard, &indexed, err));
		g->wanted[pieces[i].shard] = !indexed;
		g->meter->total += indexed ? 0 : f->data_size;
	}
	return SHERD_OK;
}

int shd_ckpt_prove_shards(const sherd_ckpt *c, const size_t *tensors, size_t count, sherd_pool *pool, shd_meter *meter,
                          sherd_error *err)
{
	proving g = {.ckpt = c, .pool = pool, .meter = meter};
	g.wanted = calloc(c->shard_count + 1, sizeof(*g.wanted));
	if (!g.wanted)
		return shd_fail_nomem(err);
	int rc = shd_meter_ask(meter, err);
	for (size_t i = 0; i < count && rc == SHERD_OK; i++)
		rc = want(&g, tensors[i], err);
	if (rc == SHERD_OK)
		rc = shd_pool_run(pool, c->shard_count, prove_wanted, &g, err);
	free(g.wanted);
	return rc;
}
