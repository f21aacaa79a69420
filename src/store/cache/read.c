/* store/cache/read.c - an object of the inner store, by blocks that are kept. */
#include "store/cache/cache.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { AHEAD = 8 }; /* blocks that are fetched at once where somebody reads on */

typedef struct cache_reader {
	sherd_reader base;
	shd_cache *c;
	sherd_reader *inner;
	bool weak; /* its identity may be that of other bytes, too: nothing is kept for who opens it next */
	shd_cache_object object;
	_Atomic uint8_t *checked; /* one for each block: it is here, and whole */
	_Atomic uint64_t next;    /* the block after the one that was read last */
	pthread_mutex_t mapping;  /* of what follows */
	sherd_reader *whole;      /* all of it, in the folder; NULL: not yet */
} cache_reader;

static uint64_t blocks_of(const cache_reader *r)
{
	return (r->object.size + SHD_CACHE_BLOCK - 1) / SHD_CACHE_BLOCK;
}

/* What came with the opening costs nothing. */
static bool has_inner(const cache_reader *r, uint64_t offset, uint64_t len)
{
	return (sherd_store_caps(r->c->inner) & SHERD_CAP_REMOTE) && sherd_reader_cached(r->inner, offset, len);
}

/* 1: the block is in the folder. */
static int has_block(const cache_reader *r, uint64_t block, sherd_error *err)
{
	if (atomic_load_explicit(&r->checked[block], memory_order_relaxed))
		return 1;
	int rc = shd_cache_piece_check(NULL, r->c, &r->object, block, err);
	if (rc > 0)
		atomic_store_explicit(&r->checked[block], 1, memory_order_relaxed);
	return rc;
}

/* Fetches blocks in a row, which are kept and copied as far as they are wanted. */
static int fetch_blocks(const cache_reader *r, uint64_t first, uint64_t count, uint64_t offset, char *to, size_t len,
                        sherd_error *err)
{
	uint64_t from = first * SHD_CACHE_BLOCK, end = from;
	for (uint64_t i = 0; i < count; i++)
		end += shd_cache_block_len(&r->object, first + i);
	SHD_AUTO_FREE char *bytes = malloc((size_t)(end - from));
	if (!bytes)
		return shd_fail_nomem(err);
	TRY(sherd_reader_at(r->inner, from, bytes, (size_t)(end - from), err));
	for (uint64_t i = 0; i < count; i++) {
		bool kept = shd_cache_piece_put(r->c, &r->object, first + i, bytes + i * SHD_CACHE_BLOCK,
		                                shd_cache_block_len(&r->object, first + i));
		atomic_store_explicit(&r->checked[first + i], kept, memory_order_relaxed);
	}
	uint64_t low = offset > from ? offset : from, high = offset + len < end ? offset + len : end;
	if (low < high)
		memcpy(to + (low - offset), bytes + (low - from), (size_t)(high - low));
	return SHERD_OK;
}

/* 1: copied from the folder; 0: it is not there any more. */
static int copy_block(const cache_reader *r, uint64_t block, uint64_t offset, char *to, size_t len, sherd_error *err)
{
	sherd_reader *piece = NULL;
	uint64_t start = block * SHD_CACHE_BLOCK, end = start + shd_cache_block_len(&r->object, block);
	uint64_t low = offset > start ? offset : start, high = offset + len < end ? offset + len : end;
	int rc = shd_cache_piece_open(&piece, r->c, &r->object, block, err);
	if (rc <= 0)
		return rc;
	rc = sherd_reader_at(piece, low - start, to + (low - offset), (size_t)(high - low), NULL) == SHERD_OK;
	sherd_reader_close(piece);
	return rc;
}

/* How many blocks from this one on are to be fetched: those that are missing and wanted, and more where somebody reads
 * on from where he was. */
static int count_missing(const cache_reader *r, uint64_t block, uint64_t last, bool onward, uint64_t *out,
                         sherd_error *err)
{
	uint64_t most = blocks_of(r) - block, wanted = onward && last - block + 1 < AHEAD ? AHEAD : last - block + 1;
	uint64_t n = 1;
	wanted = wanted < AHEAD ? wanted : AHEAD;
	wanted = wanted < most ? wanted : most;
	for (int has = 0; n < wanted; n++) {
		TRY(has = has_block(r, block + n, err));
		if (has)
			break;
	}
	*out = n;
	return SHERD_OK;
}

static int cache_at(const sherd_reader *reader, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	cache_reader *r = (cache_reader *)reader;
	if (r->weak || has_inner(r, offset, len))
		return sherd_reader_at(r->inner, offset, buf, len, err);
	uint64_t first = offset / SHD_CACHE_BLOCK, last = (offset + len - 1) / SHD_CACHE_BLOCK;
	uint64_t next = atomic_exchange_explicit(&r->next, last + 1, memory_order_relaxed);
	bool onward = first == next || first + 1 == next;
	for (uint64_t block = first, n = 0; block <= last; block += n) {
		int has = has_block(r, block, err);
		TRY(has);
		if (has)
			TRY(has = copy_block(r, block, offset, buf, len, err));
		n = 1;
		if (has)
			continue;
		atomic_store_explicit(&r->checked[block], 0, memory_order_relaxed);
		TRY(count_missing(r, block, last, onward, &n, err));
		TRY(fetch_blocks(r, block, n, offset, buf, len, err));
	}
	return SHERD_OK;
}

/* ---- all of it, so that it can be mapped */

static int copy_whole(const cache_reader *r, sherd_error *err)
{
	SHD_AUTO_FREE char *bytes = malloc((size_t)r->object.size);
	if (!bytes)
		return shd_fail_nomem(err);
	TRY(sherd_reader_at(r->inner, 0, bytes, (size_t)r->object.size, err));
	(void)shd_cache_piece_put(r->c, &r->object, SHD_CACHE_WHOLE, bytes, (size_t)r->object.size);
	return SHERD_OK;
}

static int find_whole(cache_reader *r, sherd_error *err)
{
	int rc = SHERD_OK;
	if (r->whole)
		return SHERD_OK;
	if (!r->weak)
		TRY(rc = shd_cache_piece_check(&r->whole, r->c, &r->object, SHD_CACHE_WHOLE, err));
	if (rc > 0)
		return SHERD_OK;
	TRY(copy_whole(r, err));
	TRY(rc = shd_cache_piece_open(&r->whole, r->c, &r->object, SHD_CACHE_WHOLE, err));
	if (rc == 0)
		return shd_fail(err, SHERD_EIO, "no-space", "it cannot be kept in the cache %.100s, and so not mapped",
		                r->c->path);
	return SHERD_OK;
}

static int cache_map(const void **out, const sherd_reader *reader, uint64_t offset, size_t len, sherd_error *err)
{
	cache_reader *r = (cache_reader *)reader;
	(void)pthread_mutex_lock(&r->mapping);
	int rc = find_whole(r, err);
	(void)pthread_mutex_unlock(&r->mapping);
	return rc < 0 ? rc : sherd_reader_map(out, r->whole, offset, len, err);
}

static const sherd_reader *whole_of(const sherd_reader *reader)
{
	cache_reader *r = (cache_reader *)reader;
	(void)pthread_mutex_lock(&r->mapping);
	const sherd_reader *whole = r->whole;
	(void)pthread_mutex_unlock(&r->mapping);
	return whole;
}

static int cache_check(const sherd_reader *reader, sherd_error *err)
{
	const sherd_reader *whole = whole_of(reader);
	return whole ? sherd_reader_check(whole, err) : SHERD_OK;
}

static void cache_advise(const sherd_reader *reader, uint64_t offset, uint64_t len, sherd_advice advice)
{
	const sherd_reader *whole = whole_of(reader);
	if (whole)
		sherd_reader_advise(whole, offset, len, advice);
}

static bool cache_cached(const sherd_reader *reader, uint64_t offset, uint64_t len)
{
	const cache_reader *r = (const cache_reader *)reader;
	const sherd_reader *whole = whole_of(reader);
	return whole ? sherd_reader_cached(whole, offset, len) : has_inner(r, offset, len);
}

static void cache_close_reader(sherd_reader *reader)
{
	cache_reader *r = (cache_reader *)reader;
	if (r->weak && r->whole)
		shd_cache_piece_drop(r->c, &r->object, SHD_CACHE_WHOLE);
	sherd_reader_close(r->whole);
	sherd_reader_close(r->inner);
	(void)pthread_mutex_destroy(&r->mapping);
	free(r->checked);
	free(r);
}

static const struct sherd_reader_ops cache_reader_ops = {.at = cache_at,
                                                         .map = cache_map,
                                                         .close = cache_close_reader,
                                                         .advise = cache_advise,
                                                         .cached = cache_cached,
                                                         .check = cache_check};

/* An identity that nobody else has. */
static bool name_own(char out[SHD_SHA256_HEX + 1])
{
	uint8_t random[SHD_SHA256_BYTES];
	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return false;
	shd_hex(random, sizeof(random), out);
	return true;
}

int shd_cache_read(sherd_reader **out, sherd_store *store, const char *key, sherd_error *err)
{
	shd_cache *c = (shd_cache *)store;
	sherd_reader *inner;
	TRY(sherd_store_read(&inner, c->inner, key, err));
	cache_reader *r = calloc(1, sizeof(*r));
	uint64_t size = sherd_reader_size(inner);
	if (r) {
		(void)pthread_mutex_init(&r->mapping, NULL);
		r->base.ops = &cache_reader_ops;
		r->base.size = r->object.size = size;
		r->c = c;
		r->inner = inner;
		r->next = UINT64_MAX;
		r->checked = calloc((size_t)blocks_of(r) + 1, 1);
	}
	if (!r || !r->checked) {
		if (r)
			cache_close_reader(&r->base);
		else
			sherd_reader_close(inner);
		return shd_fail_nomem(err);
	}
	memcpy(r->base.identity, sherd_reader_identity(inner), sizeof(r->base.identity));
	r->weak = !r->base.identity[0] || strncmp(r->base.identity, "W/", 2) == 0;
	char own[SHD_SHA256_HEX + 1] = "";
	if (r->weak && !name_own(own)) {
		cache_close_reader(&r->base);
		return shd_fail(err, SHERD_EIO, "io", "no random numbers");
	}
	shd_cache_object_name(&r->object, c, key, r->weak ? own : r->base.identity, size);
	*out = &r->base;
	return SHERD_OK;
}
