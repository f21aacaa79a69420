/* Saves tensors that lie in memory as a checkpoint of four shards, written in parallel: save FOLDER */
#include <sherd/sherd.h>

#include <stdio.h>
#include <time.h>

enum { RANKS = 4, ROWS = 1024, COLUMNS = 512 };

static float weight[ROWS][COLUMNS];
static float bias[COLUMNS];

static int save(const char *folder, sherd_error *err)
{
	/* Every rank holds a quarter of the rows; the bias is whole, on rank 0. */
	static const uint64_t whole[] = {ROWS, COLUMNS}, quarter[] = {ROWS / RANKS, COLUMNS}, row[] = {COLUMNS};
	uint64_t begins[RANKS][2];
	sherd_ckpt_item items[RANKS][2];
	sherd_ckpt_shard_items shards[RANKS];
	for (int r = 0; r < RANKS; r++) {
		begins[r][0] = (uint64_t)r * (ROWS / RANKS);
		begins[r][1] = 0;
		items[r][0] = (sherd_ckpt_item){.tensor = {"weight", SHERD_F32, 2, quarter, 0},
		                                .global_shape = whole,
		                                .global_offset = begins[r],
		                                .data = weight[begins[r][0]]};
		shards[r] = (sherd_ckpt_shard_items){items[r], 1};
	}
	items[0][1] = (sherd_ckpt_item){.tensor = {"bias", SHERD_F32, 1, row, 0}, .data = bias};
	shards[0].count = 2;

	sherd_store *store = NULL;
	sherd_pool *pool = NULL;
	sherd_ckpt_about about = {.has_step = true,
	                          .step = 100,
	                          .has_learning_rate = true,
	                          .learning_rate = 3e-4,
	                          .optimizer_type = "adamw"};
	int rc = sherd_store_open_local(&store, folder, &(sherd_local_options){.create = true}, err);
	if (rc == SHERD_OK)
		rc = sherd_pool_open(&pool, 0, err);
	sherd_ckpt_save_options options = {
		.world = RANKS, .time_ns = (int64_t)time(NULL) * 1000000000, .about = &about, .pool = pool};
	/* When this returns SHERD_OK, the checkpoint is durable; when it fails, nothing of it is left. */
	if (rc == SHERD_OK)
		rc = sherd_ckpt_save(store, "step-100", shards, &options, err);
	sherd_pool_close(pool);
	sherd_store_close(store);
	return rc;
}

int main(int argc, char **argv)
{
	sherd_error err;
	if (argc != 2)
		return 2;
	for (int i = 0; i < ROWS; i++)
		for (int j = 0; j < COLUMNS; j++)
			weight[i][j] = (float)(i + j);
	if (save(argv[1], &err) < 0) {
		(void)fprintf(stderr, "save: %s: %s\n", err.object, err.message);
		return 1;
	}
	(void)printf("%s/step-100: saved in %d shards\n", argv[1], RANKS);
	return 0;
}
