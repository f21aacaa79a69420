#include "format/container/pairs.h"

#include "support/test.h"

static int decode(const void *data, size_t len, sherd_error *err)
{
	shd_arena arena = {0};
	const sherd_pair *pairs;
	size_t count;
	int rc = shd_container_pairs_decode(data, len, &arena, &pairs, &count, err);
	shd_arena_done(&arena);
	return rc;
}

TEST(pairs_come_back)
{
	const sherd_pair pairs[] = {{"", "no key"}, {"a", ""}, {"model.name", "\xc3\xa4\n\"x\""}};
	shd_buf raw = {0};
	shd_arena arena = {0};
	const sherd_pair *back;
	size_t count;
	shd_container_pairs_encode(pairs, COUNT_OF(pairs), &raw);
	assert_memory_equal(raw.data, "\3\0\0\0\0\0\0\0\6\0\0\0no key\1\0\0\0\0\0\0\0a", 27);
	assert_ok(shd_container_pairs_decode(raw.data, raw.len, &arena, &back, &count, err));
	assert_int_equal(count, COUNT_OF(pairs));
	for (size_t i = 0; i < count; i++) {
		assert_string_equal(back[i].key, pairs[i].key);
		assert_string_equal(back[i].value, pairs[i].value);
	}
	for (size_t len = 0; len < raw.len; len++)
		assert_true(decode(raw.data, len, NULL) < 0);
	shd_buf_u8(&raw, 0);
	assert_refused(SHERD_ECORRUPT, "trailing-bytes", decode(raw.data, raw.len, err));
	shd_arena_done(&arena);
	shd_buf_done(&raw);
}

TEST(no_pairs_are_four_bytes)
{
	assert_ok(decode("\0\0\0", 4, err));
	assert_refused(SHERD_ECORRUPT, "truncated", decode("\0\0\0", 3, err));
}

TEST(pairs_that_are_no_text_or_out_of_order_are_refused)
{
	assert_fails(SHERD_ECORRUPT, 0, decode("\2\0\0\0\0\0\0\0\0\0\0\0", 12, err));
	assert_fails(SHERD_ECORRUPT, 13, decode("\1\0\0\0\1\0\0\0\1\0\0\0a\xff", 14, err));
	assert_fails(SHERD_ECORRUPT, 12, decode("\1\0\0\0\1\0\0\0\1\0\0\0\0b", 14, err));
	assert_refused(SHERD_ECORRUPT, "duplicate-key", decode("\2\0\0\0\1\0\0\0\0\0\0\0b\1\0\0\0\0\0\0\0b", 22, err));
	assert_refused(SHERD_ECORRUPT, "duplicate-key", decode("\2\0\0\0\1\0\0\0\0\0\0\0b\1\0\0\0\0\0\0\0a", 22, err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pairs_come_back),
		cmocka_unit_test(no_pairs_are_four_bytes),
		cmocka_unit_test(pairs_that_are_no_text_or_out_of_order_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
