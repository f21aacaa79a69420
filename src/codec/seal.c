#include "codec/seal.h"

#include "codec/json_scan.h"
#include "codec/sha256.h"

/* The end of a sealed document: a comma or the opening brace, LEAD, KEY, the digits, TAIL. */
static const char LEAD[] = "\n  ", KEY[] = "\"sha256\": \"", TAIL[] = "\"\n}";

enum {
	LEAD_LEN = sizeof(LEAD) - 1,
	KEY_LEN = sizeof(KEY) - 1,
	TAIL_LEN = sizeof(TAIL) - 1,
	HEX_AT = LEAD_LEN + KEY_LEN,
	TAIL_AT = HEX_AT + SHD_SHA256_HEX,
	END_LEN = TAIL_AT + TAIL_LEN,
	/* So many bytes of an end may be wrong and it is still one that was damaged, not one that never was. */
	FEW_WRONG = 2
};

static size_t count_wrong(const uint8_t *p, const char *want, size_t len)
{
	size_t wrong = 0;
	for (size_t i = 0; i < len; i++)
		wrong += p[i] != (uint8_t)want[i];
	return wrong;
}

static size_t count_not_hex(const uint8_t *p)
{
	size_t wrong = 0;
	for (size_t i = 0; i < SHD_SHA256_HEX; i++)
		wrong += !((p[i] >= '0' && p[i] <= '9') || (p[i] >= 'a' && p[i] <= 'f'));
	return wrong;
}

/* How many of these END_LEN bytes contradict the form; the digits may be any. */
static size_t count_misshapen(const uint8_t *end)
{
	return count_wrong(end, LEAD, LEAD_LEN) + count_wrong(end + LEAD_LEN, KEY, KEY_LEN) +
	       count_not_hex(end + HEX_AT) + count_wrong(end + TAIL_AT, TAIL, TAIL_LEN);
}

static bool hash_is_right(const uint8_t *data, const uint8_t *end)
{
	uint8_t want[SHD_SHA256_BYTES], got[SHD_SHA256_BYTES];
	shd_sha256_of(data, (size_t)(end + LEAD_LEN - data), got);
	return shd_unhex((const char *)end + HEX_AT, SHD_SHA256_HEX, want, sizeof(want)) &&
	       memcmp(want, got, sizeof(got)) == 0;
}

shd_seal shd_seal_check(const void *data, size_t len)
{
	const uint8_t *p = data;
	size_t kept = len;
	/* White space that an editor added breaks the seal, but does not hide it. */
	while (kept && json_is_space(p[kept - 1]))
		kept--;
	if (kept < END_LEN + 1)
		return SHD_SEAL_ABSENT;
	const uint8_t *end = p + kept - END_LEN;
	size_t misshapen = count_misshapen(end);
	if (misshapen > FEW_WRONG)
		return SHD_SEAL_ABSENT;
	bool exact = !misshapen && kept == len && (end[-1] == ',' || end[-1] == '{');
	return exact && hash_is_right(p, end) ? SHD_SEAL_GOOD : SHD_SEAL_BROKEN;
}

void shd_seal_put(shd_json_writer *w)
{
	uint8_t hash[SHD_SHA256_BYTES];
	char hex[SHD_SHA256_HEX + 1];
	size_t before = w->buf->len;
	shd_json_put_key(w, "sha256");
	/* What the key brought with it before its quote, a comma and a new line, is part of what is hashed. */
	size_t key_len = KEY_LEN - 1;
	if (w->buf->failed || w->buf->len < before + key_len)
		return;
	shd_sha256_of(w->buf->data, w->buf->len - key_len, hash);
	shd_hex(hash, sizeof(hash), hex);
	shd_json_put_string(w, (shd_str){hex, SHD_SHA256_HEX});
	shd_json_put_object_end(w);
}

void shd_seal_again(void *data, size_t len)
{
	uint8_t hash[SHD_SHA256_BYTES], *end = (uint8_t *)data + len - END_LEN;
	char hex[SHD_SHA256_HEX + 1];
	shd_sha256_of(data, (size_t)(end + LEAD_LEN - (uint8_t *)data), hash);
	shd_hex(hash, sizeof(hash), hex);
	memcpy(end + HEX_AT, hex, SHD_SHA256_HEX);
}
