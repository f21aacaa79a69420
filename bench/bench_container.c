/* bench_container - M1: opening a container and reading one array of 1 MiB, from a small file and from a large one. M2:
 * writing f32 weights packed, 2 workers, against zlib level 1 on one thread. Then finding one array of 100,000, and how
 * fast packed arrays are read; writing unpacked against torch.save; reading the big-endian arrays of a legacy file
 * against memcpy. bench_container [open,write,find,read,plain,legacy]: only these. */
#include "container_files.h"
#include "machine.h"
#include "measure.h"
#include "peers.h"
#include "tensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORKERS = 2, MANY = 100000, WANTED = 77777, PLAIN = 8 };

#define MIB ((uint64_t)1 << 20)
#define ARRAY (32 * MIB)  /* as a layer of a middling model has them */
#define SAMPLE (64 * MIB) /* what slow peers are given */

typedef struct opening {
	const char *key;
	const char *variable;
	bool bytes; /* tell bytes read, not seconds */
	bool later; /* the model is open already */
} opening;

/* In a process of its own; the files are in the cache. */
static void open_once(void *arg, double *result)
{
	const opening *o = arg;
	static uint8_t room[MIB];
	sherd_store *store = bench_store();
	sherd_model *model = NULL;
	sherd_bundle *bundle = NULL;
	sherd_error err;
	uint64_t before = bench_bytes_read();
	double start = bench_now();
	if (sherd_model_open(&model, store, o->key, NULL, &err) < 0 || sherd_bundle_of_model(&bundle, model, &err) < 0)
		bench_fail("%s: %s", err.object, err.message);
	size_t found = sherd_bundle_find(bundle, o->variable);
	size_t len = (size_t)sherd_bundle_tensor(bundle, found)->bytes;
	if (o->later) {
		before = bench_bytes_read();
		start = bench_now();
	}
	if (sherd_bundle_read(bundle, found, 0, room, len, &err) < 0)
		bench_fail("%s: %s", err.object, err.message);
	double seconds = bench_now() - start;
	*result = o->bytes ? (double)(bench_bytes_read() - before) / 1e6 : seconds * 1e3;
}

static void open_small_and_large(sherd_store *store, const uint8_t *weights)
{
	uint64_t large = bench_bytes(8, 0, 1.2), small = 80 * MIB;
	bench_model a = bench_model_of((size_t)(small / ARRAY), ARRAY, MIB),
		    b = bench_model_of((size_t)(large / ARRAY) - 1, ARRAY, MIB);
	bench_series little = {.count = 0}, much = {.count = 0}, read = {.count = 0};
	char what[64];
	(void)bench_model_write(&a, store, "small.sdc", weights, NULL);
	(void)bench_model_write(&b, store, "large.sdc", weights, NULL);
	opening first = {.key = "small.sdc", .variable = a.names[a.count - 1]};
	opening second = {.key = "large.sdc", .variable = b.names[b.count - 1]};
	opening bytes = second;
	bytes.bytes = true;
	for (int i = 0; i < bench_pairs(); i++) {
		bench_add(&much, bench_in_child(open_once, &second));
		bench_add(&little, bench_in_child(open_once, &first));
		bench_add(&read, bench_in_child(open_once, &bytes));
	}
	(void)snprintf(what, sizeof(what), "open %.1f GiB, read 1 MiB", (double)large / (double)(1024 * MIB));
	bench_report(&(bench_row){.id = "M1",
	                          .what = what,
	                          .unit = "ms",
	                          .ours = &much,
	                          .against = "the same of 80 MiB",
	                          .other = &little,
	                          .goal = BENCH_AT_MOST,
	                          .target = 1.5});
	bench_report(&(bench_row){.id = "M1",
	                          .what = "bytes read for that",
	                          .unit = "MB",
	                          .ours = &read,
	                          .against = "the limit",
	                          .limit = (double)(2 * MIB) / 1e6,
	                          .goal = BENCH_AT_MOST,
	                          .target = 1});
	(void)sherd_store_remove(store, "small.sdc", NULL);
	(void)sherd_store_remove(store, "large.sdc", NULL);
	bench_model_done(&a);
	bench_model_done(&b);
}

typedef struct packing {
	bench_series two, one, zlib, hdf5;
	bench_series ratio, zlib_ratio, hdf5_ratio; /* raw to packed */
} packing;

static double write_once(const bench_model *m, sherd_store *store, const uint8_t *weights, unsigned workers,
                         uint64_t bytes, double *ratio)
{
	sherd_pool *pool = workers ? bench_pool(workers) : NULL;
	sherd_model_save_options o = {.compress = SHERD_COMPRESS_DEFLATE, .pool = pool};
	sherd_stat stat;
	double seconds = bench_model_write(m, store, "packed.sdc", weights, &o);
	if (sherd_store_stat(&stat, store, "packed.sdc", NULL) < 0)
		bench_fail("packed.sdc is not there");
	*ratio = (double)bytes / (double)stat.size;
	(void)sherd_store_remove(store, "packed.sdc", NULL);
	sherd_pool_close(pool);
	return (double)bytes / seconds / 1e6;
}

static void add_peer(bench_series *rate, bench_series *ratio, double seconds, uint64_t packed)
{
	if (seconds < 0)
		return;
	bench_add(rate, (double)SAMPLE / seconds / 1e6);
	bench_add(ratio, (double)SAMPLE / (double)packed);
}

static void report_packing(const packing *p)
{
	bench_row row = {
		.id = "M2", .what = "write packed, 2 workers, durable", .unit = "MB/s", .ours = &p->two, .target = 20};
	row.goal = BENCH_AT_LEAST;
	row.against = "zlib 1, one thread, memory only";
	row.other = &p->zlib;
	if (p->zlib.count)
		bench_report(&row);
	else
		bench_missing("M2", "zlib", "apt-get install zlib1g-dev");
	row.goal = BENCH_SHOWN;
	row.against = "the same without a pool";
	row.other = &p->one;
	bench_report(&row);
	row.against = "HDF5, shuffle, gzip 1";
	row.other = &p->hdf5;
	if (p->hdf5.count)
		bench_report(&row);
	else
		bench_missing("M2", "HDF5", "apt-get install libhdf5-dev");
	row = (bench_row){.id = "M2", .what = "raw to packed", .unit = ":1", .ours = &p->ratio, .target = 0.98};
	row.goal = BENCH_AT_LEAST;
	row.against = "zlib 1";
	row.other = &p->zlib_ratio;
	if (p->zlib.count)
		bench_report(&row);
	row.goal = BENCH_SHOWN;
	row.against = "HDF5, shuffle, gzip 1";
	row.other = &p->hdf5_ratio;
	if (p->hdf5.count)
		bench_report(&row);
}

static void write_packed(sherd_store *store, const uint8_t *weights)
{
	uint64_t bytes = bench_bytes(1, 0, 2.2), packed = 0;
	bench_model m = bench_model_of((size_t)(bytes / ARRAY), ARRAY, 0);
	static packing p;
	for (int i = 0; i < bench_pairs(); i++) {
		double ratio;
		bench_add(&p.two, write_once(&m, store, weights, WORKERS, bytes, &ratio));
		bench_add(&p.ratio, ratio);
		double seconds = bench_zlib_pack(weights, SAMPLE, &packed);
		add_peer(&p.zlib, &p.zlib_ratio, seconds, packed);
		bench_add(&p.one, write_once(&m, store, weights, 0, bytes, &ratio));
		seconds = bench_hdf5_pack(weights, SAMPLE, &packed);
		add_peer(&p.hdf5, &p.hdf5_ratio, seconds, packed);
	}
	report_packing(&p);
	bench_model_done(&m);
}

static void find_one(sherd_store *store, const uint8_t *weights)
{
	bench_model m = bench_model_of(MANY, 64, 0);
	bench_series first = {.count = 0}, found = {.count = 0}, read = {.count = 0};
	(void)bench_model_write(&m, store, "many.sdc", weights, NULL);
	opening o = {.key = "many.sdc", .variable = m.names[WANTED]}, later = o, bytes = o;
	later.later = bytes.later = bytes.bytes = true;
	for (int i = 0; i < bench_pairs(); i++) {
		bench_add(&first, bench_in_child(open_once, &o));
		bench_add(&found, bench_in_child(open_once, &later));
		bench_add(&read, bench_in_child(open_once, &bytes));
	}
	bench_report(&(bench_row){.id = "M1",
	                          .what = "find and read one array of 100,000",
	                          .unit = "ms",
	                          .ours = &found,
	                          .against = "opening the model, graph and all",
	                          .other = &first});
	bench_report(&(bench_row){.id = "M1",
	                          .what = "bytes read to find it",
	                          .unit = "MB",
	                          .ours = &read,
	                          .against = "16 pages",
	                          .limit = 16 * 4096 / 1e6,
	                          .goal = BENCH_AT_MOST,
	                          .target = 1});
	(void)sherd_store_remove(store, "many.sdc", NULL);
	bench_model_done(&m);
}

static double read_once(sherd_store *store, const char *key, const bench_model *m, unsigned workers, uint8_t *room)
{
	sherd_pool *pool = workers ? bench_pool(workers) : NULL;
	sherd_model *model;
	sherd_bundle *bundle;
	sherd_error err;
	if (sherd_model_open(&model, store, key, &(sherd_model_options){.pool = pool}, &err) < 0 ||
	    sherd_bundle_of_model(&bundle, model, &err) < 0)
		bench_fail("%s: %s", err.object, err.message);
	double start = bench_now();
	for (size_t i = 0; i < m->count; i++)
		if (sherd_bundle_read(bundle, i, 0, room, ARRAY, &err) < 0)
			bench_fail("%s: %s", err.object, err.message);
	double seconds = bench_now() - start;
	sherd_bundle_close(bundle);
	sherd_model_close(model);
	sherd_pool_close(pool);
	return (double)(m->count * ARRAY) / seconds / 1e6;
}

static void read_packed(sherd_store *store, const uint8_t *weights)
{
	bench_model m = bench_model_of(8, ARRAY, 0);
	sherd_model_save_options o = {.compress = SHERD_COMPRESS_DEFLATE};
	bench_series two = {.count = 0}, one = {.count = 0}, zlib = {.count = 0};
	uint8_t *room = bench_memory(ARRAY, NULL);
	(void)bench_model_write(&m, store, "packed.sdc", weights, &o);
	for (int i = 0; i < bench_pairs(); i++) {
		bench_add(&one, read_once(store, "packed.sdc", &m, 0, room));
		bench_add(&two, read_once(store, "packed.sdc", &m, WORKERS, room));
		double seconds = bench_zlib_unpack(weights, SAMPLE);
		if (seconds > 0)
			bench_add(&zlib, (double)SAMPLE / seconds / 1e6);
	}
	if (memcmp(room, weights, ARRAY) != 0)
		bench_fail("what was read is not what was written");
	bench_row row = {.id = "M2", .what = "read packed arrays", .unit = "MB/s", .ours = &one};
	row.against = "zlib, one thread, memory only";
	row.other = &zlib;
	if (zlib.count)
		bench_report(&row);
	row.what = "read packed arrays, 2 workers";
	row.ours = &two;
	row.against = "without a pool";
	row.other = &one;
	bench_report(&row);
	(void)sherd_store_remove(store, "packed.sdc", NULL);
	bench_model_done(&m);
}

static void write_plain(sherd_store *store, const uint8_t *weights)
{
	bench_model m = bench_model_of(PLAIN, ARRAY, 0);
	bench_series ours = {.count = 0}, torch = {.count = 0};
	bench_python p;
	int fd;
	uint8_t *memory = bench_memory(PLAIN * ARRAY, &fd);
	for (size_t i = 0; i < PLAIN; i++)
		memcpy(memory + i * ARRAY, weights, ARRAY);
	const char *version = bench_peers_start(&p, fd, PLAIN * ARRAY, ARRAY) ? bench_peer_version(&p, "torch") : NULL;
	char against[64];
	(void)snprintf(against, sizeof(against), "torch.save %s, file + fsync", version ? version : "");
	for (int i = 0; i < bench_pairs() && version; i++) {
		bench_add(&ours,
		          (double)(PLAIN * ARRAY) / bench_model_write(&m, store, "plain.sdc", weights, NULL) / 1e6);
		bench_add(&torch, (double)(PLAIN * ARRAY) / bench_peer_save(&p, "torch") / 1e6);
		(void)sherd_store_remove(store, "plain.sdc", NULL);
	}
	if (version)
		bench_report(&(bench_row){.id = "-",
		                          .what = "write 256 MiB unpacked, durable",
		                          .unit = "MB/s",
		                          .ours = &ours,
		                          .against = against,
		                          .other = &torch});
	else
		bench_missing("-", "torch", "tools/bench --peers tells how to get it");
	bench_python_stop(&p);
	bench_model_done(&m);
}

/* The file of an earlier SameDiff, made from a container. */
static void make_legacy(sherd_store *store)
{
	sherd_model *model;
	sherd_error err;
	const sherd_model_save_options o = {.format = SHERD_FORMAT_SAMEDIFF_FLATBUFFERS, .replace = true};
	if (sherd_model_open(&model, store, "plain.sdc", NULL, &err) < 0 ||
	    sherd_model_save(model, store, "legacy.fb", &o, &err) < 0)
		bench_fail("%s: %s", err.object, err.message);
	sherd_model_close(model);
}

static void read_legacy(sherd_store *store, const uint8_t *weights)
{
	bench_model m = bench_model_of(PLAIN, ARRAY, 0);
	bench_series ours = {.count = 0}, copy = {.count = 0};
	uint8_t *room = bench_memory(ARRAY, NULL);
	(void)bench_model_write(&m, store, "plain.sdc", weights, NULL);
	make_legacy(store);
	for (int i = 0; i < bench_pairs(); i++) {
		bench_add(&ours, read_once(store, "legacy.fb", &m, 0, room));
		bench_add(&copy, (double)ARRAY / bench_memcpy(room, ARRAY, weights, ARRAY, ARRAY, 1) / 1e6);
	}
	bench_report(&(bench_row){.id = "-",
	                          .what = "read arrays of a legacy file, big-endian",
	                          .unit = "MB/s",
	                          .ours = &ours,
	                          .against = "memcpy, one thread",
	                          .other = &copy});
	(void)sherd_store_remove(store, "plain.sdc", NULL);
	(void)sherd_store_remove(store, "legacy.fb", NULL);
	bench_model_done(&m);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(sherd_store *store, const uint8_t *weights);
	} parts[] = {{"open", open_small_and_large}, {"write", write_packed}, {"find", find_one},
	             {"read", read_packed},          {"plain", write_plain},  {"legacy", read_legacy}};
	bench_begin("container");
	uint8_t *weights = bench_memory(SAMPLE, NULL);
	sherd_store *store = bench_store();
	bench_weights(weights, SAMPLE);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (argc < 2 || strstr(argv[1], parts[i].name))
			parts[i].run(store, weights);
	bench_end();
	sherd_store_close(store);
	return 0;
}
