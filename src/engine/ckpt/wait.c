/* engine/ckpt/wait.c - waiting until a set is committed. */
#include "engine/ckpt/claim.h"
#include "engine/ckpt/clear.h"
#include "engine/ckpt/files.h"

#include <inttypes.h>
#include <time.h>

/* Between two looks: soon at first, then five times a second. */
enum { FIRST_PAUSE_MS = 5, LAST_PAUSE_MS = 200 };

static uint64_t now_ns(void)
{
	struct timespec t = {0};
	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static bool is_committed(const ckpt_committed *now, const sherd_set_id *set_id)
{
	return now->readable && (!set_id || (now->has_set_id && sherd_set_id_equal(&now->set_id, set_id)));
}

/* Says how far the set is. */
static int too_late(sherd_store *store, const char *prefix, const sherd_set_id *set_id, sherd_error *err)
{
	ckpt_claim_look look = {0};
	TRY(sherd_ckpt_claim_look(store, prefix, &look, err));
	bool ours = look.valid && (!set_id || sherd_set_id_equal(&look.claim.set_id, set_id));
	if (!look.there || !ours)
		return sherd_fail(err, SHERD_EINCOMPLETE, "timed-out", "not committed in time: %s",
		                  look.there ? "the prefix is claimed by another set" : "nobody is saving it");
	if (!look.waiting.waiting)
		return sherd_fail(err, SHERD_EINCOMPLETE, "timed-out", "not committed in time: %s",
		                  look.lives ? "it is still being saved" : "its save has died");
	char text[SHERD_CKPT_WAITING_TEXT];
	sherd_ckpt_waiting_text(&look.waiting, look.claim.world, text);
	return sherd_fail(err, SHERD_EINCOMPLETE, "timed-out", "not committed in time: %s%s", text,
	                  look.waiting.ranks >= look.claim.world ? "; sherd checkpoint commit publishes them" : "");
}

static int wait_until(sherd_store *store, const char *prefix, const sherd_set_id *set_id, uint64_t timeout_ns,
                      sherd_meter *meter, sherd_error *err)
{
	uint64_t began = now_ns(), pause_ms = FIRST_PAUSE_MS;
	for (;;) {
		ckpt_committed now;
		TRY(sherd_ckpt_committed(store, prefix, &now, err));
		if (is_committed(&now, set_id))
			return SHERD_OK;
		uint64_t passed = now_ns() - began, pause_ns = pause_ms * 1000000;
		if (passed >= timeout_ns)
			return too_late(store, prefix, set_id, err);
		TRY(sherd_meter_ask(meter, err));
		pause_ns = timeout_ns - passed < pause_ns ? timeout_ns - passed : pause_ns;
		struct timespec t = {.tv_nsec = (long)pause_ns};
		(void)nanosleep(&t, NULL);
		pause_ms = pause_ms * 2 < LAST_PAUSE_MS ? pause_ms * 2 : LAST_PAUSE_MS;
	}
}

int sherd_ckpt_wait(sherd_store *store, const char *prefix, const sherd_set_id *set_id, uint64_t timeout_ns,
                    const sherd_ckpt_options *options, sherd_error *err)
{
	sherd_meter meter;
	sherd_meter_init(&meter, options ? options->progress : NULL, 0);
	int rc = wait_until(store, prefix, set_id, timeout_ns, &meter, err);
	sherd_meter_done(&meter);
	return sherd_in_object(err, rc, prefix);
}
