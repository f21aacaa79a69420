#include "xml.h"
#include "s3.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int hex_of(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
	                              : -1;
}

/* The five names that XML has, and numbers below 256. Returns how long the reference is, or 0. */
static size_t reference(const char *text, size_t len, char *out)
{
	static const char *const names[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (len >= strlen(names[i]) && memcmp(text, names[i], strlen(names[i])) == 0) {
			*out = "&<>\"'"[i];
			return strlen(names[i]);
		}
	if (len < 4 || text[1] != '#')
		return 0;
	char *end = NULL;
	unsigned long code = text[2] == 'x' ? strtoul(text + 3, &end, 16) : strtoul(text + 2, &end, 10);
	if (*end != ';' || code == 0 || code > 255 || end >= text + len)
		return 0;
	*out = (char)code;
	return (size_t)(end + 1 - text);
}

void shd_s3_xml_decode(shd_s3_text *out, const char *text, size_t len, bool encoded)
{
	shd_s3_text_clear(out);
	shd_s3_text_add(out, "", 0);
	for (size_t i = 0; i < len; i++) {
		char c = text[i];
		size_t used = c == '&' ? reference(text + i, len - i, &c) : 0;
		if (used)
			i += used - 1;
		else if (encoded && c == '+')
			c = ' ';
		else if (encoded && c == '%' && i + 2 < len && hex_of(text[i + 1]) >= 0 && hex_of(text[i + 2]) >= 0) {
			c = (char)(hex_of(text[i + 1]) * 16 + hex_of(text[i + 2]));
			i += 2;
		}
		shd_s3_text_add(out, &c, 1);
	}
}

bool shd_s3_xml_element(const char *from, const char *to, const char *name, const char **text, size_t *len)
{
	char opening[40], closing[40];
	(void)snprintf(opening, sizeof(opening), "<%s>", name);
	(void)snprintf(closing, sizeof(closing), "</%s>", name);
	const char *at = strstr(from, opening);
	const char *end = at && at < to ? strstr(at, closing) : NULL;
	if (!end || end > to)
		return false;
	*text = at + strlen(opening);
	*len = (size_t)(end - *text);
	return true;
}

int64_t shd_s3_xml_time(const char *text, size_t len)
{
	char copy[32];
	struct tm t = {0};
	if (len >= sizeof(copy))
		return 0;
	memcpy(copy, text, len);
	copy[len] = 0;
	return strptime(copy, "%Y-%m-%dT%H:%M:%S", &t) ? shd_s3_ns((int64_t)timegm(&t)) : 0;
}
