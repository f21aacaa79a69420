/* bench_ckpt_memory - C4: the memory that a save takes beside the tensors, and that a reshard takes, whatever the size.
 *
 * Each turn in a process of its own, by the greatest resident size. */
#include "machine.h"
#include "measure.h"
#include "tensors.h"

enum { SHARDS = 4, WORKERS = 2, NEW_SHARDS = 6 };

typedef struct saving {
	uint8_t *memory;
	uint64_t bytes;
	bool cut; /* of a reshard */
} saving;

/* The tensors are touched here first, so that they count before. */
static void save(void *arg, double *result)
{
	const saving *s = arg;
	sherd_store *store = bench_store();
	sherd_pool *pool = bench_pool(WORKERS);
	bench_tensors t = bench_tensors_of(s->memory, s->bytes, SHARDS);
	bench_check(s->memory, s->bytes);
	bench_reset_peak();
	uint64_t before = bench_peak_memory();
	(void)bench_save(store, "saved", &t, pool);
	*result = (double)(bench_peak_memory() - before) / (1 << 20) / WORKERS;
	bench_remove(store, "saved", SHARDS);
}

static void reshard(void *arg, double *result)
{
	const saving *s = arg;
	sherd_error err;
	sherd_ckpt *ckpt;
	sherd_store *store = bench_store();
	sherd_pool *pool = bench_pool(WORKERS);
	bench_reset_peak();
	uint64_t before = bench_peak_memory();
	sherd_ckpt_save_options options = {.world = NEW_SHARDS, .pool = pool};
	if (sherd_ckpt_open(&ckpt, store, "ckpt", NULL, &err) < 0 ||
	    sherd_ckpt_reshard(ckpt, store, "new", s->cut, &options, &err) < 0)
		bench_fail("%s: %s", err.object, err.message);
	*result = (double)(bench_peak_memory() - before) / (1 << 20);
	sherd_ckpt_close(ckpt);
	bench_remove(store, "new", NEW_SHARDS);
}

static void report(const char *what, const bench_series *ours, double limit)
{
	bench_report(&(bench_row){.id = "C4",
	                          .what = what,
	                          .unit = "MiB",
	                          .ours = ours,
	                          .against = "the limit",
	                          .limit = limit,
	                          .goal = BENCH_AT_MOST,
	                          .target = 1});
}

int main(void)
{
	bench_series saved = {.count = 0}, whole = {.count = 0}, cut = {.count = 0};
	bench_begin("ckpt_memory");
	uint64_t bytes = bench_bytes(4, 1.6, 2.2);
	saving s = {.memory = bench_memory(bytes, NULL), .bytes = bytes};
	sherd_store *store = bench_store();
	sherd_pool *pool = bench_pool(WORKERS);
	bench_tensors t = bench_tensors_of(s.memory, bytes, SHARDS);
	bench_fill(s.memory, bytes);
	(void)bench_save(store, "ckpt", &t, pool);
	sherd_pool_close(pool);
	for (int i = 0; i < 3; i++) {
		s.cut = false;
		bench_add(&saved, bench_in_child(save, &s));
		bench_add(&whole, bench_in_child(reshard, &s));
		s.cut = true;
		bench_add(&cut, bench_in_child(reshard, &s));
	}
	report("save, 2 workers: beside the tensors, a worker", &saved, 64);
	report("reshard 4 to 6, 2 workers, whole tensors", &whole, 256);
	report("reshard 4 to 6, 2 workers, cut", &cut, 256);
	bench_end();
	bench_remove(store, "ckpt", SHARDS);
	bench_tensors_done(&t);
	sherd_store_close(store);
	return 0;
}
