#include "rows_files.h"

#include "measure.h"
#include "python.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef HAVE_HDF5
#include <hdf5.h>

static hid_t file, data;

static void check(long result, const char *what)
{
	if (result < 0)
		bench_fail("HDF5: %s", what);
}

static char *hdf5_path(const rows_files *f)
{
	char *path;
	if (asprintf(&path, "%s/peer.h5", f->folder) < 0)
		bench_fail("no memory");
	return path;
}

static hid_t choose(hid_t space, uint64_t first)
{
	hsize_t at[2] = {first, 0}, count[2] = {ROWS_BATCH, ROWS_WIDTH};
	check(H5Sselect_hyperslab(space, H5S_SELECT_SET, at, NULL, count, NULL), "select");
	return H5Screate_simple(2, count, NULL);
}

/* One contiguous dataset: the layout that is quickest to read. */
int rows_hdf5_start(const rows_files *f)
{
	char *path = hdf5_path(f);
	hsize_t dims[2] = {f->rows_each * ROWS_SHARDS, ROWS_WIDTH};
	file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
	check(file, "create");
	hid_t space = H5Screate_simple(2, dims, NULL);
	data = H5Dcreate2(file, "rows", H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
	check(data, "create a dataset");
	for (uint64_t row = 0; row < dims[0]; row += ROWS_BATCH) {
		hid_t memory = choose(space, row);
		const float *from = f->maps[row / f->rows_each] + row % f->rows_each * ROWS_WIDTH;
		check(H5Dwrite(data, H5T_NATIVE_FLOAT, memory, space, H5P_DEFAULT, from), "write");
		(void)H5Sclose(memory);
	}
	(void)H5Sclose(space);
	check(H5Fflush(file, H5F_SCOPE_GLOBAL), "flush");
	free(path);
	return 1;
}

double rows_hdf5(const rows_files *f, double *sum)
{
	double start = bench_now(), all = 0;
	hid_t space = H5Dget_space(data);
	for (uint64_t row = 0; row < f->rows_each * ROWS_SHARDS; row += ROWS_BATCH) {
		hid_t memory = choose(space, row);
		check(H5Dread(data, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, f->out), "read");
		(void)H5Sclose(memory);
		all += f->out[row % f->rows_each % ROWS_WIDTH];
	}
	(void)H5Sclose(space);
	*sum = all;
	return bench_now() - start;
}

void rows_hdf5_stop(const rows_files *f)
{
	char *path = hdf5_path(f);
	(void)H5Dclose(data);
	(void)H5Fclose(file);
	(void)unlink(path);
	free(path);
}

#else

int rows_hdf5_start(const rows_files *f)
{
	(void)f;
	return 0;
}

double rows_hdf5(const rows_files *f, double *sum)
{
	(void)f, (void)sum;
	return 0;
}

void rows_hdf5_stop(const rows_files *f)
{
	(void)f;
}

#endif

/* ---- numpy */

static bench_python python;

int rows_numpy_start(const rows_files *f)
{
	char rows[32], width[32], batch[32];
	(void)snprintf(rows, sizeof(rows), "%llu", (unsigned long long)f->rows_each);
	(void)snprintf(width, sizeof(width), "%d", ROWS_WIDTH);
	(void)snprintf(batch, sizeof(batch), "%d", ROWS_BATCH);
	bench_python_start(&python, (const char *const[]){"bench/rows_peers.py", f->folder, rows, width, batch, NULL});
	const char *line = bench_python_line(&python);
	return line && strncmp(line, "numpy", 5) == 0;
}

double rows_numpy(void)
{
	const char *line = bench_python_ask(&python, "pass");
	double seconds = line ? strtod(line, NULL) : 0;
	if (seconds <= 0)
		bench_fail("numpy failed");
	return seconds;
}

void rows_numpy_stop(void)
{
	bench_python_stop(&python);
}
