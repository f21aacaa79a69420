/* Every bit and every truncation of small containers: verify must notice, and say where. */
#include "support/container_make.h"
#include "support/memory_store.h"
#include "support/test.h"

#include "base/error.h"

#include <sherd/store.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MORE = 70 };

/* A message names what is damaged: a section, a chunk, a record of the index, a shard; or that it is no container. */
static bool names_it(const sherd_error *e)
{
	static const char *const words[] = {"HEADER", "METADATA", "GRAPH",  "ARRAYS",    "SHARD_INFO", "DIGESTS",
	                                    "chunk ", "index",    "shard ", "container", "no format"};
	for (size_t i = 0; i < COUNT_OF(words); i++)
		if (strstr(e->message, words[i]))
			return true;
	return false;
}

static void assert_noticed(const char *whole, const char *part, const char *what, size_t where)
{
	sherd_error first = {.reason = "", .message = ""};
	long errors = container_verify(store, whole, &first);
	if (errors <= 0 || strcmp(first.object, part) != 0 || !names_it(&first))
		fail_msg("%s, %s %zu: %ld errors; %s: %s, %s", part, what, where, errors, first.object, first.reason,
		         first.message);
}

static void append(const char *whole, const char *part, const char *raw, size_t len)
{
	char *longer = calloc(1, len + MORE);
	assert_non_null(longer);
	memcpy(longer, raw, len);
	for (size_t more = 1; more <= MORE; more++) {
		longer[len + more - 1] = more % 2 ? 0 : 'x';
		assert_ok(sherd_store_put(store, part, SHERD_WRITE_REPLACE, longer, len + more, err));
		assert_noticed(whole, part, "longer by", more);
	}
	free(longer);
}

static void damage(const char *whole, const char *part)
{
	char *raw;
	size_t len;
	assert_ok(sherd_store_get(&raw, &len, store, part, 1 << 20, err));
	assert_int_equal(container_verify(store, whole, NULL), 0);
	for (size_t bit = 0; bit < 8 * len; bit++) {
		raw[bit / 8] ^= (char)(1 << bit % 8);
		assert_ok(sherd_store_put(store, part, SHERD_WRITE_REPLACE, raw, len, err));
		assert_noticed(whole, part, "bit", bit);
		raw[bit / 8] ^= (char)(1 << bit % 8);
	}
	for (size_t cut = 0; cut < len; cut++) {
		assert_ok(sherd_store_put(store, part, SHERD_WRITE_REPLACE, raw, cut, err));
		assert_noticed(whole, part, "cut to", cut);
	}
	append(whole, part, raw, len);
	assert_ok(sherd_store_put(store, part, SHERD_WRITE_REPLACE, raw, len, err));
	assert_int_equal(container_verify(store, whole, NULL), 0);
	sherd_free(raw);
}

TEST(no_damage_of_a_container_goes_unnoticed)
{
	container_write(store, "m.sdc", false, NULL, 0);
	damage("m.sdc", "m.sdc");
}

TEST(no_damage_of_a_packed_container_goes_unnoticed)
{
	sherd_model_save_options o = {.compress = SHERD_COMPRESS_DEFLATE, .level = 6};
	container_write(store, "m.sdc", false, &o, 0);
	damage("m.sdc", "m.sdc");
}

TEST(no_damage_of_a_set_goes_unnoticed)
{
	sherd_model_save_options o = {.shards = 2, .compress = SHERD_COMPRESS_DEFLATE};
	container_write(store, "m", false, &o, 0);
	damage("m", "m.shard0-of-2.sdc");
	damage("m", "m.shard1-of-2.sdc");
}

TEST(no_damage_of_a_container_with_digests_goes_unnoticed)
{
	sherd_model_save_options o = {.digest = SHERD_DIGEST_BLAKE3};
	container_write(store, "m.sdc", false, &o, 0);
	damage("m.sdc", "m.sdc");
}

TEST(no_damage_of_a_set_with_digests_goes_unnoticed)
{
	sherd_model_save_options o = {.shards = 2, .compress = SHERD_COMPRESS_DEFLATE, .digest = SHERD_DIGEST_BLAKE3};
	container_write(store, "m", false, &o, 0);
	damage("m", "m.shard0-of-2.sdc");
	damage("m", "m.shard1-of-2.sdc");
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, memory_store_open, memory_store_close)
	const struct CMUnitTest tests[] = {
		CASE(no_damage_of_a_container_goes_unnoticed),
		CASE(no_damage_of_a_packed_container_goes_unnoticed),
		CASE(no_damage_of_a_set_goes_unnoticed),
		CASE(no_damage_of_a_container_with_digests_goes_unnoticed),
		CASE(no_damage_of_a_set_with_digests_goes_unnoticed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
