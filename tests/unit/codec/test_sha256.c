/* Vectors of FIPS 180-4 (NIST's examples). */
#include "codec/sha256.h"

#include "support/test.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *text, *hex;
} vectors[] = {
	{"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
	{"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
	{"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
	{"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqr"
         "stu",
         "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
};

TEST(the_official_vectors_come_out)
{
	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		uint8_t hash[SHD_SHA256_BYTES];
		char hex[SHD_SHA256_HEX + 1];
		shd_sha256_of(vectors[i].text, strlen(vectors[i].text), hash);
		shd_hex(hash, sizeof(hash), hex);
		assert_string_equal(hex, vectors[i].hex);
	}
}

TEST(a_million_letters_a_hash_to_the_official_value)
{
	char *text = malloc(1000000), hex[SHD_SHA256_HEX + 1];
	uint8_t hash[SHD_SHA256_BYTES];
	assert_non_null(text);
	memset(text, 'a', 1000000);
	shd_sha256_of(text, 1000000, hash);
	free(text);
	shd_hex(hash, sizeof(hash), hex);
	assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(any_split_of_the_input_gives_the_same_hash)
{
	uint8_t data[200], whole[SHD_SHA256_BYTES], parts[SHD_SHA256_BYTES];
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 37 + 11);
	shd_sha256_of(data, sizeof(data), whole);
	for (size_t a = 0; a <= sizeof(data); a++) {
		for (size_t b = a; b <= sizeof(data); b += 7) {
			shd_sha256 h;
			shd_sha256_init(&h);
			shd_sha256_add(&h, data, a);
			shd_sha256_add(&h, data + a, b - a);
			shd_sha256_add(&h, data + b, sizeof(data) - b);
			shd_sha256_finish(&h, parts);
			assert_memory_equal(parts, whole, sizeof(whole));
		}
	}
}

TEST(a_state_can_be_copied_and_continued_twice)
{
	uint8_t first[SHD_SHA256_BYTES], second[SHD_SHA256_BYTES], want[SHD_SHA256_BYTES];
	shd_sha256 h, copy;
	shd_sha256_init(&h);
	shd_sha256_add(&h, "ab", 2);
	copy = h;
	shd_sha256_add(&h, "c", 1);
	shd_sha256_add(&copy, "c", 1);
	shd_sha256_finish(&h, first);
	shd_sha256_finish(&copy, second);
	shd_sha256_of("abc", 3, want);
	assert_memory_equal(first, want, sizeof(want));
	assert_memory_equal(second, want, sizeof(want));
}

TEST(hexadecimal_text_reads_back)
{
	uint8_t bytes[256], back[256];
	char hex[513];
	for (size_t i = 0; i < 256; i++)
		bytes[i] = (uint8_t)i;
	shd_hex(bytes, 256, hex);
	assert_int_equal(strlen(hex), 512);
	assert_memory_equal(hex, "000102030405060708090a0b0c0d0e0f10", 34);
	assert_true(shd_unhex(hex, 512, back, 256));
	assert_memory_equal(back, bytes, 256);
	assert_true(shd_unhex("", 0, back, 0));
}

TEST(anything_but_lower_case_hexadecimal_of_the_right_length_is_refused)
{
	static const char *const bad[] = {"0", "012", "01234", "0A", "g0", "0g", " 0", "0`", "0:", "/0", "0@", ""};
	uint8_t out[1] = {0x5a};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_false(shd_unhex(bad[i], strlen(bad[i]), out, 1));
		assert_int_equal(out[0], 0x5a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_official_vectors_come_out),
		cmocka_unit_test(a_million_letters_a_hash_to_the_official_value),
		cmocka_unit_test(any_split_of_the_input_gives_the_same_hash),
		cmocka_unit_test(a_state_can_be_copied_and_continued_twice),
		cmocka_unit_test(hexadecimal_text_reads_back),
		cmocka_unit_test(anything_but_lower_case_hexadecimal_of_the_right_length_is_refused),
	};
	return cmocka_run_group_tests_name("sha256", tests, NULL, NULL);
}
