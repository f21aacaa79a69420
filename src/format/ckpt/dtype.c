#include "format/ckpt/dtype.h"

#include "base/error.h"

enum { NO_NUMBER = -1 };

static const struct {
	const char *name;
	int number; /* in the C# enum */
} table[SHERD_DTYPE_COUNT] = {
	[SHERD_BOOL] = {"Bool", 11},
	[SHERD_U8] = {"UInt8", 7},
	[SHERD_I8] = {"Int8", 3},
	[SHERD_U16] = {"UInt16", 8},
	[SHERD_I16] = {"Int16", 4},
	[SHERD_U32] = {"UInt32", 9},
	[SHERD_I32] = {"Int32", 5},
	[SHERD_U64] = {"UInt64", 10},
	[SHERD_I64] = {"Int64", 6},
	[SHERD_F16] = {"Float16", 0},
	[SHERD_BF16] = {"BFloat16", 12},
	[SHERD_F32] = {"Float32", 1},
	[SHERD_F64] = {"Float64", 2},
	[SHERD_F8_E4M3] = {"Float8E4M3", NO_NUMBER},
	[SHERD_F8_E5M2] = {"Float8E5M2", NO_NUMBER},
	[SHERD_C64] = {"Complex64", NO_NUMBER},
	[SHERD_UTF8] = {"Utf8", NO_NUMBER},
	[SHERD_F8_E8M0] = {"Float8E8M0", NO_NUMBER},
	[SHERD_F8_E4M3FNUZ] = {"Float8E4M3FNUZ", NO_NUMBER},
	[SHERD_F8_E5M2FNUZ] = {"Float8E5M2FNUZ", NO_NUMBER},
	[SHERD_F4] = {"Float4E2M1", NO_NUMBER},
	[SHERD_F6_E2M3] = {"Float6E2M3", NO_NUMBER},
	[SHERD_F6_E3M2] = {"Float6E3M2", NO_NUMBER},
};

const char *shd_ckpt_dtype_name(sherd_dtype dtype)
{
	if ((unsigned)dtype < COUNT_OF(table))
		return table[dtype].name;
	const sherd_dtype_info *info = sherd_dtype_describe(dtype);
	return info && dtype != SHERD_OPAQUE ? info->name : NULL;
}

sherd_dtype shd_ckpt_dtype_by_name(shd_str name)
{
	for (unsigned i = SHERD_DTYPE_NONE + 1; i < COUNT_OF(table); i++)
		if (shd_str_is(name, table[i].name))
			return (sherd_dtype)i;
	sherd_dtype dtype = sherd_dtype_by_name(name.ptr, name.len);
	return (unsigned)dtype < COUNT_OF(table) ? SHERD_DTYPE_NONE : dtype;
}

int shd_ckpt_dtype_number(sherd_dtype dtype)
{
	return (unsigned)dtype < COUNT_OF(table) && table[dtype].name ? table[dtype].number : NO_NUMBER;
}

sherd_dtype shd_ckpt_dtype_by_number(uint64_t number)
{
	for (unsigned i = SHERD_DTYPE_NONE + 1; i < COUNT_OF(table); i++)
		if (table[i].number != NO_NUMBER && (uint64_t)table[i].number == number)
			return (sherd_dtype)i;
	return SHERD_DTYPE_NONE;
}
