#include "base/dtype.h"

#include "base/error.h"
#include "base/str.h"

#include <sherd/tensor.h>

#include <string.h>

typedef struct dtype_row {
	sherd_dtype_info info;
	uint32_t align;
} dtype_row;

static const dtype_row table[SHERD_OPAQUE + 1] = {
	[SHERD_BOOL] = {{"BOOL", 1, 1}, 1},
	[SHERD_U8] = {{"U8", 1, 1}, 1},
	[SHERD_I8] = {{"I8", 1, 1}, 1},
	[SHERD_U16] = {{"U16", 1, 2}, 2},
	[SHERD_I16] = {{"I16", 1, 2}, 2},
	[SHERD_U32] = {{"U32", 1, 4}, 4},
	[SHERD_I32] = {{"I32", 1, 4}, 4},
	[SHERD_U64] = {{"U64", 1, 8}, 8},
	[SHERD_I64] = {{"I64", 1, 8}, 8},
	[SHERD_F16] = {{"F16", 1, 2}, 2},
	[SHERD_BF16] = {{"BF16", 1, 2}, 2},
	[SHERD_F32] = {{"F32", 1, 4}, 4},
	[SHERD_F64] = {{"F64", 1, 8}, 8},
	[SHERD_F8_E4M3] = {{"F8_E4M3", 1, 1}, 1},
	[SHERD_F8_E5M2] = {{"F8_E5M2", 1, 1}, 1},
	[SHERD_C64] = {{"C64", 1, 8}, 4},
	[SHERD_UTF8] = {{"UTF8", 1, 0}, 8},
	[SHERD_F8_E8M0] = {{"F8_E8M0", 1, 1}, 1},
	[SHERD_F8_E4M3FNUZ] = {{"F8_E4M3FNUZ", 1, 1}, 1},
	[SHERD_F8_E5M2FNUZ] = {{"F8_E5M2FNUZ", 1, 1}, 1},
	[SHERD_F4] = {{"F4", 2, 1}, 1},
	[SHERD_F6_E2M3] = {{"F6_E2M3", 4, 3}, 1},
	[SHERD_F6_E3M2] = {{"F6_E3M2", 4, 3}, 1},
	[SHERD_OPAQUE] = {{"OPAQUE", 1, 0}, 1},
};

#define BLOCK(number, name, elements, bytes) [number] = {{name, elements, bytes}, 4}

/* By ggml's numbers. What is not here has another number of ours, or none any more. */
static const dtype_row blocks[SHERD_DTYPE_BLOCKS_END - SHERD_DTYPE_BLOCKS] = {
	BLOCK(2, "Q4_0", 32, 18),      BLOCK(3, "Q4_1", 32, 20),      BLOCK(6, "Q5_0", 32, 22),
	BLOCK(7, "Q5_1", 32, 24),      BLOCK(8, "Q8_0", 32, 34),      BLOCK(9, "Q8_1", 32, 36),
	BLOCK(10, "Q2_K", 256, 84),    BLOCK(11, "Q3_K", 256, 110),   BLOCK(12, "Q4_K", 256, 144),
	BLOCK(13, "Q5_K", 256, 176),   BLOCK(14, "Q6_K", 256, 210),   BLOCK(15, "Q8_K", 256, 292),
	BLOCK(16, "IQ2_XXS", 256, 66), BLOCK(17, "IQ2_XS", 256, 74),  BLOCK(18, "IQ3_XXS", 256, 98),
	BLOCK(19, "IQ1_S", 256, 50),   BLOCK(20, "IQ4_NL", 32, 18),   BLOCK(21, "IQ3_S", 256, 110),
	BLOCK(22, "IQ2_S", 256, 82),   BLOCK(23, "IQ4_XS", 256, 136), BLOCK(29, "IQ1_M", 256, 56),
	BLOCK(34, "TQ1_0", 256, 54),   BLOCK(35, "TQ2_0", 256, 66),   BLOCK(39, "MXFP4", 32, 17),
	BLOCK(40, "NVFP4", 64, 36),    BLOCK(41, "Q1_0", 128, 18),    BLOCK(42, "Q2_0", 64, 18),
};

/* NULL for a value that names no type. */
static const dtype_row *row_of(sherd_dtype dtype)
{
	const dtype_row *row = NULL;
	if ((unsigned)dtype < COUNT_OF(table))
		row = &table[dtype];
	else if ((unsigned)dtype - SHERD_DTYPE_BLOCKS < COUNT_OF(blocks))
		row = &blocks[(unsigned)dtype - SHERD_DTYPE_BLOCKS];
	return row && row->info.name ? row : NULL;
}

const sherd_dtype_info *sherd_dtype_describe(sherd_dtype dtype)
{
	const dtype_row *row = row_of(dtype);
	return row ? &row->info : NULL;
}

uint32_t sherd_dtype_element_bytes(sherd_dtype dtype)
{
	const sherd_dtype_info *info = sherd_dtype_describe(dtype);
	return info && info->block_elements == 1 ? info->block_bytes : 0;
}

sherd_dtype sherd_dtype_by_name(const char *name, size_t len)
{
	for (unsigned i = SHERD_DTYPE_NONE + 1; i < SHERD_DTYPE_BLOCKS_END; i++) {
		const dtype_row *row = row_of((sherd_dtype)i);
		if (row && i != SHERD_OPAQUE && shd_str_is((shd_str){name, len}, row->info.name))
			return (sherd_dtype)i;
	}
	return SHERD_DTYPE_NONE;
}

uint32_t shd_dtype_align(sherd_dtype dtype)
{
	const dtype_row *row = row_of(dtype);
	return row ? row->align : 0;
}

/* A dimension of 0 makes 0 of any others, however large. */
static bool count_elements(uint32_t ndim, const uint64_t *shape, uint64_t *out)
{
	uint64_t count = 1;
	bool overflow = false, empty = false;
	for (uint32_t i = 0; i < ndim; i++) {
		empty |= shape[i] == 0;
		overflow |= __builtin_mul_overflow(count, shape[i], &count);
	}
	*out = empty ? 0 : count;
	return empty || !overflow;
}

bool sherd_tensor_bytes(uint64_t *out, sherd_dtype dtype, uint32_t ndim, const uint64_t *shape)
{
	const sherd_dtype_info *info = sherd_dtype_describe(dtype);
	uint64_t elements, bytes;
	if (!info || !info->block_bytes || !count_elements(ndim, shape, &elements) || elements % info->block_elements)
		return false;
	if ((unsigned)dtype >= SHERD_DTYPE_BLOCKS && !shd_dtype_box_fits(dtype, ndim, shape))
		return false; /* ggml has no others */
	if (__builtin_mul_overflow(elements / info->block_elements, (uint64_t)info->block_bytes, &bytes))
		return false;
	*out = bytes;
	return true;
}

bool shd_dtype_is_sized(sherd_dtype dtype)
{
	const sherd_dtype_info *info = sherd_dtype_describe(dtype);
	return info && info->block_bytes;
}

bool shd_dtype_box_fits(sherd_dtype dtype, uint32_t ndim, const uint64_t *box)
{
	const sherd_dtype_info *info = sherd_dtype_describe(dtype);
	return shd_dtype_is_sized(dtype) && (!ndim || box[ndim - 1] % info->block_elements == 0);
}

bool shd_tensor_has_rows(const sherd_tensor *t)
{
	return t->ndim && shd_dtype_box_fits(t->dtype, t->ndim, t->shape) &&
	       (t->ndim > 1 || sherd_dtype_element_bytes(t->dtype));
}

bool shd_tensor_same_type(const sherd_tensor *a, const sherd_tensor *b)
{
	return a->dtype == b->dtype && (a->dtype != SHERD_OPAQUE || strcmp(a->type_name, b->type_name) == 0);
}

bool shd_tensor_is_typed(const sherd_tensor *t)
{
	size_t len = t->dtype == SHERD_OPAQUE && t->type_name ? strlen(t->type_name) : 0;
	return sherd_dtype_describe(t->dtype) && (t->dtype != SHERD_OPAQUE || (len && len <= SHERD_MAX_TYPE_NAME));
}

const char *sherd_tensor_type(const sherd_tensor *tensor)
{
	const sherd_dtype_info *info = sherd_dtype_describe(tensor->dtype);
	return tensor->dtype == SHERD_OPAQUE && tensor->type_name ? tensor->type_name : info ? info->name : "unknown";
}
