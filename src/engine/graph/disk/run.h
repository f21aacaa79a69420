/* engine/graph/disk/run.h - an index over many segments, mapped. docs/formats/rfdb.md, "Run".
 *
 * A cache, as a sidecar is: one that is not there, does not fit or is damaged is done without. Each page is checked
 * before its first use. Usable from several threads at once. */
#pragma once

#include "engine/graph/disk/place.h"
#include "format/rfdb/run.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct graph_run {
	uint64_t number;
	char identity[72];
	sherd_reader *reader;
	shd_rfdb_table_run head;
	_Atomic(uint32_t *) fences[SHD_RFDB_RUN_TABLES]; /* NULL until they are first asked for */
	_Atomic uint8_t *checked;                        /* a bit for each page of the file */
	_Atomic bool broken;                             /* damage was met: nobody asks it any more */
	pthread_mutex_t making;
} graph_run;

typedef SHD_VEC(graph_run *) graph_runs;

/* NULL in *out, and no failure, where there is none that can be used: it was removed, is damaged, or cannot be mapped.
 */
int shd_graph_run_open(graph_run **out, const graph_place *p, uint64_t number, sherd_error *err);
/* The same, which tells what is wrong. */
int shd_graph_run_load(graph_run **out, const graph_place *p, uint64_t number, sherd_error *err);
void shd_graph_run_close(graph_run *r); /* NULL is fine */

/* Opens all that are there, the newest first. */
int shd_graph_runs_open(graph_runs *out, const graph_place *p, sherd_error *err);
void shd_graph_runs_done(graph_runs *runs);
/* The numbers that files have, descending. */
typedef SHD_VEC(uint64_t) graph_run_numbers;
int shd_graph_runs_list(const graph_place *p, graph_run_numbers *out, sherd_error *err);
/* The highest number that a file has; 0: none. */
int shd_graph_runs_highest(const graph_place *p, uint64_t *number, sherd_error *err);

/* Calls each() for the rows of a table under the hash, and perhaps for some others. 1; or 0 when the run turns out to
 * be damaged, then what came before does not count. */
typedef int graph_run_fn(void *arg, const shd_rfdb_member *member, uint64_t row, sherd_error *err);
int shd_graph_run_each(graph_run *r, shd_rfdb_run_table table, uint64_t hash, graph_run_fn *each, void *arg,
                       sherd_error *err);
