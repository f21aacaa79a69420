#include "base/value.h"

#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A number of up to 16 bits: sign, exponent, mantissa, as wide as told. finite: there are no infinities, and the one
 * NaN has all bits set (F8_E4M3 of the Open Compute Project). */
static float narrow(uint32_t bits, int exponent_bits, int mantissa_bits, bool finite)
{
	uint32_t mantissa = bits & ((1u << mantissa_bits) - 1), all = (1u << exponent_bits) - 1;
	uint32_t exponent = bits >> mantissa_bits & all;
	int bias = (1 << (exponent_bits - 1)) - 1;
	float sign = bits >> (exponent_bits + mantissa_bits) & 1 ? -1.0f : 1.0f;
	if (finite && exponent == all && mantissa == (1u << mantissa_bits) - 1)
		return NAN;
	if (!finite && exponent == all)
		return mantissa ? NAN : sign * INFINITY;
	if (!exponent)
		return sign * ldexpf((float)mantissa, 1 - bias - mantissa_bits);
	return sign * ldexpf((float)(mantissa | 1u << mantissa_bits), (int)exponent - bias - mantissa_bits);
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
	case SHERD_F16: return narrow((uint32_t)value_load(raw, 2), 5, 10, false);
	case SHERD_BF16: return load_bf16(raw);
	case SHERD_F8_E4M3: return narrow(raw[0], 4, 3, true);
	case SHERD_F8_E5M2: return narrow(raw[0], 5, 2, false);
	default: return load_f32(raw);
	}
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
	case SHERD_F8_E5M2: f32_json(load_f32_or_less(dtype, raw), doc); break;
	case SHERD_C64:
		cli_doc_open(doc, '[');
		f32_json(load_f32(raw), doc);
		f32_json(load_f32(raw + 4), doc);
		cli_doc_close(doc, ']');
		break;
	default: (void)cli_value_text(dtype, raw, text); cli_doc_raw(doc, text);
	}
}
