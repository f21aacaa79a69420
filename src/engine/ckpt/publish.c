#include "engine/ckpt/publish.h"

#include "base/limits.h"
#include "base/pool.h"
#include "base/time.h"
#include "engine/ckpt/ckpt.h"
#include "engine/ckpt/content.h"
#include "engine/ckpt/training.h"
#include "engine/publish/head.h"
#include "format/ckpt/about.h"
#include "format/ckpt/meta.h"
#include "format/ckpt/name.h"

#include <inttypes.h>
#include <stdlib.h>

/* Above this many tensors the metadata leaves them to the shards' indexes. */
enum { MOST_LISTED = 1000000 };

typedef struct found_shard {
	ckpt_shard shard;
	shd_arena arena;
	const char *file;
	uint64_t file_size;
	shd_ckpt_index index;
	bool found;
} found_shard;

typedef struct publishing {
	const ckpt_publication *p;
	found_shard *shards;
	shd_arena arena;
} publishing;

static int find_one(void *arg, size_t rank, sherd_error *err)
{
	publishing *g = arg;
	found_shard *f = &g->shards[rank];
	const ckpt_publication *p = g->p;
	TRY(shd_ckpt_shard_find(&f->shard, p->store, p->prefix, (uint32_t)rank, &p->set_id, p->limits, &f->arena,
	                        &f->index, &f->found, err));
	if (!f->found)
		return SHERD_OK;
	const char *file = shd_str_leaf(sherd_reader_key(f->shard.reader));
	f->file = shd_arena_str(&f->arena, shd_str_of(file));
	f->file_size = sherd_reader_size(f->shard.reader);
	/* A large set has more shards than a process may have files open. */
	shd_ckpt_shard_done(&f->shard);
	if (!f->file)
		return shd_fail_nomem(err);
	return shd_meter_add(p->meter, p->counts_shards ? 1 : 0, err);
}

/* A shard that is there and cannot be read is another thing than one that has not come. */
static int fail_missing(const ckpt_publication *p, uint32_t rank, sherd_error *err)
{
	sherd_error why = {0};
	if (shd_ckpt_shard_is_broken(p->store, p->prefix, rank, &p->set_id, &why))
		return shd_fail(err, SHERD_EINCOMPLETE, "incomplete",
		                "the shard of rank %" PRIu32 " of %" PRIu32 " is broken (%.120s): save that rank again",
		                rank, p->world, why.message);
	return shd_fail(err, SHERD_EINCOMPLETE, "incomplete", "the shard of rank %" PRIu32 " of %" PRIu32 " is missing",
	                rank, p->world);
}

static int check_found(const publishing *g, sherd_error *err)
{
	for (uint32_t r = 0; r < g->p->world; r++) {
		const found_shard *f = &g->shards[r];
		if (!f->found)
			return fail_missing(g->p, r, err);
		if (f->index.world != g->p->world)
			return shd_in_object(err,
			                     shd_fail(err, SHERD_ECORRUPT, "bad-world",
			                              "a shard of %" PRIu32 " ranks in a set of %" PRIu32,
			                              f->index.world, g->p->world),
			                     f->file);
	}
	return SHERD_OK;
}

static void describe_shard(const found_shard *f, bool listed, shd_ckpt_meta_shard *out)
{
	*out = (shd_ckpt_meta_shard){
		.rank = f->index.rank,
		.file = f->file,
		.file_size = f->file_size,
		.checksum = f->shard.checksum,
		.entries = f->index.entries,
		.count = f->index.count,
		.listed = listed,
	};
}

/* What nobody could open is not published. */
static int ckpt_publish_check_tensors(const shd_ckpt_meta *meta, sherd_error *err)
{
	sherd_ckpt as_if_open = {.meta = *meta, .shard_count = meta->count};
	int rc = shd_ckpt_build_tensors(&as_if_open, err);
	if (rc < 0 && err)
		err->offset = SHERD_NO_OFFSET; /* there is no metadata yet whose byte it could be */
	shd_map_done(&as_if_open.names);
	shd_arena_done(&as_if_open.arena);
	return rc;
}

typedef struct first_replica {
	uint32_t rank;
	const shd_ckpt_entry *entry;
} first_replica;

typedef struct replicas {
	publishing *g;
	shd_map pieces;        /* by name and place: which of the firsts */
	first_replica *firsts; /* room for all entries */
	size_t count;
} replicas;

static int compare_replica(replicas *r, uint32_t rank, const shd_ckpt_entry *e, sherd_error *err)
{
	shd_str key;
	uint64_t where;
	bool ok;
	TRY(shd_ckpt_piece_key(e, &r->g->arena, &key, err));
	size_t at = shd_map_add(&r->pieces, key, r->count, &ok);
	if (!ok)
		return shd_fail_nomem(err);
	if (at == SHD_MAP_NONE) {
		r->firsts[r->count++] = (first_replica){rank, e};
		return SHERD_OK;
	}
	const first_replica *first = &r->firsts[at];
	if (shd_ckpt_same_checksums(first->entry, e, &where))
		return SHERD_OK;
	return shd_fail(err, SHERD_ECORRUPT, "replica-mismatch",
	                "tensor '%.80s': ranks %" PRIu32 " and %" PRIu32 " hold other bytes, from byte %" PRIu64
	                " of it on; nothing is published",
	                e->tensor.name, first->rank, rank, where);
}

/* The same piece in several shards must be the same bytes; their indexes have the checksums. */
static int check_replicas(publishing *g, size_t entries, sherd_error *err)
{
	replicas all = {.g = g, .firsts = shd_arena_alloc(&g->arena, entries + 1, sizeof(*all.firsts))};
	int rc = all.firsts ? SHERD_OK : shd_fail_nomem(err);
	for (uint32_t r = 0; r < g->p->world && rc == SHERD_OK; r++)
		for (size_t i = 0; i < g->shards[r].index.count && rc == SHERD_OK; i++)
			rc = compare_replica(&all, r, &g->shards[r].index.entries[i], err);
	shd_map_done(&all.pieces);
	return rc;
}

static int say_disagreement(const sherd_ckpt_about *all, uint32_t rank, sherd_error *err)
{
	ckpt_disagreement d = {0};
	uint32_t before = 0;
	while (before < rank && !shd_ckpt_disagree(&all[before], &all[rank], CKPT_NOBODY, &d))
		before++;
	return shd_fail(err, SHERD_ECONFLICT, "ranks-disagree",
	                "rank %" PRIu32 " says %s %s, rank %" PRIu32 " says %s: nothing is published", before, d.what,
	                d.first, rank, d.second);
}

/* What rank 0 says is what is recorded: others would have said the rest for nothing. */
static int check_silence(const sherd_ckpt_about *all, const sherd_ckpt_about *said, uint32_t world, sherd_error *err)
{
	ckpt_disagreement d = {0};
	uint32_t rank = 1;
	if (!shd_ckpt_disagree(&all[0], said, CKPT_FIRST, &d))
		return SHERD_OK;
	while (rank < world && !shd_ckpt_disagree(&all[0], &all[rank], CKPT_FIRST, &d))
		rank++;
	return shd_fail(err, SHERD_ECONFLICT, "ranks-disagree",
	                "rank %" PRIu32
	                " says %s %s, and rank 0, whose word is recorded, says none: nothing is published",
	                rank, d.what, d.second);
}

/* Those that are there must mean the same training, also when others are still missing. */
static int check_training(publishing *g, sherd_error *err)
{
	sherd_ckpt_about said = {0};
	ckpt_disagreement d;
	sherd_ckpt_about *all = shd_arena_alloc(&g->arena, g->p->world, sizeof(*all));
	if (!all)
		return shd_fail_nomem(err);
	for (uint32_t r = 0; r < g->p->world; r++) {
		const found_shard *f = &g->shards[r];
		all[r] = (sherd_ckpt_about){0};
		if (!f->found || !f->index.about.len)
			continue;
		int rc = shd_ckpt_about_decode(f->index.about, g->p->limits, &g->arena, &all[r], err);
		TRY(shd_in_object(err, rc, f->file));
		if (shd_ckpt_disagree(&said, &all[r], CKPT_NOBODY, &d))
			return say_disagreement(all, r, err);
		shd_ckpt_training_add(&said, &all[r]);
	}
	return g->shards[0].found ? check_silence(all, &said, g->p->world, err) : SHERD_OK;
}

static int ckpt_publish_build(publishing *g, shd_buf *out, sherd_error *err)
{
	const ckpt_publication *p = g->p;
	char when[SHD_TIME_TEXT];
	const shd_ckpt_index *first = &g->shards[0].index;
	size_t tensors = 0;
	for (uint32_t r = 0; r < p->world; r++)
		tensors += g->shards[r].index.count;
	shd_ckpt_meta meta = {
		.version = "1.0.0",
		.timestamp = when,
		.world = p->world,
		.has_set_id = true,
		.set_id = p->set_id,
		.count = p->world,
	};
	shd_time_format(first->time_ns, when);
	if (first->about.len)
		TRY(shd_ckpt_about_decode(first->about, p->limits, &g->arena, &meta.about, err));
	meta.shards = shd_arena_alloc(&g->arena, p->world, sizeof(*meta.shards));
	if (!meta.shards)
		return shd_fail_nomem(err);
	for (uint32_t r = 0; r < p->world; r++)
		describe_shard(&g->shards[r], tensors <= MOST_LISTED, &meta.shards[r]);
	TRY(shd_in_object(err, ckpt_publish_check_tensors(&meta, err), p->prefix));
	TRY(shd_in_object(err, check_replicas(g, tensors, err), p->prefix));
	shd_ckpt_meta_encode(&meta, false, out);
	return shd_buf_check(out, err);
}

/* From the same set comes the same text, whoever publishes it. */
static int ckpt_publish_commit(const ckpt_publication *p, const shd_buf *text, sherd_error *err)
{
	SHD_AUTO_BUF key = {0};
	shd_published now;
	shd_ckpt_name_metadata(&key, p->prefix);
	TRY(shd_buf_check(&key, err));
	const shd_publication head = {.store = p->store,
	                              .key = (const char *)key.data,
	                              .base = p->replaces,
	                              .text = text->data,
	                              .len = text->len};
	return shd_head_publish(&head, &now, err);
}

static int ckpt_publish(publishing *g, sherd_error *err)
{
	SHD_AUTO_BUF text = {0};
	TRY(shd_pool_run(g->p->pool, g->p->world, find_one, g, err));
	TRY(shd_in_object(err, check_training(g, err), g->p->prefix));
	TRY(shd_in_object(err, check_found(g, err), g->p->prefix));
	TRY(ckpt_publish_build(g, &text, err));
	TRY(shd_meter_ask(g->p->meter, err));
	return g->p->only_check ? SHERD_OK : ckpt_publish_commit(g->p, &text, err);
}

int shd_ckpt_publish(const ckpt_publication *p, sherd_error *err)
{
	if (!p->world || p->world > shd_limits_or_default(p->limits).shards)
		return shd_fail(err, SHERD_ELIMIT, "too-many-shards", "a set of %" PRIu32 " shards", p->world);
	publishing g = {.p = p, .shards = calloc(p->world, sizeof(*g.shards))};
	if (!g.shards)
		return shd_fail_nomem(err);
	int rc = ckpt_publish(&g, err);
	for (uint32_t r = 0; r < p->world; r++)
		shd_arena_done(&g.shards[r].arena);
	free(g.shards);
	shd_arena_done(&g.arena);
	return rc;
}
