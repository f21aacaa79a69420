#include "codec/seal.h"

#include "support/test.h"

#include <stdlib.h>

static void put_sample(shd_buf *out)
{
	shd_json_writer w;
	shd_json_writer_init(&w, out);
	shd_json_put_object(&w, false);
	shd_json_put_key(&w, "rank");
	shd_json_put_u64(&w, 3);
	shd_json_put_key(&w, "names");
	shd_json_put_array(&w, true);
	shd_json_put_string(&w, SHD_STR("a"));
	shd_json_put_string(&w, SHD_STR("b"));
	shd_json_put_array_end(&w);
	shd_seal_put(&w);
}

TEST(a_sealed_document_has_these_very_bytes)
{
	SHD_AUTO_BUF b = {0};
	put_sample(&b);
	/* printf '{\n  "rank": 3,\n  "names": ["a", "b"],\n  ' | sha256sum */
	static const char want[] = "{\n  \"rank\": 3,\n  \"names\": [\"a\", \"b\"],\n  \"sha256\": "
				   "\"05d1089d8fb7426ebc0d52034f59f95f67820d351d184dee48d5e99a5aa7aa5b\"\n}";
	assert_int_equal(b.len, sizeof(want) - 1);
	assert_memory_equal(b.data, want, b.len);
	assert_int_equal(shd_seal_check(b.data, b.len), SHD_SEAL_GOOD);
	assert_ok(shd_json_check(b.data, b.len, NULL, err));
}

TEST(an_object_with_nothing_else_can_be_sealed)
{
	SHD_AUTO_BUF b = {0};
	shd_json_writer w;
	shd_json_writer_init(&w, &b);
	shd_json_put_object(&w, false);
	shd_seal_put(&w);
	assert_memory_equal(b.data, "{\n  \"sha256\": \"", 15);
	assert_int_equal(shd_seal_check(b.data, b.len), SHD_SEAL_GOOD);
}

TEST(every_flipped_bit_breaks_the_seal)
{
	SHD_AUTO_BUF b = {0};
	put_sample(&b);
	for (size_t bit = 0; bit < b.len * 8; bit++) {
		b.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_int_equal(shd_seal_check(b.data, b.len), SHD_SEAL_BROKEN);
		b.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
}

TEST(no_changed_byte_and_no_lost_byte_leaves_the_seal_good)
{
	SHD_AUTO_BUF b = {0};
	put_sample(&b);
	for (size_t i = 0; i < b.len; i++) {
		uint8_t was = b.data[i];
		for (unsigned v = 0; v < 256; v++) {
			b.data[i] = (uint8_t)v;
			if (v != was)
				assert_int_not_equal(shd_seal_check(b.data, b.len), SHD_SEAL_GOOD);
		}
		b.data[i] = was;
		assert_int_not_equal(shd_seal_check(b.data, i), SHD_SEAL_GOOD);
		assert_int_not_equal(shd_seal_check(b.data + i + 1, b.len - i - 1), SHD_SEAL_GOOD);
	}
}

TEST(white_space_behind_a_seal_breaks_it)
{
	SHD_AUTO_BUF b = {0};
	put_sample(&b);
	shd_buf_str(&b, "\n");
	assert_int_equal(shd_seal_check(b.data, b.len), SHD_SEAL_BROKEN);
}

TEST(documents_without_a_seal_are_told_from_damaged_ones)
{
	static const char *const plain[] = {
		"",
		"{}",
		"{\n  \"rank\": 3\n}",
		"\n  \"sha256\": \"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\"\n}",
		"{\"shards\":[{\"sha256\":\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\"}]}",
		"{\n  \"checksum\": \"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\"\n}\n",
	};
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		assert_int_equal(shd_seal_check(plain[i], strlen(plain[i])), SHD_SEAL_ABSENT);
}

TEST(a_right_hash_in_another_layout_is_not_a_seal)
{
	SHD_AUTO_BUF b = {0};
	shd_json_writer w;
	shd_json_writer_init(&w, &b);
	shd_json_put_object(&w, true);
	shd_json_put_key(&w, "a");
	shd_json_put_null(&w);
	shd_seal_put(&w);
	assert_ok(shd_json_check(b.data, b.len, NULL, err));
	assert_int_not_equal(shd_seal_check(b.data, b.len), SHD_SEAL_GOOD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sealed_document_has_these_very_bytes),
		cmocka_unit_test(an_object_with_nothing_else_can_be_sealed),
		cmocka_unit_test(every_flipped_bit_breaks_the_seal),
		cmocka_unit_test(no_changed_byte_and_no_lost_byte_leaves_the_seal_good),
		cmocka_unit_test(white_space_behind_a_seal_breaks_it),
		cmocka_unit_test(documents_without_a_seal_are_told_from_damaged_ones),
		cmocka_unit_test(a_right_hash_in_another_layout_is_not_a_seal),
	};
	return cmocka_run_group_tests_name("seal", tests, NULL, NULL);
}
