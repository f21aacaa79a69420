/* format/rows/shard.h - the head of a shard of rows, GAMSAE01. docs/formats/rows.md.
 *
 *	off  size  field
 *	0    8     "GAMSAE01"
 *	8    8     rows
 *	16   8     width: values a row
 *	24   4     type of the values: 0, 32-bit float
 *	28   4     reserved, 0
 *	32   ..    rows * width values, row by row
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

#define SHD_ROWS_MAGIC "GAMSAE01"
#define SHD_ROWS_HEAD_SIZE 32

typedef struct shd_rows_head {
	uint64_t rows;
	uint64_t width;
	uint32_t reserved;
	uint64_t row_bytes;
	uint64_t file_bytes; /* head and payload; a file may be longer */
} shd_rows_head;

/* raw holds the first min(file_size, SHD_ROWS_HEAD_SIZE) bytes of a file of that size. */
int shd_rows_head_decode(const uint8_t *raw, uint64_t file_size, shd_rows_head *out, sherd_error *err);
void shd_rows_head_encode(uint64_t rows, uint64_t width, uint8_t out[SHD_ROWS_HEAD_SIZE]);
