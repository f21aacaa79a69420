/* mpi/group.c - a communicator as a group. */
#include <sherd/mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct mpi_group {
	sherd_group base;
	MPI_Comm comm;
} mpi_group;

enum { MOST_AT_ONCE = 1 << 30 }; /* MPI counts by int */

static int fail_mpi(int rc, const char *what, sherd_error *err)
{
	char text[MPI_MAX_ERROR_STRING] = "";
	int len = 0;
	(void)MPI_Error_string(rc, text, &len);
	return sherd_fail(err, SHERD_EIO, "io", "MPI cannot %s: %.180s", what, text);
}

static int mpi_gather(void *arg, const void *mine, size_t len, void *all, sherd_error *err)
{
	const mpi_group *g = arg;
	if (len > MOST_AT_ONCE)
		return sherd_fail(err, SHERD_EINVAL, "bad-argument", "%zu bytes of each rank", len);
	int rc = MPI_Allgather(mine, (int)len, MPI_BYTE, all, (int)len, MPI_BYTE, g->comm);
	return rc == MPI_SUCCESS ? SHERD_OK : fail_mpi(rc, "gather", err);
}

static int mpi_share(void *arg, uint32_t from, void *data, size_t len, sherd_error *err)
{
	const mpi_group *g = arg;
	for (size_t at = 0; at < len;) {
		size_t n = len - at < MOST_AT_ONCE ? len - at : MOST_AT_ONCE;
		int rc = MPI_Bcast((char *)data + at, (int)n, MPI_BYTE, (int)from, g->comm);
		if (rc != MPI_SUCCESS)
			return fail_mpi(rc, "share", err);
		at += n;
	}
	return SHERD_OK;
}

int sherd_mpi_group_open(sherd_group **out, MPI_Comm comm, sherd_error *err)
{
	int rank = 0, size = 0;
	mpi_group *g = calloc(1, sizeof(*g));
	if (!g)
		return sherd_fail(err, SHERD_ENOMEM, "no-memory", "out of memory");
	int rc = MPI_Comm_dup(comm, &g->comm);
	if (rc != MPI_SUCCESS) {
		free(g);
		return fail_mpi(rc, "duplicate the communicator", err);
	}
	(void)MPI_Comm_set_errhandler(g->comm, MPI_ERRORS_RETURN);
	(void)MPI_Comm_rank(g->comm, &rank);
	(void)MPI_Comm_size(g->comm, &size);
	g->base = (sherd_group){
		.rank = (uint32_t)rank, .size = (uint32_t)size, .gather = mpi_gather, .share = mpi_share, .arg = g};
	*out = &g->base;
	return SHERD_OK;
}

void sherd_mpi_group_close(sherd_group *group)
{
	if (!group)
		return;
	mpi_group *g = group->arg;
	(void)MPI_Comm_free(&g->comm);
	free(g);
}

int sherd_mpi_begin(sherd_group **out, sherd_error *err)
{
	int given, rc = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &given);
	if (rc != MPI_SUCCESS)
		return fail_mpi(rc, "begin", err);
	return sherd_mpi_group_open(out, MPI_COMM_WORLD, err);
}

void sherd_mpi_end(sherd_group *group)
{
	if (!group)
		return;
	sherd_mpi_group_close(group);
	(void)MPI_Finalize();
}

const sherd_component *sherd_mpi_component(void)
{
	static char with[MPI_MAX_LIBRARY_VERSION_STRING];
	static const sherd_component component = {.name = "mpi", .with = with};
	int len = 0;
	if (!*with && MPI_Get_library_version(with, &len) == MPI_SUCCESS)
		with[strcspn(with, ",\n")] = 0;
	return &component;
}
