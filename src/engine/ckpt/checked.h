/* engine/ckpt/checked.h - reading a tensor from front to back, every block of it verified before its bytes are used. */
#ifndef SHERD_ENGINE_CKPT_CHECKED_H
#define SHERD_ENGINE_CKPT_CHECKED_H

#include <sherd/ckpt.h>

/* Belongs to one thread. Zero but for these two to begin with. */
typedef struct ckpt_checked {
	const sherd_ckpt *ckpt;
	size_t tensor;
	bool begun;
	uint64_t first; /* row (byte, where the tensor is whole) that reading began with */
	uint64_t next;  /* the first one whose blocks are not verified yet */
} ckpt_checked;

/* As sherd_ckpt_read(); offsets must ascend. Blocks without a recorded CRC pass. */
int sherd_ckpt_read_checked(ckpt_checked *c, uint64_t offset, void *buf, size_t len, sherd_error *err);

/* Hashes the shards that record no CRCs. */
int sherd_ckpt_check_plain_shards(const sherd_ckpt *ckpt, sherd_pool *pool, sherd_error *err);

#endif
