#include "engine/model/container_claim.h"

#define SUFFIX ".shard.saving"

enum { MOST_TRIES = 100 };

void sherd_container_claim_name(sherd_buf *out, const char *base)
{
	sherd_buf_str(out, base);
	sherd_buf_append(out, SUFFIX, sizeof(SUFFIX));
}

/* 1 when the claim is ours, 0 when the state changed under us. */
static int try_take(container_claim *c, sherd_error *err)
{
	const char *key = (const char *)c->key.data;
	if (!(sherd_store_caps(c->store) & SHERD_CAP_LOCK)) {
		int rc = sherd_store_put(c->store, key, SHERD_WRITE_NEW, "", 0, err);
		if (rc == SHERD_EEXIST)
			return sherd_fail(err, SHERD_ECONFLICT, "conflict",
			                  "somebody may be saving; remove this object if that is dead");
		return rc < 0 ? rc : 1;
	}
	int rc = sherd_store_create_locked(c->store, key, "", 0, SHERD_LOCK_EXCLUSIVE, &c->lock, err);
	if (rc == SHERD_EEXIST)
		rc = sherd_store_lock(c->store, key, SHERD_LOCK_EXCLUSIVE, &c->lock, err);
	if (rc == SHERD_ENOTFOUND)
		return 0;
	if (rc == SHERD_ECONFLICT)
		return sherd_fail(err, rc, "conflict", "somebody else is saving");
	return rc < 0 ? rc : 1;
}

int sherd_container_claim_take(container_claim *out, sherd_store *store, const char *base, sherd_error *err)
{
	container_claim c = {.store = store};
	sherd_error failure = {0}; /* some come on the way to success */
	sherd_container_claim_name(&c.key, base);
	int rc = sherd_buf_check(&c.key, &failure);
	for (int tries = 0; rc == SHERD_OK && tries < MOST_TRIES; tries++)
		rc = try_take(&c, &failure);
	if (rc == SHERD_OK)
		rc = sherd_fail(&failure, SHERD_ECONFLICT, "conflict", "other saves come and go too fast");
	if (rc > 0) {
		*out = c;
		return SHERD_OK;
	}
	rc = sherd_in_object(&failure, rc, c.key.failed ? base : (const char *)c.key.data);
	sherd_buf_done(&c.key);
	if (err)
		*err = failure;
	return rc;
}

void sherd_container_claim_drop(container_claim *claim)
{
	if (!claim->store)
		return;
	(void)sherd_store_remove(claim->store, (const char *)claim->key.data, NULL);
	sherd_lock_release(claim->lock);
	sherd_buf_done(&claim->key);
	*claim = (container_claim){0};
}
