/* format/ckpt/shard.h - the head of a shard. docs/formats/checkpoint.md, "Shard".
 *
 *	off     size  field
 *	0       4     magic 52 41 48 53 (0x53484152, little-endian)
 *	4       4     rank
 *	8       4     C, length of the checksum text: 64 or 71, or 0 when none is recorded
 *	12      C     lower-case hex SHA-256 of the data, or "blake3:" and hex BLAKE3
 *	12+C    4     number of tensors
 *	16+C    8     D, length of the data (4 bytes in the C# layout)
 *	24+C    D     data
 */
#pragma once

#include "base/buf.h"
#include "codec/sha256.h"

#include <sherd/ckpt.h>

#define SHD_CKPT_SHARD_MAGIC 0x53484152u
#define SHD_CKPT_CHECKSUM_MAX 1024 /* of a foreign checksum text */
/* The longest checksum text of ours, and a NUL. */
#define SHD_CKPT_DIGEST_TEXT (7 + SHD_SHA256_HEX + 1)
/* The longest head that can be. */
#define SHD_CKPT_HEAD_MAX (12 + SHD_CKPT_CHECKSUM_MAX + 4 + 8)
/* The head that we write, with SHA-256 and at most; and the boundary in the file at which we place tensors. */
#define SHD_CKPT_HEAD_SIZE 88
#define SHD_CKPT_HEAD_ROOM (24 + SHD_CKPT_DIGEST_TEXT - 1)
#define SHD_CKPT_ALIGN 64

typedef struct shd_ckpt_head {
	uint32_t rank;
	uint32_t tensors;
	shd_str checksum; /* within the bytes that were decoded */
	/* What the file would hold under either reading of the length. Offsets are in the file. */
	uint64_t data8_offset, data8_size;
	uint64_t data4_offset, data4_size;
	bool has8; /* false: the bytes at hand end within the 8-byte length */
} shd_ckpt_head;

/* Decodes from the first bytes of the file, as many as there are up to SHD_CKPT_HEAD_MAX. */
int shd_ckpt_head_decode(const uint8_t *raw, size_t len, shd_ckpt_head *out, sherd_error *err);

/* Which digest a checksum text is of. One that is not ours counts as SHA-256, which it then is not. */
sherd_digest shd_ckpt_digest_of(const char *checksum);
/* The checksum text of a digest's 32 bytes. */
void shd_ckpt_digest_text(sherd_digest digest, const uint8_t hash[SHD_SHA256_BYTES], char out[SHD_CKPT_DIGEST_TEXT]);
/* Bytes of the head that we write. */
uint32_t shd_ckpt_head_size(sherd_digest digest);

/* The head we write: shd_ckpt_head_size() bytes. checksum NULL: a SHA-256 that is filled in later. */
void shd_ckpt_head_encode(uint32_t rank, uint32_t tensors, uint64_t data_size, const char *checksum, uint8_t *out);
/* The C# layout, with its empty checksum. */
#define SHD_CKPT_CSHARP_HEAD_SIZE 20
void shd_ckpt_head_encode_csharp(uint32_t rank, uint32_t tensors, uint32_t data_size,
                                 uint8_t out[SHD_CKPT_CSHARP_HEAD_SIZE]);
