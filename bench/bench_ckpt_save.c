/* bench_ckpt_save - C1: saving 4 GiB in 4 shards with 2 workers, hashed and durable.
 *
 * Against the slower of two limits, measured in the same turn: writing the same bytes to as many files and syncing
 * them (buffered or direct, whichever is faster), and SHA-256 on as many cores. Then 2 workers against one, and what
 * Python's formats take for a part of it. */
#include "machine.h"
#include "measure.h"
#include "peers.h"
#include "tensors.h"

#include <stdio.h>

enum { SHARDS = 4, WORKERS = 2 };

#define PEER_BYTES ((uint64_t)1 << 30)

typedef struct results {
	bench_series two, one, buffered, direct, sha, limit;
} results;

static double rate(uint64_t bytes, double seconds)
{
	return (double)bytes / seconds / 1e9;
}

static double save_once(sherd_store *store, const bench_tensors *t, sherd_pool *pool)
{
	double seconds = bench_save(store, "ckpt", t, pool);
	bench_remove(store, "ckpt", t->world);
	return rate(t->bytes, seconds);
}

static void measure(results *r, uint8_t *memory, const bench_tensors *t, sherd_store *store)
{
	sherd_pool *pool = bench_pool(WORKERS), *single = bench_pool(1);
	for (int i = 0; i < bench_pairs(); i++) {
		bench_add(&r->two, save_once(store, t, pool));
		bench_add(&r->buffered, rate(t->bytes, bench_write_files(memory, t->bytes, SHARDS, WORKERS, 0)));
		bench_add(&r->direct, rate(t->bytes, bench_write_files(memory, t->bytes, SHARDS, WORKERS, 1)));
		bench_add(&r->sha, rate(t->bytes, bench_sha256(memory, t->bytes, WORKERS)));
		bench_add(&r->one, save_once(store, t, single));
		double raw = r->buffered.values[i] > r->direct.values[i] ? r->buffered.values[i] : r->direct.values[i];
		bench_add(&r->limit, raw < r->sha.values[i] ? raw : r->sha.values[i]);
	}
	sherd_pool_close(single);
	sherd_pool_close(pool);
}

static void report(const results *r)
{
	bench_row row = {.id = "C1", .what = "save, 4 shards, 2 workers, durable", .unit = "GB/s", .ours = &r->two};
	row.against = "the slower limit";
	row.other = &r->limit;
	row.goal = BENCH_AT_LEAST;
	row.target = 0.75;
	bench_report(&row);
	row.against = "the same, 1 worker";
	row.other = &r->one;
	row.target = 1.4;
	bench_report(&row);
	row.goal = BENCH_SHOWN;
	row.against = "write + fsync, 4 files, buffered";
	row.other = &r->buffered;
	bench_report(&row);
	row.against = "write + fsync, 4 files, direct";
	row.other = &r->direct;
	bench_report(&row);
	row.against = "SHA-256, 2 cores";
	row.other = &r->sha;
	bench_report(&row);
}

static void measure_peer(bench_python *p, const char *peer, const bench_tensors *t, sherd_store *store,
                         sherd_pool *pool)
{
	bench_series ours = {.count = 0}, theirs = {.count = 0};
	char against[128];
	const char *version = bench_peer_version(p, peer);
	if (!version) {
		bench_missing("C1", peer, "tools/bench --peers tells how to get it");
		return;
	}
	(void)snprintf(against, sizeof(against), "%s %s, file + fsync", peer, version);
	for (int i = 0; i < bench_pairs(); i++) {
		bench_add(&ours, save_once(store, t, pool));
		bench_add(&theirs, rate(t->bytes, bench_peer_save(p, peer)));
	}
	bench_report(&(bench_row){.id = "C1",
	                          .what = "save, 1 GiB at most, 4 shards, 2 workers",
	                          .unit = "GB/s",
	                          .ours = &ours,
	                          .against = against,
	                          .other = &theirs});
}

static void compare_peers(int fd, uint8_t *memory, uint64_t bytes, sherd_store *store)
{
	static const char *const peers[] = {"torch", "safetensors", "numpy"};
	bytes = bytes < PEER_BYTES ? bytes : PEER_BYTES;
	bench_tensors t = bench_tensors_of(memory, bytes, SHARDS);
	sherd_pool *pool = bench_pool(WORKERS);
	bench_python p;
	if (!bench_peers_start(&p, fd, bytes, BENCH_TENSOR_BYTES))
		bench_missing("C1", "python3", "with torch, safetensors and numpy");
	else
		for (size_t i = 0; i < sizeof(peers) / sizeof(peers[0]); i++)
			measure_peer(&p, peers[i], &t, store, pool);
	bench_python_stop(&p);
	sherd_pool_close(pool);
	bench_tensors_done(&t);
}

int main(void)
{
	results r = {0};
	int fd;
	bench_begin("ckpt_save");
	uint64_t bytes = bench_bytes(4, 1.6, 1.2);
	uint8_t *memory = bench_memory(bytes, &fd);
	sherd_store *store = bench_store();
	bench_tensors t = bench_tensors_of(memory, bytes, SHARDS);
	bench_fill(memory, bytes);
	measure(&r, memory, &t, store);
	report(&r);
	compare_peers(fd, memory, bytes, store);
	bench_end();
	bench_tensors_done(&t);
	sherd_store_close(store);
	return 0;
}
