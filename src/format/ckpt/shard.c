#include "format/ckpt/shard.h"

#include "base/cursor.h"

#include <inttypes.h>

static int check_fields(uint32_t rank, uint32_t checksum_len, sherd_error *err)
{
	if (rank > INT32_MAX)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-rank", 4, "rank %" PRIu32 " is no rank", rank);
	if (checksum_len > SHD_CKPT_CHECKSUM_MAX)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-checksum", 8, "checksum text of %" PRIu32 " bytes",
		                   checksum_len);
	return SHERD_OK;
}

int shd_ckpt_head_decode(const uint8_t *raw, size_t len, shd_ckpt_head *out, sherd_error *err)
{
	shd_cursor c = shd_cursor_over(raw, len);
	shd_ckpt_head head = {0};
	uint32_t magic = shd_cursor_u32(&c);
	head.rank = shd_cursor_u32(&c);
	uint32_t checksum_len = shd_cursor_u32(&c);
	if (len >= 4 && magic != SHD_CKPT_SHARD_MAGIC)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-magic", 0, "no shard: magic is %08" PRIx32 ", not %08x",
		                   magic, SHD_CKPT_SHARD_MAGIC);
	TRY(shd_cursor_check(&c, "shard head", err));
	TRY(check_fields(head.rank, checksum_len, err));
	head.checksum = (shd_str){(const char *)shd_cursor_bytes(&c, checksum_len), checksum_len};
	head.tensors = shd_cursor_u32(&c);
	head.data4_size = shd_cursor_u32(&c);
	TRY(shd_cursor_check(&c, "shard head", err));
	head.data4_offset = c.pos;
	head.data8_size = head.data4_size | (uint64_t)shd_cursor_u32(&c) << 32;
	head.has8 = !c.failed;
	head.data8_offset = head.data4_offset + 4;
	if (head.tensors > INT32_MAX)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-count", 12 + (uint64_t)checksum_len,
		                   "%" PRIu32 " tensors are too many", head.tensors);
	*out = head;
	return SHERD_OK;
}

static const char blake3_word[] = "blake3:";
enum { BLAKE3_WORD = sizeof(blake3_word) - 1 };

sherd_digest shd_ckpt_digest_of(const char *checksum)
{
	return strncmp(checksum, blake3_word, BLAKE3_WORD) == 0 ? SHERD_DIGEST_BLAKE3 : SHERD_DIGEST_SHA256;
}

void shd_ckpt_digest_text(sherd_digest digest, const uint8_t hash[SHD_SHA256_BYTES], char out[SHD_CKPT_DIGEST_TEXT])
{
	size_t word = digest == SHERD_DIGEST_BLAKE3 ? BLAKE3_WORD : 0;
	memcpy(out, blake3_word, word);
	shd_hex(hash, SHD_SHA256_BYTES, out + word);
}

uint32_t shd_ckpt_head_size(sherd_digest digest)
{
	return SHD_CKPT_HEAD_SIZE + (digest == SHERD_DIGEST_BLAKE3 ? (uint32_t)BLAKE3_WORD : 0);
}

void shd_ckpt_head_encode(uint32_t rank, uint32_t tensors, uint64_t data_size, const char *checksum, uint8_t *out)
{
	uint32_t len = checksum ? (uint32_t)strlen(checksum) : SHD_SHA256_HEX;
	shd_put_u32(out, SHD_CKPT_SHARD_MAGIC);
	shd_put_u32(out + 4, rank);
	shd_put_u32(out + 8, len);
	if (checksum)
		memcpy(out + 12, checksum, len); /* NOLINT(bugprone-not-null-terminated-result): its length is told */
	else
		memset(out + 12, '0', len);
	shd_put_u32(out + 12 + len, tensors);
	shd_put_u64(out + 16 + len, data_size);
}

void shd_ckpt_head_encode_csharp(uint32_t rank, uint32_t tensors, uint32_t data_size,
                                 uint8_t out[SHD_CKPT_CSHARP_HEAD_SIZE])
{
	shd_put_u32(out, SHD_CKPT_SHARD_MAGIC);
	shd_put_u32(out + 4, rank);
	shd_put_u32(out + 8, 0);
	shd_put_u32(out + 12, tensors);
	shd_put_u32(out + 16, data_size);
}
