/* bench/rows_files.h - a set of rows on the disk, and the plainest ways to get through it: limits and peers.
 *
 * Whatever goes wrong here ends the program. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { ROWS_SHARDS = 4, ROWS_WIDTH = 4096, ROWS_BATCH = 1024 };

typedef struct rows_files {
	char *folder;
	char *paths[ROWS_SHARDS];
	uint64_t rows_each;
	uint64_t bytes;                 /* of all payloads */
	const float *maps[ROWS_SHARDS]; /* of the payloads, resident */
	double *out;                    /* of one batch, touched */
} rows_files;

/* Writes the set into a folder of its own. */
void rows_files_make(rows_files *f, uint64_t bytes);
void rows_files_remove(rows_files *f);
/* The page cache forgets, or holds, the files. */
void rows_files_cool(const rows_files *f);
void rows_files_warm(const rows_files *f);

/* Seconds of one pass over all rows; *sum tells that the work was done. */
double rows_bare(const rows_files *f, double *sum);       /* our conversion, over maps that stay resident */
double rows_bare_fresh(const rows_files *f, double *sum); /* the same over maps that are made for the pass */
double rows_direct(const rows_files *f);                  /* O_DIRECT, in order, no conversion */
double rows_queued(const rows_files *f);                  /* the same with 8 MiB under way, by our store */

/* HDF5's converting read of the same rows; false when it was not there at build time. */
int rows_hdf5_start(const rows_files *f);
double rows_hdf5(const rows_files *f, double *sum);
void rows_hdf5_stop(const rows_files *f);

/* numpy.memmap and astype in batches, in a process that stays; false when Python or numpy is not here. */
int rows_numpy_start(const rows_files *f);
double rows_numpy(void);
void rows_numpy_stop(void);
