/* Opens a checkpoint, lists its tensors, reads a slice and loads one tensor verified: load FOLDER
 *
 * The checkpoint is made first, so that the example can run by itself. */
#include <sherd/sherd.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 6, COLUMNS = 4 };

static int make(sherd_store *store, sherd_error *err)
{
	static const uint64_t shape[] = {ROWS, COLUMNS};
	float values[ROWS * COLUMNS];
	for (int i = 0; i < ROWS * COLUMNS; i++)
		values[i] = (float)i;
	sherd_ckpt_item item = {.tensor = {"weight", SHERD_F32, 2, shape, 0}, .data = values};
	sherd_ckpt_shard_items shard = {&item, 1};
	return sherd_ckpt_save(store, "step-1", &shard, NULL, err);
}

static void list(const sherd_ckpt *ckpt)
{
	for (size_t i = 0; i < sherd_ckpt_count(ckpt); i++) {
		const sherd_tensor *t = sherd_ckpt_tensor(ckpt, i);
		(void)printf("%s: %s, %" PRIu32 " dimensions, %" PRIu64 " bytes\n", t->name,
		             sherd_dtype_describe(t->dtype)->name, t->ndim, t->bytes);
	}
}

static int read(const sherd_ckpt *ckpt, sherd_error *err)
{
	size_t weight = sherd_ckpt_find(ckpt, "weight");
	if (weight == SHERD_NO_TENSOR)
		return SHERD_ENOTFOUND;

	/* Rows 2 and 3, columns 1 and 2: only those bytes are read, whatever shards they lie in. */
	float slice[4];
	int rc = sherd_ckpt_read_slice(ckpt, weight, (uint64_t[]){2, 1}, (uint64_t[]){2, 2}, slice, err);
	if (rc < 0)
		return rc;
	(void)printf("slice: %g %g / %g %g\n", slice[0], slice[1], slice[2], slice[3]);

	/* The whole tensor, held against its checksums. */
	float *all = malloc((size_t)sherd_ckpt_tensor(ckpt, weight)->bytes);
	if (!all)
		return SHERD_ENOMEM;
	sherd_ckpt_want want = {.tensor = weight, .buf = all};
	rc = sherd_ckpt_load(ckpt, &want, 1, NULL, err);
	if (rc == SHERD_OK)
		(void)printf("last value: %g\n", all[ROWS * COLUMNS - 1]);
	bool right = rc == SHERD_OK && slice[0] == 9 && all[ROWS * COLUMNS - 1] == 23;
	free(all);
	return rc < 0 || right ? rc : SHERD_ECORRUPT;
}

int main(int argc, char **argv)
{
	sherd_error err = {.message = "something is not as it was saved"};
	sherd_store *store = NULL;
	sherd_ckpt *ckpt = NULL;
	if (argc != 2)
		return 2;
	int rc = sherd_store_open_local(&store, argv[1], NULL, &err);
	if (rc == SHERD_OK)
		rc = make(store, &err);
	if (rc == SHERD_OK)
		rc = sherd_ckpt_open(&ckpt, store, "step-1", NULL, &err);
	if (rc == SHERD_OK) {
		list(ckpt);
		rc = read(ckpt, &err);
	}
	if (rc < 0)
		(void)fprintf(stderr, "load: %s: %s\n", err.object, err.message);
	sherd_ckpt_close(ckpt);
	sherd_store_close(store);
	return rc < 0;
}
