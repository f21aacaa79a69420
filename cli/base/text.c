#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static bool is_tail(const char *p)
{
	return (*p & 0xC0) == 0x80;
}

static uint32_t value(const char *p, size_t len)
{
	static const uint8_t mask[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
	uint32_t v = (uint8_t)p[0] & mask[len];
	for (size_t i = 1; i < len; i++)
		v = v << 6 | ((uint8_t)p[i] & 0x3F);
	return v;
}

size_t cli_text_char(const char *p, size_t len)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	uint8_t first = (uint8_t)p[0];
	size_t n = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
	if (!n || n > len)
		return 0;
	for (size_t i = 1; i < n; i++)
		if (!is_tail(p + i))
			return 0;
	uint32_t v = value(p, n);
	bool fits = v >= least[n] && v <= 0x10FFFF && !(v >= 0xD800 && v <= 0xDFFF);
	return fits ? n : 0;
}

static bool is_harmless(uint32_t v)
{
	if (v < 0x20 || (v >= 0x7F && v < 0xA0))
		return false;
	bool turns = (v >= 0x202A && v <= 0x202E) || (v >= 0x2066 && v <= 0x2069) || v == 0x200E || v == 0x200F;
	return !turns && v != 0x2028 && v != 0x2029;
}

size_t cli_text_safe(const char *p, size_t len, size_t *taken, char out[CLI_TEXT_SAFE])
{
	static const char named[] = "\n\t\r\\", letters[] = "ntr\\";
	size_t n = cli_text_char(p, len);
	const char *name = *p ? strchr(named, *p) : NULL;
	*taken = n ? n : 1;
	if (name) {
		out[0] = '\\';
		out[1] = letters[name - named];
		return 2;
	}
	if (n && is_harmless(value(p, n))) {
		memcpy(out, p, n);
		return n;
	}
	size_t used = 0;
	for (size_t i = 0; i < *taken; i++)
		used += (size_t)snprintf(out + used, CLI_TEXT_SAFE - used, "\\x%02x", (uint8_t)p[i]);
	return used;
}

size_t cli_text_escape(const char *p, size_t n, char out[CLI_TEXT_ESCAPE])
{
	uint32_t v = value(p, n);
	if (v < 0x20 || is_harmless(v))
		return 0;
	return (size_t)snprintf(out, CLI_TEXT_ESCAPE, "\\u%04x", v & 0xFFFF); /* none is above U+FFFF */
}

bool cli_text_time(const char *milliseconds, char out[CLI_TEXT_TIME])
{
	const int64_t most = INT64_C(253402300799999); /* the year 9999 */
	struct tm tm;
	char *end;
	long long ms = strtoll(milliseconds, &end, 10);
	time_t seconds = (time_t)(ms / 1000);
	if (*milliseconds < '0' || *milliseconds > '9' || *end || ms > most || !gmtime_r(&seconds, &tm))
		return false;
	size_t n = strftime(out, CLI_TEXT_TIME, "%Y-%m-%dT%H:%M:%S", &tm);
	(void)snprintf(out + n, CLI_TEXT_TIME - n, ms % 1000 ? ".%03dZ" : "Z", (int)(ms % 1000));
	return true;
}

size_t cli_text_width(const char *text)
{
	size_t width = 0;
	for (; *text; text++)
		width += !is_tail(text);
	return width;
}

const char *cli_text_plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

void cli_text_size(uint64_t bytes, char out[CLI_TEXT_SIZE])
{
	static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	if (bytes < 1024) {
		(void)snprintf(out, CLI_TEXT_SIZE, "%" PRIu64 " B", bytes);
		return;
	}
	double v = (double)bytes / 1024;
	size_t unit = 0;
	for (; v >= 1023.95 && unit < 5; unit++)
		v /= 1024;
	(void)snprintf(out, CLI_TEXT_SIZE, "%.1f %s", v, units[unit]);
}

void cli_text_count(uint64_t count, char out[CLI_TEXT_COUNT])
{
	static const char units[] = "KMBTQ";
	double v = (double)count / 1000;
	size_t unit = 0;
	if (count < 10000) {
		(void)snprintf(out, CLI_TEXT_COUNT, "%" PRIu64, count);
		return;
	}
	for (; v >= 999.5 && unit + 2 < sizeof(units); unit++)
		v /= 1000;
	(void)snprintf(out, CLI_TEXT_COUNT, "%.*f%c", v < 9.995 ? 2 : v < 99.95 ? 1 : 0, v, units[unit]);
}

static bool special(double v, char out[CLI_TEXT_NUMBER])
{
	if (isnan(v))
		(void)snprintf(out, CLI_TEXT_NUMBER, "nan");
	else if (isinf(v))
		(void)snprintf(out, CLI_TEXT_NUMBER, "%s", v < 0 ? "-inf" : "inf");
	else
		return false;
	return true;
}

/* The number with so many digits: plain where that is short, else with an exponent. */
static void put_digits(double v, int digits, char out[CLI_TEXT_NUMBER])
{
	(void)snprintf(out, CLI_TEXT_NUMBER, "%.*e", digits - 1, v);
	int exponent = (int)strtol(strchr(out, 'e') + 1, NULL, 10);
	if (exponent >= -4 && exponent < 16)
		(void)snprintf(out, CLI_TEXT_NUMBER, "%.*f", digits - 1 > exponent ? digits - 1 - exponent : 0, v);
	else
		(void)snprintf(out, CLI_TEXT_NUMBER, "%.*g", digits, v);
}

static bool comes_back(double v, int digits, bool single)
{
	char text[CLI_TEXT_NUMBER];
	(void)snprintf(text, sizeof(text), "%.*e", digits - 1, v);
	return single ? strtof(text, NULL) == (float)v : strtod(text, NULL) == v;
}

/* If some number of digits is enough, more are too. */
static void put_shortest(double v, int most, bool single, char out[CLI_TEXT_NUMBER])
{
	if (special(v, out))
		return;
	int least = 1;
	while (least < most) {
		int middle = (least + most) / 2;
		if (comes_back(v, middle, single))
			most = middle;
		else
			least = middle + 1;
	}
	put_digits(v, most, out);
}

void cli_text_f64(double v, char out[CLI_TEXT_NUMBER])
{
	put_shortest(v, 17, false, out);
}

void cli_text_f32(float v, char out[CLI_TEXT_NUMBER])
{
	put_shortest((double)v, 9, true, out);
}

void cli_text_join(char *out, size_t room, const char *between, const char *text)
{
	size_t used = strlen(out);
	(void)snprintf(out + used, room - used, "%s%s", used ? between : "", text);
}

bool cli_text_digits(const char *text, uint64_t *out, const char **end)
{
	char *rest;
	errno = 0;
	*out = strtoull(text, &rest, 10);
	*end = rest;
	return *text >= '0' && *text <= '9' && !errno;
}

bool cli_text_unicode(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
	const char *value = NULL;
	for (size_t i = 0; (!value || !*value) && i < sizeof(names) / sizeof(*names); i++)
		value = getenv(names[i]);
	return value && (strcasestr(value, "UTF-8") || strcasestr(value, "utf8"));
}
