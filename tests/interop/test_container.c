/* A reader that was written from docs/formats/container.md alone finds the same in every container, and refuses what we
 * refuse. */
#include "support/command.h"
#include "support/container_make.h"
#include "support/scratch.h"
#include "support/source_file.h"
#include "support/test.h"

#include "base/buf.h"
#include "codec/sha256.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

SHD_AUTO_DEFINE(sherd_bundle, sherd_bundle_close)

static char *folder;
static sherd_store *store;

static int begin(void **state)
{
	(void)state;
	folder = scratch_make();
	return sherd_store_open_local(&store, folder, NULL, NULL);
}

static int end(void **state)
{
	(void)state;
	sherd_store_close(store);
	scratch_remove(folder);
	return 0;
}

/* What the reader prints of the container; NULL when it refuses it. */
static char *ask_reader(const char *key)
{
	char *command = NULL;
	int status;
	assert_true(asprintf(&command, "python3 '%s/tests/interop/read_container.py' '%s/%s'", getenv("SHERD_SOURCE"),
	                     folder, key) > 0);
	char *text = command_run(command, &status);
	free(command);
	assert_in_range(status, 0, 1);
	if (status == 0)
		return text;
	free(text);
	return NULL;
}

/* "name": "w", "dtype": "F32", "shape": [2, 3], "sha256": "..." of each tensor, as the reader prints it. */
static void assert_agrees(const char *key)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	char *told = ask_reader(key);
	if (!told)
		fail_msg("the reader refuses %s", key);
	assert_ok(sherd_bundle_open(&b, store, key, NULL, err));
	for (size_t i = 0; i < sherd_bundle_count(b); i++) {
		const sherd_tensor *t = sherd_bundle_tensor(b, i);
		uint8_t hash[SHD_SHA256_BYTES], *bytes = malloc((size_t)t->bytes + 1);
		char hex[SHD_SHA256_HEX + 1], line[512];
		int n = snprintf(line, sizeof(line), "{\"name\": \"%s\", \"dtype\": \"%s\", \"shape\": [", t->name,
		                 sherd_dtype_describe(t->dtype)->name);
		for (uint32_t d = 0; d < t->ndim; d++)
			n += snprintf(line + n, sizeof(line) - (size_t)n, "%s%llu", d ? ", " : "",
			              (unsigned long long)t->shape[d]);
		assert_ok(sherd_bundle_read(b, i, 0, bytes, (size_t)t->bytes, err));
		shd_sha256_of(bytes, (size_t)t->bytes, hash);
		shd_hex(hash, sizeof(hash), hex);
		(void)snprintf(line + n, sizeof(line) - (size_t)n, "], \"sha256\": \"%s\"}", hex);
		if (!strstr(told, line))
			fail_msg("%s: %s is not in %s", key, line, told);
		free(bytes);
	}
	free(told);
}

TEST(the_reader_finds_the_same_arrays)
{
	const sherd_model_save_options fast = {.compress = SHERD_COMPRESS_DEFLATE};
	const sherd_model_save_options good = {.compress = SHERD_COMPRESS_DEFLATE, .level = 9, .without_updater = true};
	const sherd_model_save_options set = {.shards = 3, .compress = SHERD_COMPRESS_DEFLATE};
	const sherd_model_save_options again = {.shards = 3, .replace = true};
	const sherd_model_save_options digested = {
		.shards = 2, .compress = SHERD_COMPRESS_DEFLATE, .digest = SHERD_DIGEST_BLAKE3};
	container_write(store, "plain.sdc", true, NULL, 0);
	container_write(store, "fast.sdc", true, &fast, 0);
	container_write(store, "good.sdc", false, &good, 0);
	container_write(store, "set", true, &set, 0);
	container_write(store, "twice", false, &set, 0);
	container_write(store, "twice", true, &again, 0);
	assert_agrees("plain.sdc");
	assert_agrees("fast.sdc");
	assert_agrees("good.sdc");
	assert_agrees("set");
	assert_agrees("set.shard2-of-3.sdc");
	assert_agrees("twice");
	container_write(store, "digests.sdc", false, &(sherd_model_save_options){.digest = SHERD_DIGEST_BLAKE3}, 0);
	container_write(store, "digested", false, &digested, 0);
	assert_agrees("digests.sdc");
	assert_agrees("digested");
}

TEST(the_reader_notices_a_missing_and_a_foreign_shard)
{
	const sherd_model_save_options set = {.shards = 2};
	char *raw;
	size_t len;
	container_write(store, "m", false, &set, 0);
	container_write(store, "n", true, &set, 0);
	assert_ok(sherd_store_get(&raw, &len, store, "n.shard1-of-2.sdc", 1 << 24, err));
	assert_ok(sherd_store_put(store, "m.shard1-of-2.sdc", SHERD_WRITE_REPLACE, raw, len, err));
	assert_null(ask_reader("m"));
	assert_ok(sherd_store_remove(store, "n.shard1-of-2.sdc", err));
	assert_null(ask_reader("n"));
	sherd_free(raw);
}

static void judge(const char *name, const uint8_t *data, size_t len)
{
	if (name[0] == 'i')
		return;
	assert_ok(sherd_store_put(store, "judged.sdc", SHERD_WRITE_REPLACE, data, len, err));
	char *told = ask_reader("judged.sdc");
	if ((told != NULL) != (name[0] == 'y'))
		fail_msg("the reader %s %s", told ? "accepts" : "refuses", name);
	free(told);
}

TEST(the_reader_judges_the_corpus_as_its_names_say)
{
	assert_true(source_folder_each("tests/corpus/container", judge) > 15);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_reader_finds_the_same_arrays),
		cmocka_unit_test(the_reader_notices_a_missing_and_a_foreign_shard),
		cmocka_unit_test(the_reader_judges_the_corpus_as_its_names_say),
	};
	return cmocka_run_group_tests_name("container", tests, begin, end);
}
