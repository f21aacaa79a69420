#include "tensors.h"

#include "machine.h"
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>

static const uint64_t shape[2] = {2048, 4096};

static void *allocate(size_t count, size_t size)
{
	void *p = calloc(count ? count : 1, size);
	if (!p)
		bench_fail("no memory");
	return p;
}

bench_tensors bench_tensors_of(uint8_t *memory, uint64_t bytes, uint32_t world)
{
	size_t count = bytes / BENCH_TENSOR_BYTES, next = 0;
	bench_tensors t = {.count = count, .bytes = count * BENCH_TENSOR_BYTES, .world = world};
	t.items = allocate(count, sizeof(*t.items));
	t.shards = allocate(world, sizeof(*t.shards));
	for (uint32_t r = 0; r < world; r++) {
		size_t end = count * (r + 1) / world;
		t.shards[r] = (sherd_ckpt_shard_items){.items = t.items + next, .count = end - next};
		for (; next < end; next++) {
			char *name;
			if (asprintf(&name, "model.layers.%zu.mlp.weight", next) < 0)
				bench_fail("no memory");
			t.items[next] = (sherd_ckpt_item){
				.tensor = {.name = name, .dtype = SHERD_F32, .ndim = 2, .shape = shape},
				.data = memory + next * BENCH_TENSOR_BYTES,
			};
		}
	}
	return t;
}

void bench_tensors_done(bench_tensors *t)
{
	for (size_t i = 0; i < t->count; i++)
		free((char *)(uintptr_t)t->items[i].tensor.name);
	free(t->items);
	free(t->shards);
	*t = (bench_tensors){0};
}

sherd_ckpt_want *bench_wants_of(const bench_tensors *t, const sherd_ckpt *ckpt)
{
	sherd_ckpt_want *wants = allocate(t->count, sizeof(*wants));
	for (size_t i = 0; i < t->count; i++) {
		size_t tensor = sherd_ckpt_find(ckpt, t->items[i].tensor.name);
		if (tensor == SHERD_NO_TENSOR)
			bench_fail("a tensor is missing: %s", t->items[i].tensor.name);
		wants[i] = (sherd_ckpt_want){.tensor = tensor, .buf = (void *)(uintptr_t)t->items[i].data};
	}
	return wants;
}

sherd_store *bench_store(void)
{
	sherd_error err;
	sherd_store *store;
	sherd_local_options options = {.create = true};
	if (sherd_store_open_local(&store, bench_folder(), &options, &err) < 0)
		bench_fail("%s: %s", bench_folder(), err.message);
	return store;
}

sherd_pool *bench_pool(unsigned workers)
{
	sherd_error err;
	sherd_pool *pool;
	if (sherd_pool_open(&pool, workers, &err) < 0)
		bench_fail("%s", err.message);
	return pool;
}

double bench_save(sherd_store *store, const char *prefix, const bench_tensors *t, sherd_pool *pool)
{
	sherd_error err;
	sherd_ckpt_save_options options = {.world = t->world, .pool = pool};
	double start = bench_now();
	if (sherd_ckpt_save(store, prefix, t->shards, &options, &err) < 0)
		bench_fail("%s: %s", err.object, err.message);
	return bench_now() - start;
}

void bench_remove(sherd_store *store, const char *prefix, uint32_t world)
{
	char key[256];
	(void)snprintf(key, sizeof(key), "%s.metadata.json", prefix);
	(void)sherd_store_remove(store, key, NULL);
	for (uint32_t r = 0; r < world; r++) {
		(void)snprintf(key, sizeof(key), "%s_shard_%u.shard", prefix, r);
		(void)sherd_store_remove(store, key, NULL);
	}
	bench_settle();
}
