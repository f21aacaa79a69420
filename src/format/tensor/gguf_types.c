/* format/tensor/gguf_types.c - which of our types ggml's numbers mean. */
#include "format/tensor/gguf.h"

/* Those that are no blocks. */
static const struct plain_type {
	uint32_t number;
	sherd_dtype dtype;
} plain_types[] = {
	{0, SHERD_F32},  {1, SHERD_F16},  {24, SHERD_I8},  {25, SHERD_I16},
	{26, SHERD_I32}, {27, SHERD_I64}, {28, SHERD_F64}, {30, SHERD_BF16},
};

sherd_dtype shd_gguf_dtype(uint32_t number)
{
	for (size_t i = 0; i < COUNT_OF(plain_types); i++)
		if (plain_types[i].number == number)
			return plain_types[i].dtype;
	bool block = number < SHERD_DTYPE_BLOCKS_END - SHERD_DTYPE_BLOCKS;
	sherd_dtype dtype = (sherd_dtype)(block ? SHERD_DTYPE_BLOCKS + number : SHERD_DTYPE_NONE);
	return sherd_dtype_describe(dtype) ? dtype : SHERD_DTYPE_NONE;
}

bool shd_gguf_number(uint32_t *out, sherd_dtype dtype)
{
	for (size_t i = 0; i < COUNT_OF(plain_types); i++)
		if (plain_types[i].dtype == dtype) {
			*out = plain_types[i].number;
			return true;
		}
	*out = (uint32_t)dtype - SHERD_DTYPE_BLOCKS;
	return (unsigned)dtype >= SHERD_DTYPE_BLOCKS && sherd_dtype_describe(dtype);
}

sherd_dtype shd_gguf_value_type(uint32_t number)
{
	static const sherd_dtype types[SHD_GGUF_TYPES] = {
		SHERD_U8,   SHERD_I8,   SHERD_U16,        SHERD_I16, SHERD_U32, SHERD_I32, SHERD_F32,
		SHERD_BOOL, SHERD_UTF8, SHERD_DTYPE_NONE, SHERD_U64, SHERD_I64, SHERD_F64,
	};
	return number < COUNT_OF(types) ? types[number] : SHERD_DTYPE_NONE;
}
