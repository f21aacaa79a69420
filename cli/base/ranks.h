/* cli/base/ranks.h - which of several processes this one is: by --rank and --world, by the variables of a launcher, or
 * by MPI. */
#pragma once

#include "base/args.h"

#include <sherd/ckpt.h>

/* Where MPI's launcher started us (or --rank mpi says so), and the command goes by ranks: loads the component mpi, and
 * fills cli->group. Only rank 0 prints from then on. */
int cli_ranks_begin(cli_state *cli, const cli_args *args, sherd_error *err);
/* All ranks end alike: with the error of the first that failed, which is told. */
int cli_ranks_end(cli_state *cli, const cli_args *args, int rc, sherd_error *err);

typedef struct cli_ranks {
	bool several; /* it is one of several processes */
	bool found;   /* by variables or MPI: %r in paths means the rank */
	uint32_t rank, world;
} cli_ranks;

/* --rank R --world W, --rank auto, or those of a group, if it is not NULL. */
int cli_ranks_take(cli_ranks *out, const sherd_group *group, const cli_args *args, sherd_error *err);
/* The path with the rank in place of each %r, where ranks were found. malloc(). */
char *cli_ranks_path(const cli_ranks *ranks, const char *path);
bool cli_ranks_in_path(const char *path);
/* The id that all ranks of this job agree on without a word: of the job, its restarts, the prefix and the step. */
int cli_ranks_set_id(sherd_set_id *out, const char *prefix, const char *step, sherd_error *err);
