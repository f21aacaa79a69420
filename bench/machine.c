#include "machine.h"

#include "codec/sha256.h"
#include "measure.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STEP = 4 << 20, MOST_THREADS = 64 };

const char *bench_folder(void)
{
	const char *folder = getenv("SHERD_BENCH_DIR");
	return folder && *folder ? folder : ".";
}

char *bench_path(const char *name)
{
	char *path;
	if (asprintf(&path, "%s/%s", bench_folder(), name) < 0)
		bench_fail("no memory");
	return path;
}

static uint64_t available_memory(void)
{
	FILE *f = fopen("/proc/meminfo", "re");
	unsigned long long kib = 0;
	char line[128];
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1)
			break;
	if (f)
		(void)fclose(f);
	return (uint64_t)kib << 10;
}

static uint64_t available_disk(void)
{
	struct statvfs v;
	if (statvfs(bench_folder(), &v) < 0)
		bench_fail("%s: %s", bench_folder(), strerror(errno));
	return (uint64_t)v.f_bavail * v.f_frsize;
}

uint64_t bench_bytes(double gib, double memory, double disk)
{
	const char *text = getenv("SHERD_BENCH_GIB");
	const double unit = 1 << 30, reserve = unit;
	double asked = text ? atof(text) : gib, have = asked;
	double room = (double)available_memory() - reserve, space = (double)available_disk() - reserve;
	while (have > 0.0625 && (have * unit * memory > room || have * unit * disk > space))
		have /= 2;
	uint64_t bytes = (uint64_t)(have * unit) & ~(uint64_t)((64 << 20) - 1);
	if (bytes < 64 << 20)
		bytes = 64 << 20;
	if (have < asked)
		bench_note("%.2f GiB instead of %.2f: memory or disk is short", have, asked);
	else if (have != gib)
		bench_note("%.2f GiB instead of the target's %.2f, as asked for", have, gib);
	return bytes;
}

typedef struct started {
	pthread_t id;
	bench_thread_fn *fn;
	void *arg;
	unsigned number;
} started;

static void *run_thread(void *arg)
{
	const started *s = arg;
	s->fn(s->arg, s->number);
	return NULL;
}

double bench_parallel(unsigned threads, bench_thread_fn *fn, void *arg)
{
	started s[MOST_THREADS];
	double start = bench_now();
	for (unsigned t = 0; t < threads; t++) {
		s[t] = (started){.fn = fn, .arg = arg, .number = t};
		if (pthread_create(&s[t].id, NULL, run_thread, &s[t]) != 0)
			bench_fail("cannot start a thread");
	}
	for (unsigned t = 0; t < threads; t++)
		(void)pthread_join(s[t].id, NULL);
	return bench_now() - start;
}

uint8_t *bench_memory(uint64_t bytes, int *fd)
{
	int file = memfd_create("bench", 0);
	if (file < 0 || ftruncate(file, (off_t)bytes) < 0)
		bench_fail("no memory: %s", strerror(errno));
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
	if (at == MAP_FAILED)
		bench_fail("no memory: %s", strerror(errno));
	if (fd)
		*fd = file;
	else
		(void)close(file);
	return at;
}

static uint64_t value_at(uint64_t i)
{
	uint64_t x = (i + 1) * 0x9e3779b97f4a7c15u;
	return (x ^ x >> 29) * 0xbf58476d1ce4e5b9u;
}

void bench_fill(uint8_t *at, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes / 8; i++) {
		uint64_t v = value_at(i);
		memcpy(at + 8 * i, &v, 8);
	}
}

void bench_check(const uint8_t *at, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes / 8; i++) {
		uint64_t v = value_at(i);
		if (memcmp(at + 8 * i, &v, 8) != 0)
			bench_fail("wrong bytes at %llu", (unsigned long long)(8 * i));
	}
}

/* A limit's work, divided among threads. */
typedef struct work {
	const uint8_t *from;
	uint8_t *to;
	uint64_t bytes, from_bytes, each;
	unsigned files, threads;
	int direct;
} work;

static char *file_path(unsigned number)
{
	char name[32];
	(void)snprintf(name, sizeof(name), "raw_%u", number);
	return bench_path(name);
}

/* Writes the same few bytes again and again, out of large pages: nothing plain is faster. */
static void write_file(const work *w, unsigned number, const uint8_t *block)
{
	char *path = file_path(number);
	uint64_t each = w->bytes / w->files;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | (w->direct ? O_DIRECT : 0), 0666);
	if (fd < 0)
		bench_fail("%s: %s", path, strerror(errno));
	for (uint64_t at = 0; at < each; at += STEP) {
		size_t n = each - at < STEP ? (size_t)(each - at) : STEP;
		if (pwrite(fd, block, n, (off_t)at) != (ssize_t)n)
			bench_fail("%s: %s", path, strerror(errno));
	}
	if (fsync(fd) < 0 || close(fd) < 0)
		bench_fail("%s: %s", path, strerror(errno));
	free(path);
}

static void write_some(void *arg, unsigned thread)
{
	const work *w = arg;
	uint8_t *block = aligned_alloc(2 << 20, STEP);
	if (!block)
		bench_fail("no memory");
	(void)madvise(block, STEP, MADV_HUGEPAGE);
	memcpy(block, w->from, STEP);
	for (unsigned i = thread; i < w->files; i += w->threads)
		write_file(w, i, block);
	free(block);
}

double bench_write_files(const uint8_t *from, uint64_t bytes, unsigned files, unsigned threads, int direct)
{
	work w = {.from = from, .bytes = bytes, .files = files, .threads = threads, .direct = direct};
	double seconds = bench_parallel(threads, write_some, &w);
	for (unsigned i = 0; i < files; i++) {
		char *path = file_path(i);
		(void)unlink(path);
		free(path);
	}
	bench_settle();
	return seconds;
}

static void hash_some(void *arg, unsigned thread)
{
	const work *w = arg;
	uint8_t hash[SHD_SHA256_BYTES];
	uint64_t each = w->bytes / w->threads;
	shd_sha256_of(w->from + thread * each, each, hash);
}

double bench_sha256(const uint8_t *from, uint64_t bytes, unsigned threads)
{
	work w = {.from = from, .bytes = bytes, .threads = threads};
	return bench_parallel(threads, hash_some, &w);
}

static void copy_some(void *arg, unsigned thread)
{
	const work *w = arg;
	uint64_t share = w->bytes / w->threads, room = w->from_bytes / w->threads;
	uint8_t *to = w->to + thread * share;
	const uint8_t *from = w->from + thread * room;
	for (uint64_t at = 0, n; at < share; at += n) {
		uint64_t source = at % room;
		n = w->each < room - source ? w->each : room - source;
		n = n < share - at ? n : share - at;
		memcpy(to + at, from + source, n);
	}
}

double bench_memcpy(uint8_t *to, uint64_t bytes, const uint8_t *from, uint64_t from_bytes, uint64_t each,
                    unsigned threads)
{
	work w = {.from = from, .to = to, .bytes = bytes, .from_bytes = from_bytes, .each = each, .threads = threads};
	return bench_parallel(threads, copy_some, &w);
}

void bench_settle(void)
{
	int fd = open(bench_folder(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || syncfs(fd) < 0)
		bench_fail("%s: %s", bench_folder(), strerror(errno));
	(void)close(fd);
}

uint64_t bench_peak_memory(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	unsigned long long kib = 0;
	char line[128];
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmHWM: %llu kB", &kib) == 1)
			break;
	if (f)
		(void)fclose(f);
	if (!kib)
		bench_fail("this system does not tell the peak of memory");
	return (uint64_t)kib << 10;
}

void bench_reset_peak(void)
{
	int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "5", 1) != 1)
		bench_fail("cannot reset the peak of memory: %s", strerror(errno));
	(void)close(fd);
}

double bench_in_child(bench_child_fn *fn, void *arg)
{
	double *result = mmap(NULL, sizeof(*result), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;
	if (result == MAP_FAILED)
		bench_fail("no memory");
	(void)fflush(stdout);
	pid_t child = fork();
	if (child < 0)
		bench_fail("cannot fork: %s", strerror(errno));
	if (child == 0) {
		fn(arg, result);
		_exit(0);
	}
	if (waitpid(child, &status, 0) != child || status != 0)
		bench_fail("a child failed");
	double value = *result;
	(void)munmap(result, sizeof(*result));
	return value;
}
