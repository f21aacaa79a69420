/* bench_one_file - one file that all workers write: safetensors, containers, SDZ, against a direct write and sync of
 * one file of the same size.
 *
 * The source is one safetensors file that was just written, so that it is in memory as far as there is room. With 1, 2,
 * 4, ... workers: SHERD_BENCH_WORKERS of them at most, or as many as there are processors. */
#include "machine.h"
#include "measure.h"
#include "tensors.h"

#include <sherd/convert.h>

#include <stdio.h>
#include <stdlib.h>

enum { MOST_STEPS = 8 };

typedef struct target {
	const char *what, *key;
	sherd_format format;
	sherd_digest digest;
	sherd_compression compress;
	double goal; /* of the largest number of workers, against the direct write; 0: none */
} target;

static const target targets[] = {
	{"one safetensors", "to.safetensors", SHERD_FORMAT_SAFETENSORS, 0, 0, 0.85},
	{"one container", "to.sdc", SHERD_FORMAT_SAMEDIFF_CONTAINER, SHERD_DIGEST_SHA256, 0, 0.85},
	{"one container, BLAKE3", "to3.sdc", SHERD_FORMAT_SAMEDIFF_CONTAINER, SHERD_DIGEST_BLAKE3, 0, 0.85},
	{"one container, packed", "top.sdc", SHERD_FORMAT_SAMEDIFF_CONTAINER, 0, SHERD_COMPRESS_DEFLATE, 0},
	{"one SDZ", "to.sdz", SHERD_FORMAT_SDZ, 0, 0, 0.85},
};

typedef struct bench {
	uint8_t *memory;
	uint64_t bytes;
	sherd_store *store;
	sherd_bundle *from;
	unsigned workers;
} bench;

/* The tensors of memory as a file, by way of a checkpoint. */
static void make_source(bench *b, bench_tensors *tensors)
{
	sherd_error err;
	sherd_ckpt_save_options save = {.digest = SHERD_DIGEST_BLAKE3};
	sherd_bundle *ckpt = NULL;
	if (sherd_ckpt_save(b->store, "one", tensors->shards, &save, &err) < 0 ||
	    sherd_bundle_open(&ckpt, b->store, "one", NULL, &err) < 0 ||
	    sherd_convert(ckpt, b->store, "from.safetensors", SHERD_FORMAT_SAFETENSORS, NULL, &err) < 0)
		bench_fail("%s: %s", err.object, err.message);
	sherd_bundle_close(ckpt);
	bench_remove(b->store, "one", 1);
	if (sherd_bundle_open(&b->from, b->store, "from.safetensors", NULL, &err) < 0)
		bench_fail("%s: %s", err.object, err.message);
}

/* Reads it once, so that every measurement finds the same in memory. */
static void warm(const bench *b)
{
	sherd_error err;
	void *buf = malloc(1 << 20);
	for (size_t i = 0; i < sherd_bundle_count(b->from); i++) {
		uint64_t bytes = sherd_bundle_tensor(b->from, i)->bytes;
		for (uint64_t at = 0; at < bytes; at += 1 << 20)
			if (sherd_bundle_read(b->from, i, at, buf, bytes - at < 1 << 20 ? bytes - at : 1 << 20, &err) <
			    0)
				bench_fail("%s: %s", err.object, err.message);
	}
	free(buf);
}

static double write_target(const bench *b, const target *t, unsigned workers)
{
	sherd_error err;
	sherd_pool *pool = bench_pool(workers);
	const sherd_convert_options options = {.digest = t->digest, .compress = t->compress, .pool = pool};
	warm(b);
	bench_settle();
	double start = bench_now();
	if (sherd_convert(b->from, b->store, t->key, t->format, &options, &err) < 0)
		bench_fail("%s: %s", err.object, err.message);
	double seconds = bench_now() - start;
	if (sherd_store_remove(b->store, t->key, &err) < 0)
		bench_fail("%s: %s", err.object, err.message);
	sherd_pool_close(pool);
	return (double)b->bytes / seconds / 1e9;
}

static void measure_target(const bench *b, const target *t)
{
	bench_series by[MOST_STEPS] = {{.count = 0}}, direct = {0};
	unsigned steps = 0;
	for (int i = 0; i < bench_pairs(); i++) {
		steps = 0;
		for (unsigned workers = 1; workers <= b->workers && steps < MOST_STEPS; workers *= 2)
			bench_add(&by[steps++], write_target(b, t, workers));
		bench_settle();
		bench_add(&direct, (double)b->bytes / bench_write_files(b->memory, b->bytes, 1, 1, 1) / 1e9);
	}
	for (unsigned s = 0; s < steps; s++) {
		char what[64];
		bool last = s + 1 == steps;
		bench_row row = {.id = "C7", .unit = "GB/s", .ours = &by[s], .other = &direct};
		(void)snprintf(what, sizeof(what), "%s, %u worker%s", t->what, 1u << s, s ? "s" : "");
		row.what = what;
		row.against = "write + fsync, 1 file, direct";
		row.goal = last && t->goal > 0 ? BENCH_AT_LEAST : BENCH_SHOWN;
		row.target = t->goal;
		bench_report(&row);
	}
}

int main(void)
{
	const char *most = getenv("SHERD_BENCH_WORKERS");
	sherd_pool *all = bench_pool(0);
	bench_begin("one_file");
	uint64_t bytes = bench_bytes(2, 2.9, 3.2);
	/* A file of SDZ has less than 2 GiB in it. */
	bytes = bytes < (uint64_t)1984 << 20 ? bytes : (uint64_t)1984 << 20;
	bench b = {.memory = bench_memory(bytes, NULL), .bytes = bytes, .store = bench_store()};
	bench_tensors tensors = bench_tensors_of(b.memory, bytes, 1);
	b.workers = most ? (unsigned)strtoul(most, NULL, 10) : sherd_pool_workers(all);
	bench_fill(b.memory, bytes);
	make_source(&b, &tensors);
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++)
		measure_target(&b, &targets[i]);
	bench_end();
	sherd_bundle_close(b.from);
	(void)sherd_store_remove(b.store, "from.safetensors", NULL);
	bench_tensors_done(&tensors);
	sherd_pool_close(all);
	sherd_store_close(b.store);
	return 0;
}
