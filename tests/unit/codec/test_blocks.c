/* ggml's blocks as floats, held against the values of the gguf package. */
#include "codec/blocks.h"

#include "support/test.h"

#include "base/error.h"
#include "codec/crc32.h"

#include <stdlib.h>

enum { BLOCKS = 64, MOST_BYTES = 256, MOST_ELEMENTS = 256 };

/* What follows 15 by a linear congruence; halves that are scales lose the bits that would make them infinite. */
static void fill(uint8_t *out, size_t block_bytes, const int *halves)
{
	uint32_t x = 15;
	for (size_t b = 0; b < BLOCKS; b++, out += block_bytes) {
		for (size_t i = 0; i < block_bytes; i++) {
			x = x * 1664525 + 1013904223;
			out[i] = (uint8_t)(x >> 24);
		}
		for (size_t i = 0; i < 2; i++)
			if (halves[i] >= 0)
				out[halves[i] + 1] &= 0xbb;
	}
}

/* gguf.quants.dequantize() of gguf 0.19, CRC-32 of the floats; tests/interop/python/gguf_files.py asks it again. */
TEST(values_are_those_of_the_gguf_package)
{
	static const struct {
		sherd_dtype dtype;
		int halves[2];
		uint32_t crc32;
	} cases[] = {
		{SHERD_Q4_0, {0, -1}, 0x086f3705},   {SHERD_Q4_1, {0, 2}, 0x2881096b},
		{SHERD_Q5_0, {0, -1}, 0x53d0f31d},   {SHERD_Q5_1, {0, 2}, 0x92cdc606},
		{SHERD_Q8_0, {0, -1}, 0x39cc514f},   {SHERD_Q2_K, {80, 82}, 0xb696f6a4},
		{SHERD_Q3_K, {108, -1}, 0xfb797a64}, {SHERD_Q4_K, {0, 2}, 0xed09f173},
		{SHERD_Q5_K, {0, 2}, 0xc4700bfb},    {SHERD_Q6_K, {208, -1}, 0x19e5b7d2},
	};
	static uint8_t in[BLOCKS * MOST_BYTES + 1];
	static float out[BLOCKS * MOST_ELEMENTS + 1];
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const sherd_dtype_info *info = sherd_dtype_describe(cases[i].dtype);
		size_t elements = (size_t)BLOCKS * info->block_elements;
		assert_true(shd_blocks_known(cases[i].dtype));
		fill(in + 1, info->block_bytes, cases[i].halves); /* not aligned */
		out[elements] = 7;
		shd_blocks_widen(cases[i].dtype, in + 1, out, BLOCKS);
		uint32_t crc32 = shd_crc32(0, out, elements * sizeof(*out));
		if (crc32 != cases[i].crc32)
			fail_msg("%s: %08x", info->name, crc32);
		assert_true(out[elements] == 7.0f);
	}
}

TEST(values_of_a_block_by_hand)
{
	uint8_t q4[18] = {0x00, 0x3c, 0x21}, q8[34] = {0x00, 0xc0, 1, 0xff}; /* scales 1 and -2 */
	float out[32];
	shd_blocks_widen(SHERD_Q4_0, q4, out, 1);
	assert_true(out[0] == -7.0f && out[16] == -6.0f && out[1] == -8.0f);
	shd_blocks_widen(SHERD_Q8_0, q8, out, 1);
	assert_true(out[0] == -2.0f && out[1] == 2.0f && out[2] == 0.0f);
}

TEST(other_types_are_not_known)
{
	static const sherd_dtype others[] = {SHERD_F32, SHERD_I8, SHERD_IQ2_XXS, SHERD_Q8_K, SHERD_MXFP4, SHERD_OPAQUE};
	for (size_t i = 0; i < COUNT_OF(others); i++)
		assert_false(shd_blocks_known(others[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_those_of_the_gguf_package),
		cmocka_unit_test(values_of_a_block_by_hand),
		cmocka_unit_test(other_types_are_not_known),
	};
	return cmocka_run_group_tests_name("blocks", tests, NULL, NULL);
}
