#include "format/torch/dtype.h"

#include "base/error.h"

const shd_torch_dtype shd_torch_untyped = {"uint8", "UntypedStorage", SHERD_U8, 1, 1, 1};

static const shd_torch_dtype table[] = {
	{"float32", "FloatStorage", SHERD_F32, 4, 4, 1},
	{"float64", "DoubleStorage", SHERD_F64, 8, 8, 1},
	{"float16", "HalfStorage", SHERD_F16, 2, 2, 1},
	{"bfloat16", "BFloat16Storage", SHERD_BF16, 2, 2, 1},
	{"uint8", "ByteStorage", SHERD_U8, 1, 1, 1},
	{"int8", "CharStorage", SHERD_I8, 1, 1, 1},
	{"int16", "ShortStorage", SHERD_I16, 2, 2, 1},
	{"int32", "IntStorage", SHERD_I32, 4, 4, 1},
	{"int64", "LongStorage", SHERD_I64, 8, 8, 1},
	{"bool", "BoolStorage", SHERD_BOOL, 1, 1, 1},
	{"complex64", "ComplexFloatStorage", SHERD_C64, 8, 4, 1},
	{"complex128", "ComplexDoubleStorage", SHERD_OPAQUE, 16, 8, 1},
	{"complex32", NULL, SHERD_OPAQUE, 4, 2, 1},
	{"quint8", "QUInt8Storage", SHERD_OPAQUE, 1, 1, 1},
	{"qint8", "QInt8Storage", SHERD_OPAQUE, 1, 1, 1},
	{"qint32", "QInt32Storage", SHERD_OPAQUE, 4, 4, 1},
	{"quint4x2", "QUInt4x2Storage", SHERD_OPAQUE, 1, 1, 1},
	{"quint2x4", "QUInt2x4Storage", SHERD_OPAQUE, 1, 1, 1},
	{"uint16", NULL, SHERD_U16, 2, 2, 1},
	{"uint32", NULL, SHERD_U32, 4, 4, 1},
	{"uint64", NULL, SHERD_U64, 8, 8, 1},
	{"float8_e4m3fn", NULL, SHERD_F8_E4M3, 1, 1, 1},
	{"float8_e5m2", NULL, SHERD_F8_E5M2, 1, 1, 1},
	{"float8_e4m3fnuz", NULL, SHERD_F8_E4M3FNUZ, 1, 1, 1},
	{"float8_e5m2fnuz", NULL, SHERD_F8_E5M2FNUZ, 1, 1, 1},
	{"float8_e8m0fnu", NULL, SHERD_F8_E8M0, 1, 1, 1},
	{"float4_e2m1fn_x2", NULL, SHERD_F4, 1, 1, 2},
	{"bits1x8", NULL, SHERD_OPAQUE, 1, 1, 1},
	{"bits2x4", NULL, SHERD_OPAQUE, 1, 1, 1},
	{"bits4x2", NULL, SHERD_OPAQUE, 1, 1, 1},
	{"bits8", NULL, SHERD_OPAQUE, 1, 1, 1},
	{"bits16", NULL, SHERD_OPAQUE, 2, 2, 1},
	{"uint1", NULL, SHERD_OPAQUE, 1, 1, 1},
	{"uint2", NULL, SHERD_OPAQUE, 1, 1, 1},
	{"uint3", NULL, SHERD_OPAQUE, 1, 1, 1},
	{"uint4", NULL, SHERD_OPAQUE, 1, 1, 1},
	{"uint5", NULL, SHERD_OPAQUE, 1, 1, 1},
	{"uint6", NULL, SHERD_OPAQUE, 1, 1, 1},
	{"uint7", NULL, SHERD_OPAQUE, 1, 1, 1},
	{"int1", NULL, SHERD_OPAQUE, 1, 1, 1},
	{"int2", NULL, SHERD_OPAQUE, 1, 1, 1},
	{"int3", NULL, SHERD_OPAQUE, 1, 1, 1},
	{"int4", NULL, SHERD_OPAQUE, 1, 1, 1},
	{"int5", NULL, SHERD_OPAQUE, 1, 1, 1},
	{"int6", NULL, SHERD_OPAQUE, 1, 1, 1},
	{"int7", NULL, SHERD_OPAQUE, 1, 1, 1},
};

const shd_torch_dtype *shd_torch_dtype_by_name(shd_str name)
{
	static const char *const others[][2] = {{"float", "float32"},    {"double", "float64"},    {"half", "float16"},
	                                        {"int", "int32"},        {"long", "int64"},        {"short", "int16"},
	                                        {"cfloat", "complex64"}, {"cdouble", "complex128"}};
	for (size_t i = 0; i < COUNT_OF(others); i++)
		if (shd_str_is(name, others[i][0]))
			name = shd_str_of(others[i][1]);
	for (size_t i = 0; i < COUNT_OF(table); i++)
		if (shd_str_is(name, table[i].name))
			return &table[i];
	return NULL;
}

const shd_torch_dtype *shd_torch_dtype_by_storage(shd_str name)
{
	if (shd_str_is(name, shd_torch_untyped.storage))
		return &shd_torch_untyped;
	for (size_t i = 0; i < COUNT_OF(table); i++)
		if (table[i].storage && shd_str_is(name, table[i].storage))
			return &table[i];
	return NULL;
}

const shd_torch_dtype *shd_torch_dtype_of(const sherd_tensor *t)
{
	for (size_t i = 0; i < COUNT_OF(table); i++)
		if (t->dtype == SHERD_OPAQUE ? shd_str_is(shd_str_of(t->type_name), table[i].name)
		                             : t->dtype == table[i].dtype)
			return &table[i];
	return NULL;
}
