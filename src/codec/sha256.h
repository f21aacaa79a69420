/* codec/sha256.h - SHA-256, by libcrypto; and hexadecimal text. */
#ifndef SHERD_CODEC_SHA256_H
#define SHERD_CODEC_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHERD_SHA256_BYTES 32
#define SHERD_SHA256_HEX 64

/* Plain memory: needs no closing, cannot fail. */
typedef struct sherd_sha256 {
	uint64_t state[16]; /* room for libcrypto's own */
} sherd_sha256;

void sherd_sha256_init(sherd_sha256 *h);
void sherd_sha256_add(sherd_sha256 *h, const void *data, size_t len);
/* The hash of all that was added; h must be initialised again before it is used again. */
void sherd_sha256_finish(sherd_sha256 *h, uint8_t out[SHERD_SHA256_BYTES]);
void sherd_sha256_of(const void *data, size_t len, uint8_t out[SHERD_SHA256_BYTES]);

/* Lower-case, 2*len digits and a NUL. */
void sherd_hex(const void *data, size_t len, char *out);
/* Exactly 2*len lower-case digits, else false. */
bool sherd_unhex(const char *text, size_t text_len, void *out, size_t len);

#endif
