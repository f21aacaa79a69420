#include "codec/inflate.h"

#include "support/test.h"

#include "base/buf.h"

#include <string.h>

SHD_AUTO_DEFINE(shd_inflate, shd_inflate_close)

/* "hello hello hello hello " by zlib at level 9, and two bytes that do not belong to it. */
static const uint8_t hello[] = {0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0x57, 0xc8, 0xc0, 0x20, 0x01, 'x', 'y'};
enum { HELLO = sizeof(hello) - 2 };

/* A stream of blocks that are stored as they are, which any length can be made of. */
static void put_stored(shd_buf *b, const uint8_t *data, size_t len)
{
	do {
		uint16_t n = (uint16_t)(len < 60000 ? len : 60000);
		shd_buf_u8(b, n == len);
		shd_buf_u16(b, n);
		shd_buf_u16(b, (uint16_t)~n);
		shd_buf_append(b, data, n);
		data += n;
		len -= n;
	} while (len);
}

/* Inflates in pieces of these sizes; the output and what was used of the input. */
static int inflate(const uint8_t *in, size_t len, size_t in_step, size_t out_step, shd_buf *out, size_t *used,
                   sherd_error *err)
{
	SHD_AUTO(shd_inflate, shd_inflate_close) z = NULL;
	size_t at = 0;
	TRY(shd_inflate_open(&z, err));
	while (!shd_inflate_ended(z)) {
		size_t n = len - at < in_step ? len - at : in_step;
		assert_true(shd_buf_reserve(out, out_step));
		shd_inflate_io io = {in + at, n, out->data + out->len, out_step};
		TRY(shd_inflate_run(z, &io, err));
		at += n - io.in_len;
		out->len += out_step - io.out_len;
		if (n == io.in_len && io.out_len == out_step)
			return shd_fail(err, SHERD_ECORRUPT, "truncated", "no end");
	}
	*used = at - shd_inflate_unused(z);
	return SHERD_OK;
}

TEST(a_stream_comes_out_whatever_the_pieces)
{
	for (size_t in_step = 1; in_step <= sizeof(hello); in_step++)
		for (size_t out_step = 1; out_step <= 30; out_step++) {
			SHD_AUTO_BUF out = {0};
			size_t used;
			assert_ok(inflate(hello, sizeof(hello), in_step, out_step, &out, &used, err));
			assert_int_equal(out.len, 24);
			assert_memory_equal(out.data, "hello hello hello hello ", 24);
			assert_int_equal(used, HELLO);
		}
}

TEST(a_cut_stream_does_not_end)
{
	for (size_t len = 0; len < HELLO; len++) {
		SHD_AUTO_BUF out = {0};
		size_t used;
		assert_refused(SHERD_ECORRUPT, "truncated", inflate(hello, len, 64, 64, &out, &used, err));
	}
}

TEST(what_is_no_stream_is_refused)
{
	static const uint8_t block[] = {0x07}, far[] = {0x4b, 0x04, 0x92, 0x00}, length[] = {0x01, 5, 0, 5, 0};
	SHD_AUTO_BUF out = {0};
	size_t used;
	assert_refused(SHERD_ECORRUPT, "bad-deflate", inflate(block, sizeof(block), 64, 64, &out, &used, err));
	assert_refused(SHERD_ECORRUPT, "bad-deflate", inflate(far, sizeof(far), 64, 64, &out, &used, err));
	assert_refused(SHERD_ECORRUPT, "bad-deflate", inflate(length, sizeof(length), 64, 64, &out, &used, err));
}

/* More than the history that deflate looks back into, so that a copy must carry it. */
TEST(a_copy_goes_on_from_the_same_place)
{
	SHD_AUTO_BUF raw = {0}, packed = {0};
	for (uint32_t i = 0; i < 50000; i++)
		shd_buf_u32(&raw, i * 2654435761u);
	put_stored(&packed, raw.data, raw.len);
	for (size_t cut = 1; cut < packed.len; cut += 17001) {
		SHD_AUTO(shd_inflate, shd_inflate_close) z = NULL;
		uint8_t got[200000];
		assert_ok(shd_inflate_open(&z, err));
		shd_inflate_io io = {packed.data, cut, got, sizeof(got)};
		assert_ok(shd_inflate_run(z, &io, err));
		assert_int_equal(io.in_len, 0);
		size_t have = sizeof(got) - io.out_len;
		for (int twice = 0; twice < 2; twice++) {
			SHD_AUTO(shd_inflate, shd_inflate_close) copy = NULL;
			assert_ok(shd_inflate_copy(&copy, z, err));
			memset(got + have, 0, sizeof(got) - have);
			shd_inflate_io rest = {packed.data + cut, packed.len - cut, got + have, sizeof(got) - have};
			assert_ok(shd_inflate_run(copy, &rest, err));
			assert_int_equal(rest.out_len, 0);
			assert_memory_equal(got, raw.data, raw.len);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stream_comes_out_whatever_the_pieces),
		cmocka_unit_test(a_cut_stream_does_not_end),
		cmocka_unit_test(what_is_no_stream_is_refused),
		cmocka_unit_test(a_copy_goes_on_from_the_same_place),
	};
	return cmocka_run_group_tests_name("inflate", tests, NULL, NULL);
}
