#include "format/container/shard.h"

#include "support/test.h"

#include <string.h>

static int decode(const shd_buf *raw, size_t len, shd_container_shards *out, sherd_error *err)
{
	static shd_arena arena;
	shd_arena_done(&arena);
	arena = (shd_arena){0};
	int rc = shd_container_shards_decode(raw->data, len, NULL, &arena, out, err);
	shd_arena_done(&arena);
	return rc;
}

TEST(shard_info_comes_back)
{
	const shd_container_peer peers[2] = {{100, "first digest"}, {1ull << 40, "second digest"}};
	const shd_container_shards info = {
		.shard = 0, .count = 3, .generation = 7, .replaces = "the one before", .peers = peers};
	shd_container_shards back;
	shd_arena arena = {0};
	SHD_AUTO_BUF raw = {0};
	shd_container_shards_encode(&info, &raw);
	assert_int_equal(raw.len, 32 + 2 * 40);
	assert_ok(shd_container_shards_decode(raw.data, raw.len, NULL, &arena, &back, err));
	assert_int_equal(back.count, 3);
	assert_int_equal(back.generation, 7);
	assert_memory_equal(back.replaces, info.replaces, sizeof(info.replaces));
	assert_int_equal(back.peers[1].size, 1ull << 40);
	assert_memory_equal(back.peers[1].digest, peers[1].digest, 32);
	shd_arena_done(&arena);
	for (size_t len = 0; len < raw.len; len++)
		assert_true(decode(&raw, len, &back, NULL) < 0);
}

TEST(another_shard_knows_of_no_peers)
{
	const shd_container_shards info = {.shard = 2, .count = 3};
	shd_container_shards back;
	SHD_AUTO_BUF raw = {0};
	shd_container_shards_encode(&info, &raw);
	assert_ok(decode(&raw, raw.len, &back, err));
	assert_int_equal(back.shard, 2);
	assert_null(back.peers);
	raw.data[12] = 1;
	assert_refused(SHERD_ECORRUPT, "reserved", decode(&raw, raw.len, &back, err));
	raw.data[12] = 0;
	raw.data[0] = 3;
	assert_refused(SHERD_ECORRUPT, "bad-rank", decode(&raw, raw.len, &back, err));
	raw.data[0] = 1;
	raw.data[7] = 0xff;
	assert_refused(SHERD_ELIMIT, "too-many-shards", decode(&raw, raw.len, &back, err));
}

TEST(names_are_put_and_parsed)
{
	static const struct {
		const char *base;
		uint32_t shard, count, generation;
		const char *name;
	} names[] = {
		{"m", 0, 2, 0, "m.shard0-of-2.sdc"},
		{"m", 0, 2, 5, "m.shard0-of-2.sdc"},
		{"m", 1, 2, 5, "m.shard1-of-2.5.sdc"},
		{"a/b.c", 11, 12, 0, "a/b.c.shard11-of-12.sdc"},
		{"m.shard0-of-2", 1, 3, 0, "m.shard0-of-2.shard1-of-3.sdc"},
	};
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		SHD_AUTO_BUF out = {0};
		shd_container_name n;
		shd_container_name_put(&out, names[i].base, names[i].shard, names[i].count, names[i].generation);
		assert_string_equal((char *)out.data, names[i].name);
		assert_int_equal(out.len, strlen(names[i].name));
		assert_true(shd_container_name_parse(names[i].name, &n));
		assert_int_equal(n.base, strlen(names[i].base));
		assert_int_equal(n.shard, names[i].shard);
		assert_int_equal(n.count, names[i].count);
		assert_int_equal(n.generation, names[i].shard ? names[i].generation : 0);
	}
}

TEST(other_names_are_no_shards)
{
	static const char *const names[] = {
		"m.sdc",
		".shard0-of-2.sdc",
		"a/.shard0-of-2.sdc",
		"m.shard2-of-2.sdc",
		"m.shard0-of-1.sdc",
		"m.shard00-of-2.sdc",
		"m.shard0-of-02.sdc",
		"m.shard-of-2.sdc",
		"m.shard0-of-2.sdnb",
		"m.shard0-of-2.sdc.old",
		"m.shard1-of-2.0.sdc",
		"m.shard0-of-2.1.sdc",
		"m.shard0-of-4294967296.sdc",
	};
	shd_container_name n;
	for (size_t i = 0; i < COUNT_OF(names); i++)
		if (shd_container_name_parse(names[i], &n))
			fail_msg("%s", names[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shard_info_comes_back),
		cmocka_unit_test(another_shard_knows_of_no_peers),
		cmocka_unit_test(names_are_put_and_parsed),
		cmocka_unit_test(other_names_are_no_shards),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
