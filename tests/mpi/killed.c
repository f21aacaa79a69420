/* Run by mpirun: rank 1 is killed while it saves. killed FOLDER */
#include <sherd/mpi.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 1 << 20 };

static int fill(void *arg, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	(void)err;
	if (arg && offset + len == BYTES)
		(void)raise(SIGKILL);
	memset(buf, 1, len);
	return SHERD_OK;
}

int main(int argc, char **argv)
{
	int rank;
	char name[] = "w0";
	sherd_error err;
	sherd_store *store = NULL;
	const uint64_t shape[] = {BYTES};
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	name[1] = (char)('0' + rank);
	const sherd_ckpt_item item = {.tensor = {.name = name, .dtype = SHERD_U8, .ndim = 1, .shape = shape},
	                              .read = fill,
	                              .arg = rank == 1 ? name : NULL};
	if (argc != 2 || sherd_store_open_local(&store, argv[1], NULL, &err) < 0)
		return 2;
	(void)sherd_mpi_ckpt_save(store, "c", MPI_COMM_WORLD, &item, 1, NULL, NULL, &err);
	return 3; /* nobody comes here */
}
