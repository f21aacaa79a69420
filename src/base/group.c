#include "base/group.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* An error on its way: all of it but the store, which is another one elsewhere. */
typedef struct told {
	int32_t code, os_errno;
	uint64_t offset, index;
	char reason[40];
	char object[sizeof(((sherd_error *)0)->object)];
	char message[sizeof(((sherd_error *)0)->message)];
} told;

static told tell(const sherd_error *e)
{
	told t = {.code = e->code, .os_errno = e->os_errno, .offset = e->offset, .index = e->index};
	(void)snprintf(t.reason, sizeof(t.reason), "%s", e->reason ? e->reason : "");
	memcpy(t.object, e->object, sizeof(t.object));
	memcpy(t.message, e->message, sizeof(t.message));
	return t;
}

static int hear(const sherd_group *g, const told *t, uint32_t rank, sherd_error *err)
{
	static _Thread_local char reason[sizeof(t->reason)]; /* the group may go before the error does */
	if (!err)
		return t->code;
	memcpy(reason, t->reason, sizeof(reason));
	const struct sherd_store *store = g->rank == rank ? err->store : NULL;
	*err = (sherd_error){.code = (sherd_status)t->code,
	                     .os_errno = t->os_errno,
	                     .offset = t->offset,
	                     .index = t->index,
	                     .reason = reason,
	                     .store = store};
	memcpy(err->object, t->object, sizeof(err->object));
	(void)snprintf(err->message, sizeof(err->message), "rank %" PRIu32 ": %.230s", rank, t->message);
	return t->code;
}

static uint32_t first_failed(const int32_t *all, uint32_t size)
{
	uint32_t rank = 0;
	while (rank < size && all[rank] >= 0)
		rank++;
	return rank;
}

/* A call of the group's own: after a failure nobody can be reached. */
static int reached(sherd_group *g, int rc)
{
	g->broken = g->broken || rc < 0;
	g->failed = g->failed || rc < 0;
	return rc;
}

int shd_group_gather(sherd_group *g, const void *mine, size_t len, void *all, sherd_error *err)
{
	return reached(g, g->gather(g->arg, mine, len, all, err));
}

int sherd_group_agree(sherd_group *g, int rc, sherd_error *err)
{
	int32_t mine = rc < 0 ? rc : SHERD_OK;
	sherd_error own = {.code = (sherd_status)mine, .offset = SHERD_NO_OFFSET, .index = SHERD_NO_INDEX};
	if (g->failed)
		return rc < 0 ? rc : shd_fail(err, SHERD_ECANCELLED, "cancelled", "another rank has failed");
	SHD_AUTO_FREE int32_t *all = calloc(g->size, sizeof(*all));
	if (!all)
		return reached(g, shd_fail_nomem(err));
	TRY(shd_group_gather(g, &mine, sizeof(mine), all, err));
	uint32_t rank = first_failed(all, g->size);
	if (rank == g->size)
		return SHERD_OK;
	told t = tell(err && mine ? err : &own);
	g->failed = true;
	TRY(reached(g, g->share(g->arg, rank, &t, sizeof(t), err)));
	return hear(g, &t, rank, err);
}

int sherd_group_share(sherd_group *g, int rc, uint32_t from, void *data, size_t len, sherd_error *err)
{
	TRY(sherd_group_agree(g, rc, err));
	return reached(g, g->share(g->arg, from, data, len, err));
}
