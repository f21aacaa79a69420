/* Run by mpirun with 8 ranks: saved by 1, 2, 4, 8 of them, loaded by 1, 2, 4, 8; an error of one; rows split by rank.
 * pairs FOLDER */
#include <sherd/mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 24, WIDTH = 5 };

static int world_rank;

static void require(int fine, const char *what, const sherd_error *err)
{
	if (fine)
		return;
	(void)fprintf(stderr, "rank %d: %s: %s\n", world_rank, what, err ? err->message : "");
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static int cannot_read(void *arg, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	(void)arg, (void)offset, (void)buf, (void)len;
	return sherd_fail(err, SHERD_EIO, "io", "the device is gone");
}

static int save(sherd_store *store, const char *prefix, MPI_Comm comm, int bad, sherd_error *err)
{
	int rank, size;
	float w[ROWS * WIDTH];
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	uint64_t from = (uint64_t)(ROWS * rank / size), to = (uint64_t)(ROWS * (rank + 1) / size);
	const uint64_t shape[] = {to - from, WIDTH}, whole[] = {ROWS, WIDTH}, at[] = {from, 0};
	for (uint64_t i = 0; i < (to - from) * WIDTH; i++)
		w[i] = (float)(from * WIDTH + i);
	const sherd_ckpt_item item = {.tensor = {.name = "w", .dtype = SHERD_F32, .ndim = 2, .shape = shape},
	                              .global_shape = whole,
	                              .global_offset = at,
	                              .data = rank == bad ? NULL : w,
	                              .read = rank == bad ? cannot_read : NULL};
	return sherd_mpi_ckpt_save(store, prefix, comm, &item, 1, NULL, NULL, err);
}

static void load(sherd_store *store, const char *prefix, MPI_Comm comm)
{
	int rank, size;
	sherd_error err;
	sherd_ckpt *ckpt = NULL;
	float w[ROWS * WIDTH];
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	require(sherd_mpi_ckpt_open(&ckpt, store, prefix, comm, NULL, &err) == SHERD_OK, "open", &err);
	uint64_t from = (uint64_t)(ROWS * rank / size), to = (uint64_t)(ROWS * (rank + 1) / size);
	const uint64_t shape[] = {to - from, WIDTH}, at[] = {from, 0};
	const sherd_ckpt_want want = {.tensor = sherd_ckpt_find(ckpt, "w"), .at = at, .shape = shape, .buf = w};
	require(sherd_ckpt_load(ckpt, &want, 1, NULL, &err) == SHERD_OK, "load", &err);
	for (uint64_t i = 0; i < (to - from) * WIDTH; i++)
		require(w[i] == (float)(from * WIDTH + i), "a value", NULL);
	sherd_ckpt_close(ckpt);
}

/* Calls of the first n ranks; the others wait. */
static void all_pairs(sherd_store *store)
{
	for (int n = 1; n <= 8; n *= 2) {
		char prefix[16];
		sherd_error err;
		MPI_Comm some;
		(void)snprintf(prefix, sizeof(prefix), "by%d", n);
		MPI_Comm_split(MPI_COMM_WORLD, world_rank < n ? 0 : MPI_UNDEFINED, world_rank, &some);
		if (world_rank < n) {
			require(save(store, prefix, some, -1, &err) == SHERD_OK, "save", &err);
			MPI_Comm_free(&some);
		}
		MPI_Barrier(MPI_COMM_WORLD);
		for (int m = 1; m <= 8; m *= 2) {
			MPI_Comm_split(MPI_COMM_WORLD, world_rank < m ? 0 : MPI_UNDEFINED, world_rank, &some);
			if (world_rank >= m)
				continue;
			load(store, prefix, some);
			MPI_Comm_free(&some);
		}
	}
}

static void one_fails(sherd_store *store)
{
	sherd_error err;
	sherd_ckpt *ckpt = NULL;
	require(save(store, "bad", MPI_COMM_WORLD, 5, &err) == SHERD_EIO, "not an error of all", &err);
	require(strcmp(err.message, "rank 5: the device is gone") == 0, "not the error of rank 5", &err);
	require(sherd_mpi_ckpt_open(&ckpt, store, "bad", MPI_COMM_WORLD, NULL, &err) == SHERD_ENOTFOUND,
	        "something is left", &err);
}

/* Every row comes to one rank. */
static void rows_are_split(sherd_store *store)
{
	uint64_t mine = 0, all = 0;
	sherd_error err;
	sherd_rows *rows = NULL;
	sherd_rows_cursor *cursor = NULL;
	sherd_rows_batch batch;
	int rc;
	require(sherd_rows_open_folder(&rows, store, "rows", NULL, &err) == SHERD_OK, "rows", &err);
	const sherd_rows_stream_options options = {.batch_rows = 3};
	require(sherd_mpi_rows_cursor_open(&cursor, rows, MPI_COMM_WORLD, &options, &err) == SHERD_OK, "cursor", &err);
	while ((rc = sherd_rows_next(&batch, cursor, &err)) > 0)
		for (size_t i = 0; i < batch.rows; i++)
			mine += batch.first_id + i + 1;
	require(rc == SHERD_OK, "stream", &err);
	MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
	require(all == sherd_rows_total(rows) * (sherd_rows_total(rows) + 1) / 2, "rows are lost or twice", NULL);
	sherd_rows_cursor_close(cursor);
	sherd_rows_close(rows);
}

int main(int argc, char **argv)
{
	sherd_error err;
	sherd_store *store = NULL;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
	require(argc == 2 && sherd_store_open_local(&store, argv[1], NULL, &err) == SHERD_OK, "store", &err);
	all_pairs(store);
	one_fails(store);
	rows_are_split(store);
	sherd_store_close(store);
	MPI_Finalize();
	if (world_rank == 0)
		puts("all pairs, one error, rows");
	return 0;
}
