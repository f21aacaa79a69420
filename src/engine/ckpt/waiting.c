/* engine/ckpt/waiting.c - sets between their first and their last rank: nobody holds their claim, and yet they are not
 * dead. */
#include "engine/ckpt/claim.h"
#include "engine/ckpt/clear.h"
#include "engine/ckpt/files.h"

#include <inttypes.h>
#include <stdio.h>

SHD_AUTO_DEFINE(sherd_lock, sherd_lock_release)

static uint64_t age_of(sherd_store *store, int64_t mtime_ns)
{
	int64_t now = mtime_ns ? sherd_store_now(store) : 0;
	return now > mtime_ns ? (uint64_t)now - (uint64_t)mtime_ns : 0;
}

int shd_ckpt_waiting(sherd_store *store, const char *prefix, const shd_ckpt_claim *claim, ckpt_waiting *out,
                     sherd_error *err)
{
	SHD_DONE(shd_ckpt_files_done) ckpt_files files = {0};
	ckpt_committed now;
	int64_t newest = 0;
	*out = (ckpt_waiting){0};
	if (!claim->by_ranks || claim->removing || claim->repairing)
		return SHERD_OK;
	TRY(shd_ckpt_committed(store, prefix, &now, err));
	if (now.has_set_id && shd_set_id_equal(&now.set_id, &claim->set_id))
		return SHERD_OK;
	TRY(shd_ckpt_files_open(&files, store, prefix, err));
	TRY(shd_ckpt_files_of_set(&files, store, &claim->set_id, NULL, err));
	for (size_t i = 0; i < files.count; i++)
		newest = files.list[i].mtime_ns > newest ? files.list[i].mtime_ns : newest;
	out->ranks = (uint32_t)files.count;
	out->waiting = out->ranks != 0;
	out->age_ns = age_of(store, newest);
	return SHERD_OK;
}

void shd_ckpt_waiting_text(const ckpt_waiting *w, uint32_t world, char out[SHD_CKPT_WAITING_TEXT])
{
	static const struct {
		uint64_t seconds;
		const char *name;
	} units[] = {{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}};
	uint64_t seconds = w->age_ns / 1000000000;
	size_t u = 0;
	while (units[u].seconds > 1 && seconds < 2 * units[u].seconds)
		u++;
	(void)snprintf(out, SHD_CKPT_WAITING_TEXT,
	               "%" PRIu32 " of %" PRIu32 " ranks have saved, the last one %" PRIu64 " %s ago", w->ranks, world,
	               seconds / units[u].seconds, units[u].name);
}

int shd_ckpt_claim_look(sherd_store *store, const char *prefix, ckpt_claim_look *out, sherd_error *err)
{
	SHD_AUTO(sherd_lock, sherd_lock_release) lock = NULL;
	SHD_AUTO_BUF key = {0};
	ckpt_claim_look look = {0};
	shd_ckpt_name_claim(&key, prefix);
	TRY(shd_buf_check(&key, err));
	const char *name = (const char *)key.data;
	int rc = shd_can_lock(store)                 ? sherd_store_lock(&lock, store, name, SHERD_LOCK_EXCLUSIVE, err)
	         : shd_claim_has_lapsed(store, name) ? SHERD_OK
	                                             : SHERD_ECONFLICT;
	look.lives = rc == SHERD_ECONFLICT;
	if (rc == SHERD_OK || look.lives)
		rc = shd_ckpt_read_claim(store, prefix, &look.claim, &look.valid, err);
	look.there = rc == SHERD_OK;
	if (rc == SHERD_OK && look.valid && !look.lives)
		rc = shd_ckpt_waiting(store, prefix, &look.claim, &look.waiting, err);
	if (rc < 0 && rc != SHERD_ENOTFOUND)
		return rc;
	*out = look;
	return SHERD_OK;
}
