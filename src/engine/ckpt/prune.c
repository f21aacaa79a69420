/* engine/ckpt/prune.c - which sets of a folder go. Nothing that was committed goes before something whole was seen that
 * stays. */
#include "engine/ckpt/ckpt.h"
#include "engine/ckpt/claim.h"
#include "engine/ckpt/lent.h"
#include "engine/ckpt/list.h"
#include "engine/ckpt/metadata.h"
#include "engine/ckpt/remove.h"

#include <stdlib.h>
#include <string.h>

SHD_AUTO_DEFINE(sherd_ckpt_list, sherd_ckpt_list_close)

/* What is to become of one. */
typedef struct choice {
	bool goes;
	bool done;
	const char *why; /* it stays although it was asked for, or counts for nothing; else NULL */
} choice;

typedef struct pruning {
	sherd_store *store;
	sherd_ckpt_prune_options options;
	const sherd_ckpt_list *list;
	choice *choices;
	size_t newest; /* of those that are kept; the length of the list when there is none */
	shd_meter meter;
} pruning;

static void ckpt_prune_tell(const pruning *g, size_t i, sherd_ckpt_fate fate, const char *why)
{
	const sherd_ckpt_listing *c = sherd_ckpt_list_at(g->list, i);
	sherd_ckpt_pruned p = {.prefix = c->prefix, .was = c->state, .fate = fate, .why = why};
	p.bytes = fate == SHERD_CKPT_REMOVED ? c->bytes : 0;
	if (g->options.pruned)
		g->options.pruned(g->options.arg, &p);
}

static void choose_by_age(pruning *g)
{
	size_t count = sherd_ckpt_list_count(g->list), kept = 0;
	g->newest = count;
	for (size_t i = 0; i < count; i++) {
		const sherd_ckpt_listing *c = sherd_ckpt_list_at(g->list, i);
		if (c->state != SHERD_CKPT_COMMITTED)
			continue;
		if (g->options.now_ns && c->time_ns > g->options.now_ns)
			g->choices[i].why = "dated in the future: whether it is the newest cannot be told";
		else if (kept++ < g->options.keep)
			g->newest = g->newest < i ? g->newest : i;
		else
			g->choices[i].goes = true;
	}
}

static void choose_by_state(pruning *g)
{
	size_t count = sherd_ckpt_list_count(g->list);
	for (size_t i = 0; i < count; i++) {
		const sherd_ckpt_listing *c = sherd_ckpt_list_at(g->list, i);
		sherd_ckpt_state state = c->state;
		bool asked = (state == SHERD_CKPT_ORPHANED && g->options.orphaned) ||
		             (state == SHERD_CKPT_DAMAGED && g->options.damaged);
		if (state == SHERD_CKPT_UNREADABLE)
			g->choices[i].why = c->problem;
		else if (asked && g->newest == count)
			g->choices[i].why = "no whole checkpoint is there that would stay";
		else if (asked)
			g->choices[i].goes = true;
	}
}

static const char needed[] = "the metadata of another one names its shards, or cannot be read and may";

/* Does it need shards of that prefix? What the listing could not read is looked at for their names. */
static bool borrows(const pruning *g, size_t k, const char *prefix)
{
	const sherd_ckpt_listing *c = sherd_ckpt_list_at(g->list, k);
	bool damaged = c->state == SHERD_CKPT_DAMAGED || c->state == SHERD_CKPT_UNREADABLE;
	if (strcmp(c->prefix, prefix) == 0)
		return false;
	return shd_ckpt_list_borrows(g->list, k, prefix) ||
	       (damaged && shd_ckpt_may_borrow(g->store, c->prefix, prefix));
}

/* Metadata that somebody copied or renamed names the shards of the prefix that it was copied from: they are needed as
 * long as it stays. going: by one that is to go, and has not gone yet? */
static bool is_lender(const pruning *g, size_t i, bool going)
{
	size_t count = sherd_ckpt_list_count(g->list);
	bool yes = false;
	for (size_t k = 0; !yes && k < count; k++)
		yes = g->choices[k].goes == going && !(going && g->choices[k].done) &&
		      borrows(g, k, sherd_ckpt_list_at(g->list, i)->prefix);
	return yes;
}

/* What was to be kept may be removed by others while we work; if the last whole one is, the rest is all there is. */
static int check_kept(const pruning *g, sherd_error *err)
{
	const sherd_ckpt_listing *c = sherd_ckpt_list_at(g->list, g->newest);
	sherd_ckpt *ckpt = NULL;
	sherd_ckpt_options options = {.pool = g->options.pool, .limits = g->options.limits};
	if (!shd_ckpt_metadata_changed(g->store, c->prefix, shd_ckpt_list_identity(g->list, g->newest)))
		return SHERD_OK;
	int rc = shd_ckpt_open_prefix(&ckpt, g->store, c->prefix, &options, NULL);
	sherd_ckpt_close(ckpt);
	if (rc < 0)
		return shd_in_object(err,
		                     shd_fail(err, SHERD_ECONFLICT, "conflict",
		                              "the newest checkpoint is gone or damaged since it was seen: "
		                              "nothing more is removed"),
		                     c->prefix);
	return SHERD_OK;
}

/* *busy: somebody holds the claim, or may hold it, or a set waits there for its ranks. */
static int ckpt_prune_clear_dead(const pruning *g, size_t i, bool *cleared, bool *busy, sherd_error *err)
{
	const char *prefix = sherd_ckpt_list_at(g->list, i)->prefix;
	ckpt_claim_look claim;
	uint64_t most = g->options.waiting_older_than_ns;
	*cleared = *busy = false;
	sherd_error found = {0};
	int rc = shd_ckpt_claim_look(g->store, prefix, &claim, &found);
	*busy = shd_ckpt_is_no_object(rc, &found); /* what has the name of a claim keeps everybody out */
	if (rc < 0 && !*busy && err)
		*err = found;
	if (rc < 0)
		return *busy ? SHERD_OK : rc;
	/* All ranks have saved, and only the commit is missing: it may be the only whole set that there is. */
	bool only = g->newest == sherd_ckpt_list_count(g->list) && claim.waiting.ranks >= claim.claim.world;
	bool waits = claim.waiting.waiting && (!most || only || claim.waiting.age_ns < most);
	if (waits && most && claim.waiting.age_ns >= most)
		ckpt_prune_tell(g, i, SHERD_CKPT_LEFT, "it lacks only its commit, and no whole checkpoint would stay");
	*busy = claim.there && (claim.lives || waits);
	*cleared = claim.there && !*busy;
	if (!*cleared || g->options.dry_run)
		return SHERD_OK;
	rc = shd_ckpt_clear_dead(g->store, prefix, most, NULL, err);
	*busy = rc == SHERD_ECONFLICT;
	*cleared = rc == SHERD_OK;
	return *busy ? SHERD_OK : rc;
}

static int ckpt_prune_remove_one(pruning *g, size_t i, sherd_error *err)
{
	const sherd_ckpt_listing *c = sherd_ckpt_list_at(g->list, i);
	sherd_error found = {0};
	int rc = SHERD_OK;
	TRY(check_kept(g, err));
	if (!g->options.dry_run)
		rc = c->state == SHERD_CKPT_ORPHANED
		             ? shd_ckpt_remove_orphans(g->store, c->prefix, &found)
		             : shd_ckpt_remove_set(g->store, c->prefix, shd_ckpt_list_identity(g->list, i), &found);
	if (rc == SHERD_OK || rc == SHERD_ECONFLICT) {
		g->choices[i].goes = rc == SHERD_OK;
		ckpt_prune_tell(g, i, rc ? SHERD_CKPT_LEFT : SHERD_CKPT_REMOVED, rc ? found.message : "");
		return SHERD_OK;
	}
	return shd_pass(err, rc, &found);
}

/* Shards beside a set that stays, and which it does not name. */
static int clear_strays(const pruning *g, size_t i, bool *cleared, sherd_error *err)
{
	size_t strays = 0;
	bool lent = is_lender(g, i, false);
	int rc = shd_ckpt_remove_strays(g->store, sherd_ckpt_list_at(g->list, i)->prefix,
	                                shd_ckpt_list_identity(g->list, i), g->options.dry_run || lent, &strays, err);
	if (rc == SHERD_ECONFLICT) /* somebody came, whose they may be */
		return SHERD_OK;
	if (strays && lent)
		ckpt_prune_tell(g, i, SHERD_CKPT_LEFT, needed);
	*cleared |= strays && !lent;
	return rc;
}

static int prune_one(pruning *g, size_t i, sherd_error *err)
{
	const sherd_ckpt_listing *c = sherd_ckpt_list_at(g->list, i);
	choice *its = &g->choices[i];
	bool cleared = false, busy = false;
	its->done = true;
	if (its->goes && is_lender(g, i, false)) {
		its->goes = false;
		its->why = needed;
	}
	/* Also finishes what a save or a removal left behind beside a committed set. */
	bool gone = c->state == SHERD_CKPT_DEAD || c->state == SHERD_CKPT_WAITING;
	if (c->state == SHERD_CKPT_COMMITTED || gone)
		TRY(ckpt_prune_clear_dead(g, i, &cleared, &busy, err));
	if (c->state == SHERD_CKPT_COMMITTED && g->options.orphaned && !busy && !its->goes)
		TRY(clear_strays(g, i, &cleared, err));
	if (cleared)
		ckpt_prune_tell(g, i, gone ? SHERD_CKPT_REMOVED : SHERD_CKPT_CLEARED, "");
	if (its->why || (its->goes && busy))
		ckpt_prune_tell(g, i, SHERD_CKPT_LEFT,
		                its->why ? its->why : "somebody is writing there, or a set waits for its ranks");
	its->goes = its->goes && !busy;
	return its->goes ? ckpt_prune_remove_one(g, i, err) : SHERD_OK;
}

/* Borrowers before their lenders: one that stays after all needs them. Two that lend to each other go in any order.
 * Asked between two prefixes only: none is left half removed. */
static int prune(pruning *g, sherd_error *err)
{
	size_t count = sherd_ckpt_list_count(g->list), done = 0;
	bool wait = true;
	choose_by_age(g);
	choose_by_state(g);
	while (done < count) {
		size_t before = done;
		for (size_t i = 0; i < count; i++) {
			if (g->choices[i].done || (wait && g->choices[i].goes && is_lender(g, i, true)))
				continue;
			TRY(shd_meter_add(&g->meter, done ? 1 : 0, err));
			TRY(prune_one(g, i, err));
			done++;
			wait = true;
		}
		wait = done > before;
	}
	return SHERD_OK;
}

int sherd_ckpt_prune(sherd_store *store, const char *below, const sherd_ckpt_prune_options *options, sherd_error *err)
{
	SHD_AUTO(sherd_ckpt_list, sherd_ckpt_list_close) list = NULL;
	pruning g = {.store = store, .options = options ? *options : (sherd_ckpt_prune_options){0}};
	sherd_ckpt_options looking = {
		.pool = g.options.pool, .limits = g.options.limits, .progress = g.options.progress};
	if (!g.options.keep)
		return shd_fail(err, SHERD_EINVAL, "bad-argument",
		                "the newest checkpoint is always kept: keep at least 1");
	TRY(sherd_ckpt_list_open(&list, store, below, &looking, err));
	g.list = list;
	g.choices = calloc(sherd_ckpt_list_count(list) + 1, sizeof(*g.choices));
	if (!g.choices)
		return shd_fail_nomem(err);
	shd_meter_init(&g.meter, g.options.progress, sherd_ckpt_list_count(list));
	int rc = prune(&g, err);
	shd_meter_done(&g.meter);
	free(g.choices);
	return rc;
}
