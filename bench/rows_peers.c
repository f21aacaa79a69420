#include "rows_files.h"

#include "measure.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
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

static FILE *to, *from;
static pid_t python;

static void run_python(const rows_files *f, const int pipes[4])
{
	const char *program = getenv("SHERD_BENCH_PYTHON");
	char rows[32], width[32], batch[32];
	(void)snprintf(rows, sizeof(rows), "%llu", (unsigned long long)f->rows_each);
	(void)snprintf(width, sizeof(width), "%d", ROWS_WIDTH);
	(void)snprintf(batch, sizeof(batch), "%d", ROWS_BATCH);
	if (dup2(pipes[0], 0) < 0 || dup2(pipes[3], 1) < 0)
		_exit(1);
	for (int i = 0; i < 4; i++)
		(void)close(pipes[i]);
	(void)execlp(program ? program : "python3", "python3", "bench/rows_peers.py", f->folder, rows, width, batch,
	             (char *)NULL);
	_exit(1);
}

int rows_numpy_start(const rows_files *f)
{
	int pipes[4];
	char line[64];
	if (pipe(pipes) < 0 || pipe(pipes + 2) < 0)
		bench_fail("no pipe");
	(void)signal(SIGPIPE, SIG_IGN);
	(void)fflush(stdout);
	python = fork();
	if (python < 0)
		bench_fail("cannot fork");
	if (python == 0)
		run_python(f, pipes);
	(void)close(pipes[0]);
	(void)close(pipes[3]);
	to = fdopen(pipes[1], "w");
	from = fdopen(pipes[2], "r");
	if (!to || !from)
		bench_fail("no memory");
	return fgets(line, sizeof(line), from) != NULL && strncmp(line, "numpy", 5) == 0;
}

double rows_numpy(void)
{
	char line[64] = "";
	(void)fputs("pass\n", to);
	(void)fflush(to);
	double seconds = fgets(line, sizeof(line), from) ? strtod(line, NULL) : 0;
	if (seconds <= 0)
		bench_fail("numpy failed");
	return seconds;
}

void rows_numpy_stop(void)
{
	(void)fclose(to);
	(void)fclose(from);
	(void)waitpid(python, NULL, 0);
}
