/* Saves in the background while the training goes on: async FOLDER
 *
 * The tensors are copied before the call returns, so the next step may change them at once. */
#include <sherd/sherd.h>

#include <inttypes.h>
#include <stdio.h>

enum { COUNT = 1 << 20, STEPS = 3 };

static float weights[COUNT];

static void train(int step)
{
	for (int i = 0; i < COUNT; i++)
		weights[i] += (float)step;
}

/* Waits for the save of the step before, if there is one. */
static int finish(sherd_ckpt_job **job, sherd_error *err)
{
	if (!*job)
		return SHERD_OK;
	uint64_t done, total;
	bool over = sherd_ckpt_job_poll(*job, &done, &total);
	(void)printf("%" PRIu64 " of %" PRIu64 " bytes saved%s\n", done, total, over ? "" : " so far");
	int rc = sherd_ckpt_job_wait(*job, err);
	sherd_ckpt_job_close(*job);
	*job = NULL;
	return rc;
}

static int run(sherd_store *store, sherd_pool *pool, sherd_error *err)
{
	static const uint64_t shape[] = {COUNT};
	sherd_ckpt_job *job = NULL;
	sherd_ckpt_staging *staging = NULL; /* all copies go into the same memory, one save after the other */
	int rc = sherd_ckpt_staging_open(&staging, err);
	for (int step = 1; rc == SHERD_OK && step <= STEPS; step++) {
		char prefix[32];
		train(step);
		rc = finish(&job, err);
		if (rc < 0)
			break;
		sherd_ckpt_item item = {.tensor = {"weights", SHERD_F32, 1, shape, 0}, .data = weights};
		sherd_ckpt_shard_items shard = {&item, 1};
		sherd_ckpt_about about = {.has_step = true, .step = step};
		sherd_ckpt_save_options options = {.about = &about, .pool = pool, .time_ns = step, .staging = staging};
		(void)snprintf(prefix, sizeof(prefix), "step-%d", step);
		rc = sherd_ckpt_save_start(&job, store, prefix, &shard, SHERD_JOB_COPY, &options, err);
	}
	int last = finish(&job, rc < 0 ? NULL : err);
	sherd_ckpt_staging_close(staging);
	return rc < 0 ? rc : last;
}

int main(int argc, char **argv)
{
	sherd_error err;
	sherd_store *store = NULL;
	sherd_pool *pool = NULL;
	if (argc != 2)
		return 2;
	int rc = sherd_store_open_local(&store, argv[1], NULL, &err);
	if (rc == SHERD_OK)
		rc = sherd_pool_open(&pool, 2, &err);
	if (rc == SHERD_OK)
		rc = run(store, pool, &err);
	/* Only the newest two are worth their bytes. */
	if (rc == SHERD_OK)
		rc = sherd_ckpt_prune(store, "", &(sherd_ckpt_prune_options){.keep = 2}, &err);
	if (rc < 0)
		(void)fprintf(stderr, "async: %s: %s\n", err.object, err.message);
	sherd_pool_close(pool);
	sherd_store_close(store);
	return rc < 0;
}
