#include "codec/json_state.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static inline bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

/* At least one digit must stand at *p, which moves past all of them. */
static inline int scan_digits(const shd_json *j, const uint8_t **p, sherd_error *err)
{
	const uint8_t *q = *p;
	while (q < j->end && is_digit(*q))
		q++;
	if (q == *p)
		return q == j->end ? shd_json_fail_end(j, err)
		                   : shd_json_fail(j, q, "bad-number", err, "a digit must stand here");
	*p = q;
	return SHERD_OK;
}

int shd_json_scan_number(const shd_json *j, const uint8_t *p, const uint8_t **to, sherd_error *err)
{
	const uint8_t *q = p + (*p == '-'), *first = q;
	TRY(scan_digits(j, &q, err));
	if (*first == '0' && q - first > 1)
		return shd_json_fail(j, first + 1, "bad-number", err, "a number with a leading zero");
	if (q < j->end && *q == '.') {
		q++;
		TRY(scan_digits(j, &q, err));
	}
	if (q < j->end && (*q == 'e' || *q == 'E')) {
		q++;
		q += q < j->end && (*q == '+' || *q == '-');
		TRY(scan_digits(j, &q, err));
	}
	if ((size_t)(q - p) > j->number_limit)
		return shd_fail_at(err, SHERD_ELIMIT, "too-long", (uint64_t)(p - j->data),
		                   "a number of %zu bytes, more than %u", (size_t)(q - p), j->number_limit);
	*to = q;
	return SHERD_OK;
}

static int out_of_range(const shd_json *j, const char *what, sherd_error *err)
{
	return shd_json_fail(j, j->at, "bad-number", err, "not %s", what);
}

/* Plain digits after an optional minus, below 2^128. */
static bool whole(shd_str text, bool *negative, unsigned __int128 *out)
{
	unsigned __int128 v = 0;
	size_t i = text.ptr[0] == '-';
	*negative = i;
	for (; i < text.len; i++) {
		if (!is_digit((uint8_t)text.ptr[i]) || __builtin_mul_overflow(v, (unsigned __int128)10, &v) ||
		    __builtin_add_overflow(v, (unsigned __int128)(text.ptr[i] - '0'), &v))
			return false;
	}
	*out = v;
	return true;
}

static int take_unsigned(shd_json *j, unsigned __int128 max, const char *what, unsigned __int128 *out, sherd_error *err)
{
	shd_str text;
	bool negative;
	unsigned __int128 v;
	TRY(shd_json_number(j, &text, err));
	if (!whole(text, &negative, &v) || negative || v > max)
		return out_of_range(j, what, err);
	*out = v;
	return SHERD_OK;
}

int shd_json_u32(shd_json *j, uint32_t *out, sherd_error *err)
{
	unsigned __int128 v;
	TRY(take_unsigned(j, UINT32_MAX, "a whole number below 2^32", &v, err));
	*out = (uint32_t)v;
	return SHERD_OK;
}

int shd_json_u64(shd_json *j, uint64_t *out, sherd_error *err)
{
	unsigned __int128 v;
	TRY(take_unsigned(j, UINT64_MAX, "a whole number below 2^64", &v, err));
	*out = (uint64_t)v;
	return SHERD_OK;
}

int shd_json_u128(shd_json *j, unsigned __int128 *out, sherd_error *err)
{
	return take_unsigned(j, ~(unsigned __int128)0, "a whole number below 2^128", out, err);
}

int shd_json_i64(shd_json *j, int64_t *out, sherd_error *err)
{
	shd_str text;
	bool negative;
	unsigned __int128 v;
	TRY(shd_json_number(j, &text, err));
	if (!whole(text, &negative, &v) || v > (unsigned __int128)INT64_MAX + negative)
		return out_of_range(j, "a whole number of 64 bits", err);
	*out = (int64_t)(negative ? -(uint64_t)v : (uint64_t)v);
	return SHERD_OK;
}

int shd_json_double(shd_json *j, double *out, sherd_error *err)
{
	shd_str text;
	double v;
	TRY(shd_json_number(j, &text, err));
	j->text.len = 0;
	shd_buf_append(&j->text, text.ptr, text.len);
	shd_buf_u8(&j->text, 0);
	if (j->text.failed || !shd_double_parse((const char *)j->text.data, &v))
		return shd_fail_nomem(err);
	if (!isfinite(v))
		return out_of_range(j, "a number that a double can hold", err);
	*out = v;
	return SHERD_OK;
}

/* The C library keeps the "C" locale ready, so that asking for it is cheap. */
static locale_t plain_locale(void)
{
	return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

bool shd_double_parse(const char *text, double *out)
{
	locale_t plain = plain_locale();
	if (!plain)
		return false;
	*out = strtod_l(text, NULL, plain);
	freelocale(plain);
	return true;
}

bool shd_double_format(double v, char out[SHD_DOUBLE_TEXT])
{
	locale_t plain = plain_locale();
	if (!plain)
		return false;
	/* 15 digits survive a double, and %g drops the zeros after; only below the normal range are there fewer. */
	locale_t before = uselocale(plain);
	for (int digits = fabs(v) < DBL_MIN ? 1 : 15; digits <= 17; digits++) {
		(void)snprintf(out, SHD_DOUBLE_TEXT, "%.*g", digits, v);
		if (strtod_l(out, NULL, plain) == v)
			break;
	}
	(void)uselocale(before);
	freelocale(plain);
	return true;
}
