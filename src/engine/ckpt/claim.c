#include "engine/ckpt/claim.h"

#include "engine/ckpt/clear.h"
#include "engine/ckpt/files.h"
#include "engine/publish/claim.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

SHD_AUTO_DEFINE(sherd_lock, sherd_lock_release)
SHD_AUTO_DEFINE(sherd_writer, sherd_writer_abort)

/* PATIENCE: exclusive locks are held for a moment by those who look whether a claim is dead. Who takes over waits for
 * them, about 0.2 s, and not for somebody who may read the claim and keeps it locked. */
enum { MOST_TRIES = 100, PATIENCE = 20, CLAIM_BYTES = 64 << 10 };

shd_ckpt_claim shd_ckpt_claim_of_us(const sherd_set_id *set_id, uint32_t world, int64_t time_ns)
{
	shd_ckpt_claim c = {.set_id = *set_id, .world = world, .time_ns = time_ns, .process = (uint64_t)getpid()};
	if (gethostname(c.host, sizeof(c.host) - 1) != 0)
		c.host[0] = 0;
	return c;
}

static int claim_key(shd_buf *key, const char *prefix, sherd_error *err)
{
	shd_ckpt_name_claim(key, prefix);
	return shd_buf_check(key, err);
}

int shd_ckpt_read_claim(sherd_store *store, const char *prefix, shd_ckpt_claim *out, bool *valid, sherd_error *err)
{
	SHD_AUTO_BUF key = {0};
	char *text;
	size_t len;
	TRY(claim_key(&key, prefix, err));
	int rc = sherd_store_get(&text, &len, store, (const char *)key.data, CLAIM_BYTES, err);
	*valid = false;
	if (rc == SHERD_ELIMIT)
		return SHERD_OK;
	TRY(rc);
	rc = shd_ckpt_claim_decode(text, len, out, err);
	free(text);
	*valid = rc == SHERD_OK;
	return rc == SHERD_ENOMEM ? rc : SHERD_OK;
}

int shd_ckpt_claimed_by(sherd_store *store, const char *prefix, const sherd_set_id *set_id, bool *yes, sherd_error *err)
{
	shd_ckpt_claim now;
	bool valid = false;
	int rc = shd_ckpt_read_claim(store, prefix, &now, &valid, err);
	*yes = rc == SHERD_OK && valid && !now.removing && shd_set_id_equal(&now.set_id, set_id);
	return rc == SHERD_ENOTFOUND ? SHERD_OK : rc;
}

static int ckpt_claim_create(ckpt_hold *h, const char *key, sherd_error *err)
{
	SHD_AUTO_BUF text = {0};
	shd_ckpt_claim_encode(&h->claim, &text);
	TRY(shd_buf_check(&text, err));
	if (shd_can_lock(h->store))
		return sherd_store_create_locked(&h->lock, h->store, key, text.data, text.len, SHERD_LOCK_SHARED, err);
	return sherd_store_put(h->store, key, SHERD_WRITE_NEW, text.data, text.len, err);
}

/* Puts our claim in the place of the one that was looked at. */
static int replace(const ckpt_hold *h, const char *key, const char *identity, sherd_error *err)
{
	SHD_AUTO(sherd_writer, sherd_writer_abort) writer = NULL;
	SHD_AUTO_BUF text = {0};
	sherd_write_options options = {.mode = SHERD_WRITE_REPLACE, .if_identity = identity};
	shd_ckpt_claim_encode(&h->claim, &text);
	TRY(shd_buf_check(&text, err));
	TRY(sherd_store_write(&writer, h->store, key, &options, err));
	TRY(sherd_writer_append(writer, text.data, text.len, err));
	return sherd_writer_commit(TAKE(writer), err);
}

static int held_by_other(const shd_ckpt_claim *c, bool valid, sherd_error *err)
{
	char id[SHERD_SET_ID_TEXT] = "unknown";
	if (valid)
		sherd_set_id_format(id, &c->set_id);
	return shd_fail(err, SHERD_ECONFLICT, "conflict", "held by %s of set %s (process %" PRIu64 " on %s)",
	                valid && c->removing ? "a removal" : "another save", id, valid ? c->process : 0,
	                valid && c->host[0] ? c->host : "an unknown host");
}

static int still_waiting(const shd_ckpt_claim *c, const ckpt_waiting *w, sherd_error *err)
{
	char id[SHERD_SET_ID_TEXT], text[SHD_CKPT_WAITING_TEXT];
	sherd_set_id_format(id, &c->set_id);
	shd_ckpt_waiting_text(w, c->world, text);
	return shd_fail(err, SHERD_ECONFLICT, "waiting", "set %s waits: %s", id, text);
}

/* Takes the place of a claim that somebody may still hold. Their shards are left alone until ours are published. */
static int take_over(ckpt_hold *h, const char *key, const char *identity, sherd_error *err)
{
	h->claim.named_by_set = true;
	TRY(replace(h, key, identity, err));
	if (shd_can_lock(h->store))
		TRY(sherd_store_lock(&h->lock, h->store, key, SHERD_LOCK_SHARED, err));
	h->created = true;
	h->took_over = true;
	return SHERD_OK;
}

/* 1 when the claim under our lock is the set's, 0 when another took its place before we came to lock it. */
static int confirm(ckpt_hold *h, sherd_error *err)
{
	bool mine;
	int rc = shd_ckpt_claimed_by(h->store, h->prefix, &h->claim.set_id, &mine, err);
	if (rc == SHERD_OK && mine)
		return 1;
	shd_ckpt_release(h);
	return rc;
}

/* Locks are exclusive only while somebody looks whether a claim is dead, or clears it: that passes. */
static int is_passing(ckpt_hold *h, const char *key, bool *yes, sherd_error *err)
{
	SHD_AUTO(sherd_lock, sherd_lock_release) shared = NULL;
	int rc = shd_can_lock(h->store) ? sherd_store_lock(&shared, h->store, key, SHERD_LOCK_SHARED, err) : SHERD_OK;
	*yes = rc == SHERD_ECONFLICT || rc == SHERD_ENOTFOUND;
	return *yes ? SHERD_OK : rc;
}

/* May this process save for the set whose claim is there? */
static int ckpt_claim_check_same(const ckpt_hold *h, const shd_ckpt_claim *theirs, sherd_error *err)
{
	if (theirs->world != h->claim.world)
		return shd_fail(err, SHERD_ECONFLICT, "conflict",
		                "the set was begun with %" PRIu32 " shards, not %" PRIu32, theirs->world,
		                h->claim.world);
	/* Who repairs or publishes the set brings no shards of his own. */
	if (!h->claim.by_ranks || strcmp(theirs->source, h->claim.source) == 0)
		return SHERD_OK;
	const char *why = "not what the other ranks cut: other names, types, shapes or values, or cut otherwise";
	if (!h->claim.source[0])
		why = "the other ranks cut one common source, and this one saves what it holds";
	else if (!theirs->source[0])
		why = "the other ranks save what they hold, and this one cuts a common source";
	return shd_fail(err, SHERD_ECONFLICT, "other-source", "%s", why);
}

/* Joins, unless the claim went away or somebody is looking at it: 0 then. */
static int try_join(ckpt_hold *h, const char *key, const shd_ckpt_claim *theirs, sherd_error *err)
{
	TRY(ckpt_claim_check_same(h, theirs, err));
	int rc = shd_can_lock(h->store) ? sherd_store_lock(&h->lock, h->store, key, SHERD_LOCK_SHARED, err) : SHERD_OK;
	if (rc == SHERD_ENOTFOUND || rc == SHERD_ECONFLICT)
		return 0;
	TRY(rc);
	h->claim.named_by_set = theirs->named_by_set;
	h->claim.by_ranks = theirs->by_ranks;
	memcpy(h->claim.source, theirs->source, sizeof(h->claim.source));
	return confirm(h, err);
}

/* Under the exclusive lock: the claim, or ECONFLICT when it is not the object that was looked at before the lock was
 * taken. Somebody who takes over replaces the claim without asking for the lock, and lives. */
static int read_locked(sherd_store *store, const char *prefix, const char *key, const char *identity,
                       shd_ckpt_claim *out, bool *valid, sherd_error *err)
{
	sherd_stat now;
	TRY(shd_ckpt_read_claim(store, prefix, out, valid, err));
	TRY(sherd_store_stat(&now, store, key, err));
	if (strcmp(now.identity, identity) != 0)
		return shd_fail(err, SHERD_ECONFLICT, "conflict", "the claim was just taken over");
	return SHERD_OK;
}

/* What has taken its place since it was looked at stays. */
static int remove_seen(sherd_store *store, const char *key, const char *identity, sherd_error *err)
{
	int rc = sherd_store_remove_if(store, key, identity, err);
	return rc == SHERD_ECONFLICT ? SHERD_OK : rc;
}

static int ckpt_claim_clear_dead(sherd_store *store, const char *prefix, uint64_t waiting_ns, ckpt_waiting *waiting,
                                 shd_meter *meter, sherd_error *err)
{
	SHD_AUTO(sherd_lock, sherd_lock_release) lock = NULL;
	SHD_AUTO_BUF key = {0};
	shd_ckpt_claim claim;
	sherd_stat seen;
	bool valid = false;
	TRY(claim_key(&key, prefix, err));
	const char *name = (const char *)key.data;
	if (!shd_can_lock(store))
		return shd_fail(err, SHERD_ECONFLICT, "conflict", "nobody can tell whether the save lives");
	int rc = sherd_store_stat(&seen, store, name, err);
	if (rc == SHERD_OK)
		rc = sherd_store_lock(&lock, store, name, SHERD_LOCK_EXCLUSIVE, err);
	if (rc == SHERD_OK)
		rc = read_locked(store, prefix, name, seen.identity, &claim, &valid, err);
	if (rc == SHERD_ENOTFOUND)
		return SHERD_OK;
	TRY(rc);
	if (valid) {
		ckpt_waiting w;
		TRY(shd_ckpt_waiting(store, prefix, &claim, &w, err));
		if (w.waiting && (!waiting_ns || w.age_ns < waiting_ns - 1)) {
			*waiting = w;
			return still_waiting(&claim, &w, err);
		}
		TRY(shd_ckpt_clear(store, prefix, &claim, meter, err));
	}
	return remove_seen(store, name, seen.identity, err);
}

/* What was replaced meanwhile is ours to join in the next try. */
static int try_take_over(ckpt_hold *h, const char *key, const char *identity, sherd_error *err)
{
	int rc = take_over(h, key, identity, err);
	return rc == SHERD_ENOTFOUND || rc == SHERD_ECONFLICT ? 0 : rc == SHERD_OK ? confirm(h, err) : rc;
}

/* The claim of another set is in the way: 0 when it has gone, or only somebody passing by is there. */
static int try_to_pass(ckpt_hold *h, const char *key, const shd_ckpt_claim *theirs, bool valid, const char *identity,
                       const ckpt_force *force, bool patient, shd_meter *meter, sherd_error *err)
{
	ckpt_waiting waiting = {0};
	uint64_t limit = force->take_over ? 1 : force->waiting_ns;
	int rc = shd_can_lock(h->store) ? ckpt_claim_clear_dead(h->store, h->prefix, limit, &waiting, meter, err)
	                                : SHERD_ECONFLICT;
	if (rc != SHERD_ECONFLICT)
		return rc;
	if (waiting.waiting)
		return still_waiting(theirs, &waiting, err);
	bool passing = false;
	if (patient || !force->take_over)
		TRY(is_passing(h, key, &passing, err));
	if (passing)
		return 0;
	if (!force->take_over || (valid && theirs->removing))
		return held_by_other(theirs, valid, err);
	return try_take_over(h, key, identity, err);
}

/* One try: 1 when the claim is ours, 0 when the state changed under us and it is worth another. */
static int try_hold(ckpt_hold *h, const char *key, const ckpt_force *force, bool patient, shd_meter *meter,
                    sherd_error *err)
{
	shd_ckpt_claim theirs = {0};
	sherd_stat seen;
	bool valid = false;
	int rc = ckpt_claim_create(h, key, err);
	if (rc == SHERD_OK) {
		h->created = true;
		return 1;
	}
	if (rc != SHERD_EEXIST)
		return rc;
	rc = sherd_store_stat(&seen, h->store, key, err);
	if (rc == SHERD_OK)
		rc = shd_ckpt_read_claim(h->store, h->prefix, &theirs, &valid, err);
	if (rc == SHERD_ENOTFOUND)
		return 0;
	TRY(rc);
	bool same = valid && shd_set_id_equal(&theirs.set_id, &h->claim.set_id);
	if (same && !theirs.removing && !h->claim.removing) { /* a removal joins nobody */
		rc = try_join(h, key, &theirs, err);
		return rc || patient || !force->take_over ? rc : try_take_over(h, key, seen.identity, err);
	}
	return try_to_pass(h, key, &theirs, valid, seen.identity, force, patient, meter, err);
}

/* Most changes are seen at once; what takes longer is worth about two seconds. */
static void pause_after(int tries)
{
	struct timespec t = {.tv_nsec = (tries < 20 ? tries : 20) * 1000000L};
	if (tries)
		(void)nanosleep(&t, NULL);
}

/* The name was always taken: claims came and went, or somebody who may only read holds a lock that no save would. */
static int never_free(sherd_store *store, const char *key, sherd_error *err)
{
	sherd_stat stat;
	bool object = sherd_store_stat(&stat, store, key, NULL) == SHERD_OK;
	return shd_fail(err, SHERD_ECONFLICT, "conflict", "%s",
	                object ? "other saves come and go too fast, or somebody keeps it locked: taking over "
	                         "goes past that"
	                       : "a folder, or something else, has this name");
}

int shd_ckpt_hold(ckpt_hold *out, sherd_store *store, const char *prefix, const shd_ckpt_claim *mine,
                  const ckpt_force *force, shd_meter *meter, sherd_error *err)
{
	static const ckpt_force none;
	SHD_AUTO_BUF key = {0};
	TRY(claim_key(&key, prefix, err));
	for (int tries = 0; tries < MOST_TRIES; tries++) {
		ckpt_hold h = {.store = store, .prefix = prefix, .claim = *mine};
		TRY(shd_meter_ask(meter, err));
		int rc = try_hold(&h, (const char *)key.data, force ? force : &none, tries < PATIENCE, meter, err);
		if (rc < 0)
			return shd_in_object(err, rc, (const char *)key.data);
		if (rc > 0) {
			*out = h;
			return SHERD_OK;
		}
		pause_after(tries);
	}
	return shd_in_object(err, never_free(store, (const char *)key.data, err), (const char *)key.data);
}

void shd_ckpt_release(ckpt_hold *hold)
{
	sherd_lock_release(TAKE(hold->lock));
}

static int remove_ours(const ckpt_hold *hold, const char *key, sherd_error *err)
{
	shd_ckpt_claim now;
	sherd_stat seen;
	bool valid = false;
	int rc = sherd_store_stat(&seen, hold->store, key, err);
	if (rc == SHERD_OK)
		rc = shd_ckpt_read_claim(hold->store, hold->prefix, &now, &valid, err);
	if (rc == SHERD_OK && valid && now.removing == hold->claim.removing &&
	    shd_set_id_equal(&now.set_id, &hold->claim.set_id))
		rc = remove_seen(hold->store, key, seen.identity, err);
	return rc == SHERD_ENOTFOUND ? SHERD_OK : rc;
}

int shd_ckpt_drop(ckpt_hold *hold, sherd_error *err)
{
	SHD_AUTO_BUF key = {0};
	int rc = claim_key(&key, hold->prefix, err);
	if (rc == SHERD_OK)
		rc = remove_ours(hold, (const char *)key.data, err);
	shd_ckpt_release(hold);
	return rc;
}

/* Somebody who looks whether the claim is dead holds it for a moment, and would leave it behind; ranks of the same set
 * hold it for long, and then it is theirs. */
static int lock_alone(sherd_store *store, const char *key, sherd_lock **out)
{
	int rc = SHERD_ECONFLICT;
	for (int tries = 0; rc == SHERD_ECONFLICT && tries < 8; tries++) {
		pause_after(tries);
		rc = sherd_store_lock(out, store, key, SHERD_LOCK_EXCLUSIVE, NULL);
	}
	return rc;
}

static bool any_shard_left(const ckpt_hold *hold)
{
	ckpt_files files = {0};
	bool any = false;
	if (shd_ckpt_files_open(&files, hold->store, hold->prefix, NULL) < 0)
		return true;
	for (size_t i = 0; i < files.count && !any; i++) {
		ckpt_owner owner;
		any = shd_ckpt_file_owner(hold->store, &files.list[i], &owner, NULL) < 0 ||
		      (owner.known && shd_set_id_equal(&owner.set_id, &hold->claim.set_id));
	}
	shd_ckpt_files_done(&files);
	return any;
}

void shd_ckpt_forsake(ckpt_hold *hold, ckpt_take_back_fn *take_back, void *arg)
{
	SHD_AUTO(sherd_lock, sherd_lock_release) alone = NULL;
	SHD_AUTO_BUF key = {0};
	bool ours = false;
	shd_ckpt_release(hold);
	if (claim_key(&key, hold->prefix, NULL) < 0)
		return;
	/* Where nobody can lock, others may have joined a claim of ranks, but not the one of a single process. */
	bool sure = shd_can_lock(hold->store) ? lock_alone(hold->store, (const char *)key.data, &alone) == SHERD_OK
	                                      : hold->created && !hold->claim.by_ranks;
	if (shd_ckpt_claimed_by(hold->store, hold->prefix, &hold->claim.set_id, &ours, NULL) < 0)
		return;
	if (sure || !ours)
		take_back(arg, ours);
	if (sure && ours && !any_shard_left(hold))
		(void)remove_ours(hold, (const char *)key.data, NULL);
}

int shd_ckpt_clear_dead(sherd_store *store, const char *prefix, uint64_t waiting_ns, shd_meter *meter, sherd_error *err)
{
	ckpt_waiting waiting;
	return ckpt_claim_clear_dead(store, prefix, waiting_ns, &waiting, meter, err);
}
