#include "base/value.h"

#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* How a number of up to 16 bits is made of sign, exponent and mantissa, and which bits are no number. */
typedef struct narrow_form {
	int exponent_bits, mantissa_bits, bias;
	enum {
		IEEE,      /* the highest exponent is infinity, or NaN */
		ONE_NAN,   /* no infinities, and NaN is all bits set but the sign */
		MINUS_NAN, /* no infinities, and NaN is minus zero */
		NO_NAN
	} rule;
} narrow_form;

static const narrow_form forms[SHERD_DTYPE_COUNT] = {
	[SHERD_F16] = {5, 10, 15, IEEE},
	[SHERD_F8_E4M3] = {4, 3, 7, ONE_NAN},
	[SHERD_F8_E5M2] = {5, 2, 15, IEEE},
	[SHERD_F8_E4M3FNUZ] = {4, 3, 8, MINUS_NAN},
	[SHERD_F8_E5M2FNUZ] = {5, 2, 16, MINUS_NAN},
	[SHERD_F6_E2M3] = {2, 3, 1, NO_NAN},
	[SHERD_F6_E3M2] = {3, 2, 3, NO_NAN},
	[SHERD_F4] = {2, 1, 1, NO_NAN},
};

static float narrow(uint32_t bits, const narrow_form *form)
{
	uint32_t mantissa = bits & ((1u << form->mantissa_bits) - 1), all = (1u << form->exponent_bits) - 1;
	uint32_t exponent = bits >> form->mantissa_bits & all;
	bool minus = bits >> (form->exponent_bits + form->mantissa_bits) & 1;
	float sign = minus ? -1.0f : 1.0f;
	if (form->rule == ONE_NAN && exponent == all && mantissa == (1u << form->mantissa_bits) - 1)
		return NAN;
	if (form->rule == MINUS_NAN && minus && !exponent && !mantissa)
		return NAN;
	if (form->rule == IEEE && exponent == all)
		return mantissa ? NAN : sign * INFINITY;
	if (!exponent)
		return sign * ldexpf((float)mantissa, 1 - form->bias - form->mantissa_bits);
	return sign *
	       ldexpf((float)(mantissa | 1u << form->mantissa_bits), (int)exponent - form->bias - form->mantissa_bits);
}

static uint64_t value_load(const uint8_t *raw, size_t bytes)
{
	uint64_t v = 0;
	for (size_t i = bytes; i-- > 0;)
		v = v << 8 | raw[i];
	return v;
}

static float load_f32(const uint8_t *raw)
{
	uint32_t bits = (uint32_t)value_load(raw, 4);
	float v;
	memcpy(&v, &bits, sizeof(v));
	return v;
}

static double load_f64(const uint8_t *raw)
{
	uint64_t bits = value_load(raw, 8);
	double v;
	memcpy(&v, &bits, sizeof(v));
	return v;
}

static float load_bf16(const uint8_t *raw)
{
	uint32_t bits = (uint32_t)value_load(raw, 2) << 16;
	float v;
	memcpy(&v, &bits, sizeof(v));
	return v;
}

static float load_f32_or_less(sherd_dtype dtype, const uint8_t *raw)
{
	switch (dtype) {
	case SHERD_F32: return load_f32(raw);
	case SHERD_BF16: return load_bf16(raw);
	case SHERD_F8_E8M0: return raw[0] == UINT8_MAX ? NAN : ldexpf(1, raw[0] - 127);
	default: return narrow((uint32_t)value_load(raw, dtype == SHERD_F16 ? 2 : 1), &forms[dtype]);
	}
}

uint8_t cli_value_unpack(const sherd_dtype_info *type, const uint8_t *block, uint32_t element)
{
	uint32_t bits = 8 * type->block_bytes / type->block_elements;
	return (uint8_t)(value_load(block, type->block_bytes) >> element * bits & ((1u << bits) - 1));
}

static size_t complex_text(const uint8_t *raw, char out[CLI_VALUE_TEXT])
{
	char real[CLI_TEXT_NUMBER], imaginary[CLI_TEXT_NUMBER];
	cli_text_f32(load_f32(raw), real);
	cli_text_f32(load_f32(raw + 4), imaginary);
	return (size_t)snprintf(out, CLI_VALUE_TEXT, "%s%s%sj", real, imaginary[0] == '-' ? "" : "+", imaginary);
}

size_t cli_value_text(sherd_dtype dtype, const uint8_t *raw, char out[CLI_VALUE_TEXT])
{
	switch (dtype) {
	case SHERD_BOOL: return (size_t)snprintf(out, CLI_VALUE_TEXT, "%s", *raw ? "true" : "false");
	case SHERD_U8: return (size_t)snprintf(out, CLI_VALUE_TEXT, "%u", *raw);
	case SHERD_I8: return (size_t)snprintf(out, CLI_VALUE_TEXT, "%d", (int8_t)*raw);
	case SHERD_U16:
	case SHERD_U32:
	case SHERD_U64:
		return (size_t)snprintf(out, CLI_VALUE_TEXT, "%" PRIu64,
		                        value_load(raw, sherd_dtype_element_bytes(dtype)));
	case SHERD_I16: return (size_t)snprintf(out, CLI_VALUE_TEXT, "%d", (int16_t)value_load(raw, 2));
	case SHERD_I32: return (size_t)snprintf(out, CLI_VALUE_TEXT, "%" PRId32, (int32_t)value_load(raw, 4));
	case SHERD_I64: return (size_t)snprintf(out, CLI_VALUE_TEXT, "%" PRId64, (int64_t)value_load(raw, 8));
	case SHERD_F64: cli_text_f64(load_f64(raw), out); return strlen(out);
	case SHERD_C64: return complex_text(raw, out);
	default: cli_text_f32(load_f32_or_less(dtype, raw), out); return strlen(out);
	}
}

static void f32_json(float v, cli_doc *doc)
{
	char text[CLI_TEXT_NUMBER];
	cli_text_f32(v, text);
	if (isfinite(v))
		cli_doc_raw(doc, text);
	else
		cli_doc_text(doc, text);
}

void cli_value_json(sherd_dtype dtype, const uint8_t *raw, cli_doc *doc)
{
	char text[CLI_VALUE_TEXT];
	switch (dtype) {
	case SHERD_F64: cli_doc_f64(doc, load_f64(raw)); break;
	case SHERD_F32:
	case SHERD_F16:
	case SHERD_BF16:
	case SHERD_F8_E4M3:
	case SHERD_F8_E5M2:
	case SHERD_F8_E8M0:
	case SHERD_F8_E4M3FNUZ:
	case SHERD_F8_E5M2FNUZ:
	case SHERD_F4:
	case SHERD_F6_E2M3:
	case SHERD_F6_E3M2: f32_json(load_f32_or_less(dtype, raw), doc); break;
	case SHERD_C64:
		cli_doc_open(doc, '[');
		f32_json(load_f32(raw), doc);
		f32_json(load_f32(raw + 4), doc);
		cli_doc_close(doc, ']');
		break;
	default: (void)cli_value_text(dtype, raw, text); cli_doc_raw(doc, text);
	}
}
