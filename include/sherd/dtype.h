/* sherd/dtype.h - element types of tensors. */
#ifndef SHERD_DTYPE_H
#define SHERD_DTYPE_H

#include <sherd/export.h>

#include <stddef.h>
#include <stdint.h>

SHERD_BEGIN_DECLS

/* The values are written into checkpoint shards: they never change meaning. */
typedef enum sherd_dtype {
	SHERD_DTYPE_NONE = 0,
	SHERD_BOOL = 1,
	SHERD_U8 = 2,
	SHERD_I8 = 3,
	SHERD_U16 = 4,
	SHERD_I16 = 5,
	SHERD_U32 = 6,
	SHERD_I32 = 7,
	SHERD_U64 = 8,
	SHERD_I64 = 9,
	SHERD_F16 = 10,
	SHERD_BF16 = 11,
	SHERD_F32 = 12,
	SHERD_F64 = 13,
	SHERD_F8_E4M3 = 14,
	SHERD_F8_E5M2 = 15,
	SHERD_C64 = 16,     /* two F32: real, imaginary */
	SHERD_UTF8 = 17,    /* n+1 64-bit offsets from 0, then the text of n strings */
	SHERD_F8_E8M0 = 18, /* a power of two */
	SHERD_F8_E4M3FNUZ = 19,
	SHERD_F8_E5M2FNUZ = 20,
	SHERD_F4 = 21,      /* two in a byte */
	SHERD_F6_E2M3 = 22, /* four in three bytes */
	SHERD_F6_E3M2 = 23,
	SHERD_OPAQUE = 63, /* a type that is known by its name alone, see sherd_tensor: bytes, kept as they are */
	/* Blocks of quantised elements as ggml has them: 64 and its number. Their bytes are kept as they are. */
	SHERD_Q4_0 = 66,
	SHERD_Q4_1 = 67,
	SHERD_Q5_0 = 70,
	SHERD_Q5_1 = 71,
	SHERD_Q8_0 = 72,
	SHERD_Q8_1 = 73,
	SHERD_Q2_K = 74,
	SHERD_Q3_K = 75,
	SHERD_Q4_K = 76,
	SHERD_Q5_K = 77,
	SHERD_Q6_K = 78,
	SHERD_Q8_K = 79,
	SHERD_IQ2_XXS = 80,
	SHERD_IQ2_XS = 81,
	SHERD_IQ3_XXS = 82,
	SHERD_IQ1_S = 83,
	SHERD_IQ4_NL = 84,
	SHERD_IQ3_S = 85,
	SHERD_IQ2_S = 86,
	SHERD_IQ4_XS = 87,
	SHERD_IQ1_M = 93,
	SHERD_TQ1_0 = 98,
	SHERD_TQ2_0 = 99,
	SHERD_MXFP4 = 103,
	SHERD_NVFP4 = 104,
	SHERD_Q1_0 = 105,
	SHERD_Q2_0 = 106
} sherd_dtype;

/* Numbers below this one are types by themselves; those of blocks lie between these two. */
#define SHERD_DTYPE_COUNT 24
#define SHERD_DTYPE_BLOCKS 64
#define SHERD_DTYPE_BLOCKS_END 107

/* A type is stored in blocks of a fixed number of elements and bytes. The elements of a block follow each other in the
 * last dimension; a tensor is cut, and a slice begins and ends, between blocks only. */
typedef struct sherd_dtype_info {
	const char *name;        /* "F32" */
	uint32_t block_elements; /* 1 for all plain types */
	uint32_t block_bytes;    /* 0 for UTF8 and OPAQUE, whose size the shape does not tell */
} sherd_dtype_info;

/* NULL for a value that names no type. */
SHERD_API const sherd_dtype_info *sherd_dtype_describe(sherd_dtype dtype);
/* Bytes of one element. 0 where no element stands by itself: UTF8, OPAQUE, types that pack several elements into a
 * block, and values that name no type. What slices, swaps or prints single elements asks this, and refuses a type that
 * has none.
 */
SHERD_API uint32_t sherd_dtype_element_bytes(sherd_dtype dtype);
/* SHERD_DTYPE_NONE for an unknown name; the name is exact ("F32", "F8_E4M3"). Never SHERD_OPAQUE. */
SHERD_API sherd_dtype sherd_dtype_by_name(const char *name, size_t len);

SHERD_END_DECLS

#endif
