/* Thread: an open model and its bundle are shared by threads that all read. */
#include "support/samediff_make.h"
#include "support/test.h"

#include "base/error.h"

#include <sherd/model.h>

#include <pthread.h>
#include <string.h>

enum { THREADS = 4, ROUNDS = 50 };

typedef struct shared {
	const sherd_model *model;
	const sherd_bundle *bundle;
	_Atomic unsigned wrong;
} shared;

static void *read_all(void *arg)
{
	shared *s = arg;
	for (int round = 0; round < ROUNDS; round++)
		for (size_t i = 0; i < samediff_row_count; i++) {
			const samediff_row *row = &samediff_rows[i];
			char got[64];
			size_t index = sherd_bundle_find(s->bundle, row->name);
			if (sherd_model_find(s->model, row->name) != i + 1 ||
			    sherd_bundle_read(s->bundle, index, 0, got, row->want_len, NULL) < 0 ||
			    memcmp(got, row->want, row->want_len) != 0)
				s->wrong++;
		}
	return NULL;
}

TEST(threads_read_one_model_at_once)
{
	SHD_AUTO_BUF full = {0};
	sherd_store *store = NULL;
	sherd_model *model = NULL;
	sherd_bundle *bundle = NULL;
	pthread_t threads[THREADS];
	samediff_make_full(&full);
	assert_ok(sherd_store_open_memory(&store, err));
	assert_ok(sherd_store_put(store, "m.fb", SHERD_WRITE_NEW, full.data, full.len, err));
	assert_ok(sherd_model_open(&model, store, "m.fb", NULL, err));
	assert_ok(sherd_bundle_of_model(&bundle, model, err));
	shared s = {.model = model, .bundle = bundle};
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, read_all, &s), 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(s.wrong, 0);
	sherd_bundle_close(bundle);
	sherd_model_close(model);
	sherd_store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(threads_read_one_model_at_once)};
	return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
