#include "format/container/shard.h"

#include "base/cursor.h"
#include "base/limits.h"

#define OF "-of-"
enum { FIXED = 32, PEER = 40 };

void shd_container_shards_encode(const shd_container_shards *info, shd_buf *out)
{
	shd_buf_u32(out, info->shard);
	shd_buf_u32(out, info->count);
	shd_buf_u32(out, info->generation);
	shd_buf_u32(out, 0);
	shd_buf_append(out, info->replaces, sizeof(info->replaces));
	for (uint32_t i = 1; info->shard == 0 && i < info->count; i++) {
		shd_buf_u64(out, info->peers[i - 1].size);
		shd_buf_append(out, info->peers[i - 1].digest, SHD_SHA256_BYTES);
	}
}

int shd_container_shards_decode(const void *data, size_t len, const sherd_limits *limits, shd_arena *arena,
                                shd_container_shards *out, sherd_error *err)
{
	shd_container_shards s = {0};
	shd_cursor c = shd_cursor_over(data, len);
	s.shard = shd_cursor_u32(&c);
	s.count = shd_cursor_u32(&c);
	s.generation = shd_cursor_u32(&c);
	uint32_t zero = shd_cursor_u32(&c);
	const uint8_t *replaces = shd_cursor_bytes(&c, sizeof(s.replaces));
	TRY(shd_cursor_check(&c, "SHARD_INFO", err));
	memcpy(s.replaces, replaces, sizeof(s.replaces));
	if (zero)
		return shd_fail_at(err, SHERD_ECORRUPT, "reserved", 12, "bytes of SHARD_INFO without meaning");
	if (s.count < 2 || s.shard >= s.count)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-rank", 0, "shard %u of %u", s.shard, s.count);
	if (s.count > shd_limits_or_default(limits).shards)
		return shd_fail_at(err, SHERD_ELIMIT, "too-many-shards", 4, "%u shards", s.count);
	uint64_t peers = s.shard == 0 ? s.count - 1 : 0;
	if (shd_cursor_left(&c) != peers * PEER)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-length", FIXED, "%zu bytes about %llu other shards",
		                   shd_cursor_left(&c), (unsigned long long)peers);
	shd_container_peer *list = shd_arena_alloc(arena, (size_t)peers + 1, sizeof(*list));
	if (!list)
		return shd_fail_nomem(err);
	for (uint64_t i = 0; i < peers; i++) {
		list[i].size = shd_cursor_u64(&c);
		memcpy(list[i].digest, shd_cursor_bytes(&c, SHD_SHA256_BYTES), SHD_SHA256_BYTES);
	}
	s.peers = peers ? list : NULL;
	*out = s;
	return SHERD_OK;
}

void shd_container_name_put(shd_buf *out, const char *base, uint32_t shard, uint32_t count, uint32_t generation)
{
	shd_buf_printf(out, "%s" SHD_CONTAINER_SHARD "%u" OF "%u", base, shard, count);
	if (generation && shard)
		shd_buf_printf(out, ".%u", generation);
	shd_buf_append(out, SHD_CONTAINER_SUFFIX, sizeof(SHD_CONTAINER_SUFFIX));
	if (!out->failed)
		out->len--;
}

/* A decimal number without leading zeros. */
static bool container_shard_take_number(const char **at, uint32_t *out)
{
	uint64_t n = 0;
	const char *begin = *at;
	while (**at >= '0' && **at <= '9' && n <= UINT32_MAX)
		n = n * 10 + (uint64_t)(*(*at)++ - '0');
	*out = (uint32_t)n;
	return *at > begin && n <= UINT32_MAX && (*begin != '0' || *at == begin + 1);
}

static bool container_shard_take_word(const char **at, const char *word)
{
	size_t len = strlen(word);
	if (strncmp(*at, word, len) != 0)
		return false;
	*at += len;
	return true;
}

static bool parse_rest(const char *at, shd_container_name *n)
{
	n->generation = 0;
	if (!container_shard_take_number(&at, &n->shard) || !container_shard_take_word(&at, OF) ||
	    !container_shard_take_number(&at, &n->count))
		return false;
	if (at[0] == '.' && at[1] >= '1' && at[1] <= '9') {
		at++;
		if (!container_shard_take_number(&at, &n->generation) || !n->shard)
			return false;
	}
	return strcmp(at, SHD_CONTAINER_SUFFIX) == 0 && n->count > 1 && n->shard < n->count;
}

bool shd_container_name_parse(const char *key, shd_container_name *out)
{
	bool found = false;
	for (const char *at = key; (at = strstr(at, SHD_CONTAINER_SHARD)); at++) {
		shd_container_name n = {.base = (size_t)(at - key)};
		if (n.base && key[n.base - 1] != '/' && parse_rest(at + strlen(SHD_CONTAINER_SHARD), &n)) {
			*out = n;
			found = true;
		}
	}
	return found;
}
