/* The containers of tests/golden/container: writing them again gives the same bytes, and opening them gives what was
 * written. None is packed, since the bytes that deflate makes may differ. With SHD_GOLDEN_OUT=FOLDER in the
 * environment they are also written there, to be looked at and committed when the format has changed on purpose. */
#include "support/container_make.h"
#include "support/inside_make.h"
#include "support/memory_store.h"
#include "support/source_file.h"
#include "support/test.h"

#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER "tests/golden/container"

/* One constant, "w": F32 [1, 2]; the example of the document. */
static void write_tiny(const char *key)
{
	static const float values[] = {1, 2};
	static const int64_t dims[] = {2};
	static const sherd_model_variable w = {.name = "w",
	                                       .kind = SHERD_VARIABLE_CONSTANT,
	                                       .dtype = SHERD_F32,
	                                       .type = 5,
	                                       .has_id = true,
	                                       .id = {1, 0},
	                                       .shape = {1, dims}};
	static const sherd_model_graph graph = {.variable_count = 1, .variables = &w};
	const sherd_tensor array = {.dtype = SHERD_F32, .ndim = 1, .shape = (const uint64_t[]){2}, .bytes = 8};
	const sherd_pair pair = {"model.name", "tiny"};
	const sherd_model_parts parts = {
		.graph = &graph, .arrays = &array, .array_count = 1, .pairs = &pair, .pair_count = 1};
	sherd_model_writer *writer;
	assert_ok(sherd_model_writer_open(&writer, store, key, &parts, NULL, err));
	assert_ok(sherd_model_writer_append(writer, 0, values, sizeof(values), err));
	assert_ok(sherd_model_writer_commit(writer, err));
}

static int write_all(void **state)
{
	const sherd_model_save_options two = {.shards = 2, .time_ns = 1767960000250000000};
	const sherd_model_save_options again = {.shards = 2, .replace = true, .without_updater = true};
	const sherd_model_save_options digested = {.shards = 2, .digest = SHERD_DIGEST_BLAKE3};
	TRY(memory_store_open(state));
	inside_sample inside;
	write_tiny("tiny.sdc");
	inside_make(&inside);
	inside_save(&inside, store, "inside.sdc");
	container_write(store, "sample.sdc", false, NULL, 0);
	container_write(store, "set", false, &two, 0);
	container_write(store, "replaced", false, &two, 0);
	container_write(store, "replaced", false, &again, 0);
	container_write(store, "digests.sdc", false, &(sherd_model_save_options){.digest = SHERD_DIGEST_BLAKE3}, 0);
	container_write(store, "digested", false, &digested, 0);
	return 0;
}

static bool write_out(void *arg, const char *key, const sherd_stat *stat)
{
	char path[1024], *raw;
	size_t len;
	(void)stat;
	(void)snprintf(path, sizeof(path), "%s/%s", (const char *)arg, key);
	assert_ok(sherd_store_get(&raw, &len, store, key, 1 << 20, err));
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(raw, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
	sherd_free(raw);
	return true;
}

static void compare(const char *name, const uint8_t *data, size_t len)
{
	char *raw;
	size_t raw_len;
	assert_ok(sherd_store_get(&raw, &raw_len, store, name, 1 << 20, err));
	if (raw_len != len || memcmp(raw, data, len) != 0)
		fail_msg("%s is not written as it was", name);
	sherd_free(raw);
}

static bool count(void *arg, const char *key, const sherd_stat *stat)
{
	(void)key, (void)stat;
	++*(size_t *)arg;
	return true;
}

TEST(the_same_bytes_are_written_as_ever)
{
	size_t written = 0;
	char *out = getenv("SHERD_GOLDEN_OUT");
	if (out)
		assert_ok(sherd_store_list(store, "", "", write_out, out, err));
	assert_ok(sherd_store_list(store, "", "", count, &written, err));
	assert_int_equal(source_folder_each(FOLDER, compare), written);
}

TEST(the_example_of_the_document_is_one_of_them)
{
	size_t len, example_len;
	uint8_t *tiny = source_file_read(FOLDER "/tiny.sdc", &len);
	uint8_t *example = source_hex_block("docs/formats/container.md", &example_len);
	assert_int_equal(example_len, len);
	assert_memory_equal(example, tiny, len);
	free(tiny);
	free(example);
}

static void put(const char *name, const uint8_t *data, size_t len)
{
	assert_ok(sherd_store_put(store, name, SHERD_WRITE_REPLACE, data, len, err));
}

TEST(what_was_written_then_is_still_read)
{
	(void)source_folder_each(FOLDER, put);
	container_assert(store, "sample.sdc", false, true);
	container_assert(store, "set", false, true);
	container_assert(store, "replaced", false, false);
	container_assert(store, "digests.sdc", false, true);
	container_assert(store, "digested", false, true);
	assert_int_equal(container_verify(store, "digests.sdc", NULL), 0);
	assert_int_equal(container_verify(store, "digested", NULL), 0);
	assert_int_equal(container_verify(store, "tiny.sdc", NULL), 0);
	assert_int_equal(container_verify(store, "inside.sdc", NULL), 0);
	assert_int_equal(container_verify(store, "replaced", NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_bytes_are_written_as_ever),
		cmocka_unit_test(the_example_of_the_document_is_one_of_them),
		cmocka_unit_test(what_was_written_then_is_still_read),
	};
	return cmocka_run_group_tests_name("container", tests, write_all, memory_store_close);
}
