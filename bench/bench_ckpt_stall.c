/* bench_ckpt_stall - how long a copying save in the background keeps its caller: all tensors are copied before it
 * returns.
 *
 * With staging that is kept from save to save, and without, against malloc and memcpy of the same bytes by one thread,
 * and against memcpy into memory that was touched before. */
#include "machine.h"
#include "measure.h"
#include "tensors.h"

#include <stdlib.h>
#include <string.h>

enum { SHARDS = 4, WORKERS = 2 };

typedef struct results {
	bench_series kept, fresh, plain, touched;
} results;

static double rate(uint64_t bytes, double seconds)
{
	return (double)bytes / seconds / 1e9;
}

static double stall(sherd_store *store, const bench_tensors *t, sherd_pool *pool, sherd_ckpt_staging *staging)
{
	sherd_ckpt_save_options o = {.world = t->world, .pool = pool, .staging = staging};
	sherd_ckpt_job *job;
	sherd_error err;
	double begin = bench_now();
	if (sherd_ckpt_save_start(&job, store, "ckpt", t->shards, SHERD_JOB_COPY, &o, &err) < 0)
		bench_fail("%s", err.message);
	double seconds = bench_now() - begin;
	if (sherd_ckpt_job_wait(job, &err) < 0)
		bench_fail("%s", err.message);
	sherd_ckpt_job_close(job);
	bench_remove(store, "ckpt", t->world);
	bench_settle();
	return rate(t->bytes, seconds);
}

static double copy_plainly(const uint8_t *memory, uint64_t bytes)
{
	double begin = bench_now();
	uint8_t *copy = malloc(bytes);
	if (!copy)
		bench_fail("no memory");
	memcpy(copy, memory, bytes);
	double seconds = bench_now() - begin;
	if (memcmp(copy, memory, 4096) != 0)
		bench_fail("the copy is another");
	free(copy);
	return rate(bytes, seconds);
}

static void report(const results *r)
{
	bench_row row = {.id = "C1", .what = "stall of a copying save, kept staging", .unit = "GB/s", .ours = &r->kept};
	row.against = "malloc + memcpy";
	row.other = &r->plain;
	row.goal = BENCH_AT_LEAST;
	row.target = 1;
	bench_report(&row);
	row.goal = BENCH_SHOWN;
	row.against = "memcpy, 2 threads, touched memory";
	row.other = &r->touched;
	bench_report(&row);
	row.what = "stall of a copying save, fresh memory";
	row.ours = &r->fresh;
	row.against = "malloc + memcpy";
	row.other = &r->plain;
	row.goal = BENCH_AT_LEAST;
	row.target = 1;
	bench_report(&row);
}

int main(void)
{
	results r = {0};
	sherd_ckpt_staging *staging;
	sherd_error err;
	bench_begin("ckpt_stall");
	uint64_t bytes = bench_bytes(1, 4.2, 1.2);
	uint8_t *memory = bench_memory(bytes, NULL), *touched = bench_memory(bytes, NULL);
	sherd_store *store = bench_store();
	sherd_pool *pool = bench_pool(WORKERS);
	bench_tensors t = bench_tensors_of(memory, bytes, SHARDS);
	if (sherd_ckpt_staging_open(&staging, &err) < 0)
		bench_fail("%s", err.message);
	bench_fill(memory, bytes);
	(void)stall(store, &t, pool, staging);
	for (int i = 0; i < bench_pairs(); i++) {
		bench_add(&r.kept, stall(store, &t, pool, staging));
		bench_add(&r.plain, copy_plainly(memory, t.bytes));
		bench_add(&r.fresh, stall(store, &t, pool, NULL));
		bench_add(&r.touched,
		          rate(t.bytes, bench_memcpy(touched, t.bytes, memory, t.bytes, BENCH_TENSOR_BYTES, WORKERS)));
	}
	bench_note("the staging has %.2f GiB after all saves", (double)sherd_ckpt_staging_bytes(staging) / (1 << 30));
	report(&r);
	bench_end();
	sherd_ckpt_staging_close(staging);
	bench_tensors_done(&t);
	sherd_pool_close(pool);
	sherd_store_close(store);
	return 0;
}
