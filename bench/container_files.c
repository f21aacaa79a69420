#include "container_files.h"

#include "machine.h"
#include "measure.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef HAVE_HDF5
#include <hdf5.h>
#endif

enum { TYPE_FLOAT = 5 };

bench_model bench_model_of(size_t count, uint64_t each, uint64_t last)
{
	size_t all = count + (last != 0);
	bench_model m = {.count = all,
	                 .names = calloc(all, sizeof(*m.names)),
	                 .shapes = calloc(all, sizeof(*m.shapes)),
	                 .dims = calloc(all, sizeof(*m.dims)),
	                 .arrays = calloc(all, sizeof(*m.arrays)),
	                 .variables = calloc(all, sizeof(*m.variables))};
	if (!m.names || !m.shapes || !m.dims || !m.arrays || !m.variables)
		bench_fail("no memory");
	for (size_t i = 0; i < all; i++) {
		uint64_t bytes = i < count ? each : last;
		(void)snprintf(m.names[i], sizeof(m.names[i]), "v%zu", i);
		m.shapes[i][0] = bytes / 4;
		m.dims[i][0] = (int64_t)(bytes / 4);
		m.arrays[i] = (sherd_tensor){
			.name = m.names[i], .dtype = SHERD_F32, .ndim = 1, .shape = m.shapes[i], .bytes = bytes};
		m.variables[i] = (sherd_model_variable){.name = m.names[i],
		                                        .dtype = SHERD_F32,
		                                        .type = TYPE_FLOAT,
		                                        .has_id = true,
		                                        .id = {(int32_t)i + 1, 0},
		                                        .shape = {1, m.dims[i]},
		                                        .array = i};
	}
	m.graph = (sherd_model_graph){.variable_count = all, .variables = m.variables};
	return m;
}

void bench_model_done(bench_model *m)
{
	free(m->names);
	free(m->shapes);
	free(m->dims);
	free(m->arrays);
	free(m->variables);
}

double bench_model_write(const bench_model *m, sherd_store *store, const char *key, const uint8_t *from,
                         const sherd_model_save_options *options)
{
	const sherd_model_parts parts = {.graph = &m->graph, .arrays = m->arrays, .array_count = m->count};
	sherd_model_writer *w;
	sherd_error err;
	double start = bench_now();
	int rc = sherd_model_writer_open(&w, store, key, &parts, options, &err);
	if (rc < 0)
		bench_fail("%s: %s", err.object, err.message);
	for (size_t i = 0; rc >= 0 && i < m->count; i++)
		rc = sherd_model_writer_append(w, i, from, (size_t)m->arrays[i].bytes, &err);
	if (rc < 0 || sherd_model_writer_commit(w, &err) < 0)
		bench_fail("%s: %s", err.object, err.message);
	return bench_now() - start;
}

static double next_uniform(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (double)(*state >> 11) / 9007199254740992.0;
}

/* Twelve even numbers make a normal one, as near as matters here. */
void bench_weights(uint8_t *at, uint64_t bytes)
{
	uint64_t state = 1;
	float *out = (float *)(void *)at;
	for (uint64_t i = 0; i < bytes / 4; i++) {
		double sum = -6;
		for (int k = 0; k < 12; k++)
			sum += next_uniform(&state);
		out[i] = (float)(0.02 * sum);
	}
}

uint64_t bench_bytes_read(void)
{
	unsigned long long bytes = 0;
	FILE *file = fopen("/proc/self/io", "r");
	if (!file || fscanf(file, "rchar: %llu", &bytes) != 1)
		bench_fail("/proc/self/io cannot be read");
	(void)fclose(file);
	return bytes;
}

#ifdef HAVE_ZLIB
static uint8_t *deflated(const uint8_t *from, uint64_t bytes, uint64_t *packed)
{
	uLong room = compressBound((uLong)bytes);
	uint8_t *out = malloc(room);
	if (!out || compress2(out, &room, from, (uLong)bytes, 1) != Z_OK)
		bench_fail("zlib");
	*packed = room;
	return out;
}

double bench_zlib_pack(const uint8_t *from, uint64_t bytes, uint64_t *packed)
{
	double start = bench_now();
	uint8_t *out = deflated(from, bytes, packed);
	double seconds = bench_now() - start;
	free(out);
	return seconds;
}

double bench_zlib_unpack(const uint8_t *from, uint64_t bytes)
{
	uint64_t packed;
	uint8_t *out = deflated(from, bytes, &packed), *back = malloc(bytes);
	uLong len = (uLong)bytes;
	double start = bench_now();
	if (!back || uncompress(back, &len, out, (uLong)packed) != Z_OK)
		bench_fail("zlib");
	double seconds = bench_now() - start;
	free(out);
	free(back);
	return seconds;
}
#else
double bench_zlib_pack(const uint8_t *from, uint64_t bytes, uint64_t *packed)
{
	(void)from, (void)bytes, (void)packed;
	return -1;
}

double bench_zlib_unpack(const uint8_t *from, uint64_t bytes)
{
	(void)from, (void)bytes;
	return -1;
}
#endif

#ifdef HAVE_HDF5
static void write_hdf5(const char *path, const uint8_t *from, uint64_t bytes)
{
	hsize_t dims[1] = {bytes / 4}, chunk[1] = {(1 << 20) / 4};
	hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
	hid_t space = H5Screate_simple(1, dims, NULL), options = H5Pcreate(H5P_DATASET_CREATE);
	if (H5Pset_chunk(options, 1, chunk) < 0 || H5Pset_shuffle(options) < 0 || H5Pset_deflate(options, 1) < 0)
		bench_fail("HDF5: options");
	hid_t data = H5Dcreate2(file, "w", H5T_IEEE_F32LE, space, H5P_DEFAULT, options, H5P_DEFAULT);
	if (data < 0 || H5Dwrite(data, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, from) < 0)
		bench_fail("HDF5: write");
	(void)H5Dclose(data);
	(void)H5Pclose(options);
	(void)H5Sclose(space);
	(void)H5Fclose(file);
}

double bench_hdf5_pack(const uint8_t *from, uint64_t bytes, uint64_t *packed)
{
	char *path = bench_path("peer.h5");
	struct stat stat_;
	double start = bench_now();
	write_hdf5(path, from, bytes);
	int fd = open(path, O_RDONLY);
	if (fd < 0 || fsync(fd) < 0 || fstat(fd, &stat_) < 0)
		bench_fail("HDF5: sync");
	double seconds = bench_now() - start;
	*packed = (uint64_t)stat_.st_size;
	(void)close(fd);
	(void)unlink(path);
	free(path);
	return seconds;
}
#else
double bench_hdf5_pack(const uint8_t *from, uint64_t bytes, uint64_t *packed)
{
	(void)from, (void)bytes, (void)packed;
	return -1;
}
#endif
