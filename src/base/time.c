#include "base/time.h"

#include <stdio.h>

#define NS_PER_SECOND 1000000000

/* Days since 1970-01-01 of a date of the proleptic Gregorian calendar, and back; years count from March so
 * that the leap day is the last of a year, and 400 years are always 146097 days. */
static int64_t days_of(int64_t y, int64_t m, int64_t d)
{
	y -= m <= 2;
	int64_t era = (y >= 0 ? y : y - 399) / 400, yoe = y - era * 400;
	int64_t doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
	return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

static void date_of(int64_t days, int64_t *y, int64_t *m, int64_t *d)
{
	days += 719468;
	int64_t era = (days >= 0 ? days : days - 146096) / 146097, doe = days - era * 146097;
	int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
	*d = doy - (153 * mp + 2) / 5 + 1;
	*m = mp + (mp < 10 ? 3 : -9);
	*y = yoe + era * 400 + (*m <= 2);
}

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

void shd_time_format(int64_t ns, char out[SHD_TIME_TEXT])
{
	int64_t seconds = floor_div(ns, NS_PER_SECOND), frac = ns % NS_PER_SECOND;
	int64_t days = floor_div(seconds, 86400), rest = seconds - days * 86400, y, m, d;
	frac += frac < 0 ? NS_PER_SECOND : 0;
	date_of(days, &y, &m, &d);
	out[0] = 0;
	if (y < 0 || y > 9999)
		return;
	int n = snprintf(out, SHD_TIME_TEXT, "%04d-%02d-%02dT%02d:%02d:%02d", (int)y, (int)m, (int)d,
	                 (int)(rest / 3600), (int)(rest / 60 % 60), (int)(rest % 60));
	if (frac) {
		n += snprintf(out + n, (size_t)(SHD_TIME_TEXT - n), ".%09d", (int)frac);
		while (out[n - 1] == '0')
			n--;
	}
	out[n] = 'Z';
	out[n + 1] = 0;
}

static int64_t days_in_month(int64_t y, int64_t m)
{
	return days_of(y + m / 12, m % 12 + 1, 1) - days_of(y, m, 1);
}

typedef struct scan {
	const char *p, *end;
	bool ok;
} scan;

static int64_t digits(scan *s, int count)
{
	int64_t v = 0;
	for (; count > 0 && s->ok; count--) {
		s->ok = s->p < s->end && *s->p >= '0' && *s->p <= '9';
		if (s->ok)
			v = v * 10 + (*s->p++ - '0');
	}
	return v;
}

static void expect(scan *s, char c)
{
	s->ok = s->ok && s->p < s->end && *s->p == c;
	s->p += s->ok;
}

static int64_t decimals(scan *s)
{
	int64_t v = 0, unit = NS_PER_SECOND / 10;
	if (s->p == s->end || *s->p != '.')
		return 0;
	s->p++;
	s->ok = s->ok && s->p < s->end && *s->p >= '0' && *s->p <= '9';
	for (; s->p < s->end && *s->p >= '0' && *s->p <= '9'; s->p++, unit /= 10)
		v += (*s->p - '0') * unit;
	return v;
}

static int64_t zone_seconds(scan *s)
{
	if (s->p < s->end && (*s->p == '+' || *s->p == '-')) {
		int sign = *s->p++ == '-' ? -1 : 1;
		int64_t h = digits(s, 2);
		expect(s, ':');
		int64_t m = digits(s, 2);
		s->ok = s->ok && h < 24 && m < 60;
		return sign * (h * 3600 + m * 60);
	}
	expect(s, 'Z');
	return 0;
}

bool shd_time_parse(shd_str text, int64_t *ns)
{
	scan s = {text.ptr, text.ptr + text.len, true};
	int64_t y = digits(&s, 4);
	expect(&s, '-');
	int64_t mo = digits(&s, 2);
	expect(&s, '-');
	int64_t d = digits(&s, 2);
	expect(&s, 'T');
	int64_t h = digits(&s, 2);
	expect(&s, ':');
	int64_t mi = digits(&s, 2);
	expect(&s, ':');
	int64_t sec = digits(&s, 2);
	int64_t frac = decimals(&s);
	int64_t zone = zone_seconds(&s);
	if (!s.ok || s.p != s.end || mo < 1 || mo > 12 || d < 1 || d > days_in_month(y, mo) || h > 23 || mi > 59 ||
	    sec > 60)
		return false;
	int64_t seconds = days_of(y, mo, d) * 86400 + h * 3600 + mi * 60 + sec - zone;
	/* The first second of all begins before the first nanosecond that can be counted. */
	__int128 total = (__int128)seconds * NS_PER_SECOND + frac;
	if (total < INT64_MIN || total > INT64_MAX)
		return false;
	*ns = (int64_t)total;
	return true;
}
