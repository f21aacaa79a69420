#include "codec/numbers.h"

#include "base/error.h"
#include "codec/blocks.h"
#include "codec/floats.h"
#include "codec/halves.h"

#include <math.h>
#include <string.h>

/* How a number of up to 8 bits is made of sign, exponent and mantissa, and which bits are no number. */
typedef struct small_form {
	int exponent_bits, mantissa_bits, bias;
	enum {
		SMALL_IEEE,      /* the highest exponent is infinity, or NaN */
		SMALL_ONE_NAN,   /* no infinities, and NaN is all bits set but the sign */
		SMALL_MINUS_NAN, /* no infinities, and NaN is minus zero */
		SMALL_NO_NAN
	} rule;
} small_form;

static const small_form forms[SHERD_DTYPE_COUNT] = {
	[SHERD_F8_E4M3] = {4, 3, 7, SMALL_ONE_NAN},
	[SHERD_F8_E5M2] = {5, 2, 15, SMALL_IEEE},
	[SHERD_F8_E4M3FNUZ] = {4, 3, 8, SMALL_MINUS_NAN},
	[SHERD_F8_E5M2FNUZ] = {5, 2, 16, SMALL_MINUS_NAN},
	[SHERD_F6_E2M3] = {2, 3, 1, SMALL_NO_NAN},
	[SHERD_F6_E3M2] = {3, 2, 3, SMALL_NO_NAN},
	[SHERD_F4] = {2, 1, 1, SMALL_NO_NAN},
};

static float small_float(uint32_t bits, const small_form *form)
{
	uint32_t mantissa = bits & ((1u << form->mantissa_bits) - 1), all = (1u << form->exponent_bits) - 1;
	uint32_t exponent = bits >> form->mantissa_bits & all;
	bool minus = bits >> (form->exponent_bits + form->mantissa_bits) & 1;
	float sign = minus ? -1.0f : 1.0f;
	if (form->rule == SMALL_ONE_NAN && exponent == all && mantissa == (1u << form->mantissa_bits) - 1)
		return NAN;
	if (form->rule == SMALL_MINUS_NAN && minus && !exponent && !mantissa)
		return NAN;
	if (form->rule == SMALL_IEEE && exponent == all)
		return mantissa ? NAN : sign * INFINITY;
	if (!exponent)
		return sign * ldexpf((float)mantissa, 1 - form->bias - form->mantissa_bits);
	return sign *
	       ldexpf((float)(mantissa | 1u << form->mantissa_bits), (int)exponent - form->bias - form->mantissa_bits);
}

static float small_value(sherd_dtype dtype, uint32_t bits)
{
	switch (dtype) {
	case SHERD_BOOL: return bits ? 1.0f : 0.0f;
	case SHERD_U8: return (float)bits;
	case SHERD_I8: return (float)(int8_t)bits;
	case SHERD_F8_E8M0: return bits == UINT8_MAX ? NAN : ldexpf(1, (int)bits - 127);
	default: return small_float(bits, &forms[dtype]);
	}
}

static bool is_small(sherd_dtype dtype)
{
	return dtype == SHERD_BOOL || dtype == SHERD_U8 || dtype == SHERD_I8 || dtype == SHERD_F8_E8M0 ||
	       ((unsigned)dtype < SHERD_DTYPE_COUNT && forms[dtype].exponent_bits);
}

static bool is_double(sherd_dtype dtype)
{
	return dtype == SHERD_U32 || dtype == SHERD_I32 || dtype == SHERD_U64 || dtype == SHERD_I64 ||
	       dtype == SHERD_F64;
}

bool sherd_number_known(sherd_dtype dtype)
{
	return shd_blocks_known(dtype) ||
	       ((unsigned)dtype < SHERD_DTYPE_COUNT && dtype != SHERD_UTF8 && sherd_dtype_describe(dtype));
}

void shd_numbers_init(shd_numbers *n, sherd_dtype dtype)
{
	const sherd_dtype_info *info = sherd_dtype_describe(dtype);
	n->dtype = dtype;
	n->single = !is_double(dtype);
	n->bytes = info->block_bytes;
	n->per_block = dtype == SHERD_C64 ? 2 : info->block_elements;
	if (!is_small(dtype))
		return;
	for (uint32_t bits = 0; bits < COUNT_OF(n->table); bits++)
		n->table[bits] = small_value(dtype, bits);
}

/* Several in a block, the first one's bits being the lowest. */
static void unpack_f32(const shd_numbers *n, const uint8_t *in, float *out, size_t blocks)
{
	uint32_t width = 8 * n->bytes / n->per_block, mask = (1u << width) - 1;
	for (size_t i = 0; i < blocks; i++, in += n->bytes) {
		uint32_t block = 0;
		for (uint32_t b = 0; b < n->bytes; b++)
			block |= (uint32_t)in[b] << 8 * b;
		for (uint32_t k = 0; k < n->per_block; k++)
			*out++ = n->table[block >> k * width & mask];
	}
}

#define WIDEN_EACH(type, to, in, out, count)                                          \
	for (size_t i_ = 0; i_ < (count); i_++) {                                     \
		type v_;                                                              \
		memcpy(&v_, (const uint8_t *)(in) + i_ * sizeof(type), sizeof(type)); \
		(out)[i_] = (to)v_;                                                   \
	}

void shd_numbers_f32(const shd_numbers *n, const void *in, float *out, size_t blocks)
{
	const uint8_t *bytes = in;
	if (shd_blocks_known(n->dtype)) {
		shd_blocks_widen(n->dtype, in, out, blocks);
		return;
	}
	switch (n->dtype) {
	case SHERD_F32:
	case SHERD_C64: memcpy(out, in, blocks * n->bytes); break;
	case SHERD_F16: shd_halves_widen_f16(in, out, blocks); break;
	case SHERD_BF16: shd_halves_widen_bf16(in, out, blocks); break;
	case SHERD_U16: WIDEN_EACH(uint16_t, float, in, out, blocks) break;
	case SHERD_I16: WIDEN_EACH(int16_t, float, in, out, blocks) break;
	case SHERD_F4:
	case SHERD_F6_E2M3:
	case SHERD_F6_E3M2: unpack_f32(n, bytes, out, blocks); break;
	default:
		for (size_t i = 0; i < blocks; i++)
			out[i] = n->table[bytes[i]];
	}
}

void shd_numbers_f64(const shd_numbers *n, const void *in, double *out, size_t blocks)
{
	float some[1024];
	const uint8_t *bytes = in;
	size_t room = COUNT_OF(some) / n->per_block;
	switch (n->dtype) {
	case SHERD_F64: memcpy(out, in, blocks * sizeof(*out)); return;
	case SHERD_U32: WIDEN_EACH(uint32_t, double, in, out, blocks) return;
	case SHERD_I32: WIDEN_EACH(int32_t, double, in, out, blocks) return;
	case SHERD_U64: WIDEN_EACH(uint64_t, double, in, out, blocks) return;
	case SHERD_I64: WIDEN_EACH(int64_t, double, in, out, blocks) return;
	default: break;
	}
	for (size_t done = 0; done < blocks; done += room) {
		size_t now = blocks - done < room ? blocks - done : room;
		shd_numbers_f32(n, bytes + done * n->bytes, some, now);
		for (size_t i = 0; i < now * n->per_block; i++)
			out[done * n->per_block + i] = (double)some[i];
	}
}

void sherd_number_widen(double *out, sherd_dtype dtype, const void *in, size_t count)
{
	shd_numbers n;
	if (!sherd_number_known(dtype)) {
		for (size_t i = 0; i < count; i++)
			out[i] = NAN;
		return;
	}
	shd_numbers_init(&n, dtype);
	shd_numbers_f64(&n, in, out, count / sherd_dtype_describe(dtype)->block_elements);
}
