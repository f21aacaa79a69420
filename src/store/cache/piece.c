#include "store/cache/cache.h"

#include "base/buf.h"
#include "codec/crc32.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

SHD_AUTO_DEFINE(sherd_reader, sherd_reader_close)
SHD_AUTO_DEFINE(sherd_writer, sherd_writer_abort)

static const uint32_t mark = 0x31434853; /* "SHC1" */

void shd_cache_object_name(shd_cache_object *out, const shd_cache *c, const char *key, const char *identity,
                           uint64_t size)
{
	const char *place = c->inner->ops->place ? c->inner->ops->place(c->inner) : sherd_store_label(c->inner);
	uint8_t hash[SHD_SHA256_BYTES], length[8];
	shd_sha256 h;
	shd_put_u64(length, size);
	shd_sha256_init(&h);
	shd_sha256_add(&h, place, strlen(place) + 1); /* with its NUL, so that no two lists look alike */
	shd_sha256_add(&h, key, strlen(key) + 1);
	shd_sha256_add(&h, identity, strlen(identity) + 1);
	shd_sha256_add(&h, length, sizeof(length));
	shd_sha256_finish(&h, hash);
	shd_hex(hash, sizeof(hash), out->hash);
	out->size = size;
}

static void piece_name(const shd_cache_object *o, uint64_t block, char out[SHD_CACHE_NAME])
{
	if (block == SHD_CACHE_WHOLE)
		(void)snprintf(out, SHD_CACHE_NAME, "%.2s/%s", o->hash, o->hash + 2);
	else
		(void)snprintf(out, SHD_CACHE_NAME, "%.2s/%s-%" PRIu64, o->hash, o->hash + 2, block);
}

static uint64_t piece_len(const shd_cache_object *o, uint64_t block)
{
	return block == SHD_CACHE_WHOLE ? o->size : shd_cache_block_len(o, block);
}

int shd_cache_piece_open(sherd_reader **out, shd_cache *c, const shd_cache_object *o, uint64_t block, sherd_error *err)
{
	char name[SHD_CACHE_NAME];
	sherd_error failure = {0};
	SHD_AUTO(sherd_reader, sherd_reader_close) reader = NULL;
	piece_name(o, block, name);
	int rc = sherd_store_read(&reader, c->folder, name, &failure);
	if (rc == SHERD_ENOMEM)
		return shd_fail_nomem(err);
	if (rc < 0 || sherd_reader_size(reader) != piece_len(o, block) + SHD_CACHE_TAIL)
		return 0; /* whatever is wrong there, the bytes can be had elsewhere */
	*out = TAKE(reader);
	return 1;
}

/* Reads it all, in portions. */
static bool piece_is_whole(const sherd_reader *reader, uint64_t len)
{
	static const size_t portion = (size_t)1 << 20;
	uint8_t tail[SHD_CACHE_TAIL], want[SHD_CACHE_TAIL];
	SHD_AUTO_FREE void *buf = malloc(len < portion ? (size_t)len + 1 : portion);
	uint32_t crc = 0;
	for (uint64_t at = 0; buf && at < len;) {
		size_t n = len - at < portion ? (size_t)(len - at) : portion;
		if (sherd_reader_at(reader, at, buf, n, NULL) < 0)
			return false;
		crc = shd_crc32(crc, buf, n);
		at += n;
	}
	shd_put_u32(want, mark);
	shd_put_u32(want + 4, crc);
	return buf && sherd_reader_at(reader, len, tail, sizeof(tail), NULL) == SHERD_OK &&
	       memcmp(tail, want, sizeof(tail)) == 0;
}

/* Its time says when it was used last: the exact one, since that of the kernel may be a tick behind. */
static void piece_touch(const shd_cache *c, const char *name)
{
	SHD_AUTO_BUF path = {0};
	struct timespec times[2] = {{0}};
	(void)clock_gettime(CLOCK_REALTIME, &times[1]);
	times[0] = times[1];
	shd_buf_printf(&path, "%s/%s", c->path, name);
	if (shd_buf_end(&path, NULL) == SHERD_OK)
		(void)utimensat(AT_FDCWD, (const char *)path.data, times, AT_SYMLINK_NOFOLLOW);
}

int shd_cache_piece_check(sherd_reader **out, shd_cache *c, const shd_cache_object *o, uint64_t block, sherd_error *err)
{
	SHD_AUTO(sherd_reader, sherd_reader_close) reader = NULL;
	char name[SHD_CACHE_NAME];
	int rc = shd_cache_piece_open(&reader, c, o, block, err);
	if (rc <= 0)
		return rc;
	piece_name(o, block, name);
	if (!piece_is_whole(reader, piece_len(o, block))) {
		(void)sherd_store_remove_if(c->folder, name, sherd_reader_identity(reader), NULL);
		return 0;
	}
	piece_touch(c, name);
	if (out)
		*out = TAKE(reader);
	return 1;
}

bool shd_cache_piece_put(shd_cache *c, const shd_cache_object *o, uint64_t block, const void *bytes, size_t len)
{
	char name[SHD_CACHE_NAME];
	uint8_t tail[SHD_CACHE_TAIL];
	/* One that is there may be damaged, else it has the same bytes. */
	const sherd_write_options options = {.mode = SHERD_WRITE_REPLACE, .size_hint = len + sizeof(tail)};
	SHD_AUTO(sherd_writer, sherd_writer_abort) writer = NULL;
	piece_name(o, block, name);
	shd_put_u32(tail, mark);
	shd_put_u32(tail + 4, shd_crc32(0, bytes, len));
	if (sherd_store_write(&writer, c->folder, name, &options, NULL) < 0 ||
	    sherd_writer_append(writer, bytes, len, NULL) < 0 ||
	    sherd_writer_append(writer, tail, sizeof(tail), NULL) < 0)
		return false;
	if (sherd_writer_commit(TAKE(writer), NULL) < 0)
		return false;
	shd_cache_grown(c, len + sizeof(tail));
	return true;
}

void shd_cache_piece_drop(shd_cache *c, const shd_cache_object *o, uint64_t block)
{
	char name[SHD_CACHE_NAME];
	piece_name(o, block, name);
	(void)sherd_store_remove(c->folder, name, NULL);
}
