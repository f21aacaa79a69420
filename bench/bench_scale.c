/* bench_scale - the metadata of very many ranks, really made: 10,000 ranks save 1,000 tensors each (of four bytes, in
 * memory: what is measured is all but the data), rank 0 commits, one opens, and 8,000 ranks plan their loads.
 * bench_scale [RANKS TENSORS]. docs/scale.md reckons with the figures. */
#include "machine.h"
#include "many.h"
#include "measure.h"

#include <sherd/ckpt.h>

#include <stdio.h>
#include <stdlib.h>

static uint32_t ranks = 10000;
static size_t tensors = 1000;

static void require(int rc, const sherd_error *err)
{
	if (rc < 0)
		bench_fail("%s: %s", err->object, err->message);
}

static void tell(const char *what, const char *unit, double value)
{
	bench_series s = {.count = 0};
	bench_add(&s, value);
	bench_report(&(bench_row){"N1", what, unit, &s, "shown", NULL, 1, BENCH_SHOWN, 0});
}

static char (*names)[128];

static void save_rank(sherd_ckpt_saver *saver, uint32_t rank, sherd_ckpt_item *items)
{
	static const float value = 1;
	sherd_error err;
	for (size_t i = 0; i < tensors; i++) {
		bench_many_name(rank * tensors + i, names[i]);
		items[i] = (sherd_ckpt_item){.tensor = {.name = names[i], .dtype = SHERD_F32}, .data = &value};
	}
	require(sherd_ckpt_saver_shard(saver, rank, items, tensors, &err), &err);
}

static double save(sherd_store *store, double *commit)
{
	sherd_error err;
	bool committed = false;
	sherd_ckpt_saver *saver;
	const sherd_ckpt_save_options options = {.world = ranks, .time_ns = 1};
	sherd_ckpt_item *items = malloc(tensors * sizeof(*items));
	names = malloc(tensors * sizeof(*names));
	if (!items || !names)
		bench_fail("no memory");
	double start = bench_now();
	require(sherd_ckpt_saver_open(&saver, store, "c", &options, &err), &err);
	for (uint32_t r = 0; r < ranks; r++)
		save_rank(saver, r, items);
	double written = bench_now() - start;
	start = bench_now();
	require(sherd_ckpt_saver_finish(saver, &committed, &err), &err);
	*commit = bench_now() - start;
	if (!committed)
		bench_fail("the set is not committed");
	free(items);
	free(names);
	return written;
}

static uint64_t size_of(sherd_store *store, const char *key)
{
	sherd_error err;
	sherd_stat stat;
	require(sherd_store_stat(&stat, store, key, &err), &err);
	return stat.size;
}

int main(int argc, char **argv)
{
	sherd_error err;
	sherd_store *store = NULL;
	sherd_ckpt *ckpt = NULL;
	sherd_ckpt_plan *plan = NULL;
	double commit = 0;
	if (argc > 2) {
		ranks = (uint32_t)strtoul(argv[1], NULL, 10);
		tensors = (size_t)strtoull(argv[2], NULL, 10);
	}
	bench_begin("scale");
	bench_note("%u ranks, %zu tensors each", ranks, tensors);
	require(sherd_store_open_memory(&store, &err), &err);
	double written = save(store, &commit);
	tell("one shard without its data", "ms", written * 1e3 / ranks);
	tell("commit by rank 0, all indexes read and checked", "s", commit);
	tell("metadata", "MB", (double)size_of(store, "c.metadata.json") / 1e6);
	tell("a shard's head, index and small tensors", "kB", (double)size_of(store, "c_shard_0.shard") / 1e3);
	double before = (double)bench_peak_memory();
	double start = bench_now();
	require(sherd_ckpt_open(&ckpt, store, "c", NULL, &err), &err);
	tell("open", "s", bench_now() - start);
	tell("memory that an open set takes", "MB", ((double)bench_peak_memory() - before) / 1e6);
	if (sherd_ckpt_count(ckpt) != ranks * tensors)
		bench_fail("%zu tensors", sherd_ckpt_count(ckpt));
	start = bench_now();
	require(sherd_ckpt_plan_open(&plan, ckpt, ranks * 4 / 5, false, &err), &err);
	tell("plan a load by four fifths as many ranks", "s", bench_now() - start);
	sherd_ckpt_plan_close(plan);
	sherd_ckpt_close(ckpt);
	sherd_store_close(store);
	bench_end();
	return 0;
}
