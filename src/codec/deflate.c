#include "codec/deflate.h"

#include "codec/igzip.h"

#include <libdeflate.h>

#include <stdlib.h>

struct sherd_deflate {
	sherd_igzip *fast; /* of level 1, or */
	struct libdeflate_compressor *good;
};

int sherd_deflate_open(sherd_deflate **out, int level, sherd_error *err)
{
	if (level < 1 || level > SHERD_DEFLATE_LEVELS)
		return sherd_fail(err, SHERD_EINVAL, "bad-argument", "there is no deflate level %d", level);
	sherd_deflate *d = calloc(1, sizeof(*d));
	if (!d)
		return sherd_fail_nomem(err);
	if (level == 1)
		d->fast = sherd_igzip_open();
	else
		d->good = libdeflate_alloc_compressor(level);
	if (!d->fast && !d->good) {
		free(d);
		return sherd_fail_nomem(err);
	}
	*out = d;
	return SHERD_OK;
}

void sherd_deflate_close(sherd_deflate *d)
{
	if (!d)
		return;
	sherd_igzip_close(d->fast);
	libdeflate_free_compressor(d->good);
	free(d);
}

size_t sherd_deflate_pack(sherd_deflate *d, const void *in, size_t len, void *out, size_t room)
{
	if (d->fast)
		return sherd_igzip_pack(d->fast, in, len, out, room);
	return libdeflate_deflate_compress(d->good, in, len, out, room);
}

size_t sherd_deflate_pack_parts(sherd_deflate *d, const void *in, size_t len, size_t part, void *out, size_t room)
{
	if (d->fast)
		return sherd_igzip_pack_parts(d->fast, in, len, part, out, room);
	return libdeflate_deflate_compress(d->good, in, len, out, room);
}

bool sherd_deflate_plausible(uint64_t len, uint64_t raw)
{
	return raw / SHERD_DEFLATE_RATIO <= len;
}

int sherd_deflate_unpack(const void *in, size_t len, void *out, size_t raw, sherd_error *err)
{
	size_t used = 0, made = 0;
	struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
	if (!d)
		return sherd_fail_nomem(err);
	enum libdeflate_result result = libdeflate_deflate_decompress_ex(d, in, len, out, raw, &used, &made);
	libdeflate_free_decompressor(d);
	if (result != LIBDEFLATE_SUCCESS)
		return sherd_fail(err, SHERD_ECORRUPT, "bad-deflate", "%zu packed bytes cannot be unpacked into %zu",
		                  len, raw);
	if (used != len || made != raw)
		return sherd_fail(err, SHERD_ECORRUPT, "bad-deflate",
		                  "%zu of %zu packed bytes give %zu bytes instead of %zu", used, len, made, raw);
	return SHERD_OK;
}
