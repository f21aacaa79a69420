#include "rows_files.h"

#include "codec/floats.h"
#include "format/rows/shard.h"
#include "machine.h"
#include "measure.h"

#include <sherd/store.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DIRECT_STEP = 8 << 20, FILL_STEP = 1 << 20 };

static int open_or_fail(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);
	if (fd < 0)
		bench_fail("%s: %s", path, strerror(errno));
	return fd;
}

/* Numbers between -8 and 8, as activations are; no denormals, which processors are slow at. */
static void fill(float *out, size_t count, uint64_t *state)
{
	for (size_t i = 0; i < count; i++) {
		*state = *state * 6364136223846793005u + 1442695040888963407u;
		out[i] = (float)(int32_t)(*state >> 32) * 0x1p-28f;
	}
}

static void write_all(int fd, const void *data, size_t len)
{
	for (size_t done = 0; done < len;) {
		ssize_t n = write(fd, (const char *)data + done, len - done);
		if (n <= 0)
			bench_fail("cannot write: %s", strerror(errno));
		done += (size_t)n;
	}
}

static void write_shard(const char *path, uint64_t rows, uint64_t *state)
{
	uint8_t head[SHD_ROWS_HEAD_SIZE];
	float *step = malloc(FILL_STEP);
	int fd = open_or_fail(path, O_WRONLY | O_CREAT | O_EXCL);
	if (!step)
		bench_fail("no memory");
	shd_rows_head_encode(rows, ROWS_WIDTH, head);
	write_all(fd, head, sizeof(head));
	for (uint64_t left = rows * ROWS_WIDTH * 4; left > 0;) {
		size_t n = left < FILL_STEP ? (size_t)left : FILL_STEP;
		fill(step, n / 4, state);
		write_all(fd, step, n);
		left -= n;
	}
	if (fsync(fd) < 0 || close(fd) < 0)
		bench_fail("%s: %s", path, strerror(errno));
	free(step);
}

static const float *map_shard(const rows_files *f, int shard, int populate)
{
	int fd = open_or_fail(f->paths[shard], O_RDONLY);
	size_t len = SHD_ROWS_HEAD_SIZE + (size_t)f->rows_each * ROWS_WIDTH * 4;
	uint8_t *map = mmap(NULL, len, PROT_READ, MAP_SHARED | populate, fd, 0);
	if (map == MAP_FAILED)
		bench_fail("cannot map: %s", strerror(errno));
	(void)close(fd);
	return (const float *)(const void *)(map + SHD_ROWS_HEAD_SIZE);
}

static void unmap_shard(const rows_files *f, const float *map)
{
	size_t len = SHD_ROWS_HEAD_SIZE + (size_t)f->rows_each * ROWS_WIDTH * 4;
	(void)munmap((uint8_t *)(uintptr_t)map - SHD_ROWS_HEAD_SIZE, len);
}

void rows_files_make(rows_files *f, uint64_t bytes)
{
	uint64_t state = 1, batch = (uint64_t)ROWS_BATCH * ROWS_WIDTH * 4;
	*f = (rows_files){.folder = bench_path("bench_rows.XXXXXX")};
	f->rows_each = bytes / ROWS_SHARDS / batch * ROWS_BATCH;
	f->bytes = f->rows_each * ROWS_SHARDS * ROWS_WIDTH * 4;
	if (!mkdtemp(f->folder))
		bench_fail("%s: %s", f->folder, strerror(errno));
	for (int i = 0; i < ROWS_SHARDS; i++) {
		if (asprintf(&f->paths[i], "%s/part-%05d.shard", f->folder, i) < 0)
			bench_fail("no memory");
		write_shard(f->paths[i], f->rows_each, &state);
		f->maps[i] = map_shard(f, i, MAP_POPULATE);
	}
	f->out = aligned_alloc(4096, (size_t)batch * 2);
	if (!f->out)
		bench_fail("no memory");
	memset(f->out, 1, (size_t)batch * 2);
}

void rows_files_remove(rows_files *f)
{
	for (int i = 0; i < ROWS_SHARDS; i++) {
		unmap_shard(f, f->maps[i]);
		(void)unlink(f->paths[i]);
		free(f->paths[i]);
	}
	(void)rmdir(f->folder);
	free(f->folder);
	free(f->out);
}

/* Pages that are mapped stay in the cache: the maps are let go first. */
void rows_files_cool(const rows_files *f)
{
	size_t len = (size_t)f->rows_each * ROWS_WIDTH * 4;
	for (int i = 0; i < ROWS_SHARDS; i++) {
		(void)madvise((uint8_t *)(uintptr_t)f->maps[i] - SHD_ROWS_HEAD_SIZE, len + SHD_ROWS_HEAD_SIZE,
		              MADV_DONTNEED);
		int fd = open_or_fail(f->paths[i], O_RDONLY);
		(void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		(void)close(fd);
	}
}

void rows_files_warm(const rows_files *f)
{
	volatile float sum = 0;
	for (int i = 0; i < ROWS_SHARDS; i++)
		for (uint64_t k = 0; k < f->rows_each * ROWS_WIDTH; k += 1024)
			sum = sum + f->maps[i][k];
}

static double convert(const rows_files *f, const float *map, double sum)
{
	for (uint64_t row = 0; row < f->rows_each; row += ROWS_BATCH) {
		shd_floats_widen(map + row * ROWS_WIDTH, f->out, (size_t)ROWS_BATCH * ROWS_WIDTH);
		sum += f->out[row % ROWS_WIDTH];
	}
	return sum;
}

double rows_bare(const rows_files *f, double *sum)
{
	double start = bench_now(), all = 0;
	for (int i = 0; i < ROWS_SHARDS; i++)
		all = convert(f, f->maps[i], all);
	*sum = all;
	return bench_now() - start;
}

double rows_bare_fresh(const rows_files *f, double *sum)
{
	double start = bench_now(), all = 0;
	for (int i = 0; i < ROWS_SHARDS; i++) {
		const float *map = map_shard(f, i, 0);
		all = convert(f, map, all);
		unmap_shard(f, map);
	}
	*sum = all;
	return bench_now() - start;
}

double rows_direct(const rows_files *f)
{
	void *buf = aligned_alloc(4096, DIRECT_STEP);
	double start = bench_now();
	if (!buf)
		bench_fail("no memory");
	for (int i = 0; i < ROWS_SHARDS; i++) {
		int fd = open_or_fail(f->paths[i], O_RDONLY | O_DIRECT);
		ssize_t n;
		uint64_t done = 0;
		while ((n = pread(fd, buf, DIRECT_STEP, (off_t)done)) > 0)
			done += (uint64_t)n;
		if (n < 0 || done != SHD_ROWS_HEAD_SIZE + f->bytes / ROWS_SHARDS)
			bench_fail("%s: %s", f->paths[i], strerror(errno));
		(void)close(fd);
	}
	double seconds = bench_now() - start;
	free(buf);
	return seconds;
}

/* Begins with as many as fit, then one for each that comes. */
static int read_queued(sherd_queue *queue, const sherd_reader *reader)
{
	uint64_t asked = 0, size = sherd_reader_size(reader);
	const void *data;
	size_t len, taken;
	int rc;
	do {
		do {
			rc = sherd_queue_ask(&taken, queue, reader, asked, (size_t)(size - asked), NULL);
			asked += taken;
		} while (rc == SHERD_OK && taken);
		if (rc == SHERD_OK)
			rc = sherd_queue_next(&data, &len, queue, NULL);
	} while (rc > 0);
	return rc;
}

double rows_queued(const rows_files *f)
{
	sherd_store *store = NULL;
	sherd_queue *queue = NULL;
	double start = bench_now();
	if (sherd_store_open_local(&store, f->folder, NULL, NULL) < 0 ||
	    sherd_store_queue(&queue, store, DIRECT_STEP, NULL) < 0)
		bench_fail("%s: no direct reads", f->folder);
	for (int i = 0; i < ROWS_SHARDS; i++) {
		sherd_reader *reader = NULL;
		if (sherd_store_read(&reader, store, strrchr(f->paths[i], '/') + 1, NULL) < 0 ||
		    read_queued(queue, reader) < 0)
			bench_fail("%s cannot be read", f->paths[i]);
		sherd_reader_close(reader);
	}
	sherd_queue_close(queue);
	sherd_store_close(store);
	return bench_now() - start;
}
