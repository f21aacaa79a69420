/* bench/machine.h - what this machine can do at best, by the plainest code: the limits that we are measured against.
 *
 * Whatever goes wrong here ends the program. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Where files go: SHD_BENCH_DIR, or the current folder. */
const char *bench_folder(void);
/* The path of a file there; the caller frees it. */
char *bench_path(const char *name);
/* SHD_BENCH_GIB or gib, in bytes, halved until `memory` times as much memory and `disk` times as much disk are free.
 * A multiple of 64 MiB. Says so when it is less than asked for. */
uint64_t bench_bytes(double gib, double memory, double disk);

/* Calls fn(arg, t) for t = 0 .. threads-1, each on a thread of its own; returns the seconds until all are back. */
typedef void bench_thread_fn(void *arg, unsigned thread);
double bench_parallel(unsigned threads, bench_thread_fn *fn, void *arg);

/* Memory that another process can map as /proc/<pid>/fd/<fd>; aligned to pages, touched. fd may be NULL. */
uint8_t *bench_memory(uint64_t bytes, int *fd);
/* Bytes that depend on their place and do not repeat; the check ends the program at the first wrong one. */
void bench_fill(uint8_t *at, uint64_t bytes);
void bench_check(const uint8_t *at, uint64_t bytes);

/* Seconds that these take, on this many threads. Files are removed, untimed. */
double bench_write_files(const uint8_t *from, uint64_t bytes, unsigned files, unsigned threads, int direct);
double bench_sha256(const uint8_t *from, uint64_t bytes, unsigned threads);
/* By calls of memcpy for `each` bytes; out of from_bytes, again and again. */
double bench_memcpy(uint8_t *to, uint64_t bytes, const uint8_t *from, uint64_t from_bytes, uint64_t each,
                    unsigned threads);

/* Waits until what was written or removed before has reached the disk. */
void bench_settle(void);

/* The greatest resident memory of this process since the last reset, in bytes. */
uint64_t bench_peak_memory(void);
void bench_reset_peak(void);
/* Runs fn in a process of its own and gives what it wrote to its result. */
typedef void bench_child_fn(void *arg, double *result);
double bench_in_child(bench_child_fn *fn, void *arg);
