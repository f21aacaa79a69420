/* engine/ckpt/reshard.c - the same tensors in another number of shards, piece by piece. */
#include "engine/ckpt/ckpt.h"
#include "engine/ckpt/save.h"

#include <stdlib.h>

SHD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)

/* Further members of a tensor, as its first piece has them. */
static const char **extras_of(const sherd_ckpt *c)
{
	const char **extras = calloc(c->count + 1, sizeof(*extras));
	for (size_t i = 0; extras && i < c->count; i++) {
		const sherd_ckpt_piece *p = &c->pieces[c->first_piece[i]];
		if (c->first_piece[i] < c->first_piece[i + 1])
			extras[i] = c->meta.shards[p->shard].entries[p->entry].extra;
	}
	return extras;
}

int sherd_ckpt_reshard(const sherd_ckpt *from, sherd_store *store, const char *prefix, bool cut,
                       const sherd_ckpt_save_options *options, sherd_error *err)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) bundle = NULL;
	sherd_ckpt_save_options o = options ? *options : (sherd_ckpt_save_options){0};
	if (!o.about)
		o.about = &from->info.about;
	/* The bundle hands out nothing that its checksums contradict, so the new ones never vouch for damage. */
	TRY(sherd_bundle_of_ckpt(&bundle, from, err));
	const char **extras = extras_of(from);
	if (!extras)
		return shd_fail_nomem(err);
	int rc = shd_ckpt_save_spread(store, prefix, bundle, extras, cut, &o, err);
	free(extras);
	return rc;
}
