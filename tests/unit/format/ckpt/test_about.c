#include "support/test.h"

#include "format/ckpt/about.h"

#include <math.h>

static const sherd_pair fields[] = {{"run", "a \"b\"\n"}, {"", ""}, {"\xc3\xa9", "\xf0\x9f\x98\x80"}};

static const sherd_ckpt_about full = {
	.has_ddp_rank = true,
	.ddp_rank = -1,
	.strategy = "fsdp",
	.precision = "bf16",
	.strategy_info = "{\"a\": {\"b\": [1, 2]}}",
	.has_epoch = true,
	.epoch = INT64_MIN,
	.has_step = true,
	.step = INT64_MAX,
	.has_learning_rate = true,
	.learning_rate = 1e-300,
	.optimizer_type = "adam",
	.optimizer_state = "{\"m\":1.50}",
	.fields = fields,
	.field_count = COUNT_OF(fields),
	.extra = "\"x\": 1, \"y\": [null, true]",
	.sharding_extra = "\"mesh\": {\"name\": 2}",
	.training_extra = "\"tokens\": 123456789012345678901234567890",
};

static int decode(const char *text, shd_arena *arena, sherd_ckpt_about *out, sherd_error *err)
{
	return shd_ckpt_about_decode(shd_str_of(text), NULL, arena, out, err);
}

TEST(what_was_said_is_read)
{
	SHD_AUTO_BUF text = {0};
	SHD_AUTO_BUF again = {0};
	shd_arena arena = {0};
	sherd_ckpt_about got;
	assert_ok(shd_ckpt_about_check(&full, err));
	shd_ckpt_about_encode(&full, &text);
	shd_buf_u8(&text, 0);
	assert_ok(decode((const char *)text.data, &arena, &got, err));
	assert_true(got.ddp_rank == -1 && got.epoch == INT64_MIN && got.step == INT64_MAX);
	assert_true(got.learning_rate == 1e-300);
	assert_string_equal(got.strategy, full.strategy);
	assert_string_equal(got.precision, full.precision);
	assert_string_equal(got.strategy_info, full.strategy_info);
	assert_string_equal(got.optimizer_type, full.optimizer_type);
	assert_string_equal(got.optimizer_state, full.optimizer_state);
	assert_string_equal(got.extra, full.extra);
	assert_string_equal(got.sharding_extra, full.sharding_extra);
	assert_string_equal(got.training_extra, full.training_extra);
	assert_int_equal(got.field_count, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_string_equal(got.fields[i].key, fields[i].key);
		assert_string_equal(got.fields[i].value, fields[i].value);
	}
	shd_ckpt_about_encode(&got, &again);
	assert_int_equal(again.len, text.len - 1);
	assert_memory_equal(again.data, text.data, again.len);
	shd_arena_done(&arena);
}

TEST(nothing_said_is_read_as_nothing)
{
	static const char *const texts[] = {
		"{}",
		"{\"sharding\": null, \"training\": null, \"customFields\": null}",
		"{\"sharding\": {}, \"training\": {}, \"customFields\": {}}",
		"{\"sharding\": {\"strategy\": null, \"precision\": null, \"strategySpecificInfo\": null}}",
		"{\"training\": {\"optimizerType\": null, \"optimizerState\": null}}",
		"{\"ddpRank\": null, \"training\": {\"epoch\": null, \"step\": null, \"learningRate\": null}}",
	};
	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		shd_arena arena = {0};
		sherd_ckpt_about got;
		assert_ok(decode(texts[i], &arena, &got, err));
		assert_null(got.strategy);
		assert_null(got.precision);
		assert_null(got.optimizer_state);
		assert_null(got.extra);
		assert_int_equal(got.field_count, 0);
		assert_false(got.has_epoch || got.has_step || got.has_learning_rate || got.has_ddp_rank);
		shd_arena_done(&arena);
	}
}

TEST(zeros_that_were_said_are_written_and_nothing_else_is)
{
	sherd_ckpt_about said = {.has_step = true, .has_learning_rate = true}, nothing = {0};
	SHD_AUTO_BUF text = {0};
	SHD_AUTO_BUF none = {0};
	shd_ckpt_about_encode(&said, &text);
	shd_buf_u8(&text, 0);
	assert_non_null(strstr((const char *)text.data, "\"step\": 0"));
	assert_non_null(strstr((const char *)text.data, "\"learningRate\": 0"));
	assert_null(strstr((const char *)text.data, "epoch"));
	assert_null(strstr((const char *)text.data, "sharding"));
	shd_ckpt_about_encode(&nothing, &none);
	shd_buf_u8(&none, 0);
	assert_string_equal((const char *)none.data, "{}");
}

TEST(the_other_name_of_sharding_counts_only_where_sharding_does_not)
{
	static const struct {
		const char *text, *strategy;
	} cases[] = {
		{"{\"shardingStrategy\": {\"strategy\": \"ddp\"}}", "ddp"},
		{"{\"sharding\": null, \"shardingStrategy\": {\"strategy\": \"ddp\"}}", "ddp"},
		{"{\"sharding\": {\"strategy\": \"fsdp\"}, \"shardingStrategy\": {\"strategy\": \"ddp\"}}", "fsdp"},
		{"{\"shardingStrategy\": {\"strategy\": \"ddp\"}, \"sharding\": {\"strategy\": \"fsdp\"}}", "fsdp"},
		{"{\"sharding\": {\"strategy\": \"fsdp\"}, \"shardingStrategy\": null}", "fsdp"},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		shd_arena arena = {0};
		sherd_ckpt_about got;
		assert_ok(decode(cases[i].text, &arena, &got, err));
		assert_string_equal(got.strategy, cases[i].strategy);
		shd_arena_done(&arena);
	}
}

TEST(wrong_types_are_refused_at_their_byte)
{
	static const struct {
		const char *text, *reason;
		uint64_t offset;
	} cases[] = {
		{"{\"ddpRank\": \"0\"}", "bad-type", 12},
		{"{\"ddpRank\": true}", "bad-type", 12},
		{"{\"ddpRank\": 0.5}", "bad-number", 12},
		{"{\"ddpRank\": 9223372036854775808}", "bad-number", 12},
		{"{\"sharding\": []}", "bad-type", 13},
		{"{\"sharding\": {\"strategy\": 1}}", "bad-type", 26},
		{"{\"sharding\": {\"strategy\": \"a\\u0000b\"}}", "bad-text", 26},
		{"{\"sharding\": {\"shardCount\": -1}}", "bad-number", 28},
		{"{\"sharding\": {\"strategySpecificInfo\": [1]}}", "bad-type", 38},
		{"{\"training\": 5}", "bad-type", 13},
		{"{\"training\": {\"epoch\": true}}", "bad-type", 23},
		{"{\"training\": {\"learningRate\": \"x\"}}", "bad-type", 30},
		{"{\"training\": {\"learningRate\": 1e999}}", "bad-number", 30},
		{"{\"training\": {\"optimizerState\": \"x\"}}", "bad-type", 32},
		{"{\"customFields\": []}", "bad-type", 17},
		{"{\"customFields\": {\"a\": 1}}", "bad-type", 23},
		{"{\"customFields\": {\"a\": \"\\u0000\"}}", "bad-text", 23},
		{"[]", "bad-type", 0},
		{"{} {}", "bad-json", 3},
		{"{\"a\": 1, \"a\": 2}", "duplicate-key", 9},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		shd_arena arena = {0};
		sherd_ckpt_about got;
		sherd_error e = {0};
		int rc = decode(cases[i].text, &arena, &got, &e);
		shd_arena_done(&arena);
		if (rc != SHERD_ECORRUPT || strcmp(e.reason, cases[i].reason) != 0 || e.offset != cases[i].offset)
			fail_msg("%s: status %d, %s at %lld", cases[i].text, rc, e.reason ? e.reason : "",
			         (long long)e.offset);
	}
}

TEST(an_index_may_not_bring_keys_of_the_metadata)
{
	static const char *const keys[] = {"version", "timestamp", "worldSize", "shards", "setId", "sha256"};
	for (size_t i = 0; i < COUNT_OF(keys); i++) {
		shd_arena arena = {0};
		sherd_ckpt_about got;
		SHD_AUTO_BUF text = {0};
		shd_buf_printf(&text, "{\"%s\": 1}", keys[i]);
		shd_buf_u8(&text, 0);
		assert_refused(SHERD_ECORRUPT, "duplicate-key", decode((const char *)text.data, &arena, &got, err));
		shd_arena_done(&arena);
	}
}

TEST(what_cannot_be_written_is_refused_before)
{
	static const sherd_pair twice[] = {{"a", "1"}, {"a", "2"}}, not_text[] = {{"a", "\xff"}};
	static const struct {
		sherd_ckpt_about about;
		const char *reason;
	} cases[] = {
		{{.strategy = "\xff"}, "bad-utf8"},
		{{.precision = "\xc3"}, "bad-utf8"},
		{{.optimizer_type = "\xed\xa0\x80"}, "bad-utf8"},
		{{.strategy_info = "[]"}, "bad-json"},
		{{.strategy_info = ""}, "bad-json"},
		{{.optimizer_state = "{"}, "bad-json"},
		{{.optimizer_state = "{} {}"}, "bad-json"},
		{{.extra = "\"a\""}, "bad-json"},
		{{.extra = "\"a\": 1}"}, "bad-json"},
		{{.extra = "\"version\": \"2\""}, "duplicate-key"},
		{{.extra = "\"a\": 1, \"shardingStrategy\": null"}, "duplicate-key"},
		{{.sharding_extra = "\"shardCount\": 1"}, "duplicate-key"},
		{{.training_extra = "\"step\": 1"}, "duplicate-key"},
		{{.has_learning_rate = true, .learning_rate = (double)INFINITY}, "bad-number"},
		{{.has_learning_rate = true, .learning_rate = (double)NAN}, "bad-number"},
		{{.fields = twice, .field_count = 2}, "duplicate-key"},
		{{.fields = not_text, .field_count = 1}, "bad-utf8"},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		sherd_error e = {0};
		int rc = shd_ckpt_about_check(&cases[i].about, &e);
		if (rc != SHERD_EINVAL || strcmp(e.reason, cases[i].reason) != 0)
			fail_msg("case %zu: status %d, %s", i, rc, e.reason ? e.reason : "");
	}
	assert_ok(shd_ckpt_about_check(&(sherd_ckpt_about){.extra = "", .sharding_extra = "\"step\": 1"}, err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_said_is_read),
		cmocka_unit_test(nothing_said_is_read_as_nothing),
		cmocka_unit_test(zeros_that_were_said_are_written_and_nothing_else_is),
		cmocka_unit_test(the_other_name_of_sharding_counts_only_where_sharding_does_not),
		cmocka_unit_test(wrong_types_are_refused_at_their_byte),
		cmocka_unit_test(an_index_may_not_bring_keys_of_the_metadata),
		cmocka_unit_test(what_cannot_be_written_is_refused_before),
	};
	return cmocka_run_group_tests_name("ckpt_about", tests, NULL, NULL);
}
