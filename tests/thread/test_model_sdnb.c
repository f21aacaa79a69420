/* Thread: the entries of an archive, compressed and stored, are read by threads at once, each somewhere else. */
#include "support/sdnb_make.h"
#include "support/test.h"

#include "base/error.h"

#include <pthread.h>
#include <stdlib.h>

enum { THREADS = 4 };

typedef struct shared {
	const sherd_model *model;
	unsigned seed;
	_Atomic unsigned wrong;
} shared;

static void *read_all(void *arg)
{
	shared *s = arg;
	if (sdnb_sample_difference(s->model, s->seed, false))
		s->wrong++;
	return NULL;
}

static void share(sherd_store *store, const char *key, unsigned seed)
{
	sherd_model *model = NULL;
	pthread_t threads[THREADS];
	assert_ok(sherd_model_open(&model, store, key, NULL, err));
	shared s = {.model = model, .seed = seed};
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, read_all, &s), 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(s.wrong, 0);
	sherd_model_close(model);
}

TEST(threads_read_one_archive_at_once)
{
	SHD_AUTO_BUF packed = {0};
	sherd_store *store = NULL;
	sherd_model *sample = sdnb_sample(3, false);
	char *data;
	size_t len;
	assert_ok(sherd_store_open_memory(&store, err));
	assert_ok(sherd_model_save(sample, store, "m.sdnb", &(sherd_model_save_options){.format = SHERD_FORMAT_SDNB},
	                           err));
	assert_ok(sherd_model_save(sample, store, "m.sdz",
	                           &(sherd_model_save_options){.format = SHERD_FORMAT_SDZ, .shards = 3}, err));
	assert_ok(sherd_store_get(&data, &len, store, "m.sdnb", 1 << 30, err));
	sdnb_put_deflated(&packed, "model", (const uint8_t *)data, len);
	assert_ok(sherd_store_put(store, "deflated.sdz", SHERD_WRITE_NEW, packed.data, packed.len, err));
	share(store, "m.sdz", 3);
	share(store, "deflated.sdz", 3);
	sherd_free(data);
	sherd_model_close(sample);
	sherd_store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(threads_read_one_archive_at_once)};
	return cmocka_run_group_tests_name("model_sdnb", tests, NULL, NULL);
}
