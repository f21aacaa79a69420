#include "engine/ckpt/claim.h"

#include "engine/ckpt/clear.h"
#include "engine/ckpt/files.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

enum { CLAIM_BYTES = 64 << 10 };

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

static int claim_text(const shd_ckpt_claim *claim, shd_buf *out, sherd_error *err)
{
	out->len = 0;
	shd_ckpt_claim_encode(claim, out);
	return shd_buf_check(out, err);
}

/* *valid is false for what is no claim. */
static int claim_decode(shd_str text, shd_ckpt_claim *out, bool *valid, sherd_error *err)
{
	int rc = SHERD_ELIMIT;
	if (text.ptr && text.len <= CLAIM_BYTES)
		rc = shd_ckpt_claim_decode(text.ptr, text.len, out, err);
	*valid = rc == SHERD_OK;
	return rc == SHERD_ENOMEM ? rc : SHERD_OK;
}

int shd_ckpt_read_claim(sherd_store *store, const char *prefix, shd_ckpt_claim *out, bool *valid, sherd_error *err)
{
	SHD_AUTO_BUF key = {0};
	char *text = NULL;
	size_t len = 0;
	TRY(claim_key(&key, prefix, err));
	int rc = sherd_store_get(&text, &len, store, (const char *)key.data, CLAIM_BYTES, err);
	*valid = false;
	if (rc == SHERD_ELIMIT)
		return SHERD_OK;
	TRY(rc);
	rc = claim_decode((shd_str){text, len}, out, valid, err);
	free(text);
	return rc;
}

int shd_ckpt_claimed_by(sherd_store *store, const char *prefix, const sherd_set_id *set_id, bool *yes, sherd_error *err)
{
	shd_ckpt_claim now;
	bool valid = false;
	int rc = shd_ckpt_read_claim(store, prefix, &now, &valid, err);
	*yes = rc == SHERD_OK && valid && !now.removing && shd_set_id_equal(&now.set_id, set_id);
	return rc == SHERD_ENOTFOUND ? SHERD_OK : rc;
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

/* May this process save for the set whose claim is there? */
static int ckpt_claim_check_same(const shd_ckpt_claim *mine, const shd_ckpt_claim *theirs, sherd_error *err)
{
	if (theirs->world != mine->world)
		return shd_fail(err, SHERD_ECONFLICT, "conflict",
		                "the set was begun with %" PRIu32 " shards, not %" PRIu32, theirs->world, mine->world);
	/* Who repairs or publishes the set brings no shards of his own. */
	if (!mine->by_ranks || strcmp(theirs->source, mine->source) == 0)
		return SHERD_OK;
	const char *why = "not what the other ranks cut: other names, types, shapes or values, or cut otherwise";
	if (!mine->source[0])
		why = "the other ranks cut one common source, and this one saves what it holds";
	else if (!theirs->source[0])
		why = "the other ranks save what they hold, and this one cuts a common source";
	return shd_fail(err, SHERD_ECONFLICT, "other-source", "%s", why);
}

typedef struct ckpt_claiming {
	sherd_store *store;
	const char *prefix;
	const shd_ckpt_claim *mine;
	const ckpt_force *force;
	shd_meter *meter;
	shd_ckpt_claim joined; /* what stands there, if that is the set's */
	shd_buf text;          /* of the claim to be made */
} ckpt_claiming;

static int ckpt_claim_judge(void *arg, shd_str text, sherd_error *err)
{
	ckpt_claiming *k = arg;
	bool valid;
	TRY(claim_decode(text, &k->joined, &valid, err));
	if (!valid || !shd_set_id_equal(&k->joined.set_id, &k->mine->set_id) || k->joined.removing || k->mine->removing)
		return 0; /* a removal joins nobody */
	TRY(ckpt_claim_check_same(k->mine, &k->joined, err));
	return 1;
}

/* What waits for its ranks is not dead, unless it has waited for too long. */
static int ckpt_claim_may_clear(void *arg, shd_str text, sherd_error *err)
{
	const ckpt_claiming *k = arg;
	shd_ckpt_claim claim;
	ckpt_waiting w = {0};
	bool valid;
	uint64_t most = k->force->take_over ? 1 : k->force->waiting_ns;
	TRY(claim_decode(text, &claim, &valid, err));
	if (valid)
		TRY(shd_ckpt_waiting(k->store, k->prefix, &claim, &w, err));
	return w.waiting && (!most || w.age_ns < most - 1) ? still_waiting(&claim, &w, err) : SHERD_OK;
}

static int ckpt_claim_clear(void *arg, shd_str text, sherd_error *err)
{
	const ckpt_claiming *k = arg;
	shd_ckpt_claim claim;
	bool valid;
	TRY(ckpt_claim_may_clear(arg, text, err));
	TRY(claim_decode(text, &claim, &valid, err));
	return valid ? shd_ckpt_clear(k->store, k->prefix, &claim, k->meter, err) : SHERD_OK;
}

/* Who takes over leaves the shards of the other alone until its own are published. */
static int ckpt_claim_held(void *arg, shd_str text, sherd_error *err)
{
	ckpt_claiming *k = arg;
	shd_ckpt_claim theirs = {0};
	bool valid;
	TRY(claim_decode(text, &theirs, &valid, err));
	if (!k->force->take_over || (valid && theirs.removing))
		return held_by_other(&theirs, valid, err);
	shd_ckpt_claim mine = *k->mine;
	mine.named_by_set = true;
	return claim_text(&mine, &k->text, err);
}

static shd_claim_rules rules_of(ckpt_claiming *k)
{
	return (shd_claim_rules){.mode = SHERD_LOCK_SHARED,
	                         .force = k->force->take_over,
	                         .judge = ckpt_claim_judge,
	                         .may_clear = ckpt_claim_may_clear,
	                         .clear = ckpt_claim_clear,
	                         .held = ckpt_claim_held,
	                         .arg = k,
	                         .meter = k->meter};
}

int shd_ckpt_hold(ckpt_hold *out, sherd_store *store, const char *prefix, const shd_ckpt_claim *mine,
                  const ckpt_force *force, shd_meter *meter, sherd_error *err)
{
	static const ckpt_force none;
	SHD_AUTO_BUF key = {0};
	ckpt_hold h = {.prefix = prefix, .claim = *mine};
	ckpt_claiming k = {store, prefix, mine, force ? force : &none, meter, {.world = 0}, {0}};
	const shd_claim_rules rules = rules_of(&k);
	TRY(claim_key(&key, prefix, err));
	int rc = claim_text(mine, &k.text, err);
	if (rc == SHERD_OK)
		rc = shd_claim_take(&h.held, store, (const char *)key.data, &k.text, &rules, err);
	shd_buf_done(&k.text);
	TRY(rc);
	if (h.held.joined) {
		h.claim.named_by_set = k.joined.named_by_set;
		h.claim.by_ranks = k.joined.by_ranks;
		h.claim.has_base = k.joined.has_base;
		memcpy(h.claim.base, k.joined.base, sizeof(h.claim.base));
		h.claim.has_base_identity = k.joined.has_base_identity && !shd_can_lock(store);
		memcpy(h.claim.base_identity, k.joined.base_identity, sizeof(h.claim.base_identity));
		memcpy(h.claim.source, k.joined.source, sizeof(h.claim.source));
	}
	h.claim.named_by_set |= h.held.took_over;
	*out = h;
	return SHERD_OK;
}

int shd_ckpt_clear_dead(sherd_store *store, const char *prefix, uint64_t waiting_ns, shd_meter *meter, sherd_error *err)
{
	SHD_AUTO_BUF key = {0};
	const ckpt_force force = {.waiting_ns = waiting_ns};
	ckpt_claiming k = {.store = store, .prefix = prefix, .force = &force, .meter = meter};
	const shd_claim_rules rules = rules_of(&k);
	TRY(claim_key(&key, prefix, err));
	return shd_claim_clear(store, (const char *)key.data, &rules, err);
}

static bool any_shard_left(const ckpt_hold *hold)
{
	SHD_DONE(shd_ckpt_files_done) ckpt_files files = {0};
	sherd_store *store = hold->held.store;
	return shd_ckpt_files_open(&files, store, hold->prefix, NULL) < 0 ||
	       shd_ckpt_files_of_set(&files, store, &hold->claim.set_id, NULL, NULL) < 0 || files.count;
}

void shd_ckpt_forsake(ckpt_hold *hold, ckpt_take_back_fn *take_back, void *arg)
{
	/* Where nobody can lock, others may have joined a claim of ranks, but not the one of a single process. */
	bool sure = shd_claim_alone(&hold->held) && (shd_can_lock(hold->held.store) || !hold->claim.by_ranks);
	int rc = shd_claim_check(&hold->held, NULL);
	if (rc == SHERD_ECONFLICT || (rc == SHERD_OK && sure))
		take_back(arg, rc == SHERD_OK);
	if (rc == SHERD_OK && sure && !any_shard_left(hold))
		(void)shd_claim_drop(&hold->held, NULL);
	else
		shd_claim_leave(&hold->held);
}
