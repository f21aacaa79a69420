#include "support/nd4j_make.h"

static void put_text(shd_buf *b, const char *text)
{
	shd_buf_u8(b, (uint8_t)(strlen(text) >> 8));
	shd_buf_u8(b, (uint8_t)strlen(text));
	shd_buf_str(b, text);
}

static void put_turned(shd_buf *b, const uint8_t *p, uint32_t size)
{
	for (uint32_t i = size; i-- > 0;)
		shd_buf_u8(b, p[i]);
}

void nd4j_put_part(shd_buf *b, const char *type, uint64_t count, const void *data, uint32_t size)
{
	nd4j_put_part_as(b, "MIXED_DATA_TYPES", type, count, data, size);
}

void nd4j_put_part_as(shd_buf *b, const char *mode, const char *type, uint64_t count, const void *data, uint32_t size)
{
	bool wide = strcmp(mode, "MIXED_DATA_TYPES") == 0 || strcmp(mode, "LONG_SHAPE") == 0;
	put_text(b, mode);
	put_turned(b, (const uint8_t *)&count, wide ? 8 : 4);
	put_text(b, type);
	for (uint64_t i = 0; i < count; i++)
		put_turned(b, (const uint8_t *)data + i * size, size);
}

void nd4j_put_shape(shd_buf *b, uint32_t rank, const int64_t *dims, char order, int64_t extras)
{
	int64_t info[2 * 32 + 4] = {rank};
	uint64_t step = 1; /* may wrap: some shapes are meant to be refused */
	for (uint32_t k = 0; k < rank; k++) {
		uint32_t d = order == 'f' ? k : rank - 1 - k;
		info[1 + d] = dims[d];
		info[1 + rank + d] = (int64_t)step;
		step *= (uint64_t)dims[d];
	}
	info[2 * rank + 1] = extras;
	info[2 * rank + 2] = 1;
	info[2 * rank + 3] = (unsigned char)order;
	nd4j_put_part(b, "LONG", 2 * (uint64_t)rank + 4, info, 8);
}
