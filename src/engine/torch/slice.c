#include "engine/torch/slice.h"

#include <sherd/sys/backend.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct slice_reader {
	sherd_reader base;
	const sherd_reader *whole;
	uint64_t offset;
} slice_reader;

static int slice_at(const sherd_reader *reader, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	const slice_reader *s = (const slice_reader *)reader;
	return sherd_reader_at(s->whole, s->offset + offset, buf, len, err);
}

static void slice_close(sherd_reader *reader)
{
	free(reader);
}

static const struct sherd_reader_ops slice_ops = {.at = slice_at, .close = slice_close};

int shd_slice_open(sherd_reader **out, const sherd_reader *reader, uint64_t offset, uint64_t len, sherd_error *err)
{
	SHD_AUTO_FREE slice_reader *s = calloc(1, sizeof(slice_reader));
	if (!s)
		return shd_fail_nomem(err);
	s->base.ops = &slice_ops;
	s->base.size = len;
	s->base.key = strdup(sherd_reader_key(reader));
	s->base.store = reader->store;
	s->whole = reader;
	s->offset = offset;
	if (!s->base.key)
		return shd_fail_nomem(err);
	(void)snprintf(s->base.identity, sizeof(s->base.identity), "%s", sherd_reader_identity(reader));
	*out = &TAKE(s)->base;
	return SHERD_OK;
}
