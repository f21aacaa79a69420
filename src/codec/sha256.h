/* codec/sha256.h - SHA-256, by libcrypto; and hexadecimal text. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHD_SHA256_BYTES 32
#define SHD_SHA256_HEX 64

/* Plain memory: needs no closing, cannot fail. */
typedef struct shd_sha256 {
	uint64_t state[16]; /* room for libcrypto's own */
} shd_sha256;

void shd_sha256_init(shd_sha256 *h);
void shd_sha256_add(shd_sha256 *h, const void *data, size_t len);
/* The hash of all that was added; h must be initialised again before it is used again. */
void shd_sha256_finish(shd_sha256 *h, uint8_t out[SHD_SHA256_BYTES]);
void shd_sha256_of(const void *data, size_t len, uint8_t out[SHD_SHA256_BYTES]);

/* Lower-case, 2*len digits and a NUL. */
void shd_hex(const void *data, size_t len, char *out);
/* Exactly 2*len lower-case digits, else false. */
bool shd_unhex(const char *text, size_t text_len, void *out, size_t len);
