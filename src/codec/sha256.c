/* The low-level functions of libcrypto: they work in the caller's memory and cannot fail, which the EVP ones
 * (an allocation and a fetch for each hash) do not offer. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "codec/sha256.h"

#include <openssl/sha.h>

#include <stdalign.h>

_Static_assert(sizeof(SHA256_CTX) <= sizeof(shd_sha256), "libcrypto's state fits into ours");
_Static_assert(alignof(SHA256_CTX) <= alignof(shd_sha256), "and may stand where ours does");

void shd_sha256_init(shd_sha256 *h)
{
	(void)SHA256_Init((SHA256_CTX *)h->state);
}

void shd_sha256_add(shd_sha256 *h, const void *data, size_t len)
{
	if (len)
		(void)SHA256_Update((SHA256_CTX *)h->state, data, len);
}

void shd_sha256_finish(shd_sha256 *h, uint8_t out[SHD_SHA256_BYTES])
{
	(void)SHA256_Final(out, (SHA256_CTX *)h->state);
}

void shd_sha256_of(const void *data, size_t len, uint8_t out[SHD_SHA256_BYTES])
{
	shd_sha256 h;
	shd_sha256_init(&h);
	shd_sha256_add(&h, data, len);
	shd_sha256_finish(&h, out);
}

void shd_hex(const void *data, size_t len, char *out)
{
	static const char digits[] = "0123456789abcdef";
	const uint8_t *p = data;
	for (size_t i = 0; i < len; i++) {
		out[2 * i] = digits[p[i] >> 4];
		out[2 * i + 1] = digits[p[i] & 15];
	}
	out[2 * len] = 0;
}

/* 16 when it is none. */
static unsigned digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 16;
}

bool shd_unhex(const char *text, size_t text_len, void *out, size_t len)
{
	uint8_t *to = out;
	if (text_len % 2 || text_len / 2 != len)
		return false;
	for (size_t i = 0; i < text_len; i++)
		if (digit_of(text[i]) > 15)
			return false;
	for (size_t i = 0; i < len; i++)
		to[i] = (uint8_t)(digit_of(text[2 * i]) << 4 | digit_of(text[2 * i + 1]));
	return true;
}
