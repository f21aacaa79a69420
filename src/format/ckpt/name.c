#include "format/ckpt/name.h"

#include "codec/sha256.h"

#include <inttypes.h>

#define SHARD_MARK "_shard_"
#define SHARD_SUFFIX ".shard"

void sherd_set_id_format(char out[SHERD_SET_ID_TEXT], const sherd_set_id *id)
{
	shd_hex(id->bytes, sizeof(id->bytes), out);
}

int sherd_set_id_parse(sherd_set_id *out, const char *text, sherd_error *err)
{
	sherd_set_id id;
	if (!shd_unhex(text, strlen(text), id.bytes, sizeof(id.bytes)))
		return shd_fail(err, SHERD_EINVAL, "bad-set-id", "'%.64s' is not 32 lower-case hexadecimal digits",
		                text);
	*out = id;
	return SHERD_OK;
}

/* Plain decimal without leading zeros, up to 2^31-1 as the C# side has it. */
static bool parse_rank(shd_str s, uint32_t *rank)
{
	uint64_t v = 0;
	if (!s.len || s.len > 10 || (s.len > 1 && s.ptr[0] == '0'))
		return false;
	for (size_t i = 0; i < s.len; i++) {
		if (s.ptr[i] < '0' || s.ptr[i] > '9')
			return false;
		v = v * 10 + (uint64_t)(s.ptr[i] - '0');
	}
	*rank = (uint32_t)v;
	return v <= INT32_MAX;
}

static shd_str drop_tail(shd_str s, size_t n)
{
	return (shd_str){s.ptr, s.len - n};
}

/* {prefix}_shard_{rank}[.{setid}].shard; the last mark counts, since a prefix may contain one too. */
static bool parse_shard(shd_str key, shd_ckpt_name *out)
{
	if (!shd_str_ends(key, SHARD_SUFFIX))
		return false;
	shd_str s = drop_tail(key, strlen(SHARD_SUFFIX));
	size_t hex = 2 * sizeof(out->set_id.bytes);
	if (s.len > hex && s.ptr[s.len - hex - 1] == '.' &&
	    shd_unhex(s.ptr + s.len - hex, hex, out->set_id.bytes, sizeof(out->set_id.bytes))) {
		out->has_set_id = true;
		s = drop_tail(s, hex + 1);
	}
	size_t digits = 0;
	while (digits < s.len && s.ptr[s.len - digits - 1] >= '0' && s.ptr[s.len - digits - 1] <= '9')
		digits++;
	shd_str front = drop_tail(s, digits);
	if (!parse_rank((shd_str){s.ptr + front.len, digits}, &out->rank) || !shd_str_ends(front, SHARD_MARK))
		return false;
	out->prefix = drop_tail(front, strlen(SHARD_MARK));
	return true;
}

static bool names_something(shd_str prefix)
{
	return prefix.len && prefix.ptr[prefix.len - 1] != '/';
}

shd_ckpt_name shd_ckpt_name_parse(const char *text)
{
	shd_str key = shd_str_of(text);
	shd_ckpt_name name = {0};
	if (shd_str_ends(key, SHD_CKPT_METADATA_SUFFIX)) {
		name.kind = SHD_CKPT_NAME_METADATA;
		name.prefix = drop_tail(key, strlen(SHD_CKPT_METADATA_SUFFIX));
	} else if (shd_str_ends(key, SHD_CKPT_CLAIM_SUFFIX)) {
		name.kind = SHD_CKPT_NAME_CLAIM;
		name.prefix = drop_tail(key, strlen(SHD_CKPT_CLAIM_SUFFIX));
	} else if (parse_shard(key, &name)) {
		name.kind = SHD_CKPT_NAME_SHARD;
	}
	if (!names_something(name.prefix))
		name = (shd_ckpt_name){0};
	return name;
}

static void end_with_nul(shd_buf *out)
{
	shd_buf_u8(out, 0);
	if (!out->failed)
		out->len--;
}

void shd_ckpt_name_metadata(shd_buf *out, const char *prefix)
{
	shd_buf_printf(out, "%s" SHD_CKPT_METADATA_SUFFIX, prefix);
	end_with_nul(out);
}

void shd_ckpt_name_claim(shd_buf *out, const char *prefix)
{
	shd_buf_printf(out, "%s" SHD_CKPT_CLAIM_SUFFIX, prefix);
	end_with_nul(out);
}

void shd_ckpt_name_shard(shd_buf *out, const char *prefix, uint32_t rank, const sherd_set_id *set_id)
{
	shd_buf_printf(out, "%s" SHARD_MARK "%" PRIu32, prefix, rank);
	if (set_id) {
		char hex[SHERD_SET_ID_TEXT];
		sherd_set_id_format(hex, set_id);
		shd_buf_printf(out, ".%s", hex);
	}
	shd_buf_str(out, SHARD_SUFFIX);
	end_with_nul(out);
}

void shd_ckpt_name_beside(shd_buf *out, const char *prefix, const char *file)
{
	shd_buf_append(out, prefix, (size_t)(shd_str_leaf(prefix) - prefix));
	shd_buf_str(out, file);
	end_with_nul(out);
}
