/* engine/ckpt/wait.c - waiting until a set is committed. */
#include "engine/ckpt/ckpt.h"
#include "engine/ckpt/claim.h"
#include "engine/ckpt/clear.h"
#include "engine/ckpt/files.h"
#include "engine/ckpt/publish.h"

#include <time.h>

/* Between two looks: soon at first, then five times a second. */
enum { FIRST_PAUSE_MS = 5, LAST_PAUSE_MS = 200 };
/* Shards are opened every so many looks at the metadata: every second or two. */
enum { LOOKS_A_RANK = 8 };

static uint64_t now_ns(void)
{
	struct timespec t = {0};
	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Is the set committed, and all of it there? A committed set with a hole will not become whole by waiting. */
static int look_at_committed(sherd_store *store, const char *prefix, const sherd_set_id *set_id,
                             const sherd_ckpt_options *options, bool *yes, sherd_error *err)
{
	ckpt_committed now;
	sherd_ckpt *ckpt = NULL;
	sherd_ckpt_options o = {.pool = options->pool, .limits = options->limits};
	TRY(shd_ckpt_committed(store, prefix, &now, err));
	*yes = false;
	if (!now.readable || (set_id && !(now.has_set_id && shd_set_id_equal(&now.set_id, set_id))))
		return SHERD_OK;
	int rc = shd_ckpt_open_prefix(&ckpt, store, prefix, &o, err);
	sherd_ckpt_close(ckpt);
	*yes = rc == SHERD_OK;
	return rc == SHERD_ENOTFOUND || rc == SHERD_EINCOMPLETE ? SHERD_OK : rc; /* removed just now */
}

/* All ranks have saved, and nobody is publishing them: can anybody? */
static int look_at_ranks(sherd_store *store, const char *prefix, const sherd_set_id *set_id,
                         const sherd_ckpt_options *options, shd_meter *meter, sherd_error *err)
{
	ckpt_claim_look look = {0};
	TRY(shd_ckpt_claim_look(store, prefix, &look, err));
	bool ours = look.valid && (!set_id || shd_set_id_equal(&look.claim.set_id, set_id));
	if (!ours || !look.waiting.waiting)
		return SHERD_OK;
	ckpt_publication p = {.store = store,
	                      .prefix = prefix,
	                      .set_id = look.claim.set_id,
	                      .world = look.claim.world,
	                      .pool = options->pool,
	                      .meter = meter,
	                      .only_check = true,
	                      .limits = options->limits};
	int rc = shd_ckpt_publish(&p, err);
	return rc == SHERD_EINCOMPLETE ? SHERD_OK : rc;
}

/* Says how far the set is. */
static int too_late(sherd_store *store, const char *prefix, const sherd_set_id *set_id, sherd_error *err)
{
	ckpt_claim_look look = {0};
	TRY(shd_ckpt_claim_look(store, prefix, &look, err));
	bool ours = look.valid && (!set_id || shd_set_id_equal(&look.claim.set_id, set_id));
	if (!look.there || !ours)
		return shd_fail(err, SHERD_EINCOMPLETE, "timed-out", "not committed in time: %s",
		                look.there ? "the prefix is claimed by another set" : "nobody is saving it");
	if (!look.waiting.waiting)
		return shd_fail(err, SHERD_EINCOMPLETE, "timed-out", "not committed in time: %s",
		                look.lives ? "it is still being saved" : "its save has died");
	char text[SHD_CKPT_WAITING_TEXT];
	shd_ckpt_waiting_text(&look.waiting, look.claim.world, text);
	return shd_fail(err, SHERD_EINCOMPLETE, "timed-out", "not committed in time: %s%s", text,
	                look.waiting.ranks >= look.claim.world ? "; only the commit is missing" : "");
}

static int wait_until(sherd_store *store, const char *prefix, const sherd_set_id *set_id, uint64_t timeout_ns,
                      const sherd_ckpt_options *options, shd_meter *meter, sherd_error *err)
{
	uint64_t began = now_ns(), pause_ms = FIRST_PAUSE_MS, looks = 0;
	for (;;) {
		bool yes;
		TRY(look_at_committed(store, prefix, set_id, options, &yes, err));
		if (yes)
			return SHERD_OK;
		uint64_t passed = now_ns() - began, pause_ns = pause_ms * 1000000;
		if (++looks % LOOKS_A_RANK == 0 || passed >= timeout_ns)
			TRY(look_at_ranks(store, prefix, set_id, options, meter, err));
		if (passed >= timeout_ns)
			return too_late(store, prefix, set_id, err);
		TRY(shd_meter_ask(meter, err));
		pause_ns = timeout_ns - passed < pause_ns ? timeout_ns - passed : pause_ns;
		struct timespec t = {.tv_nsec = (long)pause_ns};
		(void)nanosleep(&t, NULL);
		pause_ms = pause_ms * 2 < LAST_PAUSE_MS ? pause_ms * 2 : LAST_PAUSE_MS;
	}
}

int sherd_ckpt_wait(sherd_store *store, const char *prefix, const sherd_set_id *set_id, uint64_t timeout_ns,
                    const sherd_ckpt_options *options, sherd_error *err)
{
	shd_meter meter;
	sherd_ckpt_options o = options ? *options : (sherd_ckpt_options){0};
	shd_meter_init(&meter, o.progress, 0);
	int rc = wait_until(store, prefix, set_id, timeout_ns, &o, &meter, err);
	shd_meter_done(&meter);
	return shd_in_object(err, rc, prefix);
}
