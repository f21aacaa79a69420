#include "format/rows/shard.h"

#include "base/buf.h"
#include "base/cursor.h"

#include <inttypes.h>

static const uint8_t magic[8] = {'G', 'A', 'M', 'S', 'A', 'E', '0', '1'};

static int truncated(uint64_t expected, uint64_t actual, sherd_error *err)
{
	return sherd_fail_at(err, SHERD_ECORRUPT, "truncated", actual,
	                     "the head expects %" PRIu64 " bytes, the file has %" PRIu64, expected, actual);
}

int sherd_rows_head_decode(const uint8_t *raw, uint64_t file_size, sherd_rows_head *out, sherd_error *err)
{
	if (file_size < SHERD_ROWS_HEAD_SIZE)
		return truncated(SHERD_ROWS_HEAD_SIZE, file_size, err);
	if (memcmp(raw, magic, sizeof(magic)) != 0)
		return sherd_fail_at(err, SHERD_ECORRUPT, "bad-magic", 0, "no shard of rows: wrong magic");
	sherd_cursor c = sherd_cursor_over(raw, SHERD_ROWS_HEAD_SIZE);
	(void)sherd_cursor_bytes(&c, 8);
	sherd_rows_head head = {0};
	head.rows = sherd_cursor_u64(&c);
	head.width = sherd_cursor_u64(&c);
	uint32_t dtype = sherd_cursor_u32(&c);
	head.reserved = sherd_cursor_u32(&c);
	TRY(sherd_cursor_end(&c, "head", err));
	if (dtype != 0)
		return sherd_fail_at(err, SHERD_EUNSUPPORTED, "bad-dtype", 24,
		                     "unsupported type tag %" PRIu32 " (only f32 = 0)", dtype);
	if (!head.width)
		return sherd_fail_at(err, SHERD_ECORRUPT, "bad-width", 16, "rows of width 0");
	uint64_t payload;
	if (__builtin_mul_overflow(head.width, 4, &head.row_bytes) ||
	    __builtin_mul_overflow(head.rows, head.row_bytes, &payload) ||
	    __builtin_add_overflow(payload, SHERD_ROWS_HEAD_SIZE, &head.file_bytes))
		return truncated(UINT64_MAX, file_size, err);
	if (file_size < head.file_bytes)
		return truncated(head.file_bytes, file_size, err);
	*out = head;
	return SHERD_OK;
}

void sherd_rows_head_encode(uint64_t rows, uint64_t width, uint8_t out[SHERD_ROWS_HEAD_SIZE])
{
	memcpy(out, magic, sizeof(magic));
	sherd_put_u64(out + 8, rows);
	sherd_put_u64(out + 16, width);
	sherd_put_u32(out + 24, 0);
	sherd_put_u32(out + 28, 0);
}
