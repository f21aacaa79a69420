/* engine/ckpt/prune.c - removing old sets, one after the other.
 *
 * A removal takes the prefix's claim first, marked "removing"; then the metadata
 * goes, which ends the set, then its shards, then the claim. Whoever finds the
 * claim of a removal that died finishes it, if the metadata is gone. */
#include "base/buf.h"
#include "engine/ckpt/claim.h"
#include "engine/ckpt/clear.h"
#include "engine/ckpt/files.h"
#include "engine/ckpt/list.h"
#include "format/ckpt_name.h"

SHERD_AUTO_DEFINE(sherd_ckpt_list, sherd_ckpt_list_close)

static int remove_files(sherd_store *store, const char *prefix, const ckpt_files *files, sherd_error *err)
{
	SHERD_AUTO_BUF key = {0};
	sherd_ckpt_name_metadata(&key, prefix);
	TRY(sherd_buf_check(&key, err));
	TRY(sherd_store_remove(store, (const char *)key.data, err));
	for (size_t i = 0; i < files->count; i++)
		TRY(sherd_store_remove(store, files->list[i].key, err));
	return SHERD_OK;
}

/* identity: of the metadata that was chosen. *busy: somebody is writing there, or has replaced it. */
static int remove_set(sherd_store *store, const char *prefix, const char *identity, bool *busy, sherd_error *err)
{
	ckpt_committed now;
	ckpt_hold hold;
	ckpt_files files = {0};
	sherd_set_id id;
	TRY(sherd_ckpt_committed(store, prefix, &now, err));
	*busy = !now.there || strcmp(now.identity, identity) != 0;
	if (*busy)
		return SHERD_OK;
	/* Whoever finishes the removal after us removes no other set than this one. */
	id = now.set_id;
	if (!now.has_set_id)
		TRY(sherd_set_id_random(&id, err));
	sherd_ckpt_claim mine = sherd_ckpt_claim_of_us(&id, 1, 0);
	mine.removing = true;
	int rc = sherd_ckpt_hold(&hold, store, prefix, &mine, NULL, NULL, err);
	*busy = rc == SHERD_ECONFLICT;
	if (*busy)
		return SHERD_OK;
	TRY(rc);
	/* Replaced since we chose it: then it is not the old one any more. */
	ckpt_committed again;
	rc = sherd_ckpt_committed(store, prefix, &again, err);
	if (rc == SHERD_OK && (!again.there || strcmp(again.identity, now.identity) != 0)) {
		*busy = true;
		return sherd_ckpt_drop(&hold, err);
	}
	if (rc == SHERD_OK)
		rc = sherd_ckpt_files_open(&files, store, prefix, err);
	if (rc < 0) {
		(void)sherd_ckpt_drop(&hold, NULL);
		return rc;
	}
	rc = remove_files(store, prefix, &files, err);
	sherd_ckpt_files_done(&files);
	if (rc < 0) {
		sherd_ckpt_release(&hold); /* the claim stays: the next prune goes on */
		return rc;
	}
	return sherd_ckpt_drop(&hold, err);
}

static int clear_dead(sherd_store *store, const char *prefix, uint64_t waiting_ns, bool *busy, sherd_error *err)
{
	int rc = sherd_ckpt_clear_dead(store, prefix, waiting_ns, NULL, err);
	*busy = rc == SHERD_ECONFLICT;
	return *busy ? SHERD_OK : rc;
}

typedef struct pruning {
	sherd_store *store;
	const sherd_ckpt_list *list;
	size_t keep;
	uint64_t waiting_ns;
	sherd_ckpt_removed_fn *removed;
	void *arg;
	sherd_meter meter;
} pruning;

static int prune_one(const pruning *g, size_t i, sherd_error *err)
{
	const sherd_ckpt_listing *c = sherd_ckpt_list_at(g->list, i);
	bool busy = true;
	/* Also finishes what a save or a removal left behind beside a committed set. */
	if (c->state == SHERD_CKPT_COMMITTED || c->state == SHERD_CKPT_DEAD || c->state == SHERD_CKPT_WAITING)
		TRY(clear_dead(g->store, c->prefix, g->waiting_ns, &busy, err));
	if (c->state == SHERD_CKPT_COMMITTED && !busy) {
		busy = i < g->keep;
		if (!busy)
			TRY(remove_set(g->store, c->prefix, sherd_ckpt_list_identity(g->list, i), &busy, err));
	}
	if (!busy && g->removed)
		g->removed(g->arg, c->prefix, c->state);
	return SHERD_OK;
}

/* Asked between two prefixes only: none is left half removed. */
static int prune(pruning *g, sherd_error *err)
{
	size_t count = sherd_ckpt_list_count(g->list);
	for (size_t i = 0; i < count; i++) {
		TRY(sherd_meter_add(&g->meter, i ? 1 : 0, err));
		TRY(prune_one(g, i, err));
	}
	return SHERD_OK;
}

int sherd_ckpt_prune(sherd_store *store, const char *below, size_t keep, const sherd_ckpt_prune_options *options,
                     sherd_ckpt_removed_fn *removed, void *arg, sherd_error *err)
{
	sherd_ckpt_prune_options o = options ? *options : (sherd_ckpt_prune_options){0};
	sherd_ckpt_options looking = {.pool = o.pool, .limits = o.limits, .progress = o.progress};
	SHERD_AUTO(sherd_ckpt_list, sherd_ckpt_list_close) list = NULL;
	pruning g = {
		.store = store, .keep = keep, .waiting_ns = o.waiting_older_than_ns, .removed = removed, .arg = arg};
	if (!keep)
		return sherd_fail(err, SHERD_EINVAL, "bad-argument",
		                  "the newest checkpoint is always kept: keep at least 1");
	TRY(sherd_ckpt_list_open(&list, store, below, &looking, err));
	g.list = list;
	sherd_meter_init(&g.meter, o.progress, sherd_ckpt_list_count(list));
	int rc = prune(&g, err);
	sherd_meter_done(&g.meter);
	return rc;
}
