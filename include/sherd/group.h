/* sherd/group.h - processes that do one thing together, such as the ranks of MPI (sherd/mpi.h).
 *
 * A group is handed to calls by their options. Every process of it then makes the same calls in the same order, with
 * its own data; one fails, all fail, with the error of the lowest rank that failed: "rank 3: ...". A group one of whose
 * calls failed is of no further use: the next attempt takes a new one. The reason of such an error lasts until the
 * thread that got it gets another one from a group, or ends. */
#ifndef SHERD_GROUP_H
#define SHERD_GROUP_H

#include <sherd/error.h>

#include <stdbool.h>
#include <stddef.h>

SHERD_BEGIN_DECLS

typedef struct sherd_group {
	uint32_t rank, size;
	/* Both are called by all processes in one order, on the thread that made the call. They return SHERD_OK, or a
	 * code after filling err; then the group is of no use any more. */
	/* Everybody's len bytes to everybody, in the order of ranks. */
	int (*gather)(void *arg, const void *mine, size_t len, void *all, sherd_error *err);
	/* The len bytes of one of them to everybody. */
	int (*share)(void *arg, uint32_t from, void *data, size_t len, sherd_error *err);
	void *arg;
	/* The library's: zero at first. */
	bool failed; /* all have been told of a failure */
	bool broken; /* gather or share has failed: nobody can be told anything */
} sherd_group;

/* Everybody tells how it went: SHERD_OK when all did well. A process whose work failed between two calls tells it by
 * this call, which the others meet in their next one. rc of this process, err as it filled it. */
SHERD_API int sherd_group_agree(sherd_group *group, int rc, sherd_error *err);
/* The same, and everybody has the bytes of one of them afterwards, if all did well. */
SHERD_API int sherd_group_share(sherd_group *group, int rc, uint32_t from, void *data, size_t len, sherd_error *err);

SHERD_END_DECLS

#endif
