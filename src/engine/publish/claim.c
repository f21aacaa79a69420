#include "engine/publish/claim.h"

#include "engine/publish/head.h"

#include <stdlib.h>

SHD_AUTO_DEFINE(sherd_lock, sherd_lock_release)

enum { MOST_TRIES = 100 };

#define MOST_TEXT (64u << 20)

static const char *publish_claim_name_of(const shd_claim *c)
{
	return (const char *)c->key.data;
}

static int cannot_tell(void *arg, const char *text, size_t len)
{
	(void)arg, (void)text, (void)len;
	return -1;
}

/* What stands there after a lost answer is ours by its text, unless that says nothing. Should two write the same, both
 * may try. */
static int create_unlocked(shd_claim *c, shd_str text, sherd_error *err)
{
	const shd_publication p = {.store = c->store,
	                           .key = publish_claim_name_of(c),
	                           .text = text.ptr,
	                           .len = text.len,
	                           .is_ours = text.len ? NULL : cannot_tell};
	shd_published now;
	int rc = shd_head_publish(&p, &now, err);
	memcpy(c->identity, now.identity, sizeof(c->identity));
	return rc;
}

/* Of the claim under our lock. */
static int know_identity(shd_claim *c, sherd_error *err)
{
	sherd_stat stat;
	TRY(sherd_store_stat(&stat, c->store, publish_claim_name_of(c), err));
	memcpy(c->identity, stat.identity, sizeof(c->identity));
	return SHERD_OK;
}

static int publish_claim_create(shd_claim *c, shd_str text, sherd_error *err)
{
	if (!shd_can_lock(c->store))
		return create_unlocked(c, text, err);
	TRY(sherd_store_create_locked(&c->lock, c->store, publish_claim_name_of(c), text.ptr, text.len,
	                              SHERD_LOCK_EXCLUSIVE, err));
	int rc = know_identity(c, err);
	if (rc == SHERD_OK)
		return rc;
	if (rc == SHERD_ENOTFOUND)
		rc = shd_fail(err, SHERD_ECONFLICT, "conflict", "somebody removed this claim while it was held");
	else
		(void)sherd_store_remove(c->store, publish_claim_name_of(c), NULL);
	sherd_lock_release(TAKE(c->lock));
	return rc;
}

/* Whose lock can be had is dead. */
static int lock_dead(const shd_claim *c, sherd_lock **out, sherd_error *err)
{
	if (!shd_can_lock(c->store))
		return shd_fail(err, SHERD_ECONFLICT, "conflict",
		                "somebody may be saving; remove this object if that is dead");
	int rc = sherd_store_lock(out, c->store, publish_claim_name_of(c), SHERD_LOCK_EXCLUSIVE, err);
	return rc == SHERD_ECONFLICT ? shd_fail(err, rc, "conflict", "somebody else is saving") : rc;
}

/* Under its lock, what the claim's save left goes, and then the claim. */
static int publish_claim_clear_dead(const shd_claim *c, shd_claim_clear_fn *clear, void *arg, sherd_error *err)
{
	SHD_AUTO(sherd_lock, sherd_lock_release) lock = NULL;
	char *text;
	size_t len;
	TRY(lock_dead(c, &lock, err));
	if (clear) {
		TRY(sherd_store_get(&text, &len, c->store, publish_claim_name_of(c), MOST_TEXT, err));
		int rc = clear(arg, text, len, err);
		free(text);
		TRY(rc);
	}
	return sherd_store_remove(c->store, publish_claim_name_of(c), err);
}

/* A claim is there: it goes, or its save lives. */
static int publish_claim_settle(const shd_claim *c, shd_claim_clear_fn *clear, void *arg, sherd_error *err)
{
	int rc = publish_claim_clear_dead(c, clear, arg, err);
	return rc == SHERD_ENOTFOUND ? SHERD_OK : rc;
}

/* 1 when the claim is ours, 0 when the state changed under us. */
static int try_take(shd_claim *c, shd_str text, shd_claim_clear_fn *clear, void *arg, sherd_error *err)
{
	int rc = publish_claim_create(c, text, err);
	if (rc == SHERD_EEXIST)
		return publish_claim_settle(c, clear, arg, err);
	return rc < 0 ? rc : 1;
}

/* The name was always taken, and never by a claim. */
static int never_free(const shd_claim *c, sherd_error *err)
{
	sherd_stat stat;
	if (sherd_store_stat(&stat, c->store, publish_claim_name_of(c), NULL) == SHERD_OK)
		return shd_fail(err, SHERD_ECONFLICT, "conflict", "other saves come and go too fast");
	return shd_fail(err, SHERD_EEXIST, "cannot-replace", "something that is no file of ours is in its way");
}

int shd_claim_take(shd_claim *out, sherd_store *store, const char *key, shd_str text, shd_claim_clear_fn *clear,
                   void *arg, sherd_error *err)
{
	shd_claim c = {.store = store};
	sherd_error failure = {0}; /* some come on the way to success */
	shd_buf_append(&c.key, key, strlen(key) + 1);
	int rc = shd_buf_check(&c.key, &failure);
	for (int tries = 0; rc == SHERD_OK && tries < MOST_TRIES; tries++)
		rc = try_take(&c, text, clear, arg, &failure);
	if (rc == SHERD_OK)
		rc = never_free(&c, &failure);
	if (rc > 0) {
		*out = c;
		return SHERD_OK;
	}
	rc = shd_in_object(&failure, rc, key);
	shd_buf_done(&c.key);
	return shd_pass(err, rc, &failure);
}

int shd_claim_clear(sherd_store *store, const char *key, shd_claim_clear_fn *clear, void *arg, sherd_error *err)
{
	shd_claim c = {.store = store};
	sherd_error failure = {0};
	sherd_stat stat;
	shd_buf_append(&c.key, key, strlen(key) + 1);
	int rc = shd_buf_check(&c.key, &failure);
	if (rc == SHERD_OK)
		rc = sherd_store_stat(&stat, store, key, &failure);
	if (rc == SHERD_OK)
		rc = publish_claim_settle(&c, clear, arg, &failure);
	else if (rc == SHERD_ENOTFOUND)
		rc = SHERD_OK;
	rc = shd_in_object(&failure, rc, key);
	shd_buf_done(&c.key);
	return shd_pass(err, rc, &failure);
}

int shd_claim_take_over(shd_claim *out, sherd_store *store, const char *key, sherd_error *err)
{
	shd_claim c = {.store = store};
	shd_buf_append(&c.key, key, strlen(key) + 1);
	int rc = shd_buf_check(&c.key, err);
	if (rc == SHERD_OK)
		rc = lock_dead(&c, &c.lock, err);
	if (rc == SHERD_OK)
		rc = know_identity(&c, err);
	if (rc == SHERD_OK)
		*out = c;
	else
		shd_claim_leave(&c);
	return shd_in_object(err, rc, key);
}

int shd_claim_check(const shd_claim *claim, sherd_error *err)
{
	sherd_stat now;
	int rc = sherd_store_stat(&now, claim->store, publish_claim_name_of(claim), err);
	if (rc == SHERD_OK && strcmp(now.identity, claim->identity) == 0)
		return SHERD_OK;
	if (rc == SHERD_OK || rc == SHERD_ENOTFOUND)
		rc = shd_fail(err, SHERD_ECONFLICT, "conflict", "somebody removed this claim while it was held");
	return shd_in_object(err, rc, publish_claim_name_of(claim));
}

void shd_claim_leave(shd_claim *claim)
{
	sherd_lock_release(claim->lock);
	shd_buf_done(&claim->key);
	*claim = (shd_claim){0};
}

void shd_claim_drop(shd_claim *claim)
{
	if (!claim->store)
		return;
	(void)sherd_store_remove_if(claim->store, publish_claim_name_of(claim), claim->identity, NULL);
	shd_claim_leave(claim);
}
