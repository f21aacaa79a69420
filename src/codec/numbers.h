/* codec/numbers.h - elements of any numeric type as floats or doubles, many at a time. */
#pragma once

#include <sherd/number.h>

/* How elements of one type are read; small types by a table. */
typedef struct shd_numbers {
	sherd_dtype dtype;
	bool single;        /* every element is a float exactly, so that shd_numbers_f32() may be asked */
	uint32_t bytes;     /* of a block */
	uint32_t per_block; /* values of a block: twice the elements of C64 */
	float table[256];   /* of types of 8 bits and less: their values by their bits */
} shd_numbers;

/* The type is one of those that sherd_number_known() knows. */
void shd_numbers_init(shd_numbers *n, sherd_dtype dtype);
/* So many blocks. in need not be aligned, out holds per_block values of each. */
void shd_numbers_f32(const shd_numbers *n, const void *in, float *out, size_t blocks);
void shd_numbers_f64(const shd_numbers *n, const void *in, double *out, size_t blocks);
