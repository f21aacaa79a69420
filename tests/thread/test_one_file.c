/* Thread: one object that all workers write, the same whatever their number; and one that they read. */
#include "support/one_file.h"
#include "support/scratch.h"
#include "support/test.h"

#include "base/error.h"

#include <sherd/verify.h>

#include <stdlib.h>
#include <string.h>

enum { BYTES = 8600000 }; /* more than two units of four MiB */

static void assert_verifies(sherd_store *store, const char *key, sherd_pool *pool)
{
	sherd_report *r = NULL;
	assert_ok(sherd_verify(&r, store, key, &(sherd_verify_options){.pool = pool}, err));
	assert_int_equal(sherd_report_errors(r), 0);
	sherd_report_close(r);
}

static void write_by(const one_file *f, const sherd_bundle *bundle, sherd_store *store, unsigned workers, char **out,
                     size_t *len)
{
	sherd_pool *pool = NULL;
	if (workers)
		assert_ok(sherd_pool_open(&pool, workers, err));
	one_file_clear(f, store);
	assert_ok(one_file_write(f, bundle, store, pool, err));
	assert_ok(sherd_store_get(out, len, store, f->key, 4 * BYTES, err));
	assert_verifies(store, f->key, pool);
	sherd_pool_close(pool);
}

static void same_by_any(const one_file *f, const sherd_bundle *bundle, sherd_store *store)
{
	static const unsigned workers[] = {2, 16};
	char *one, *many;
	size_t one_len, many_len;
	write_by(f, bundle, store, 0, &one, &one_len);
	for (size_t i = 0; i < COUNT_OF(workers); i++) {
		write_by(f, bundle, store, workers[i], &many, &many_len);
		if (one_len != many_len || memcmp(one, many, one_len) != 0)
			fail_msg("%s: %u workers write other bytes", f->key, workers[i]);
		sherd_free(many);
	}
	sherd_free(one);
}

static void same_on(sherd_store *store)
{
	sherd_store *memory = NULL;
	assert_ok(sherd_store_open_memory(&memory, err));
	sherd_bundle *bundle = one_file_sample(memory, BYTES);
	for (const one_file *f = one_files; f->key; f++)
		same_by_any(f, bundle, store);
	sherd_bundle_close(bundle);
	sherd_store_close(memory);
	sherd_store_close(store);
}

TEST(any_number_of_workers_writes_one_object_in_memory)
{
	sherd_store *store = NULL;
	assert_ok(sherd_store_open_memory(&store, err));
	same_on(store);
}

TEST(any_number_of_workers_writes_one_file)
{
	char *folder = scratch_make();
	sherd_store *store = NULL;
	assert_ok(sherd_store_open_local(&store, folder, NULL, err));
	same_on(store);
	scratch_remove(folder);
}

/* Every format is a source for all workers, the packed ones among them. */
TEST(any_number_of_workers_reads_one_object)
{
	sherd_store *store = NULL;
	sherd_pool *pool = NULL;
	char *want, *got;
	size_t want_len, got_len;
	assert_ok(sherd_store_open_memory(&store, err));
	assert_ok(sherd_pool_open(&pool, 4, err));
	sherd_bundle *bundle = one_file_sample(store, BYTES);
	write_by(&one_files[0], bundle, store, 0, &want, &want_len);
	for (const one_file *f = one_files; f->key; f++) {
		sherd_bundle *from = NULL;
		const sherd_convert_options o = {.replace = true, .drop_graph = true, .pool = pool};
		assert_ok(one_file_write(f, bundle, store, NULL, err));
		assert_ok(sherd_bundle_open(&from, store, f->key, NULL, err));
		assert_ok(sherd_convert(from, store, "back.safetensors", SHERD_FORMAT_SAFETENSORS, &o, err));
		sherd_bundle_close(from);
		assert_ok(sherd_store_get(&got, &got_len, store, "back.safetensors", 4 * BYTES, err));
		/* Pairs of what it was are in the head; the tensors are the end of it. */
		if (got_len < BYTES || memcmp(got + got_len - BYTES, want + want_len - BYTES, BYTES) != 0)
			fail_msg("%s: other tensors come back", f->key);
		sherd_free(got);
	}
	sherd_free(want);
	sherd_bundle_close(bundle);
	sherd_pool_close(pool);
	sherd_store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_number_of_workers_writes_one_object_in_memory),
		cmocka_unit_test(any_number_of_workers_writes_one_file),
		cmocka_unit_test(any_number_of_workers_reads_one_object),
	};
	return cmocka_run_group_tests_name("thread/one_file", tests, NULL, NULL);
}
