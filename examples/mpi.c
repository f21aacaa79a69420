/* Every rank of MPI saves its rows of one tensor; then each loads the rows of another rank. mpirun -n 4 mpi FOLDER */
#include <sherd/mpi.h>

#include <stdio.h>

enum { ROWS = 4, WIDTH = 8 };

static int fail(const sherd_error *err)
{
	(void)fprintf(stderr, "%s: %s\n", err->object, err->message);
	return 1;
}

static int save(sherd_store *store, int rank, int world, sherd_error *err)
{
	float mine[ROWS * WIDTH];
	for (int i = 0; i < ROWS * WIDTH; i++)
		mine[i] = (float)(rank * ROWS * WIDTH + i);
	const uint64_t shape[] = {ROWS, WIDTH}, whole[] = {(uint64_t)world * ROWS, WIDTH};
	const uint64_t at[] = {(uint64_t)rank * ROWS, 0};
	const sherd_ckpt_item item = {.tensor = {.name = "w", .dtype = SHERD_F32, .ndim = 2, .shape = shape},
	                              .global_shape = whole,
	                              .global_offset = at,
	                              .data = mine};
	const sherd_ckpt_save_options options = {.replace = true, .time_ns = 1};
	return sherd_mpi_ckpt_save(store, "step-1", MPI_COMM_WORLD, &item, 1, &options, NULL, err);
}

static int load(sherd_store *store, int rank, int world, float *first, sherd_error *err)
{
	sherd_ckpt *ckpt = NULL;
	float rows[ROWS * WIDTH] = {0};
	const uint64_t shape[] = {ROWS, WIDTH}, at[] = {(uint64_t)((rank + 1) % world) * ROWS, 0};
	int rc = sherd_mpi_ckpt_open(&ckpt, store, "step-1", MPI_COMM_WORLD, NULL, err);
	if (rc < 0)
		return rc;
	const sherd_ckpt_want want = {.tensor = sherd_ckpt_find(ckpt, "w"), .at = at, .shape = shape, .buf = rows};
	rc = sherd_ckpt_load(ckpt, &want, 1, NULL, err);
	*first = rows[0];
	sherd_ckpt_close(ckpt);
	return rc;
}

int main(int argc, char **argv)
{
	int rank, world;
	float first = -1;
	sherd_error err;
	sherd_store *store = NULL;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &world);
	int rc = sherd_store_open_local(&store, argc > 1 ? argv[1] : ".", NULL, &err);
	if (rc == SHERD_OK)
		rc = save(store, rank, world, &err);
	if (rc == SHERD_OK)
		rc = load(store, rank, world, &first, &err);
	sherd_store_close(store);
	if (rc == SHERD_OK)
		printf("rank %d of %d: its neighbour's first value is %g\n", rank, world, (double)first);
	MPI_Finalize();
	return rc < 0 ? fail(&err) : first != (float)((rank + 1) % world * ROWS * WIDTH);
}
