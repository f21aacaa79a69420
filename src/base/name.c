#include <sherd/name.h>

#include <stddef.h>
#include <string.h>

static bool name_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Bytes of the character that text begins with; what is no UTF-8 is taken byte by byte. */
static size_t character_bytes(const char *text)
{
	size_t n = 1;
	if ((text[0] & 0xc0) != 0xc0)
		return 1;
	while ((text[n] & 0xc0) == 0x80)
		n++;
	return n;
}

/* Characters of UTF-8 have the order of their bytes. */
static int compare_characters(const char *a, size_t a_len, const char *b, size_t b_len)
{
	int order = memcmp(a, b, a_len < b_len ? a_len : b_len);
	return order ? order : (a_len > b_len) - (a_len < b_len);
}

/* One character of a list, or of a pattern: a backslash takes the next one as it is. */
static const char *plain_character(const char *at, size_t *len)
{
	at += at[0] == '\\' && at[1];
	*len = character_bytes(at);
	return at;
}

/* The end of the list that begins behind a '[', at its ']'; NULL when it has none. A ']' that comes first is one of the
 * list. */
static const char *list_end(const char *list)
{
	const char *at = list + (*list == '!');
	for (size_t i = 0, len; *at; i++, at += len) {
		if (*at == ']' && i)
			return at;
		at = plain_character(at, &len);
		if (!*at)
			return NULL;
	}
	return NULL;
}

/* Is the character in the list, which ends before end? */
static bool in_list(const char *c, size_t c_len, const char *list, const char *end)
{
	bool inverted = *list == '!', found = false;
	for (const char *at = list + inverted; at < end;) {
		size_t from_len, to_len;
		const char *from = plain_character(at, &from_len), *to = from;
		to_len = from_len;
		at = from + from_len;
		if (at + 1 < end && *at == '-') {
			to = plain_character(at + 1, &to_len);
			at = to + to_len;
		}
		found |= compare_characters(from, from_len, c, c_len) <= 0 &&
		         compare_characters(c, c_len, to, to_len) <= 0;
	}
	return found != inverted;
}

/* Does the first character of the name fit the first item of the pattern, which is no '*'? Moves both on. */
static bool take_item(const char **name, const char **pattern)
{
	const char *n = *name, *p = *pattern, *end = *p == '[' ? list_end(p + 1) : NULL;
	size_t n_len = character_bytes(n), p_len;
	if (!*p || !*n)
		return false;
	*name = n + n_len;
	if (*p == '?') {
		*pattern = p + 1;
		return true;
	}
	if (end) {
		*pattern = end + 1;
		return in_list(n, n_len, p + 1, end);
	}
	p = plain_character(p, &p_len);
	*pattern = p + p_len;
	return compare_characters(n, n_len, p, p_len) == 0;
}

/* Only the last '*' is ever tried again: what an earlier one could take more, it can take itself. */
bool sherd_name_matches(const char *name, const char *pattern)
{
	const char *p = pattern, *n = name, *star = NULL, *resume = NULL;
	while (*n) {
		if (*p == '*') {
			star = ++p;
			resume = n;
		} else if (!take_item(&n, &p)) {
			if (!star)
				return strcmp(name, pattern) == 0;
			resume += character_bytes(resume);
			n = resume;
			p = star;
		}
	}
	while (*p == '*')
		p++;
	return !*p || strcmp(name, pattern) == 0;
}

/* Digits of equal length compare as numbers do. */
static int compare_numbers(const char **left, const char **right)
{
	const char *a = *left, *b = *right;
	while (*a == '0')
		a++;
	while (*b == '0')
		b++;
	size_t a_len = 0, b_len = 0;
	while (name_is_digit(a[a_len]))
		a_len++;
	while (name_is_digit(b[b_len]))
		b_len++;
	*left = a + a_len;
	*right = b + b_len;
	if (a_len != b_len)
		return a_len < b_len ? -1 : 1;
	return memcmp(a, b, a_len);
}

int sherd_name_compare(const char *left, const char *right)
{
	const char *a = left, *b = right;
	while (*a && *b) {
		if (name_is_digit(*a) && name_is_digit(*b)) {
			int order = compare_numbers(&a, &b);
			if (order)
				return order;
		} else if (*a != *b) {
			break;
		} else {
			a++;
			b++;
		}
	}
	int order = (unsigned char)*a - (unsigned char)*b;
	return order ? order : strcmp(left, right); /* they differ by leading zeros alone, or not at all */
}
