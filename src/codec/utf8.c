#include "codec/utf8.h"

#include "codec/json.h"

bool shd_utf8_cut_off(const uint8_t *p, size_t left)
{
	/* Whatever the first tail byte may be, its lowest and highest allowed values are among these. */
	static const uint8_t first_tails[] = {0x80, 0x90, 0xa0, 0xbf};
	if (!left || left > 3)
		return false;
	uint8_t whole[4] = {p[0], 0x80, 0x80, 0x80};
	for (size_t i = 1; i < left; i++)
		whole[i] = p[i];
	for (size_t i = 0; i < sizeof(first_tails); i++) {
		if (left == 1)
			whole[1] = first_tails[i];
		if (utf8_sequence(whole, 4) > left)
			return true;
	}
	return false;
}

static uint64_t utf8_load(const uint8_t *p)
{
	uint64_t word;
	memcpy(&word, p, sizeof(word));
	return word;
}

/* Most texts are, and are done with after a few words; the last one overlaps the one before. */
static bool is_ascii(const uint8_t *p, size_t len)
{
	uint64_t all = 0;
	if (len < sizeof(all)) {
		for (size_t i = 0; i < len; i++)
			all |= p[i];
		return !(all & 0x80);
	}
	for (size_t i = 0; i < len - sizeof(all); i += sizeof(all))
		all |= utf8_load(p + i);
	all |= utf8_load(p + len - sizeof(all));
	return !(all & 0x8080808080808080u);
}

bool shd_utf8_valid(const void *data, size_t len, size_t *bad)
{
	const uint8_t *p = data;
	if (is_ascii(p, len))
		return true;
	for (size_t i = 0; i < len;) {
		if (len - i >= sizeof(uint64_t) && !(utf8_load(p + i) & 0x8080808080808080u)) {
			i += sizeof(uint64_t);
			continue;
		}
		size_t n = p[i] < 0x80 ? 1 : utf8_sequence(p + i, len - i);
		if (!n) {
			*bad = i;
			return false;
		}
		i += n;
	}
	return true;
}
