#include "support/ckpt_place.h"

#include "base/buf.h"
#include "codec/blake3.h"
#include "codec/sha256.h"
#include "format/ckpt/shard.h"
#include "support/scratch.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int ckpt_place_memory(void **state)
{
	ckpt_place *p = calloc(1, sizeof(*p));
	if (!p || sherd_store_open_memory(&p->store, NULL) < 0)
		abort();
	*state = p;
	return 0;
}

int ckpt_place_local(void **state)
{
	ckpt_place *p = calloc(1, sizeof(*p));
	if (!p)
		abort();
	p->folder = scratch_make();
	if (sherd_store_open_local(&p->store, p->folder, NULL, NULL) < 0)
		abort();
	*state = p;
	return 0;
}

int ckpt_place_done(void **state)
{
	ckpt_place *p = *state;
	sherd_store_close(p->store);
	if (p->folder)
		scratch_remove(p->folder);
	free(p);
	return 0;
}

static bool join_key(void *arg, const char *key, const sherd_stat *stat)
{
	(void)stat;
	shd_buf *all = arg;
	shd_buf_printf(all, "%s%s", all->len ? " " : "", key);
	return true;
}

static bool count_key(void *arg, const char *key, const sherd_stat *stat)
{
	(void)key, (void)stat;
	++*(size_t *)arg;
	return true;
}

size_t object_count(sherd_store *store, const char *prefix)
{
	size_t count = 0;
	assert_ok(sherd_store_list(store, prefix, "", count_key, &count, err));
	return count;
}

char *object_keys(sherd_store *store)
{
	SHD_AUTO_BUF all = {0};
	assert_ok(sherd_store_list(store, "", "", join_key, &all, err));
	shd_buf_u8(&all, 0);
	assert_false(all.failed);
	char *keys = strdup((const char *)all.data);
	assert_non_null(keys);
	return keys;
}

void assert_keys(sherd_store *store, const char *keys)
{
	char *all = object_keys(store);
	assert_string_equal(all, keys);
	free(all);
}

char *object_get(sherd_store *store, const char *key, size_t *len)
{
	char *data = NULL;
	assert_ok(sherd_store_get(&data, len, store, key, 1u << 30, err));
	return data;
}

void object_put(sherd_store *store, const char *key, const void *data, size_t len)
{
	assert_ok(sherd_store_put(store, key, SHERD_WRITE_REPLACE, data, len, err));
}

void object_copy(sherd_store *from, sherd_store *to, const char *key)
{
	size_t len;
	char *data = object_get(from, key, &len);
	object_put(to, key, data, len);
	sherd_free(data);
}

void object_rehead(sherd_store *store, const char *from, sherd_digest old, const char *to, sherd_digest digest,
                   uint32_t tensors)
{
	uint8_t head[SHD_CKPT_HEAD_ROOM], hash[SHD_BLAKE3_BYTES];
	char text[SHD_CKPT_DIGEST_TEXT];
	size_t len, before = shd_ckpt_head_size(old), after = shd_ckpt_head_size(digest);
	uint8_t *raw = (uint8_t *)object_get(store, from, &len), *anew = malloc(len + SHD_CKPT_HEAD_ROOM);
	if (digest == SHERD_DIGEST_BLAKE3)
		shd_blake3_of(raw + before, len - before, hash);
	else
		shd_sha256_of(raw + before, len - before, hash);
	shd_ckpt_digest_text(digest, hash, text);
	shd_ckpt_head_encode(0, tensors, len - before, text, head);
	memcpy(anew, head, after);
	memcpy(anew + after, raw + before, len - before);
	object_put(store, to, anew, len - before + after);
	free(anew);
	sherd_free(raw);
}
