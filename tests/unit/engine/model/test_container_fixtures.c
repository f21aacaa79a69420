/* Genuine SameDiff files: what goes through a container, in one file and in shards, comes out as the same legacy file.
 */
#include "support/fixtures.h"
#include "support/container_make.h"
#include "support/source_file.h"
#include "support/test.h"

#include "base/error.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

SHD_AUTO_DEFINE(sherd_model, sherd_model_close)

static sherd_store *store;

static void assert_same(const char *left, const char *right)
{
	char *a, *b;
	size_t len_a, len_b;
	assert_ok(sherd_store_get(&a, &len_a, store, left, 1 << 26, err));
	assert_ok(sherd_store_get(&b, &len_b, store, right, 1 << 26, err));
	assert_int_equal(len_a, len_b);
	assert_memory_equal(a, b, len_a);
	sherd_free(a);
	sherd_free(b);
}

static void save(const char *from, const char *to, const sherd_model_save_options *options)
{
	SHD_AUTO(sherd_model, sherd_model_close) m = NULL;
	assert_ok(sherd_model_open(&m, store, from, NULL, err));
	assert_ok(sherd_model_save(m, store, to, options, err));
}

static void round_trip(const char *path)
{
	const sherd_model_save_options plain = {.format = SHERD_FORMAT_SAMEDIFF_CONTAINER};
	const sherd_model_save_options set = {.shards = 3, .compress = SHERD_COMPRESS_DEFLATE, .level = 4};
	const sherd_model_save_options legacy = {.format = SHERD_FORMAT_SAMEDIFF_FLATBUFFERS};
	size_t len;
	uint8_t *raw = source_file_read(path, &len);
	assert_ok(sherd_store_open_memory(&store, err));
	assert_ok(sherd_store_put(store, "genuine", SHERD_WRITE_NEW, raw, len, err));
	save("genuine", "direct.fb", &legacy);
	save("genuine", "m.sdc", &plain);
	save("m.sdc", "set", &set);
	save("set", "joined.sdc", &plain);
	save("joined.sdc", "back.fb", &legacy);
	assert_same("m.sdc", "joined.sdc");
	assert_same("direct.fb", "back.fb");
	assert_int_equal(container_verify(store, "m.sdc", NULL), 0);
	assert_int_equal(container_verify(store, "set", NULL), 0);
	sherd_store_close(store);
	free(raw);
}

TEST(genuine_files_come_out_of_containers_as_they_went_in)
{
	(void)fixtures_folder();
	char pattern[1024];
	glob_t files;
	(void)snprintf(pattern, sizeof(pattern), "%s/samediff/*/*.fb", fixtures_folder());
	assert_int_equal(glob(pattern, 0, NULL, &files), 0);
	assert_true(files.gl_pathc > 10);
	for (size_t i = 0; i < files.gl_pathc; i++)
		round_trip(files.gl_pathv[i]);
	globfree(&files);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(genuine_files_come_out_of_containers_as_they_went_in)};
	return cmocka_run_group_tests_name("container_fixtures", tests, NULL, NULL);
}
