/* engine/ckpt/save_finish.c - savers, how they end: publishing, giving up, and publishing for others. */
#include "engine/ckpt/saver.h"

#include "engine/ckpt/files.h"
#include "engine/ckpt/publish.h"
#include "engine/publish/head.h"

#include <stdlib.h>
#include <string.h>

SHD_AUTO_DEFINE(sherd_ckpt_saver, sherd_ckpt_saver_abort)

typedef enum standing { IS_NOT_OURS, MAY_BE_OURS, IS_OURS } standing;

/* Damaged metadata of our set has its id in it, wherever the damage is but there. */
static bool mentions_us(const sherd_ckpt_saver *s)
{
	SHD_AUTO_BUF key = {0};
	SHD_DONE(shd_head_done) shd_head now = {0};
	char id[SHERD_SET_ID_TEXT];
	sherd_set_id_format(id, &s->set_id);
	shd_ckpt_name_metadata(&key, s->prefix);
	return key.failed || shd_head_read(&now, s->store, (const char *)key.data, NULL, NULL) < 0 ||
	       memmem(now.text, now.len, id, strlen(id)) != NULL;
}

static bool is_as_before(const sherd_ckpt_saver *s, const ckpt_committed *now)
{
	return now->there == s->before.there && strcmp(now->identity, s->before.identity) == 0;
}

/* Is our set what stands under the prefix? When nobody can tell, it may be; what was there before us is not. */
static standing standing_of(const sherd_ckpt_saver *s, ckpt_committed *now)
{
	if (shd_ckpt_committed(s->store, s->prefix, now, NULL) < 0)
		return MAY_BE_OURS;
	if (!now->there || is_as_before(s, now))
		return IS_NOT_OURS;
	if (now->readable)
		return now->has_set_id && shd_set_id_equal(&now->set_id, &s->set_id) ? IS_OURS : IS_NOT_OURS;
	return mentions_us(s) ? MAY_BE_OURS : IS_NOT_OURS;
}

/* May another process publish our shards, or have done so? claimed: the claim is ours, and nobody else holds it. When
 * it is another's, somebody of our set may still be about to, unless what stands under the prefix refuses it. */
static bool may_be_needed(const sherd_ckpt_saver *s, bool claimed)
{
	ckpt_committed now = {0};
	if (s->options.layout == SHERD_CKPT_LAYOUT_CSHARP)
		return false; /* of one process, which knows that it did not publish */
	if (standing_of(s, &now) != IS_NOT_OURS)
		return true;
	return !claimed && s->hold.claim.by_ranks && is_as_before(s, &now);
}

/* Where nobody can lock, somebody may have joined us to publish what we are about to remove. */
static bool is_fenced(const sherd_ckpt_saver *s)
{
	SHD_AUTO_BUF key = {0};
	ckpt_committed now = {0};
	if (s->options.layout == SHERD_CKPT_LAYOUT_CSHARP)
		return true;
	shd_ckpt_name_metadata(&key, s->prefix);
	if (key.failed)
		return false;
	return shd_head_fence(s->store, (const char *)key.data, s->before.identity, NULL) == SHERD_OK ||
	       (standing_of(s, &now) == IS_NOT_OURS && !is_as_before(s, &now));
}

static void take_back_all(void *arg, bool claimed)
{
	sherd_ckpt_saver *s = arg;
	bool any = false;
	for (uint32_t r = 0; r < s->world; r++)
		any |= s->written[r].there;
	if (!any || may_be_needed(s, claimed) || !is_fenced(s))
		return;
	for (uint32_t r = 0; r < s->world; r++) {
		SHD_AUTO_BUF key = {0};
		if (shd_ckpt_saver_key(s, r, &key, NULL) == SHERD_OK)
			(void)shd_part_remove(&s->written[r], s->store, (const char *)key.data);
	}
}

void sherd_ckpt_saver_abort(sherd_ckpt_saver *s)
{
	if (!s)
		return;
	/* Shards first, claim last: whoever finds the claim dead meanwhile finds the rest through it. */
	if (s->holding)
		shd_ckpt_forsake(&s->hold, take_back_all, s);
	shd_ckpt_saver_free(s);
}

/* After publishing failed. */
static standing published_as(const sherd_ckpt_saver *s, int rc)
{
	ckpt_committed now = {0};
	standing its = standing_of(s, &now);
	if (rc == SHERD_EUNKNOWN)
		return MAY_BE_OURS;
	/* The C# layout has no set id; but nothing was there before, and a refusal would tell of another's. */
	if (s->options.layout == SHERD_CKPT_LAYOUT_CSHARP)
		return now.there && rc != SHERD_EEXIST && rc != SHERD_ECONFLICT ? MAY_BE_OURS : IS_NOT_OURS;
	return its;
}

/* The set is committed: what follows is tidying, which the next save or prune would do as well. */
static void tidy(sherd_ckpt_saver *s)
{
	int rc = SHERD_OK;
	if (s->before.there || s->hold.held.took_over || s->hold.claim.named_by_set)
		rc = shd_ckpt_clear_unnamed(s->store, s->prefix, &s->set_id, NULL);
	if (rc == SHERD_OK)
		(void)shd_claim_drop(&s->hold.held, NULL);
	else
		shd_claim_leave(&s->hold.held);
	shd_ckpt_saver_free(s);
}

/* Lets the set be as it is. */
static void leave(sherd_ckpt_saver *s)
{
	shd_claim_leave(&s->hold.held);
	shd_ckpt_saver_free(s);
}

/* Nobody clears a claim that is held: without it, the save was taken over, or others of the set have published. */
static bool has_lost_claim(const sherd_ckpt_saver *s)
{
	bool mine;
	return shd_ckpt_claimed_by(s->store, s->prefix, &s->set_id, &mine, NULL) == SHERD_OK && !mine;
}

static int taken_over(const sherd_ckpt_saver *s, sherd_error *err)
{
	return shd_in_object(err,
	                     shd_fail(err, SHERD_ECONFLICT, "conflict", "shards of this save were removed by others"),
	                     s->prefix);
}

/* By a set that was published first, or by whoever took us for dead and cleared, or by what no store takes for an
 * object. */
static int name_is_taken(const sherd_ckpt_saver *s, sherd_error *err)
{
	ckpt_committed now = {.there = true};
	(void)shd_ckpt_committed(s->store, s->prefix, &now, NULL);
	if (!now.there && *now.identity)
		return taken_over(s, err);
	if (!now.there)
		return shd_in_object(err,
		                     shd_fail(err, SHERD_EEXIST, "cannot-replace",
		                              "a folder, or something else, has the name of the metadata"),
		                     s->prefix);
	return shd_ckpt_already_committed(s, err);
}

int shd_ckpt_saver_published(sherd_ckpt_saver *s, int rc, bool *committed, sherd_error *err)
{
	if (rc == SHERD_EINCOMPLETE && has_lost_claim(s))
		rc = taken_over(s, err);
	bool refused = rc == SHERD_EEXIST || rc == SHERD_ECONFLICT;
	/* The ranks contradict each other: people must see what they saved. */
	if (rc == SHERD_ECORRUPT && s->manner.by_ranks) {
		leave(s);
		return rc;
	}
	if (rc == SHERD_EINCOMPLETE) {
		if (committed)
			*committed = false;
		leave(s);
		return SHERD_OK;
	}
	standing now = rc < 0 ? published_as(s, rc) : IS_OURS;
	/* The metadata is there but was not synced, or nobody can read whose it is. Our shards must stay. */
	if (rc < 0 && (now == MAY_BE_OURS || (now == IS_OURS && !refused))) {
		leave(s);
		return rc;
	}
	/* Refused, and ours: somebody else of the set was first. */
	if (now == IS_NOT_OURS) {
		if (rc == SHERD_EEXIST)
			rc = name_is_taken(s, err);
		sherd_ckpt_saver_abort(s);
		return rc;
	}
	tidy(s);
	if (committed)
		*committed = true;
	return SHERD_OK;
}

static ckpt_publication publication_of(const sherd_ckpt_saver *s)
{
	return (ckpt_publication){
		.store = s->store,
		.prefix = s->prefix,
		.set_id = s->set_id,
		.world = s->world,
		.replaces = s->before.identity,
		.pool = s->options.pool,
		.meter = s->meter,
	};
}

static int save_finish_publish(const sherd_ckpt_saver *s, sherd_error *err)
{
	ckpt_publication p = publication_of(s);
	return shd_ckpt_publish(&p, err);
}

int sherd_ckpt_saver_finish(sherd_ckpt_saver *s, bool *committed, sherd_error *err)
{
	if (s->settled) {
		shd_ckpt_saver_free(s);
		if (committed)
			*committed = true;
		return SHERD_OK;
	}
	return shd_ckpt_saver_published(s, save_finish_publish(s, err), committed, err);
}

int shd_ckpt_saver_finish_whole(sherd_ckpt_saver *s, sherd_error *err)
{
	int rc = save_finish_publish(s, err);
	if (rc == SHERD_EINCOMPLETE)
		rc = taken_over(s, err);
	return shd_ckpt_saver_published(s, rc, NULL, err);
}

/* There is no claim to publish for: why? */
static int nothing_to_commit(sherd_store *store, const char *prefix, sherd_error *err)
{
	ckpt_committed now;
	TRY(shd_ckpt_committed(store, prefix, &now, err));
	if (!now.there)
		return shd_fail(err, SHERD_ENOTFOUND, "not-found", "no save of this name has begun");
	return shd_fail(err, SHERD_EEXIST, "exists", "%s",
	                now.readable ? "the checkpoint is committed already"
	                             : "metadata is there, but cannot be read: repair may help");
}

/* Joins the claim, which alone says whether a committed set may be replaced: who commits was not asked. */
static int begin_commit(sherd_ckpt_saver **out, sherd_store *store, const char *prefix, const sherd_ckpt_options *o,
                        sherd_error *err)
{
	shd_ckpt_claim theirs;
	bool valid = false;
	int rc = shd_ckpt_read_claim(store, prefix, &theirs, &valid, err);
	if (rc == SHERD_ENOTFOUND)
		return nothing_to_commit(store, prefix, err);
	TRY(rc);
	if (!valid || theirs.removing || theirs.repairing)
		return shd_fail(err, SHERD_ECONFLICT, "conflict", "the claim is %s",
		                !valid            ? "damaged"
		                : theirs.removing ? "a removal's"
		                                  : "a repair's");
	sherd_ckpt_save_options options = {
		.world = theirs.world,
		.set_id = &theirs.set_id,
		.replace = theirs.replace,
		.pool = o->pool,
		.progress = o->progress,
	};
	ckpt_manner manner = {.by_ranks = theirs.by_ranks, .source = theirs.source};
	TRY(shd_ckpt_saver_start(out, store, prefix, &options, &manner, NULL, err));
	(*out)->own_meter.total = theirs.world;
	return SHERD_OK;
}

int sherd_ckpt_commit(sherd_store *store, const char *prefix, const sherd_ckpt_options *options, sherd_error *err)
{
	SHD_AUTO(sherd_ckpt_saver, sherd_ckpt_saver_abort) s = NULL;
	sherd_ckpt_options o = options ? *options : (sherd_ckpt_options){0};
	TRY(shd_in_object(err, begin_commit(&s, store, prefix, &o, err), prefix));
	ckpt_publication p = publication_of(s);
	p.limits = o.limits;
	p.counts_shards = true;
	int rc = shd_ckpt_publish(&p, err);
	if (rc == SHERD_EINCOMPLETE) {
		/* The ranks that are missing may still come: their claim stays. */
		shd_claim_leave(&s->hold.held);
		s->holding = false;
		return rc;
	}
	return shd_ckpt_saver_published(TAKE(s), rc, NULL, err);
}
