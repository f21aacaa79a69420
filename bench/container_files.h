/* bench/container_files.h - models to be measured, and what others need for the same. */
#pragma once

#include <sherd/model.h>

/* Variables "v0", "v1", ... of F32. */
typedef struct bench_model {
	size_t count;
	char (*names)[24];
	uint64_t (*shapes)[1];
	int64_t (*dims)[1];
	sherd_tensor *arrays;
	sherd_model_variable *variables;
	sherd_model_graph graph;
} bench_model;

/* Arrays of `each` bytes, and a last one of `last` bytes unless that is 0. */
bench_model bench_model_of(size_t count, uint64_t each, uint64_t last);
void bench_model_done(bench_model *m);
/* Writes the model; the bytes of each array are the first of `from`. Returns the seconds until it is durable. */
double bench_model_write(const bench_model *m, sherd_store *store, const char *key, const uint8_t *from,
                         const sherd_model_save_options *options);

/* Weights: F32 of a normal distribution with deviation 0.02, the same at every run. */
void bench_weights(uint8_t *at, uint64_t bytes);

/* One thread, level 1. Seconds; *packed is the bytes that came out. Negative where zlib is not here. */
double bench_zlib_pack(const uint8_t *from, uint64_t bytes, uint64_t *packed);
double bench_zlib_unpack(const uint8_t *from, uint64_t bytes);
/* One dataset in chunks of 1 MiB with shuffle and gzip 1, closed and synced. Negative where HDF5 is not here. */
double bench_hdf5_pack(const uint8_t *from, uint64_t bytes, uint64_t *packed);

/* Bytes that this process has read by system calls. */
uint64_t bench_bytes_read(void);
