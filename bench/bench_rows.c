/* bench_rows - streams of rows against the bare conversion, the disk, HDF5 and numpy: R1, R2, R3; gathers against
 * memcpy.
 *
 * Files go below SHD_BENCH_DIR (default: the current folder): 2 GiB of rows, as much again for HDF5, and a sparse
 * set of 16 GiB that takes no room. */
#include "machine.h"
#include "measure.h"
#include "rows_files.h"

#include "base/rng.h"
#include "codec/floats.h"
#include "format/rows/shard.h"

#include <sherd/rows.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static rows_files files;

#define TRY_OR_FAIL(call)                                            \
	do {                                                         \
		sherd_error e_ = {0}, *err = &e_;                    \
		if ((call) < 0)                                      \
			bench_fail("%s: %s", e_.object, e_.message); \
	} while (0)

typedef struct opened {
	sherd_store *store;
	sherd_rows *rows;
	sherd_rows_cursor *cursor;
} opened;

static opened open_set(const char *folder, const sherd_rows_stream_options *o)
{
	opened s = {0};
	TRY_OR_FAIL(sherd_store_open_local(&s.store, folder, NULL, err));
	TRY_OR_FAIL(sherd_rows_open_folder(&s.rows, s.store, "", NULL, err));
	TRY_OR_FAIL(sherd_rows_cursor_open(&s.cursor, s.rows, o, err));
	return s;
}

static void close_set(opened *s)
{
	sherd_rows_cursor_close(s->cursor);
	sherd_rows_close(s->rows);
	sherd_store_close(s->store);
}

/* Seconds of one pass over all rows, opening included. */
static double stream(const sherd_rows_stream_options *o, double *sum)
{
	double start = bench_now(), all = 0;
	opened s = open_set(files.folder, o);
	sherd_rows_batch b;
	int rc;
	while ((rc = sherd_rows_next(&b, s.cursor, NULL)) > 0)
		all += b.dtype == SHERD_F64 ? ((const double *)b.data)[b.first_id % files.rows_each % ROWS_WIDTH] : 0;
	if (rc < 0)
		bench_fail("a stream failed");
	close_set(&s);
	*sum = all;
	return bench_now() - start;
}

static double gbps(double seconds)
{
	return (double)files.bytes / seconds / 1e9;
}

static void check_sum(double ours, double other)
{
	if (ours != other)
		bench_fail("the values differ: %g and %g", ours, other);
}

/* ---- R1: warm */

static sherd_pool *open_pool(unsigned workers)
{
	sherd_pool *pool = NULL;
	if (workers > 1)
		TRY_OR_FAIL(sherd_pool_open(&pool, workers, err));
	return pool;
}

static void bench_warm(sherd_rows_access access, unsigned workers, const char *what, bool target)
{
	sherd_pool *pool = open_pool(workers);
	bench_series ours = {.count = 0}, bare = {.count = 0}, fresh = {.count = 0};
	const sherd_rows_stream_options o = {.access = access, .batch_rows = ROWS_BATCH, .pool = pool};
	double a, b;
	rows_files_warm(&files);
	(void)stream(&o, &a);
	for (int i = 0; i < bench_pairs(); i++) {
		bench_add(&bare, gbps(rows_bare(&files, &b)));
		bench_add(&ours, gbps(stream(&o, &a)));
		check_sum(a, b);
		bench_add(&fresh, gbps(rows_bare_fresh(&files, &b)));
	}
	sherd_pool_close(pool);
	bench_report(&(bench_row){"R1", what, "GB/s", &ours, "bare conversion, resident map", &bare, 0,
	                          target ? BENCH_AT_LEAST : BENCH_SHOWN, 0.85});
	bench_report(
		&(bench_row){"R1", what, "GB/s", &ours, "bare conversion, map of its own", &fresh, 0, BENCH_SHOWN, 0});
}

static void bench_hdf5(unsigned workers, const char *what)
{
	bench_series ours = {.count = 0}, hdf5 = {.count = 0};
	sherd_pool *pool = open_pool(workers);
	const sherd_rows_stream_options o = {.batch_rows = ROWS_BATCH, .pool = pool};
	double a, b;
	(void)rows_hdf5(&files, &b);
	for (int i = 0; i < bench_pairs(); i++) {
		bench_add(&hdf5, gbps(rows_hdf5(&files, &b)));
		bench_add(&ours, gbps(stream(&o, &a)));
		check_sum(a, b);
	}
	sherd_pool_close(pool);
	bench_report(&(bench_row){"R1", what, "GB/s", &ours, "HDF5, converting read", &hdf5, 0, BENCH_AT_LEAST, 3});
}

static void bench_peers(void)
{
	bench_series ours = {.count = 0}, numpy = {.count = 0};
	const sherd_rows_stream_options o = {.batch_rows = ROWS_BATCH};
	double a;
	if (rows_hdf5_start(&files)) {
		rows_files_warm(&files);
		bench_hdf5(1, "stream f32 as f64, warm");
		bench_hdf5(2, "the same, 2 workers");
		rows_hdf5_stop(&files);
	} else {
		bench_missing("R1", "HDF5", "Debian: libhdf5-dev, then build again");
	}
	if (rows_numpy_start(&files)) {
		for (int i = 0; i < bench_pairs(); i++) {
			bench_add(&numpy, gbps(rows_numpy()));
			bench_add(&ours, gbps(stream(&o, &a)));
		}
		bench_report(&(bench_row){"R1", "stream f32 as f64, warm", "GB/s", &ours, "numpy memmap, astype",
		                          &numpy, 0, BENCH_SHOWN, 0});
	} else {
		bench_missing("R1", "numpy", "Debian: python3-numpy; or SHERD_BENCH_PYTHON");
	}
	rows_numpy_stop();
}

/* ---- R2: cold */

static void bench_cold(sherd_rows_access access, const char *what, uint64_t window, bool target)
{
	bench_series ours = {.count = 0}, direct = {.count = 0}, scan = {.count = 0};
	const sherd_rows_stream_options o = {.access = access, .batch_rows = ROWS_BATCH, .window_bytes = window};
	double sum;
	for (int i = 0; i < bench_pairs(); i++) {
		rows_files_cool(&files);
		bench_add(&direct, gbps(rows_direct(&files)));
		bench_add(&scan, gbps(rows_queued(&files)));
		rows_files_cool(&files);
		bench_add(&ours, gbps(stream(&o, &sum)));
	}
	bench_report(&(bench_row){"R2", what, "GB/s", &ours, "direct read, 8 MiB a call", &direct, 0,
	                          target ? BENCH_AT_LEAST : BENCH_SHOWN, 0.9});
	bench_report(
		&(bench_row){"R2", what, "GB/s", &ours, "direct read, 8 x 1 MiB under way", &scan, 0, BENCH_SHOWN, 0});
}

/* ---- gather */

enum { GATHERS = 64 };

static void random_ids(uint64_t ids[ROWS_BATCH], uint64_t turn)
{
	for (uint64_t i = 0; i < ROWS_BATCH; i++)
		ids[i] = shd_splitmix64(turn * ROWS_BATCH + i) % (files.rows_each * ROWS_SHARDS);
}

static double copy_rows(void)
{
	uint64_t ids[ROWS_BATCH];
	double start = bench_now();
	for (uint64_t turn = 0; turn < GATHERS; turn++) {
		random_ids(ids, turn);
		for (size_t i = 0; i < ROWS_BATCH; i++)
			memcpy((float *)files.out + i * ROWS_WIDTH,
			       files.maps[ids[i] / files.rows_each] + ids[i] % files.rows_each * ROWS_WIDTH,
			       ROWS_WIDTH * sizeof(float));
	}
	return bench_now() - start;
}

static double gather(sherd_rows_cursor *c)
{
	uint64_t ids[ROWS_BATCH];
	double start = bench_now();
	for (uint64_t turn = 0; turn < GATHERS; turn++) {
		random_ids(ids, turn);
		TRY_OR_FAIL(sherd_rows_gather(c, ids, ROWS_BATCH, files.out, err));
	}
	return bench_now() - start;
}

static void bench_gather(uint64_t window, const char *what)
{
	bench_series ours = {.count = 0}, copy = {.count = 0};
	const double bytes = (double)GATHERS * ROWS_BATCH * ROWS_WIDTH * 4 / 1e9;
	opened s = open_set(files.folder, &(sherd_rows_stream_options){.dtype = SHERD_F32, .window_bytes = window});
	rows_files_warm(&files);
	(void)gather(s.cursor);
	for (int i = 0; i < bench_pairs(); i++) {
		bench_add(&copy, bytes / copy_rows());
		bench_add(&ours, bytes / gather(s.cursor));
	}
	close_set(&s);
	bench_report(&(bench_row){"-", what, "GB/s", &ours, "memcpy from a resident map", &copy, 0, BENCH_SHOWN, 0});
}

/* ---- R3: what is resident */

typedef struct resident_case {
	const char *folder;
	sherd_rows_stream_options options;
} resident_case;

static void stream_sparse(void *arg, double *result)
{
	const resident_case *c = arg;
	sherd_rows_batch b;
	double sum = 0;
	bench_reset_peak();
	opened s = open_set(c->folder, &c->options);
	while (sherd_rows_next(&b, s.cursor, NULL) > 0)
		for (size_t i = 0; i < b.rows * b.width; i += 512)
			sum += b.dtype == SHERD_F64 ? ((const double *)b.data)[i] : (double)((const float *)b.data)[i];
	close_set(&s);
	if (sum != 0)
		bench_fail("a hole is not zero");
	*result = (double)bench_peak_memory() / (1 << 20);
}

static void make_sparse(const char *folder, uint64_t bytes, bool make)
{
	for (int i = 0; i < ROWS_SHARDS; i++) {
		char path[4096];
		uint8_t head[SHD_ROWS_HEAD_SIZE];
		uint64_t rows = bytes / ROWS_SHARDS / ROWS_WIDTH / 4;
		(void)snprintf(path, sizeof(path), "%s/part-%05d.shard", folder, i);
		if (!make) {
			(void)unlink(path);
			continue;
		}
		shd_rows_head_encode(rows, ROWS_WIDTH, head);
		int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd < 0 || write(fd, head, sizeof(head)) != sizeof(head) ||
		    ftruncate(fd, (off_t)(sizeof(head) + rows * ROWS_WIDTH * 4)) < 0 || close(fd) < 0)
			bench_fail("cannot make %s", path);
	}
}

static void bench_resident(const char *folder, uint64_t window_mib, sherd_rows_access access, sherd_dtype dtype,
                           bool shuffle)
{
	static const char *const ways[] = {"auto", "map", "read", "direct"};
	char what[80], bound[80];
	bench_series peak = {.count = 0};
	resident_case c = {folder,
	                   {.batch_rows = ROWS_BATCH,
	                    .window_bytes = window_mib << 20,
	                    .access = access,
	                    .dtype = dtype,
	                    .shuffle = shuffle}};
	double handed = (double)ROWS_BATCH * ROWS_WIDTH * (dtype == SHERD_F64 ? 8 : 4) / (1 << 20);
	bench_add(&peak, bench_in_child(stream_sparse, &c));
	(void)snprintf(what, sizeof(what), "16 GiB %s, %s, as %s, window %d MiB", shuffle ? "shuffled" : "in order",
	               ways[access], dtype == SHERD_F64 ? "f64" : "f32", (int)window_mib);
	(void)snprintf(bound, sizeof(bound), "window + %g + 24 MiB", handed);
	bench_report(&(bench_row){"R3", what, "MiB", &peak, bound, NULL, (double)window_mib + handed + 24,
	                          BENCH_AT_MOST, 1});
}

static void bench_all_resident(void)
{
	char *folder = bench_path("bench_sparse.XXXXXX");
	if (!mkdtemp(folder))
		bench_fail("cannot make a folder");
	make_sparse(folder, UINT64_C(16) << 30, true);
	for (sherd_rows_access access = SHERD_ROWS_AUTO; access <= SHERD_ROWS_DIRECT; access++)
		for (uint64_t window = 8; window <= 64; window *= 8) {
			bench_resident(folder, window, access, SHERD_F64, false);
			bench_resident(folder, window, access, SHERD_F32, false);
		}
	bench_resident(folder, 64, SHERD_ROWS_MAP, SHERD_F64, true);
	make_sparse(folder, 0, false);
	(void)rmdir(folder);
	free(folder);
}

int main(int argc, char **argv)
{
	const char *only = argc > 1 ? argv[1] : "";
	bench_begin("rows");
	rows_files_make(&files, bench_bytes(2, 1.5, 2.5));
	if (!*only || strstr(only, "warm")) {
		bench_warm(SHERD_ROWS_AUTO, 1, "stream f32 as f64, warm", true);
		bench_warm(SHERD_ROWS_AUTO, 2, "the same, 2 workers", true);
		bench_warm(SHERD_ROWS_MAP, 1, "the same, by map", false);
		bench_warm(SHERD_ROWS_READ, 1, "the same, by read", false);
	}
	if (!*only || strstr(only, "peers"))
		bench_peers();
	if (!*only || strstr(only, "cold")) {
		bench_cold(SHERD_ROWS_AUTO, "stream f32 as f64, cold", 0, true);
		bench_cold(SHERD_ROWS_AUTO, "the same, window 64 MiB", 64 << 20, false);
		bench_cold(SHERD_ROWS_MAP, "the same, by map", 0, false);
		bench_cold(SHERD_ROWS_READ, "the same, by read", 0, false);
	}
	if (!*only || strstr(only, "gather")) {
		bench_gather(0, "gather rows of 16 KiB, warm");
		bench_gather(UINT64_MAX, "the same, the window holds all");
	}
	rows_files_remove(&files);
	if (!*only || strstr(only, "resident"))
		bench_all_resident();
	bench_end();
	return 0;
}
