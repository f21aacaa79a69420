/* bench_ckpt_digest - C6: one shard, saved, loaded and verified by all workers, with BLAKE3.
 *
 * Hashes of memory first, by one core and by all. Saving against a direct write and sync of one file; loading against
 * the slower of memcpy and BLAKE3, by as many threads; verifying by 2, 4, ... workers against one. SHERD_BENCH_WORKERS:
 * how many at most, or as many as there are processors. */
#include "codec/blake3.h"
#include "engine/ckpt/digest.h"
#include "machine.h"
#include "measure.h"
#include "tensors.h"

#include <sherd/verify.h>

#include <stdio.h>
#include <stdlib.h>

enum { PART = 1 << 20, MOST_STEPS = 8 };

typedef struct hashing {
	const uint8_t *from;
	uint64_t bytes;
	unsigned threads;
} hashing;

static void hash_share(void *arg, unsigned thread)
{
	const hashing *h = arg;
	uint8_t value[SHD_BLAKE3_BYTES];
	for (uint64_t at = (uint64_t)thread * PART; at + PART <= h->bytes; at += (uint64_t)h->threads * PART)
		shd_blake3_part(h->from + at, PART, at, value);
}

static double blake3(const uint8_t *from, uint64_t bytes, unsigned threads)
{
	hashing h = {from, bytes, threads};
	return (double)bytes / bench_parallel(threads, hash_share, &h) / 1e9;
}

typedef struct bench {
	uint8_t *memory;
	bench_tensors tensors;
	sherd_store *store;
	unsigned workers;
} bench;

static double save(const bench *b, sherd_digest digest, sherd_pool *pool)
{
	sherd_error err;
	sherd_ckpt_save_options options = {.digest = digest, .pool = pool};
	bench_settle();
	double start = bench_now();
	if (sherd_ckpt_save(b->store, "one", b->tensors.shards, &options, &err) < 0)
		bench_fail("%s: %s", err.object, err.message);
	return (double)b->tensors.bytes / (bench_now() - start) / 1e9;
}

static double verify(const bench *b, unsigned workers)
{
	sherd_error err;
	sherd_report *report;
	sherd_pool *pool = bench_pool(workers);
	double start = bench_now();
	if (sherd_verify(&report, b->store, "one", &(sherd_verify_options){.pool = pool}, &err) < 0)
		bench_fail("%s: %s", err.object, err.message);
	double seconds = bench_now() - start;
	if (sherd_report_errors(report))
		bench_fail("%s", sherd_report_error(report, 0)->message);
	sherd_report_close(report);
	sherd_pool_close(pool);
	return (double)b->tensors.bytes / seconds / 1e9;
}

static double load(const bench *b, sherd_pool *pool)
{
	sherd_error err;
	sherd_ckpt *ckpt;
	if (sherd_ckpt_open(&ckpt, b->store, "one", NULL, &err) < 0)
		bench_fail("%s: %s", err.object, err.message);
	sherd_ckpt_want *wants = bench_wants_of(&b->tensors, ckpt);
	sherd_ckpt_load_options options = {.check = SHERD_CHECK_DIGEST, .pool = pool};
	double start = bench_now();
	if (sherd_ckpt_load(ckpt, wants, b->tensors.count, &options, &err) < 0)
		bench_fail("%s: %s", err.object, err.message);
	double seconds = bench_now() - start;
	free(wants);
	sherd_ckpt_close(ckpt);
	return (double)b->tensors.bytes / seconds / 1e9;
}

static void compare(const char *what, const bench_series *ours, const char *against, const bench_series *other,
                    double target)
{
	bench_row row = {.id = "C6", .what = what, .unit = "GB/s", .ours = ours, .against = against, .other = other};
	row.goal = target > 0 ? BENCH_AT_LEAST : BENCH_SHOWN;
	row.target = target;
	bench_report(&row);
}

static void measure_hashes(const bench *b)
{
	bench_series sha = {0}, tree = {0}, all = {0};
	uint64_t bytes = b->tensors.bytes < (1u << 30) ? b->tensors.bytes : 1u << 30;
	char what[64];
	for (int i = 0; i < bench_pairs(); i++) {
		bench_add(&sha, (double)bytes / bench_sha256(b->memory, bytes, 1) / 1e9);
		bench_add(&tree, blake3(b->memory, bytes, 1));
		bench_add(&all, blake3(b->memory, bytes, b->workers));
	}
	compare("BLAKE3 of memory, 1 core", &tree, "SHA-256, 1 core", &sha, 1.5);
	(void)snprintf(what, sizeof(what), "BLAKE3 of memory, %u cores", b->workers);
	compare(what, &all, "1 core", &tree, 0);
}

static void measure_save(const bench *b)
{
	bench_series ours = {0}, sha = {0}, direct = {0};
	sherd_pool *pool = bench_pool(b->workers);
	char what[64];
	for (int i = 0; i < bench_pairs(); i++) {
		bench_add(&ours, save(b, SHERD_DIGEST_BLAKE3, pool));
		bench_remove(b->store, "one", 1);
		bench_add(&direct,
		          (double)b->tensors.bytes / bench_write_files(b->memory, b->tensors.bytes, 1, 1, 1) / 1e9);
		bench_add(&sha, save(b, SHERD_DIGEST_SHA256, pool));
		bench_remove(b->store, "one", 1);
	}
	sherd_pool_close(pool);
	(void)snprintf(what, sizeof(what), "save one shard, BLAKE3, %u workers", b->workers);
	compare(what, &ours, "write + fsync, 1 file, direct", &direct, 0.85);
	compare(what, &ours, "the same, SHA-256", &sha, 0);
}

static void measure_load(const bench *b)
{
	bench_series ours = {0}, limit = {0};
	sherd_pool *pool = bench_pool(b->workers);
	uint64_t bytes = b->tensors.bytes, from_bytes = bytes < (1u << 29) ? bytes : 1u << 29;
	uint8_t *from = bench_memory(from_bytes, NULL);
	char what[64];
	(void)load(b, pool);
	bench_check(b->memory, bytes);
	for (int i = 0; i < bench_pairs(); i++) {
		double copy = bench_memcpy(b->memory, bytes, from, from_bytes, BENCH_TENSOR_BYTES, b->workers);
		double hash = blake3(b->memory, bytes, b->workers);
		bench_add(&limit, (double)bytes / copy / 1e9 < hash ? (double)bytes / copy / 1e9 : hash);
		bench_add(&ours, load(b, pool));
	}
	sherd_pool_close(pool);
	(void)snprintf(what, sizeof(what), "load one shard, BLAKE3, %u workers", b->workers);
	compare(what, &ours, "the slower of memcpy and BLAKE3", &limit, 0.8);
}

static void measure_verify(const bench *b)
{
	bench_series by[MOST_STEPS] = {{.count = 0}};
	unsigned step = 0;
	for (int i = 0; i < bench_pairs(); i++) {
		step = 0;
		for (unsigned workers = 1; workers <= b->workers && step < MOST_STEPS; workers *= 2)
			bench_add(&by[step++], verify(b, workers));
	}
	for (unsigned s = 1; s < step; s++) {
		char what[64];
		(void)snprintf(what, sizeof(what), "verify one shard, BLAKE3, %u workers", 1u << s);
		compare(what, &by[s], "1 worker", &by[0], 0.7 * (1u << s));
	}
}

int main(void)
{
	const char *most = getenv("SHERD_BENCH_WORKERS");
	sherd_pool *all = bench_pool(0);
	bench_begin("ckpt_digest");
	uint64_t bytes = bench_bytes(4, 1.9, 2.2);
	bench b = {.memory = bench_memory(bytes, NULL), .store = bench_store()};
	b.workers = most ? (unsigned)strtoul(most, NULL, 10) : sherd_pool_workers(all);
	b.tensors = bench_tensors_of(b.memory, bytes, 1);
	bench_fill(b.memory, bytes);
	measure_hashes(&b);
	measure_save(&b);
	(void)save(&b, SHERD_DIGEST_BLAKE3, all);
	measure_load(&b);
	measure_verify(&b);
	bench_end();
	bench_remove(b.store, "one", 1);
	bench_tensors_done(&b.tensors);
	sherd_pool_close(all);
	sherd_store_close(b.store);
	return 0;
}
