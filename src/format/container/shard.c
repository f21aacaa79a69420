#include "format/container/shard.h"

#include "base/cursor.h"
#include "base/limits.h"

#define OF "-of-"
enum { FIXED = 32, PEER = 40 };

void sherd_container_shards_encode(const sherd_container_shards *info, sherd_buf *out)
{
	sherd_buf_u32(out, info->shard);
	sherd_buf_u32(out, info->count);
	sherd_buf_u32(out, info->generation);
	sherd_buf_u32(out, 0);
	sherd_buf_append(out, info->replaces, sizeof(info->replaces));
	for (uint32_t i = 1; info->shard == 0 && i < info->count; i++) {
		sherd_buf_u64(out, info->peers[i - 1].size);
		sherd_buf_append(out, info->peers[i - 1].digest, SHERD_SHA256_BYTES);
	}
}

int sherd_container_shards_decode(const void *data, size_t len, const sherd_limits *limits, sherd_arena *arena,
                                  sherd_container_shards *out, sherd_error *err)
{
	sherd_container_shards s = {0};
	sherd_cursor c = sherd_cursor_over(data, len);
	s.shard = sherd_cursor_u32(&c);
	s.count = sherd_cursor_u32(&c);
	s.generation = sherd_cursor_u32(&c);
	uint32_t zero = sherd_cursor_u32(&c);
	const uint8_t *replaces = sherd_cursor_bytes(&c, sizeof(s.replaces));
	TRY(sherd_cursor_check(&c, "SHARD_INFO", err));
	memcpy(s.replaces, replaces, sizeof(s.replaces));
	if (zero)
		return sherd_fail_at(err, SHERD_ECORRUPT, "reserved", 12, "bytes of SHARD_INFO without meaning");
	if (s.count < 2 || s.shard >= s.count)
		return sherd_fail_at(err, SHERD_ECORRUPT, "bad-rank", 0, "shard %u of %u", s.shard, s.count);
	if (s.count > sherd_limits_or_default(limits).shards)
		return sherd_fail_at(err, SHERD_ELIMIT, "too-many-shards", 4, "%u shards", s.count);
	uint64_t peers = s.shard == 0 ? s.count - 1 : 0;
	if (sherd_cursor_left(&c) != peers * PEER)
		return sherd_fail_at(err, SHERD_ECORRUPT, "bad-length", FIXED, "%zu bytes about %llu other shards",
		                     sherd_cursor_left(&c), (unsigned long long)peers);
	sherd_container_peer *list = sherd_arena_alloc(arena, (size_t)peers + 1, sizeof(*list));
	if (!list)
		return sherd_fail_nomem(err);
	for (uint64_t i = 0; i < peers; i++) {
		list[i].size = sherd_cursor_u64(&c);
		memcpy(list[i].digest, sherd_cursor_bytes(&c, SHERD_SHA256_BYTES), SHERD_SHA256_BYTES);
	}
	s.peers = peers ? list : NULL;
	*out = s;
	return SHERD_OK;
}

void sherd_container_name_put(sherd_buf *out, const char *base, uint32_t shard, uint32_t count, uint32_t generation)
{
	sherd_buf_printf(out, "%s" SHERD_CONTAINER_SHARD "%u" OF "%u", base, shard, count);
	if (generation && shard)
		sherd_buf_printf(out, ".%u", generation);
	sherd_buf_append(out, SHERD_CONTAINER_SUFFIX, sizeof(SHERD_CONTAINER_SUFFIX));
	if (!out->failed)
		out->len--;
}

/* A decimal number without leading zeros. */
static bool take_number(const char **at, uint32_t *out)
{
	uint64_t n = 0;
	const char *begin = *at;
	while (**at >= '0' && **at <= '9' && n <= UINT32_MAX)
		n = n * 10 + (uint64_t)(*(*at)++ - '0');
	*out = (uint32_t)n;
	return *at > begin && n <= UINT32_MAX && (*begin != '0' || *at == begin + 1);
}

static bool take_word(const char **at, const char *word)
{
	size_t len = strlen(word);
	if (strncmp(*at, word, len) != 0)
		return false;
	*at += len;
	return true;
}

static bool parse_rest(const char *at, sherd_container_name *n)
{
	n->generation = 0;
	if (!take_number(&at, &n->shard) || !take_word(&at, OF) || !take_number(&at, &n->count))
		return false;
	if (at[0] == '.' && at[1] >= '1' && at[1] <= '9') {
		at++;
		if (!take_number(&at, &n->generation) || !n->shard)
			return false;
	}
	return strcmp(at, SHERD_CONTAINER_SUFFIX) == 0 && n->count > 1 && n->shard < n->count;
}

bool sherd_container_name_parse(const char *key, sherd_container_name *out)
{
	bool found = false;
	for (const char *at = key; (at = strstr(at, SHERD_CONTAINER_SHARD)); at++) {
		sherd_container_name n = {.base = (size_t)(at - key)};
		if (n.base && key[n.base - 1] != '/' && parse_rest(at + strlen(SHERD_CONTAINER_SHARD), &n)) {
			*out = n;
			found = true;
		}
	}
	return found;
}
