/* bench_ckpt_open - C3: opening a checkpoint of 100,000 tensors in 64 shards, finding one, reading it.
 *
 * Every turn in a process of its own, which also tells its peak of memory beyond what it had before; the files are in
 * the cache. Without a pool, and with 2 workers. */
#include "machine.h"
#include "many.h"
#include "measure.h"
#include "tensors.h"

enum { TENSORS = 100000, SHARDS = 64, WANTED = 77777 };

typedef struct opening {
	unsigned workers; /* 0: no pool */
	bool memory;      /* tell bytes, not seconds */
} opening;

static void open_and_read(sherd_store *store, sherd_pool *pool)
{
	sherd_error err;
	sherd_ckpt *ckpt;
	char name[128];
	uint8_t bytes[64];
	bench_many_name(WANTED, name);
	if (sherd_ckpt_open(&ckpt, store, "many", &(sherd_ckpt_options){.pool = pool}, &err) < 0)
		bench_fail("%s: %s", err.object, err.message);
	size_t found = sherd_ckpt_find(ckpt, name);
	if (found == SHERD_NO_TENSOR || sherd_ckpt_read(ckpt, found, 0, bytes, sizeof(bytes), &err) < 0)
		bench_fail("%s is not there", name);
	/* What a closing costs is not what was asked. The child ends here. */
}

static void open_once(void *arg, double *result)
{
	const opening *o = arg;
	sherd_store *store = bench_store();
	sherd_pool *pool = o->workers ? bench_pool(o->workers) : NULL;
	bench_reset_peak();
	uint64_t before = bench_peak_memory();
	double start = bench_now();
	open_and_read(store, pool);
	*result = o->memory ? (double)(bench_peak_memory() - before) / 1e6 : (bench_now() - start) * 1e3;
}

/* In a process of its own too, so that the others begin with little memory. */
static void prepare(void *arg, double *result)
{
	(void)arg;
	(void)result;
	sherd_store *store = bench_store();
	bench_save_many(store, "many", TENSORS, SHARDS, false);
	sherd_store_close(store);
}

int main(void)
{
	bench_series alone = {.count = 0}, two = {.count = 0}, memory = {.count = 0};
	sherd_stat stat;
	sherd_error err;
	bench_begin("ckpt_open");
	sherd_store *store = bench_store();
	(void)bench_in_child(prepare, NULL);
	if (sherd_store_stat(&stat, store, "many.metadata.json", &err) < 0)
		bench_fail("%s", err.message);
	for (int i = 0; i < bench_pairs(); i++) {
		bench_add(&alone, bench_in_child(open_once, &(opening){0}));
		bench_add(&two, bench_in_child(open_once, &(opening){.workers = 2}));
		bench_add(&memory, bench_in_child(open_once, &(opening){.memory = true}));
	}
	bench_row row = {.id = "C3",
	                 .what = "open 100,000 tensors in 64 shards, read one",
	                 .unit = "ms",
	                 .ours = &alone,
	                 .against = "the limit",
	                 .limit = 100,
	                 .goal = BENCH_AT_MOST,
	                 .target = 1};
	bench_report(&row);
	row.what = "the same with 2 workers";
	row.ours = &two;
	bench_report(&row);
	row = (bench_row){.id = "C3",
	                  .what = "its peak of memory",
	                  .unit = "MB",
	                  .ours = &memory,
	                  .against = "size of the metadata",
	                  .limit = (double)stat.size / 1e6,
	                  .goal = BENCH_AT_MOST,
	                  .target = 4};
	bench_report(&row);
	bench_end();
	bench_remove(store, "many", SHARDS);
	sherd_store_close(store);
	return 0;
}
