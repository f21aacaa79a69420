/* engine/ckpt/open_together.c - a checkpoint opened by a group: of N shards and M processes N are opened, not N times
 * M; each process opens those that it reads, when it does. */
#include "base/group.h"
#include "engine/ckpt/ckpt.h"
#include "engine/ckpt/together.h"
#include "store/relay.h"

SHD_AUTO_DEFINE(sherd_store, sherd_store_close)
SHD_AUTO_DEFINE(sherd_ckpt, sherd_ckpt_close)

static int open_by_relay(sherd_ckpt **out, sherd_store *store, const shd_buf *notes, const char *prefix,
                         const sherd_ckpt_options *options, sherd_error *err)
{
	SHD_AUTO(sherd_store, sherd_store_close) relay = NULL;
	sherd_ckpt_options alone = *options;
	alone.group = NULL;
	TRY(shd_relay_open(&relay, store, notes, err));
	TRY(shd_ckpt_open_prefix(out, relay, prefix, &alone, err));
	(*out)->relay = TAKE(relay);
	return SHERD_OK;
}

/* What rank 0 read, on all others. */
static int share_notes(sherd_group *g, shd_buf *notes, int rc, sherd_error *err)
{
	uint64_t len = notes->len;
	TRY(sherd_group_share(g, rc, 0, &len, sizeof(len), err));
	bool room = g->rank == 0 || shd_buf_reserve(notes, (size_t)len);
	rc = room ? SHERD_OK : shd_fail_nomem(err);
	TRY(sherd_group_share(g, rc, 0, notes->data, (size_t)len, err));
	notes->len = (size_t)len;
	return SHERD_OK;
}

int shd_ckpt_open_together(sherd_ckpt **out, sherd_store *store, const char *prefix, const sherd_ckpt_options *options,
                           sherd_error *err)
{
	SHD_AUTO(sherd_ckpt, sherd_ckpt_close) c = NULL;
	SHD_AUTO_BUF notes = {0};
	sherd_group *g = options->group;
	int rc = SHERD_OK;
	if (g->rank == 0) {
		rc = open_by_relay(&c, store, NULL, prefix, options, err);
		if (rc == SHERD_OK)
			rc = shd_relay_notes(c->relay, &notes, err);
	}
	TRY(share_notes(g, &notes, rc, err));
	if (g->rank)
		rc = open_by_relay(&c, store, &notes, prefix, options, err);
	TRY(sherd_group_agree(g, rc, err));
	*out = TAKE(c);
	return SHERD_OK;
}
