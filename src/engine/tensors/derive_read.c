/* engine/tensors/derive_read.c - reading tensors that are cast, and counting what became infinite. */
#include "engine/tensors/derive.h"

#include <stdlib.h>

/* Of the source, at a time. */
enum { PIECE_BYTES = 1 << 20 };

static bool is_counted(const shd_derived_tensor *t, uint64_t begin, uint64_t end)
{
	for (size_t i = 0; i < t->counted.count; i++)
		if (t->counted.items[i].begin < end && begin < t->counted.items[i].end)
			return true;
	return false;
}

/* Those blocks that were not counted before, one by one. */
static size_t count_new(const shd_derived_tensor *t, uint64_t first, const uint8_t *in, size_t blocks)
{
	size_t found = 0;
	double out[128]; /* of 256 elements of up to 4 bytes */
	for (size_t i = 0; i < blocks; i++)
		if (!is_counted(t, first + i, first + i + 1))
			found += shd_cast_blocks(t->cast, in + i * t->cast->in_bytes, out, 1);
	return found;
}

/* found values of these blocks are infinite now. Each is told once, however often and however cut it is read. */
static int note_overflow(shd_derived *b, shd_derived_tensor *t, uint64_t first, const uint8_t *in, size_t blocks,
                         size_t found, sherd_error *err)
{
	(void)pthread_mutex_lock(&b->lock);
	b->overflowed += is_counted(t, first, first + blocks) ? count_new(t, first, in, blocks) : found;
	size_t count = t->counted.count;
	if (count && t->counted.items[count - 1].begin <= first && t->counted.items[count - 1].end >= first) {
		if (t->counted.items[count - 1].end < first + blocks)
			t->counted.items[count - 1].end = first + blocks;
	} else {
		shd_vec_push(&t->counted, (shd_derived_span){first, first + blocks});
	}
	int rc = shd_vec_check(&t->counted, err);
	(void)pthread_mutex_unlock(&b->lock);
	return rc;
}

/* Memory of one call. */
typedef struct cast_room {
	uint8_t *in, *out;
} cast_room;

/* Blocks [first, first+blocks), and what of them lies within [offset, offset+len) of the tensor to buf. */
static int read_piece(shd_derived *b, shd_derived_tensor *t, uint64_t first, size_t blocks, const cast_room *room,
                      uint64_t offset, uint8_t *buf, size_t len, sherd_error *err)
{
	const shd_cast *c = t->cast;
	uint64_t block = (uint64_t)c->elements * c->out_bytes, begin = first * block, end = begin + blocks * block;
	TRY(sherd_bundle_read(t->from, t->index, first * c->in_bytes, room->in, blocks * c->in_bytes, err));
	bool inside = begin >= offset && end <= offset + len;
	bool straight = inside && (uintptr_t)(buf + (begin - offset)) % sizeof(double) == 0;
	uint8_t *out = straight ? buf + (begin - offset) : room->out;
	size_t found = shd_cast_blocks(c, room->in, out, blocks);
	if (found)
		TRY(note_overflow(b, t, first, room->in, blocks, found, err));
	if (straight)
		return SHERD_OK;
	uint64_t from = begin > offset ? begin : offset, to = end < offset + len ? end : offset + len;
	memcpy(buf + (from - offset), out + (from - begin), (size_t)(to - from));
	return SHERD_OK;
}

int shd_derived_read(shd_derived *b, size_t index, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	shd_derived_tensor *t = &b->parts[index];
	uint64_t block = (uint64_t)t->cast->elements * t->cast->out_bytes;
	uint64_t at = offset / block, end = (offset + len + block - 1) / block;
	size_t most = PIECE_BYTES / t->cast->in_bytes;
	most = end - at < most ? (size_t)(end - at) : most;
	SHD_AUTO_FREE uint8_t *in = malloc(most * t->cast->in_bytes);
	SHD_AUTO_FREE uint8_t *out = malloc(most * (size_t)block);
	if (!in || !out)
		return shd_fail_nomem(err);
	const cast_room room = {in, out};
	while (at < end) {
		size_t now = end - at < most ? (size_t)(end - at) : most;
		TRY(read_piece(b, t, at, now, &room, offset, buf, len, err));
		at += now;
	}
	return SHERD_OK;
}

uint64_t sherd_bundle_overflowed(const sherd_bundle *bundle)
{
	if (bundle->ops != &shd_derived_ops)
		return 0;
	shd_derived *b = (shd_derived *)(uintptr_t)bundle; /* its lock is its own */
	(void)pthread_mutex_lock(&b->lock);
	uint64_t overflowed = b->overflowed;
	(void)pthread_mutex_unlock(&b->lock);
	return overflowed;
}
