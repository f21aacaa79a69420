/* SHA-1 by the vectors of FIPS 180, whole and in pieces. */
#include "codec/sha1.h"

#include "support/test.h"

#include "base/error.h"
#include "codec/sha256.h"

#include <string.h>

static void check(const char *data, size_t len, size_t repeat, size_t piece, const char *want)
{
	shd_sha1 h;
	uint8_t raw[SHD_SHA1_BYTES];
	char hex[SHD_SHA1_HEX + 1];
	shd_sha1_init(&h);
	for (size_t r = 0; r < repeat; r++)
		for (size_t at = 0; at < len; at += piece)
			shd_sha1_add(&h, data + at, len - at < piece ? len - at : piece);
	shd_sha1_finish(&h, raw);
	shd_hex(raw, sizeof(raw), hex);
	assert_string_equal(hex, want);
}

TEST(known_texts_have_known_hashes)
{
	static const struct {
		const char *text;
		size_t repeat;
		const char *hash;
	} cases[] = {
		{"", 1, "da39a3ee5e6b4b0d3255bfef95601890afd80709"},
		{"abc", 1, "a9993e364706816aba3e25717850c26c9cd0d89d"},
		{"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
	         "84983e441c3bd26ebaae4aa1f95129e5e54670f1"},
		{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	         10000, "34aa973cd4c4daa4f61eeb2bdbad27316534016f"},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++)
		for (size_t piece = 1; piece <= 100; piece += 33)
			check(cases[i].text, strlen(cases[i].text), cases[i].repeat, piece, cases[i].hash);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(known_texts_have_known_hashes)};
	return cmocka_run_group_tests_name("sha1", tests, NULL, NULL);
}
