#include "support/test.h"

#include "format/ckpt/name.h"

#define ID "00112233445566778899aabbccddeeff"

TEST(keys_are_told_apart)
{
	static const struct {
		const char *key;
		shd_ckpt_name_kind kind;
		const char *prefix;
		uint32_t rank;
		bool has_set_id;
	} cases[] = {
		{"run.metadata.json", SHD_CKPT_NAME_METADATA, "run", 0, false},
		{"a/b/run.metadata.json", SHD_CKPT_NAME_METADATA, "a/b/run", 0, false},
		{"run.saving", SHD_CKPT_NAME_CLAIM, "run", 0, false},
		{"a/run.saving", SHD_CKPT_NAME_CLAIM, "a/run", 0, false},
		{"run_shard_0.shard", SHD_CKPT_NAME_SHARD, "run", 0, false},
		{"run_shard_17.shard", SHD_CKPT_NAME_SHARD, "run", 17, false},
		{"run_shard_2147483647.shard", SHD_CKPT_NAME_SHARD, "run", 2147483647, false},
		{"a/run_shard_3." ID ".shard", SHD_CKPT_NAME_SHARD, "a/run", 3, true},
		/* a prefix that looks like a shard itself */
		{"x_shard_1_shard_2.shard", SHD_CKPT_NAME_SHARD, "x_shard_1", 2, false},
		{"x_shard_1.shard.metadata.json", SHD_CKPT_NAME_METADATA, "x_shard_1.shard", 0, false},
		{"x_shard_1.shard.saving", SHD_CKPT_NAME_CLAIM, "x_shard_1.shard", 0, false},
		{"x.metadata.json_shard_0.shard", SHD_CKPT_NAME_SHARD, "x.metadata.json", 0, false},
		{"\xc3\xa9 \n_shard_0.shard", SHD_CKPT_NAME_SHARD, "\xc3\xa9 \n", 0, false},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		shd_ckpt_name n = shd_ckpt_name_parse(cases[i].key);
		if (n.kind != cases[i].kind || !shd_str_is(n.prefix, cases[i].prefix))
			fail_msg("%s: kind %d, prefix '%.*s'", cases[i].key, (int)n.kind, (int)n.prefix.len,
			         n.prefix.ptr);
		assert_int_equal(n.rank, cases[i].rank);
		assert_int_equal(n.has_set_id, cases[i].has_set_id);
	}
}

TEST(what_only_resembles_them_is_something_else)
{
	static const char *const keys[] = {
		"",
		"run",
		"metadata.json",
		".metadata.json",
		".saving",
		"folder/.saving",
		"folder/.metadata.json",
		"_shard_0.shard",
		"folder/_shard_0.shard",
		"run_shard_.shard",
		"run_shard_x.shard",
		"run_shard_-1.shard",
		"run_shard_+1.shard",
		"run_shard_01.shard",
		"run_shard_00.shard",
		"run_shard_2147483648.shard",
		"run_shard_4294967296.shard",
		"run_shard_99999999999999999999.shard",
		"run_shard_0.SHARD",
		"run_shard_0.shard2",
		"run_shard_0.bin",
		"runshard_0.shard",
		"run_shard_0." ID "0.shard",
		"run_shard_0.0011223344556677.shard",
		"run_shard_0.00112233445566778899AABBCCDDEEFF.shard",
		"run_shard_0.." ID ".shard",
		ID ".shard",
		"_shard_." ID ".shard",
		"run.metadata.json.tmp",
	};
	for (size_t i = 0; i < COUNT_OF(keys); i++)
		if (shd_ckpt_name_parse(keys[i]).kind != SHD_CKPT_NAME_OTHER)
			fail_msg("'%s' is taken for something", keys[i]);
}

TEST(names_are_made_as_they_are_parsed)
{
	sherd_set_id id;
	assert_ok(sherd_set_id_parse(&id, ID, err));
	SHD_AUTO_BUF key = {0};
	shd_ckpt_name_metadata(&key, "a/run");
	assert_string_equal((const char *)key.data, "a/run.metadata.json");
	assert_int_equal(key.len, strlen("a/run.metadata.json"));
	shd_buf_done(&key);
	shd_ckpt_name_claim(&key, "a/run");
	assert_string_equal((const char *)key.data, "a/run.saving");
	shd_buf_done(&key);
	shd_ckpt_name_shard(&key, "a/run", 12, NULL);
	assert_string_equal((const char *)key.data, "a/run_shard_12.shard");
	shd_buf_done(&key);
	shd_ckpt_name_shard(&key, "a/run", 2147483647, &id);
	assert_string_equal((const char *)key.data, "a/run_shard_2147483647." ID ".shard");
	shd_ckpt_name n = shd_ckpt_name_parse((const char *)key.data);
	assert_int_equal(n.kind, SHD_CKPT_NAME_SHARD);
	assert_true(n.has_set_id);
	assert_memory_equal(&n.set_id, &id, sizeof(id));
	shd_buf_done(&key);
	shd_ckpt_name_beside(&key, "a/b/run", "x.shard");
	assert_string_equal((const char *)key.data, "a/b/x.shard");
	shd_buf_done(&key);
	shd_ckpt_name_beside(&key, "run", "x.shard");
	assert_string_equal((const char *)key.data, "x.shard");
}

TEST(a_set_id_is_32_lower_case_digits)
{
	static const char *const bad[] = {"",
	                                  "0",
	                                  ID "0",
	                                  "00112233445566778899AABBCCDDEEFF",
	                                  "0011223344556677 899aabbccddeeff",
	                                  "g0112233445566778899aabbccddeeff"};
	sherd_set_id id;
	char text[SHERD_SET_ID_TEXT];
	assert_ok(sherd_set_id_parse(&id, ID, err));
	assert_int_equal(id.bytes[0], 0);
	assert_int_equal(id.bytes[15], 0xff);
	sherd_set_id_format(text, &id);
	assert_string_equal(text, ID);
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		assert_refused(SHERD_EINVAL, "bad-set-id", sherd_set_id_parse(&id, bad[i], err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_are_told_apart),
		cmocka_unit_test(what_only_resembles_them_is_something_else),
		cmocka_unit_test(names_are_made_as_they_are_parsed),
		cmocka_unit_test(a_set_id_is_32_lower_case_digits),
	};
	return cmocka_run_group_tests_name("ckpt_name", tests, NULL, NULL);
}
