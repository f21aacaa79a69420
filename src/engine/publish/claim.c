#include "engine/publish/claim.h"

#include "engine/publish/head.h"

#include <stdlib.h>
#include <time.h>

SHD_AUTO_DEFINE(sherd_lock, sherd_lock_release)

/* PATIENCE: exclusive locks on a shared claim are held for a moment by those who look whether it is dead. Who takes
 * over waits for them, about 0.2 s, and not for somebody who may read the claim and keeps it locked. */
enum { MOST_TRIES = 100, PATIENCE = 20 };

static const sherd_limits claim_limits = {.metadata_bytes = 64u << 20};

static const char *publish_claim_name_of(const shd_claim *c)
{
	return (const char *)c->key.data;
}

/* Writes the claim, in place of the one with this identity; "": where none is. What stands there after a lost answer is
 * ours by its text. Should two write the same, both may try. */
static int publish_claim_put(shd_claim *c, const char *base, const shd_buf *text, sherd_error *err)
{
	const shd_publication p = {.store = c->store,
	                           .key = publish_claim_name_of(c),
	                           .base = base,
	                           .text = text->len ? (const void *)text->data : "",
	                           .len = text->len};
	shd_published now;
	int rc = shd_head_publish(&p, &now, err);
	memcpy(c->identity, now.identity, sizeof(c->identity));
	return rc;
}

static void publish_claim_release(shd_claim *c)
{
	sherd_lock_release(TAKE(c->lock));
}

/* Under our lock: 1 when the claim is the object with this identity, "" being any; 0 when another took its place, or it
 * is gone. */
static int confirm(shd_claim *c, const char *identity, sherd_error *err)
{
	sherd_stat now;
	int rc = sherd_store_stat(&now, c->store, publish_claim_name_of(c), err);
	if (rc == SHERD_OK && (!*identity || strcmp(now.identity, identity) == 0)) {
		memcpy(c->identity, now.identity, sizeof(c->identity));
		return 1;
	}
	return rc == SHERD_OK || rc == SHERD_ENOTFOUND ? 0 : rc;
}

static int publish_claim_lost(sherd_error *err)
{
	return shd_fail(err, SHERD_ECONFLICT, "conflict", "somebody removed this claim while it was held");
}

static int publish_claim_create(shd_claim *c, const shd_buf *text, sherd_lock_mode mode, sherd_error *err)
{
	if (!shd_can_lock(c->store))
		return publish_claim_put(c, "", text, err);
	TRY(sherd_store_create_locked(&c->lock, c->store, publish_claim_name_of(c),
	                              text->len ? (const void *)text->data : "", text->len, mode, err));
	int rc = confirm(c, "", err);
	if (rc > 0)
		return SHERD_OK;
	if (rc < 0)
		(void)sherd_store_remove(c->store, publish_claim_name_of(c), NULL);
	publish_claim_release(c);
	return rc < 0 ? rc : publish_claim_lost(err);
}

/* The text is NULL when it is too long for a claim's. SHERD_ENOTFOUND: there is none. */
static int publish_claim_read(const shd_claim *c, shd_head *out, sherd_error *err)
{
	sherd_stat stat;
	int rc = shd_head_read(out, c->store, publish_claim_name_of(c), &claim_limits, err);
	if (rc != SHERD_ELIMIT)
		return rc;
	TRY(sherd_store_stat(&stat, c->store, publish_claim_name_of(c), err));
	*out = (shd_head){0};
	memcpy(out->identity, stat.identity, sizeof(out->identity));
	return SHERD_OK;
}

static shd_str text_of(const shd_head *there)
{
	return (shd_str){there->text, there->len};
}

/* ---- what becomes of one that is there: 1 when it is ours, 0 when the state changed under us */

/* Somebody who looks whether a shared claim is dead goes again. */
static int publish_claim_join(shd_claim *c, const char *identity, sherd_lock_mode mode, sherd_error *err)
{
	int rc = SHERD_OK;
	if (shd_can_lock(c->store))
		rc = sherd_store_lock(&c->lock, c->store, publish_claim_name_of(c), mode, err);
	if (rc == SHERD_ENOTFOUND || (rc == SHERD_ECONFLICT && mode == SHERD_LOCK_SHARED))
		return 0;
	TRY(rc);
	rc = confirm(c, identity, err);
	c->joined = rc > 0;
	if (rc <= 0)
		publish_claim_release(c);
	return rc;
}

/* In the place of a claim that somebody may still hold: what was replaced meanwhile is looked at in the next try. */
static int publish_claim_take_over(shd_claim *c, const char *identity, const shd_buf *text, sherd_lock_mode mode,
                                   sherd_error *err)
{
	int rc = publish_claim_put(c, identity, text, err);
	if (rc == SHERD_ENOTFOUND || rc == SHERD_ECONFLICT)
		return 0;
	TRY(rc);
	char ours[sizeof(c->identity)];
	memcpy(ours, c->identity, sizeof(ours));
	rc = publish_claim_join(c, ours, mode, err);
	c->joined = false;
	c->took_over = true;
	return rc;
}

/* What has taken its place since it was looked at stays. */
static int remove_seen(const shd_claim *c, const char *identity, sherd_error *err)
{
	int rc = sherd_store_remove_if(c->store, publish_claim_name_of(c), identity, err);
	return rc == SHERD_ECONFLICT ? SHERD_OK : rc;
}

bool shd_claim_has_lapsed(sherd_store *store, const char *key)
{
	const int64_t lease_ns = 86400 * INT64_C(1000000000);
	sherd_stat stat;
	return sherd_store_stat(&stat, store, key, NULL) == SHERD_OK && stat.mtime_ns &&
	       sherd_store_now(store) - lease_ns > stat.mtime_ns;
}

static bool has_lapsed(const shd_claim *c)
{
	return shd_claim_has_lapsed(c->store, publish_claim_name_of(c));
}

/* 1 when nobody else can join the claim or clear after it: under its lock, or because it is written anew; 0 when it
 * changed; 2: it is held, or nobody can tell. Somebody who takes over does not ask for the lock, and lives. */
static int get_alone(shd_claim *c, const shd_head *there, sherd_error *err)
{
	SHD_AUTO_BUF again = {0};
	bool locks = shd_can_lock(c->store);
	if (!locks && (!there->text || !has_lapsed(c)))
		return 2;
	int rc = locks ? sherd_store_lock(&c->lock, c->store, publish_claim_name_of(c), SHERD_LOCK_EXCLUSIVE, err)
	               : shd_head_rewrite(&again, there, err);
	if (rc == SHERD_ECONFLICT)
		return 2;
	if (rc == SHERD_OK && !locks)
		rc = publish_claim_put(c, there->identity, &again, err);
	if (rc == SHERD_ENOTFOUND || rc == SHERD_ECONFLICT)
		return 0;
	TRY(rc);
	return locks ? confirm(c, there->identity, err) : 1;
}

/* What a dead claim's save left goes, and then the claim: 0; 1: it is held. */
static int publish_claim_clear_dead(const shd_claim *c, const shd_head *there, const shd_claim_rules *rules,
                                    sherd_error *err)
{
	shd_claim alone = {.store = c->store, .key = c->key};
	if (!shd_can_lock(c->store) && !has_lapsed(c))
		return 1;
	if (!shd_can_lock(c->store) && rules->may_clear)
		TRY(rules->may_clear(rules->arg, text_of(there), err));
	int rc = get_alone(&alone, there, err);
	if (rc == 2)
		return 1;
	bool same = rc == 1;
	if (same)
		rc = rules->clear ? rules->clear(rules->arg, text_of(there), err) : SHERD_OK;
	if (same && rc == SHERD_OK)
		rc = remove_seen(c, alone.identity, err);
	publish_claim_release(&alone);
	return rc;
}

static int publish_claim_held(const shd_claim *c, const shd_head *there, const shd_claim_rules *rules, sherd_error *err)
{
	if (rules->held)
		return rules->held(rules->arg, text_of(there), err);
	return shd_fail(err, SHERD_ECONFLICT, "conflict", "%s",
	                shd_can_lock(c->store) ? "somebody else is saving"
	                                       : "somebody may be saving; remove this object if that is dead");
}

/* Locks on a shared claim are exclusive only while somebody looks whether it is dead, or clears it: that passes. */
static int is_passing(const shd_claim *c, bool *yes, sherd_error *err)
{
	SHD_AUTO(sherd_lock, sherd_lock_release) shared = NULL;
	int rc = SHERD_OK;
	if (shd_can_lock(c->store))
		rc = sherd_store_lock(&shared, c->store, publish_claim_name_of(c), SHERD_LOCK_SHARED, err);
	*yes = rc == SHERD_ECONFLICT || rc == SHERD_ENOTFOUND;
	return *yes ? SHERD_OK : rc;
}

static int publish_claim_settle(shd_claim *c, const shd_head *there, const shd_buf *text, const shd_claim_rules *rules,
                                bool patient, sherd_error *err)
{
	int ours = rules->judge ? rules->judge(rules->arg, text_of(there), err) : 0;
	TRY(ours);
	bool passing = false, wait = patient || !rules->force;
	int rc = ours ? publish_claim_join(c, there->identity, rules->mode, err)
	              : publish_claim_clear_dead(c, there, rules, err);
	if (ours ? rc || wait : rc <= 0)
		return rc;
	if (!ours && wait && rules->mode == SHERD_LOCK_SHARED)
		TRY(is_passing(c, &passing, err));
	if (passing)
		return 0;
	TRY(publish_claim_held(c, there, rules, err));
	return publish_claim_take_over(c, there->identity, text, rules->mode, err);
}

static int try_take(shd_claim *c, const shd_buf *text, const shd_claim_rules *rules, bool patient, bool *seen,
                    sherd_error *err)
{
	SHD_DONE(shd_head_done) shd_head there = {0};
	int rc = publish_claim_create(c, text, rules->mode, err);
	if (rc == SHERD_ENOTFOUND) /* somebody who gave up has just removed the folder */
		return 0;
	if (rc != SHERD_EEXIST)
		return rc < 0 ? rc : 1;
	rc = publish_claim_read(c, &there, err);
	*seen = rc == SHERD_OK;
	if (rc == SHERD_OK)
		rc = publish_claim_settle(c, &there, text, rules, patient, err);
	return rc == SHERD_ENOTFOUND ? 0 : rc;
}

/* ---- */

/* Most changes are seen at once; what takes longer is worth about two seconds. */
static void pause_after(int tries)
{
	struct timespec t = {.tv_nsec = (tries < 20 ? tries : 20) * 1000000L};
	if (tries)
		(void)nanosleep(&t, NULL);
}

/* The name was always taken: by claims that came and went, by one that somebody keeps locked, or never by a claim. */
static int never_free(bool seen, const shd_claim_rules *rules, sherd_error *err)
{
	if (!seen)
		return shd_fail(err, SHERD_EEXIST, "cannot-replace", "a folder, or something else, has this name");
	return shd_fail(err, SHERD_ECONFLICT, "conflict", "other saves come and go too fast%s",
	                rules->mode == SHERD_LOCK_SHARED ? ", or somebody keeps it locked: taking over goes past that"
	                                                 : "");
}

static int claim_of(shd_claim *out, sherd_store *store, const char *key, sherd_error *err)
{
	*out = (shd_claim){.store = store};
	shd_buf_append(&out->key, key, strlen(key) + 1);
	return shd_buf_check(&out->key, err);
}

/* rc > 0: it is ours. */
static int publish_claim_end(shd_claim *out, shd_claim *c, int rc, sherd_error *failure, sherd_error *err)
{
	if (rc > 0 && out) {
		*out = *c;
		return SHERD_OK;
	}
	rc = shd_in_object(failure, rc, publish_claim_name_of(c));
	shd_claim_leave(c);
	return shd_pass(err, rc, failure);
}

int shd_claim_take(shd_claim *out, sherd_store *store, const char *key, const shd_buf *text,
                   const shd_claim_rules *rules, sherd_error *err)
{
	shd_claim c;
	sherd_error failure = {0}; /* some come on the way to success */
	bool seen = false;
	TRY(claim_of(&c, store, key, err));
	int rc = SHERD_OK;
	for (int tries = 0; rc == SHERD_OK && tries < MOST_TRIES; tries++) {
		if (seen)
			pause_after(tries);
		rc = shd_meter_ask(rules->meter, &failure);
		if (rc == SHERD_OK)
			rc = try_take(&c, text, rules, tries < PATIENCE, &seen, &failure);
	}
	if (rc == SHERD_OK)
		rc = never_free(seen, rules, &failure);
	return publish_claim_end(out, &c, rc, &failure, err);
}

int shd_claim_clear(sherd_store *store, const char *key, const shd_claim_rules *rules, sherd_error *err)
{
	shd_claim c;
	SHD_DONE(shd_head_done) shd_head there = {0};
	sherd_error failure = {0};
	TRY(claim_of(&c, store, key, err));
	int rc = publish_claim_read(&c, &there, &failure);
	if (rc == SHERD_OK)
		rc = publish_claim_clear_dead(&c, &there, rules, &failure);
	if (rc > 0)
		rc = publish_claim_held(&c, &there, rules, &failure);
	return publish_claim_end(NULL, &c, rc == SHERD_ENOTFOUND ? SHERD_OK : rc, &failure, err);
}

int shd_claim_adopt(shd_claim *out, sherd_store *store, const char *key, sherd_error *err)
{
	shd_claim c;
	sherd_error failure = {0};
	TRY(claim_of(&c, store, key, err));
	int rc = shd_can_lock(store) ? publish_claim_join(&c, "", SHERD_LOCK_EXCLUSIVE, &failure)
	                             : shd_fail(&failure, SHERD_ECONFLICT, "conflict", "nobody can tell who is dead");
	if (rc == 0)
		rc = shd_fail(&failure, SHERD_ENOTFOUND, "not-found", "no such object");
	return publish_claim_end(out, &c, rc, &failure, err);
}

int shd_claim_check(const shd_claim *claim, sherd_error *err)
{
	sherd_stat now;
	int rc = sherd_store_stat(&now, claim->store, publish_claim_name_of(claim), err);
	if (rc == SHERD_OK && strcmp(now.identity, claim->identity) == 0)
		return SHERD_OK;
	if (rc == SHERD_OK || rc == SHERD_ENOTFOUND)
		rc = publish_claim_lost(err);
	return shd_in_object(err, rc, publish_claim_name_of(claim));
}

/* Somebody who looks whether the claim is dead holds it for a moment; others of the set hold it for long. */
bool shd_claim_alone(shd_claim *claim)
{
	int rc = SHERD_ECONFLICT;
	if (!shd_can_lock(claim->store))
		return !claim->joined;
	publish_claim_release(claim);
	for (int tries = 0; rc == SHERD_ECONFLICT && tries < 8; tries++) {
		pause_after(tries);
		rc = sherd_store_lock(&claim->lock, claim->store, publish_claim_name_of(claim), SHERD_LOCK_EXCLUSIVE,
		                      NULL);
	}
	return rc == SHERD_OK;
}

void shd_claim_leave(shd_claim *claim)
{
	sherd_lock_release(claim->lock);
	shd_buf_done(&claim->key);
	*claim = (shd_claim){0};
}

int shd_claim_drop(shd_claim *claim, sherd_error *err)
{
	int rc = claim->store ? remove_seen(claim, claim->identity, err) : SHERD_OK;
	shd_claim_leave(claim);
	return rc;
}
