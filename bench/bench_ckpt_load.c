/* bench_ckpt_load - C2: loading 4 GiB of 4 shards, warm, into memory that was touched, with 2 workers.
 *
 * Unverified against memcpy of the same tensors to the same places by 2 threads (out of 1 GiB, which no cache holds);
 * verified by SHA-256 against SHA-256 on 2 cores; verified by CRC-32, the default, shown beside. Shown too: memcpy of
 * 256 MiB and more at once, for which the C library goes past the cache, as no read() of the kernel does.
 * What arrives is checked once. */
#include "machine.h"
#include "measure.h"
#include "tensors.h"

#include <stdlib.h>
#include <string.h>

enum { SHARDS = 4, WORKERS = 2 };

#define COPY_BYTES ((uint64_t)1 << 30)

typedef struct loading {
	sherd_ckpt *ckpt;
	sherd_ckpt_want *wants;
	bench_tensors tensors;
	sherd_pool *pool;
} loading;

typedef struct results {
	bench_series none, crc, sha, copy, copy_large, limit;
} results;

static double load(const loading *l, sherd_ckpt_check check)
{
	sherd_error err;
	sherd_ckpt_load_options options = {.check = check, .pool = l->pool};
	double start = bench_now();
	if (sherd_ckpt_load(l->ckpt, l->wants, l->tensors.count, &options, &err) < 0)
		bench_fail("%s: %s", err.object, err.message);
	return (double)l->tensors.bytes / (bench_now() - start) / 1e9;
}

/* Every way to load delivers every byte; this also leaves the files in the cache. */
static void check_all(const loading *l, uint8_t *memory)
{
	for (int check = SHERD_CHECK_CRC; check <= SHERD_CHECK_DIGEST; check++) {
		memset(memory, 0, l->tensors.bytes);
		(void)load(l, (sherd_ckpt_check)check);
		bench_check(memory, l->tensors.bytes);
	}
}

static double copy(uint8_t *to, uint64_t bytes, const uint8_t *from, uint64_t from_bytes, uint64_t each)
{
	return (double)bytes / bench_memcpy(to, bytes, from, from_bytes, each, WORKERS) / 1e9;
}

static void measure(results *r, const loading *l, uint8_t *memory)
{
	uint64_t bytes = l->tensors.bytes, from_bytes = bytes < COPY_BYTES ? bytes : COPY_BYTES;
	uint8_t *from = bench_memory(from_bytes, NULL);
	for (int i = 0; i < bench_pairs(); i++) {
		bench_add(&r->copy, copy(memory, bytes, from, from_bytes, BENCH_TENSOR_BYTES));
		bench_add(&r->none, load(l, SHERD_CHECK_NONE));
		bench_add(&r->crc, load(l, SHERD_CHECK_CRC));
		bench_add(&r->copy_large, copy(memory, bytes, from, from_bytes, bytes));
		bench_add(&r->limit, (double)bytes / bench_sha256(memory, bytes, WORKERS) / 1e9);
		bench_add(&r->sha, load(l, SHERD_CHECK_DIGEST));
	}
}

static void report(const results *r)
{
	bench_row row = {.id = "C2", .unit = "GB/s"};
	row.what = "load, warm, 2 workers, unverified";
	row.ours = &r->none;
	row.against = "memcpy of the tensors, 2 threads";
	row.other = &r->copy;
	row.goal = BENCH_AT_LEAST;
	row.target = 0.9;
	bench_report(&row);
	row.goal = BENCH_SHOWN;
	row.against = "memcpy of >= 256 MiB, 2 threads";
	row.other = &r->copy_large;
	bench_report(&row);
	row.what = "load, warm, 2 workers, CRC-32 verified";
	row.ours = &r->crc;
	row.against = "memcpy of the tensors, 2 threads";
	row.other = &r->copy;
	bench_report(&row);
	row.what = "load, warm, 2 workers, SHA-256 verified";
	row.ours = &r->sha;
	row.against = "SHA-256, 2 cores";
	row.other = &r->limit;
	row.goal = BENCH_AT_LEAST;
	row.target = 0.8;
	bench_report(&row);
}

int main(void)
{
	results r = {0};
	sherd_error err;
	bench_begin("ckpt_load");
	uint64_t bytes = bench_bytes(4, 2.3, 1.1);
	uint8_t *memory = bench_memory(bytes, NULL);
	sherd_store *store = bench_store();
	loading l = {.tensors = bench_tensors_of(memory, bytes, SHARDS), .pool = bench_pool(WORKERS)};
	bench_fill(memory, bytes);
	(void)bench_save(store, "ckpt", &l.tensors, l.pool);
	if (sherd_ckpt_open(&l.ckpt, store, "ckpt", NULL, &err) < 0)
		bench_fail("%s: %s", err.object, err.message);
	l.wants = bench_wants_of(&l.tensors, l.ckpt);
	check_all(&l, memory);
	measure(&r, &l, memory);
	report(&r);
	bench_end();
	free(l.wants);
	sherd_ckpt_close(l.ckpt);
	bench_remove(store, "ckpt", SHARDS);
	bench_tensors_done(&l.tensors);
	sherd_pool_close(l.pool);
	sherd_store_close(store);
	return 0;
}
