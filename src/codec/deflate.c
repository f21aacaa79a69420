#include "codec/deflate.h"

#include "codec/igzip.h"

#include <libdeflate.h>

#include <stdlib.h>

struct shd_deflate {
	shd_igzip *fast; /* of level 1, or */
	struct libdeflate_compressor *good;
};

int shd_deflate_open(shd_deflate **out, int level, sherd_error *err)
{
	if (level < 1 || level > SHD_DEFLATE_LEVELS)
		return shd_fail(err, SHERD_EINVAL, "bad-argument", "there is no deflate level %d", level);
	shd_deflate *d = calloc(1, sizeof(*d));
	if (!d)
		return shd_fail_nomem(err);
	if (level == 1)
		d->fast = shd_igzip_open();
	else
		d->good = libdeflate_alloc_compressor(level);
	if (!d->fast && !d->good) {
		free(d);
		return shd_fail_nomem(err);
	}
	*out = d;
	return SHERD_OK;
}

void shd_deflate_close(shd_deflate *d)
{
	if (!d)
		return;
	shd_igzip_close(d->fast);
	libdeflate_free_compressor(d->good);
	free(d);
}

size_t shd_deflate_pack(shd_deflate *d, const void *in, size_t len, void *out, size_t room)
{
	if (d->fast)
		return shd_igzip_pack(d->fast, in, len, out, room);
	return libdeflate_deflate_compress(d->good, in, len, out, room);
}

size_t shd_deflate_pack_parts(shd_deflate *d, const void *in, size_t len, size_t part, void *out, size_t room)
{
	if (d->fast)
		return shd_igzip_pack_parts(d->fast, in, len, part, out, room);
	return libdeflate_deflate_compress(d->good, in, len, out, room);
}

size_t shd_deflate_pack_piece(shd_deflate *d, const void *in, size_t len, void *out, size_t room)
{
	return shd_igzip_pack_piece(d->fast, in, len, out, room);
}

bool shd_deflate_plausible(uint64_t len, uint64_t raw)
{
	return raw / SHD_DEFLATE_RATIO <= len;
}

int shd_deflate_unpack(const void *in, size_t len, void *out, size_t raw, sherd_error *err)
{
	size_t used = 0, made = 0;
	struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
	if (!d)
		return shd_fail_nomem(err);
	enum libdeflate_result result = libdeflate_deflate_decompress_ex(d, in, len, out, raw, &used, &made);
	libdeflate_free_decompressor(d);
	if (result != LIBDEFLATE_SUCCESS)
		return shd_fail(err, SHERD_ECORRUPT, "bad-deflate", "%zu packed bytes cannot be unpacked into %zu", len,
		                raw);
	if (used != len || made != raw)
		return shd_fail(err, SHERD_ECORRUPT, "bad-deflate",
		                "%zu of %zu packed bytes give %zu bytes instead of %zu", used, len, made, raw);
	return SHERD_OK;
}
