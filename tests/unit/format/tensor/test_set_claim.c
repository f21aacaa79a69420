#include "support/test.h"

#include "format/tensor/set_claim.h"

#include <string.h>

static int decode(const shd_buf *text, shd_arena *arena, shd_set_claim *out, sherd_error *err)
{
	return shd_set_claim_decode(text->data, text->len, arena, out, err);
}

TEST(every_name_comes_back_as_one)
{
	static const char *const endings[] = {"a\nb.npy", "\"\\\t.npy", "..", "\xc3\xa4.npy", " ", "\x01"};
	__attribute__((cleanup(shd_arena_done))) shd_arena arena = {0};
	SHD_AUTO_BUF text = {0};
	shd_set_claim got = {0};
	shd_set_claim_encode(&(shd_set_claim){endings, COUNT_OF(endings)}, &text);
	assert_ok(decode(&text, &arena, &got, err));
	assert_int_equal(got.count, COUNT_OF(endings));
	for (size_t i = 0; i < got.count; i++)
		assert_string_equal(got.endings[i], endings[i]);
}

TEST(what_is_not_utf8_is_not_listed)
{
	static const char *const endings[] = {"\xff.npy", "b.npy"};
	__attribute__((cleanup(shd_arena_done))) shd_arena arena = {0};
	SHD_AUTO_BUF text = {0};
	shd_set_claim got = {0};
	shd_set_claim_encode(&(shd_set_claim){endings, COUNT_OF(endings)}, &text);
	assert_ok(decode(&text, &arena, &got, err));
	assert_int_equal(got.count, 1);
	assert_string_equal(got.endings[0], "b.npy");
}

TEST(what_is_no_plain_name_or_damaged_is_refused)
{
	static const char *const bad[] = {"/x", "a/../b", ""};
	__attribute__((cleanup(shd_arena_done))) shd_arena arena = {0};
	shd_set_claim got = {0};
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		SHD_AUTO_BUF text = {0};
		shd_set_claim_encode(&(shd_set_claim){&bad[i], 1}, &text);
		assert_refused(SHERD_ECORRUPT, "bad-path", decode(&text, &arena, &got, err));
	}
	SHD_AUTO_BUF text = {0};
	shd_set_claim_encode(&(shd_set_claim){0}, &text);
	assert_ok(decode(&text, &arena, &got, err));
	for (size_t i = 0; i < text.len; i++) {
		text.data[i] ^= 4;
		assert_true(decode(&text, &arena, &got, NULL) < 0);
		text.data[i] ^= 4;
	}
	assert_refused(SHERD_ECORRUPT, "bad-seal", shd_set_claim_decode("", 0, &arena, &got, err));
	assert_refused(SHERD_ECORRUPT, "bad-seal", shd_set_claim_decode("a\nb\n", 4, &arena, &got, err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_name_comes_back_as_one),
		cmocka_unit_test(what_is_not_utf8_is_not_listed),
		cmocka_unit_test(what_is_no_plain_name_or_damaged_is_refused),
	};
	return cmocka_run_group_tests_name("unit/format/tensor/set_claim", tests, NULL, NULL);
}
