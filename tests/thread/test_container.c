/* Thread: workers give the same bytes, however many; threads share an open container. */
#include "support/container_make.h"
#include "support/test.h"

#include "base/error.h"

#include <sherd/verify.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

SHD_AUTO_DEFINE(sherd_model, sherd_model_close)
SHD_AUTO_DEFINE(sherd_report, sherd_report_close)

enum { THREADS = 4, WORKERS = 5 };

static void get(sherd_store *store, const char *key, char **out, size_t *len)
{
	assert_ok(sherd_store_get(out, len, store, key, 1 << 26, err));
}

static void assert_same(sherd_store *store, const char *left, const char *right)
{
	char *a, *b;
	size_t len_a, len_b;
	get(store, left, &a, &len_a);
	get(store, right, &b, &len_b);
	assert_int_equal(len_a, len_b);
	assert_memory_equal(a, b, len_a);
	free(a);
	free(b);
}

static void save_with(sherd_store *store, unsigned workers, sherd_compression compress)
{
	SHD_AUTO(sherd_model, sherd_model_close) m = NULL;
	sherd_pool *pool = NULL;
	if (workers)
		assert_ok(sherd_pool_open(&pool, workers, err));
	sherd_model_save_options o = {.compress = compress, .pool = pool, .replace = true};
	container_write(store, "streamed", true, &o, 100000);
	assert_ok(sherd_model_open(&m, store, "streamed", &(sherd_model_options){.pool = pool}, err));
	assert_ok(sherd_model_save(m, store, "pulled", &o, err));
	o.shards = 2;
	assert_ok(sherd_model_save(m, store, "set", &o, err));
	SHD_AUTO(sherd_report, sherd_report_close) r = NULL;
	assert_ok(sherd_verify(&r, store, "set", &(sherd_verify_options){.pool = pool}, err));
	assert_int_equal(sherd_report_errors(r), 0);
	sherd_model_close(TAKE(m));
	sherd_pool_close(pool);
}

static void same_bytes(sherd_compression compress)
{
	sherd_store *one = NULL, *many = NULL;
	assert_ok(sherd_store_open_memory(&one, err));
	save_with(one, 0, compress);
	assert_same(one, "streamed", "pulled");
	for (unsigned workers = 1; workers <= WORKERS; workers += 2) {
		static const char *const keys[] = {"streamed", "pulled", "set.shard0-of-2.sdc", "set.shard1-of-2.sdc"};
		assert_ok(sherd_store_open_memory(&many, err));
		save_with(many, workers, compress);
		for (size_t i = 0; i < COUNT_OF(keys); i++) {
			char *raw;
			size_t len;
			get(many, keys[i], &raw, &len);
			assert_ok(sherd_store_put(one, "other", SHERD_WRITE_REPLACE, raw, len, err));
			assert_same(one, keys[i], "other");
			free(raw);
		}
		sherd_store_close(many);
	}
	sherd_store_close(one);
}

TEST(any_number_of_workers_writes_the_same_bytes)
{
	same_bytes(SHERD_COMPRESS_NONE);
	same_bytes(SHERD_COMPRESS_DEFLATE);
}

typedef struct shared {
	const sherd_bundle *bundle;
	_Atomic unsigned wrong;
} shared;

static void *read_all(void *arg)
{
	shared *s = arg;
	for (size_t i = 0; i < sherd_bundle_count(s->bundle); i++) {
		size_t len = (size_t)sherd_bundle_tensor(s->bundle, i)->bytes;
		char *got = malloc(len), *want = malloc(len);
		(void)container_read(NULL, i, 0, want, len, NULL);
		if (sherd_bundle_read(s->bundle, i, 0, got, len, NULL) < 0 || memcmp(got, want, len) != 0)
			s->wrong++;
		free(got);
		free(want);
	}
	return NULL;
}

TEST(threads_read_one_set_at_once)
{
	sherd_store *store = NULL;
	sherd_model *model = NULL;
	sherd_bundle *bundle = NULL;
	sherd_pool *pool = NULL;
	pthread_t threads[THREADS];
	const sherd_model_save_options o = {.shards = 3, .compress = SHERD_COMPRESS_DEFLATE};
	assert_ok(sherd_store_open_memory(&store, err));
	assert_ok(sherd_pool_open(&pool, 2, err));
	container_write(store, "m", true, &o, 0);
	assert_ok(sherd_model_open(&model, store, "m", &(sherd_model_options){.pool = pool}, err));
	assert_ok(sherd_bundle_of_model(&bundle, model, err));
	shared s = {.bundle = bundle};
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, read_all, &s), 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(s.wrong, 0);
	sherd_bundle_close(bundle);
	sherd_model_close(model);
	sherd_pool_close(pool);
	sherd_store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_number_of_workers_writes_the_same_bytes),
		cmocka_unit_test(threads_read_one_set_at_once),
	};
	return cmocka_run_group_tests_name("container", tests, NULL, NULL);
}
