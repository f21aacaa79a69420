#include "format/rows/shard.h"

#include "base/buf.h"
#include "base/cursor.h"

#include <inttypes.h>

static const uint8_t magic[8] = {'G', 'A', 'M', 'S', 'A', 'E', '0', '1'};

static int truncated(uint64_t expected, uint64_t actual, sherd_error *err)
{
	return shd_fail_at(err, SHERD_ECORRUPT, "truncated", actual,
	                   "the head expects %" PRIu64 " bytes, the file has %" PRIu64, expected, actual);
}

int shd_rows_head_decode(const uint8_t *raw, uint64_t file_size, shd_rows_head *out, sherd_error *err)
{
	if (file_size < SHD_ROWS_HEAD_SIZE)
		return truncated(SHD_ROWS_HEAD_SIZE, file_size, err);
	if (memcmp(raw, magic, sizeof(magic)) != 0)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-magic", 0, "no shard of rows: wrong magic");
	shd_cursor c = shd_cursor_over(raw, SHD_ROWS_HEAD_SIZE);
	(void)shd_cursor_bytes(&c, 8);
	shd_rows_head head = {0};
	head.rows = shd_cursor_u64(&c);
	head.width = shd_cursor_u64(&c);
	uint32_t dtype = shd_cursor_u32(&c);
	head.reserved = shd_cursor_u32(&c);
	TRY(shd_cursor_end(&c, "head", err));
	if (dtype != 0)
		return shd_fail_at(err, SHERD_EUNSUPPORTED, "bad-dtype", 24,
		                   "unsupported type tag %" PRIu32 " (only f32 = 0)", dtype);
	if (!head.width)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-width", 16, "rows of width 0");
	uint64_t payload;
	if (__builtin_mul_overflow(head.width, 4, &head.row_bytes) ||
	    __builtin_mul_overflow(head.rows, head.row_bytes, &payload) ||
	    __builtin_add_overflow(payload, SHD_ROWS_HEAD_SIZE, &head.file_bytes))
		return truncated(UINT64_MAX, file_size, err);
	if (file_size < head.file_bytes)
		return truncated(head.file_bytes, file_size, err);
	*out = head;
	return SHERD_OK;
}

void shd_rows_head_encode(uint64_t rows, uint64_t width, uint8_t out[SHD_ROWS_HEAD_SIZE])
{
	memcpy(out, magic, sizeof(magic));
	shd_put_u64(out + 8, rows);
	shd_put_u64(out + 16, width);
	shd_put_u32(out + 24, 0);
	shd_put_u32(out + 28, 0);
}
