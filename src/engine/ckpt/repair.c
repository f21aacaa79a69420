/* engine/ckpt/repair.c - metadata from shards. */
#include "engine/ckpt/claim.h"
#include "engine/ckpt/clear.h"
#include "engine/ckpt/files.h"
#include "engine/ckpt/publish.h"
#include "base/pool.h"
#include "engine/ckpt/ckpt.h"
#include "engine/ckpt/shard.h"
#include "engine/ckpt/verify_shard.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* A set that some shards belong to. */
typedef struct candidate {
	sherd_set_id set_id;
	uint32_t world;
	uint32_t shards; /* seen of it */
} candidate;

/* One of its shards. */
typedef struct member {
	sherd_set_id set_id;
	uint32_t rank;
	const char *key;
} member;

typedef struct repairing {
	sherd_store *store;
	const char *prefix;
	sherd_ckpt_repair_options options;
	shd_meter meter;
	SHD_VEC(candidate) candidates;
	SHD_VEC(member) members;
	shd_arena arena;
	sherd_set_id chosen;
} repairing;

static int ckpt_repair_note(repairing *g, const shd_ckpt_index *index, const char *key, sherd_error *err)
{
	member m = {.set_id = index->set_id, .rank = index->rank};
	m.key = shd_arena_str(&g->arena, shd_str_of(key));
	shd_vec_push(&g->members, m);
	if (!m.key || g->members.failed)
		return shd_fail_nomem(err);
	size_t n = g->candidates.count;
	for (size_t i = 0; i < n; i++)
		if (shd_set_id_equal(&g->candidates.items[i].set_id, &index->set_id)) {
			g->candidates.items[i].shards++;
			return SHERD_OK;
		}
	candidate c = {.set_id = index->set_id, .world = index->world, .shards = 1};
	shd_vec_push(&g->candidates, c);
	return shd_vec_check(&g->candidates, err);
}

static int ckpt_repair_look_at(repairing *g, const ckpt_file *file, sherd_error *err)
{
	SHD_DONE(shd_arena_done) shd_arena arena = {0};
	shd_ckpt_index index;
	bool found = false;
	int rc = shd_ckpt_shard_index_of(g->store, file->key, g->options.limits, &arena, &index, &found, err);
	if (rc == SHERD_OK && found)
		rc = ckpt_repair_note(g, &index, file->key, err);
	/* A damaged shard is no candidate; the rank it leaves missing is named later. */
	return rc == SHERD_EIO || rc == SHERD_ENOMEM ? rc : SHERD_OK;
}

static int look_at_all(repairing *g, sherd_error *err)
{
	SHD_DONE(shd_ckpt_files_done) ckpt_files files = {0};
	TRY(shd_ckpt_files_open(&files, g->store, g->prefix, err));
	if (!files.count)
		return shd_fail(err, SHERD_ENOTFOUND, "not-found", "no shards are there");
	for (size_t i = 0; i < files.count; i++) {
		TRY(ckpt_repair_look_at(g, &files.list[i], err));
		TRY(shd_meter_ask(&g->meter, err));
	}
	return SHERD_OK;
}

static bool has_rank(const repairing *g, const sherd_set_id *id, uint32_t rank)
{
	for (size_t i = 0; i < g->members.count; i++)
		if (g->members.items[i].rank == rank && shd_set_id_equal(&g->members.items[i].set_id, id))
			return true;
	return false;
}

/* Tells which ranks are missing of the set that has the most. */
static int none_complete(const repairing *g, sherd_error *err)
{
	const candidate *list = g->candidates.items, *best = NULL;
	char id[SHERD_SET_ID_TEXT], ranks[96] = "";
	size_t n = g->candidates.count, used = 0;
	for (size_t i = 0; i < n; i++)
		if (!best || list[i].shards > best->shards)
			best = &list[i];
	if (!best || g->options.set_id)
		return shd_fail(err, SHERD_EINCOMPLETE, "incomplete",
		                "no shard %s here that describes itself and is whole",
		                g->options.set_id ? "of that set is" : "is");
	for (uint32_t r = 0; r < best->world && used + 16 < sizeof(ranks); r++)
		if (!has_rank(g, &best->set_id, r))
			used += (size_t)snprintf(ranks + used, sizeof(ranks) - used, "%s%" PRIu32, used ? ", " : "", r);
	sherd_set_id_format(id, &best->set_id);
	return shd_fail(err, SHERD_EINCOMPLETE, "incomplete",
	                "of set %s %" PRIu32 " of %" PRIu32 " shards are missing or damaged, of ranks %s%s", id,
	                best->world - best->shards, best->world, ranks, used + 16 < sizeof(ranks) ? "" : "...");
}

/* The set that was asked for, or the only complete one. */
static int ckpt_repair_choose(const repairing *g, candidate *out, sherd_error *err)
{
	const candidate *list = g->candidates.items, *best = NULL;
	size_t n = g->candidates.count, complete = 0;
	for (size_t i = 0; i < n; i++) {
		bool asked = g->options.set_id && shd_set_id_equal(g->options.set_id, &list[i].set_id);
		bool whole = list[i].shards >= list[i].world;
		if (whole && (asked || !g->options.set_id)) {
			if (complete++) {
				char a[SHERD_SET_ID_TEXT], b[SHERD_SET_ID_TEXT];
				sherd_set_id_format(a, &best->set_id);
				sherd_set_id_format(b, &list[i].set_id);
				return shd_fail(err, SHERD_ECONFLICT, "two-sets",
				                "two complete sets are there, %s and %s", a, b);
			}
			best = &list[i];
		}
	}
	if (!best)
		return none_complete(g, err);
	*out = *best;
	return SHERD_OK;
}

/* Metadata is all that can be rebuilt. What else is wrong with the set is told. */
static int nothing_to_repair(const repairing *g, sherd_error *err)
{
	sherd_ckpt *ckpt = NULL;
	sherd_ckpt_options options = {.pool = g->options.pool, .limits = g->options.limits};
	int rc = shd_ckpt_open_prefix(&ckpt, g->store, g->prefix, &options, err);
	sherd_ckpt_close(ckpt);
	if (rc == SHERD_OK)
		return shd_fail(err, SHERD_EEXIST, "exists",
		                "the metadata is there, and every shard that it names: nothing to repair");
	if (rc != SHERD_ECORRUPT || !err)
		return rc;
	size_t used = strlen(err->message);
	(void)snprintf(err->message + used, sizeof(err->message) - used,
	               "; that cannot be rebuilt, but the rest can be read");
	return rc;
}

static int look_at_metadata(const repairing *g, ckpt_committed *now, sherd_error *err)
{
	TRY(shd_ckpt_committed(g->store, g->prefix, now, err));
	if (now->readable)
		return nothing_to_repair(g, err);
	if (now->there && !g->options.replace)
		return shd_fail(err, SHERD_EEXIST, "exists", "metadata is there, but cannot be read");
	return SHERD_OK;
}

/* Everything that a load would check: hashes, and the checksum of every block, which nothing else compares with the
 * bytes before they are read. */
static int check_member(void *arg, size_t i, sherd_error *err)
{
	const repairing *g = arg;
	const member *m = g->members.items + i;
	SHD_DONE(shd_report_done) sherd_report report = {0};
	SHD_DONE(shd_arena_done) shd_arena arena = {0};
	SHD_DONE(shd_ckpt_shard_done) ckpt_shard s = {0};
	shd_ckpt_index index;
	bool found = false;
	if (!shd_set_id_equal(&m->set_id, &g->chosen))
		return SHERD_OK;
	TRY(shd_ckpt_shard_open(&s, g->store, m->key, 0, err));
	TRY(shd_ckpt_shard_index(&s, g->options.limits, &arena, &index, &found, err));
	if (found) {
		ckpt_scan scan = shd_ckpt_scan_by_index(&s, &index, g->options.pool, (shd_meter *)&g->meter);
		TRY(shd_ckpt_scan(&scan, &report, err));
	}
	const sherd_error *first = sherd_report_error(&report, 0);
	return first ? shd_pass(err, first->code, first) : SHERD_OK;
}

static int check_members(repairing *g, const candidate *c, sherd_error *err)
{
	size_t n = g->members.count;
	g->chosen = c->set_id;
	for (size_t i = 0; i < n; i++) {
		const member *m = g->members.items + i;
		sherd_stat stat;
		if (shd_set_id_equal(&m->set_id, &g->chosen) &&
		    sherd_store_stat(&stat, g->store, m->key, NULL) == SHERD_OK)
			g->meter.total += stat.size;
	}
	return shd_pool_run(g->options.pool, n, check_member, g, err);
}

/* A live save of another set keeps us out; a dead one of the very set we repair is joined, not cleared. A dead one of
 * another set is not ours to clear, unless there is metadata, damaged as it is: then clearing removes no shard. */
static int hold(repairing *g, const candidate *c, bool metadata, ckpt_hold *out, sherd_error *err)
{
	shd_ckpt_claim mine = shd_ckpt_claim_of_us(&c->set_id, c->world, 0), theirs;
	bool valid = false;
	/* Should we die, the shards must not pass for what a dead save left. */
	mine.repairing = true;
	int rc = shd_ckpt_read_claim(g->store, g->prefix, &theirs, &valid, err);
	if (rc == SHERD_OK && valid && !metadata && !shd_set_id_equal(&theirs.set_id, &c->set_id))
		return shd_fail(err, SHERD_ECONFLICT, "conflict", "a save or removal of another set has a claim here");
	if (rc < 0 && rc != SHERD_ENOTFOUND)
		return rc;
	return shd_ckpt_hold(out, g->store, g->prefix, &mine, NULL, &g->meter, err);
}

/* Nobody can lock: whoever clears after the save has made the metadata vacant by now, and the shards are about to go.
 */
static bool is_being_cleared(const ckpt_hold *h, const ckpt_committed *now)
{
	return h->held.joined && h->claim.has_base_identity && !now->there &&
	       strcmp(now->identity, h->claim.base_identity) != 0;
}

static int ckpt_repair(repairing *g, sherd_set_id *repaired, sherd_error *err)
{
	ckpt_committed now;
	candidate c = {0};
	ckpt_hold h = {0};
	TRY(look_at_metadata(g, &now, err));
	TRY(look_at_all(g, err));
	TRY(ckpt_repair_choose(g, &c, err));
	TRY(hold(g, &c, now.there, &h, err));
	ckpt_publication p = {
		.store = g->store,
		.prefix = g->prefix,
		.set_id = c.set_id,
		.world = c.world,
		.replaces = now.identity,
		.pool = g->options.pool,
		.meter = &g->meter,
		.limits = g->options.limits,
	};
	int rc = is_being_cleared(&h, &now)
	                 ? shd_fail(err, SHERD_ECONFLICT, "conflict", "what was begun here is being cleared away")
	                 : check_members(g, &c, err);
	if (rc == SHERD_OK)
		rc = shd_ckpt_publish(&p, err);
	if (rc < 0 && h.held.joined)
		shd_claim_leave(&h.held);
	else
		(void)shd_claim_drop(&h.held, NULL);
	TRY(rc);
	if (repaired)
		*repaired = c.set_id;
	return SHERD_OK;
}

int sherd_ckpt_repair(sherd_store *store, const char *prefix, const sherd_ckpt_repair_options *options,
                      sherd_set_id *repaired, sherd_error *err)
{
	repairing g = {
		.store = store, .prefix = prefix, .options = options ? *options : (sherd_ckpt_repair_options){0}};
	shd_meter_init(&g.meter, g.options.progress, 0);
	int rc = shd_in_object(err, ckpt_repair(&g, repaired, err), prefix);
	shd_meter_done(&g.meter);
	shd_vec_done(&g.candidates);
	shd_vec_done(&g.members);
	shd_arena_done(&g.arena);
	return rc;
}
