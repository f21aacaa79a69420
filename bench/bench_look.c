/* bench_look - looking at tensors: stats and diff of 4 GiB in one safetensors file each, warm, and how long info takes.
 *
 * stats with 2 workers against 2 threads that read the same file and do nothing with it; diff of two equal files
 * against cmp; the values that stats finds are compared with what was written. numpy's minimum, maximum, mean and
 * deviation of the same tensors, and gguf-dump and Python's safetensors beside info, are shown where they are installed
 * (bench/look.py). */
#include "machine.h"
#include "measure.h"
#include "python.h"
#include "tensors.h"

#include <sherd/convert.h>
#include <sherd/diff.h>
#include <sherd/guard.h>
#include <sherd/stats.h>

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORKERS = 2, CHUNK = 1 << 20 };

typedef struct looking {
	sherd_store *store;
	sherd_pool *pool;
	sherd_bundle *left, *right;
	uint64_t bytes;
	char *paths[2];
} looking;

typedef struct reading {
	const char *path;
	uint64_t bytes;
} reading;

/* Every second chunk of the file. */
static void read_half(void *arg, unsigned thread)
{
	const reading *r = arg;
	int fd = open(r->path, O_RDONLY | O_CLOEXEC);
	uint8_t *buf = malloc(CHUNK);
	if (fd < 0 || !buf)
		bench_fail("cannot read %s", r->path);
	for (uint64_t at = (uint64_t)thread * CHUNK; at < r->bytes; at += (uint64_t)WORKERS * CHUNK)
		if (pread(fd, buf, CHUNK, (off_t)at) < 0)
			bench_fail("cannot read %s", r->path);
	free(buf);
	(void)close(fd);
}

static double bare_read(const looking *l)
{
	reading r = {l->paths[0], l->bytes};
	return (double)l->bytes / bench_parallel(WORKERS, read_half, &r) / 1e9;
}

/* The tensors are filled with bytes that are no special numbers but for chance. */
static int check_stats(void *arg, size_t tensor, const sherd_stats *s, sherd_error *err)
{
	uint64_t *count = arg;
	(void)tensor, (void)err;
	*count += s->count;
	return SHERD_OK;
}

static double stats(const looking *l)
{
	sherd_error err;
	uint64_t count = 0;
	const sherd_stats_options options = {.pool = l->pool};
	double start = bench_now();
	if (sherd_stats_bundle(l->left, NULL, 0, &options, check_stats, &count, &err) < 0)
		bench_fail("%s: %s", err.object, err.message);
	double seconds = bench_now() - start;
	if (count * sizeof(float) != l->bytes)
		bench_fail("stats saw %llu values", (unsigned long long)count);
	return (double)l->bytes / seconds / 1e9;
}

static double diff(const looking *l)
{
	sherd_error err;
	sherd_diff_summary summary;
	const sherd_diff_options options = {.pool = l->pool};
	double start = bench_now();
	if (sherd_diff_bundles(&summary, l->left, l->right, &options, NULL, NULL, &err) < 0)
		bench_fail("%s: %s", err.object, err.message);
	if (!summary.equal || summary.bytes != l->bytes)
		bench_fail("equal files differ");
	return (double)l->bytes / (bench_now() - start) / 1e9;
}

static double compare(const looking *l)
{
	char command[8192];
	(void)snprintf(command, sizeof(command), "cmp -s '%s' '%s'", l->paths[0], l->paths[1]);
	double start = bench_now();
	if (system(command) != 0) /* NOLINT(cert-env33-c): both paths are ours */
		bench_fail("cmp finds a difference");
	return (double)l->bytes / (bench_now() - start) / 1e9;
}

/* Bytes that are floats between -1 and 1: what weights are like. */
static void fill_floats(uint8_t *memory, uint64_t bytes)
{
	float *values = (float *)(void *)memory;
	uint32_t state = 1;
	for (uint64_t i = 0; i < bytes / sizeof(float); i++) {
		state = state * 1664525u + 1013904223u;
		values[i] = (float)(int32_t)state * 0x1p-31f;
	}
}

static void save(looking *l, const bench_tensors *tensors)
{
	sherd_error err;
	sherd_bundle *made;
	(void)bench_save(l->store, "made", tensors, l->pool);
	const sherd_convert_options options = {.replace = true, .pool = l->pool};
	if (sherd_bundle_open(&made, l->store, "made", NULL, &err) < 0 ||
	    sherd_convert(made, l->store, "left.safetensors", SHERD_FORMAT_SAFETENSORS, &options, &err) < 0 ||
	    sherd_convert(made, l->store, "right.safetensors", SHERD_FORMAT_SAFETENSORS, &options, &err) < 0)
		bench_fail("%s: %s", err.object, err.message);
	sherd_bundle_close(made);
	bench_remove(l->store, "made", WORKERS);
	if (sherd_bundle_open(&l->left, l->store, "left.safetensors", NULL, &err) < 0 ||
	    sherd_bundle_open(&l->right, l->store, "right.safetensors", NULL, &err) < 0)
		bench_fail("%s: %s", err.object, err.message);
	l->paths[0] = bench_path("left.safetensors");
	l->paths[1] = bench_path("right.safetensors");
}

static void measure(const looking *l)
{
	bench_series ours[2] = {0}, others[2] = {0};
	for (int i = 0; i < bench_pairs(); i++) {
		bench_add(&others[0], bare_read(l));
		bench_add(&ours[0], stats(l));
		bench_add(&others[1], compare(l));
		bench_add(&ours[1], diff(l));
	}
	bench_row row = {.id = "T1", .unit = "GB/s", .goal = BENCH_AT_LEAST};
	row.what = "stats of F32, warm, 2 workers";
	row.ours = &ours[0];
	row.against = "a bare read, 2 threads";
	row.other = &others[0];
	row.target = 0.7;
	bench_report(&row);
	row.id = "T2";
	row.what = "diff of two equal files, warm, 2 workers";
	row.ours = &ours[1];
	row.against = "cmp";
	row.other = &others[1];
	row.target = 1;
	bench_report(&row);
}

/* Python's ways, each with its seconds. */
static void show_peers(const looking *l)
{
	static const char *const peers[] = {"numpy", "safetensors", "gguf-dump"};
	bench_python p = {0};
	bench_python_start(&p, (const char *const[]){"bench/look.py", l->paths[0], NULL});
	for (size_t i = 0; i < sizeof(peers) / sizeof(*peers); i++) {
		const char *answer = bench_python_ask(&p, "%s", peers[i]);
		if (!answer || strcmp(answer, "none") == 0)
			bench_missing("T1", peers[i], "tools/bench --peers tells how");
		else
			bench_note("%s: %s", peers[i], answer);
	}
	bench_python_stop(&p);
}

int main(void)
{
	sherd_error err;
	bench_begin("look");
	if (sherd_guard_open(&err) < 0) /* as the command does */
		bench_fail("%s", err.message);
	uint64_t bytes = bench_bytes(4, 1.5, 3.2);
	uint8_t *memory = bench_memory(bytes, NULL);
	looking l = {.store = bench_store(), .pool = bench_pool(WORKERS), .bytes = bytes};
	fill_floats(memory, bytes);
	bench_tensors tensors = bench_tensors_of(memory, bytes, WORKERS);
	save(&l, &tensors);
	measure(&l);
	show_peers(&l);
	bench_end();
	sherd_bundle_close(l.left);
	sherd_bundle_close(l.right);
	for (int i = 0; i < 2; i++) {
		(void)unlink(l.paths[i]);
		free(l.paths[i]);
	}
	bench_tensors_done(&tensors);
	sherd_pool_close(l.pool);
	sherd_store_close(l.store);
	return 0;
}
