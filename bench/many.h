/* bench/many.h - checkpoints of very many small pieces. */
#pragma once

#include <sherd/ckpt.h>

/* tensors whole tensors, dealt out to world shards: names as models have them, 64 bytes each, or
 * cut: every tensor of 256 bytes cut by rows over all shards. */
void bench_save_many(sherd_store *store, const char *prefix, size_t tensors, uint32_t world, bool cut);
/* The name of a tensor; at least 128 bytes of room. */
void bench_many_name(size_t tensor, char out[128]);
