/* engine/ckpt/saver.h - a save under way, one process's part of it. */
#pragma once

#include "engine/ckpt/claim.h"
#include "engine/ckpt/clear.h"
#include "engine/ckpt/save.h"

struct sherd_ckpt_saver {
	sherd_store *store;
	char *prefix;
	sherd_ckpt_save_options options;
	sherd_set_id set_id;
	uint32_t world;
	ckpt_manner manner;
	ckpt_hold hold;
	bool holding;
	bool settled;          /* this very set is committed: nothing is written, shards are only compared with it */
	ckpt_committed before; /* what stands under the prefix, to be replaced */
	shd_part *written;     /* by rank; each shard has one writer */
	shd_meter own_meter, *meter;
};

int shd_ckpt_saver_key(const sherd_ckpt_saver *s, uint32_t rank, shd_buf *key, sherd_error *err);
/* Frees it and nothing else. */
void shd_ckpt_saver_free(sherd_ckpt_saver *s);
int shd_ckpt_already_committed(const sherd_ckpt_saver *s, sherd_error *err);
