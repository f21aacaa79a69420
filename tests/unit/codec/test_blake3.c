#include "support/test.h"

#include "codec/blake3.h"
#include "codec/blake3_lanes.h"
#include "codec/sha256.h"

#include <stdlib.h>
#include <string.h>

typedef struct vector {
	size_t len;
	const char *hash;
} vector;

/* The published ones: byte i of the input is i % 251. */
static const vector vectors[] = {
	{0, "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"},
	{1, "2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213"},
	{1023, "10108970eeda3eb932baac1428c7a2163b0e924c9a9e25b35bba72b28f70bd11"},
	{1024, "42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7"},
	{1025, "d00278ae47eb27b34faecf67b4fe263f82d5412916c1ffd97c8cb7fb814b8444"},
	{2048, "e776b6028c7cd22a4d0ba182a8bf62205d2ef576467e838ed6f2529b85fba24a"},
	{2049, "5f4d72f40d7a5f82b15ca2b2e44b1de3c2ef86c426c95c1af0b6879522563030"},
	{3072, "b98cb0ff3623be03326b373de6b9095218513e64f1ee2edd2525c7ad1e5cffd2"},
	{4096, "015094013f57a5277b59d8475c0501042c0b642e531b0a1c8f58d2163229e969"},
	{8192, "aae792484c8efe4f19e2ca7d371d8c467ffb10748d8a5a1ae579948f718a2a63"},
	{31744, "62b6960e1a44bcc1eb1a611a8d6235b6b4b78f32e7abc4fb4c6cdcce94895c47"},
	{102400, "bc3e3d41a1146b069abffad3c0d44860cf664390afce4d9661f7902e7943e085"},
};

/* Byte i is i % 251, as the vectors want it. */
static uint8_t *counted(size_t len)
{
	uint8_t *input = malloc(len + 1);
	assert_non_null(input);
	for (size_t b = 0; b < len; b++)
		input[b] = (uint8_t)(b % 251);
	return input;
}

/* By every width that this processor has, and by none. */
TEST(the_published_vectors_come_out)
{
	size_t widths = 0;
	while (shd_blake3_width_at(widths))
		widths++;
	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		uint8_t *input = counted(vectors[i].len), hash[SHD_BLAKE3_BYTES];
		char hex[2 * SHD_BLAKE3_BYTES + 1];
		for (size_t widest = 0; widest <= widths; widest++) {
			shd_blake3_by(widest, input, vectors[i].len, hash);
			shd_hex(hash, sizeof(hash), hex);
			assert_string_equal(hex, vectors[i].hash);
		}
		free(input);
	}
}

TEST(every_width_hashes_every_number_of_chunks_alike)
{
	enum { MOST = 300 * 1024 };
	uint8_t *input = counted(MOST);
	for (size_t len = 0; len < MOST; len += len < 40000 ? 1021 : 13001) {
		uint8_t plain[SHD_BLAKE3_BYTES], wide[SHD_BLAKE3_BYTES];
		shd_blake3_by(SIZE_MAX, input, len, plain);
		for (size_t widest = 0; shd_blake3_width_at(widest); widest++) {
			shd_blake3_by(widest, input, len, wide);
			assert_memory_equal(wide, plain, sizeof(wide));
		}
	}
	free(input);
}

TEST(parts_make_the_hash_of_the_whole)
{
	enum { MOST_PARTS = 9, LARGEST = 256 * 1024 };
	uint8_t *input = counted((size_t)MOST_PARTS * LARGEST);
	for (size_t size = 1024; size <= LARGEST; size *= 4)
		for (size_t len = size + 1; len < MOST_PARTS * size; len += size / 2 + 1) {
			uint8_t parts[MOST_PARTS][SHD_BLAKE3_BYTES], whole[SHD_BLAKE3_BYTES], joined[SHD_BLAKE3_BYTES];
			size_t count = 0;
			for (size_t from = 0; from < len; from += size)
				shd_blake3_part(input + from, len - from < size ? len - from : size, from,
				                parts[count++]);
			shd_blake3_root((const uint8_t(*)[SHD_BLAKE3_BYTES])parts, count, joined);
			shd_blake3_of(input, len, whole);
			assert_memory_equal(joined, whole, sizeof(whole));
			parts[count / 2][7] ^= 1;
			shd_blake3_root((const uint8_t(*)[SHD_BLAKE3_BYTES])parts, count, joined);
			assert_memory_not_equal(joined, whole, sizeof(whole));
		}
	free(input);
}

/* Measured on the real server: what it makes of directories and ids. */
TEST(short_texts_hash_as_the_real_server_hashes_them)
{
	static const struct {
		const char *text, *begins;
	} known[] = {
		{"", "af1349b9f5f9a1a6"},
		{"src", "bc9484ce4b0ea310"},
		{"src/auth", "1d7b8fa50a67c628"},
		{"src/api", "0a26b3a34728bd36"},
		{"src/auth/login.ts->FUNCTION->login", "d61af6efa3297cbdf8499b54d97ec604"},
	};
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		uint8_t hash[SHD_BLAKE3_BYTES];
		char hex[2 * SHD_BLAKE3_BYTES + 1];
		shd_blake3_of(known[i].text, strlen(known[i].text), hash);
		shd_hex(hash, sizeof(hash), hex);
		assert_memory_equal(hex, known[i].begins, strlen(known[i].begins));
	}
}

TEST(every_byte_counts)
{
	enum { LEN = 2500 };
	uint8_t input[LEN] = {0}, hash[SHD_BLAKE3_BYTES], other[SHD_BLAKE3_BYTES];
	shd_blake3_of(input, LEN, hash);
	for (size_t i = 0; i < LEN; i += 13) {
		input[i] = 1;
		shd_blake3_of(input, LEN, other);
		assert_memory_not_equal(hash, other, sizeof(hash));
		input[i] = 0;
	}
	shd_blake3_of(input, LEN - 1, other);
	assert_memory_not_equal(hash, other, sizeof(hash));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_published_vectors_come_out),
		cmocka_unit_test(every_width_hashes_every_number_of_chunks_alike),
		cmocka_unit_test(parts_make_the_hash_of_the_whole),
		cmocka_unit_test(short_texts_hash_as_the_real_server_hashes_them),
		cmocka_unit_test(every_byte_counts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
