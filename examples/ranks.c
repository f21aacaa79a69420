/* Two processes save one checkpoint, each what it holds, and the first waits for the other: ranks FOLDER
 *
 * Each holds half of the rows of "weights" and a tensor of its own; both hold the same "bias". */
#include <sherd/sherd.h>

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORLD = 2, ROWS = 4, COLUMNS = 3 };

static const uint64_t whole[] = {ROWS, COLUMNS}, half[] = {ROWS / WORLD, COLUMNS}, one[] = {1};

static int save(const char *folder, const sherd_set_id *id, uint32_t rank, sherd_error *err)
{
	sherd_store *store;
	float rows[ROWS / WORLD * COLUMNS], bias = 0.5f, own = (float)rank;
	uint64_t at[] = {rank * half[0], 0};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		rows[i] = (float)rank * 10 + (float)i;
	const sherd_ckpt_item items[] = {
		{.tensor = {"weights", SHERD_F32, 2, half, 0},
	         .global_shape = whole,
	         .global_offset = at,
	         .data = rows},
		{.tensor = {"bias", SHERD_F32, 1, one, 0}, .data = &bias},
		{.tensor = {rank ? "momentum" : "scale", SHERD_F32, 1, one, 0}, .data = &own},
	};
	sherd_ckpt_save_options options = {.world = WORLD, .set_id = id};
	int rc = sherd_store_open_local(&store, folder, NULL, err);
	if (rc < 0)
		return rc;
	sherd_ckpt_save_result saved;
	rc = sherd_ckpt_save_rank(store, "step-1", rank, items, 3, &options, &saved, err);
	if (rc == SHERD_OK)
		(void)printf("rank %u: %zu tensors saved\n", (unsigned)rank, saved.tensors);
	if (rc == SHERD_OK && rank == 0)
		rc = sherd_ckpt_wait(store, "step-1", id, UINT64_C(60000000000), NULL, err);
	sherd_store_close(store);
	return rc;
}

static int show(const char *folder, sherd_error *err)
{
	sherd_store *store;
	sherd_ckpt *ckpt;
	int rc = sherd_store_open_local(&store, folder, NULL, err);
	if (rc < 0)
		return rc;
	rc = sherd_ckpt_open(&ckpt, store, "step-1", NULL, err);
	for (size_t i = 0; rc == SHERD_OK && i < sherd_ckpt_count(ckpt); i++)
		(void)printf("%s\n", sherd_ckpt_tensor(ckpt, i)->name);
	if (rc == SHERD_OK)
		sherd_ckpt_close(ckpt);
	sherd_store_close(store);
	return rc;
}

int main(int argc, char **argv)
{
	sherd_error err = {0};
	sherd_set_id id;
	int status = 0;
	if (argc != 2 || sherd_set_id_random(&id, &err) < 0)
		return 2;
	pid_t other = fork();
	if (other < 0)
		return 1;
	int rc = save(argv[1], &id, other == 0, &err);
	if (rc == SHERD_OK && other)
		rc = show(argv[1], &err);
	if (rc < 0)
		(void)fprintf(stderr, "ranks: %s: %s\n", err.object, err.message);
	if (!other) {
		(void)fflush(stdout);
		_exit(rc < 0);
	}
	return waitpid(other, &status, 0) != other || status != 0 || rc < 0;
}
