/* sherd/mpi.h - the ranks of MPI as a group (sherd/group.h): checkpoints saved and opened by all of them, row streams
 * split among them.
 *
 * Calls that take a communicator are made by all of its ranks, by the thread that may call MPI, after MPI_Init. One
 * fails, all fail, with the error of the lowest rank that failed. A rank that dies takes the others with it, as MPI
 * has it; then there is no checkpoint, and the next save clears what is left. */
#ifndef SHERD_MPI_H
#define SHERD_MPI_H

#include <sherd/ckpt.h>
#include <sherd/rows.h>
#include <sherd/sys/component.h>

#include <mpi.h>

SHERD_BEGIN_DECLS

/* For options of other calls. Its messages are its own: the communicator is duplicated. */
SHERD_API int sherd_mpi_group_open(sherd_group **out, MPI_Comm comm, sherd_error *err);
SHERD_API void sherd_mpi_group_close(sherd_group *group); /* by all ranks, before MPI_Finalize; NULL is fine */

/* Saves one shard a rank, of what each holds: wholes, pieces and replicas, as sherd_ckpt_save_rank(). Rank 0 commits
 * when all are durable; set id, where none is given, and time are its. Fails as sherd_ckpt_save(). result may be NULL.
 */
SHERD_API int sherd_mpi_ckpt_save(sherd_store *store, const char *prefix, MPI_Comm comm, const sherd_ckpt_item *items,
                                  size_t count, const sherd_ckpt_save_options *options, sherd_ckpt_save_result *result,
                                  sherd_error *err);
/* As sherd_ckpt_open(), with metadata and heads read by rank 0 alone; each rank then loads what it wants, whatever the
 * number of ranks that saved. */
SHERD_API int sherd_mpi_ckpt_open(sherd_ckpt **out, sherd_store *store, const char *name, MPI_Comm comm,
                                  const sherd_ckpt_options *options, sherd_error *err);
/* As sherd_rows_cursor_open(), with rank and world of the communicator: every batch goes to one rank. SHERD_ECONFLICT,
 * "ranks-disagree", when a rank has opened other rows than rank 0. */
SHERD_API int sherd_mpi_rows_cursor_open(sherd_rows_cursor **out, const sherd_rows *rows, MPI_Comm comm,
                                         const sherd_rows_stream_options *options, sherd_error *err);

/* For commands, which need not know MPI: MPI_Init and the group of all ranks; then MPI_Finalize. */
SHERD_API int sherd_mpi_begin(sherd_group **out, sherd_error *err);
SHERD_API void sherd_mpi_end(sherd_group *group); /* by all ranks; NULL is fine */

/* Its name, and the version of MPI. */
SHERD_API const sherd_component *sherd_mpi_component(void);

SHERD_END_DECLS

#endif
