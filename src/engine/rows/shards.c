#include "engine/rows/shards.h"

#include "format/rows/shard.h"

#include <inttypes.h>

void shd_rows_shards_done(rows_shards *s)
{
	for (size_t i = 0; i < ROWS_OPEN; i++)
		sherd_reader_close(s->open[i].reader);
	*s = (rows_shards){0};
}

static int changed(sherd_error *err)
{
	return shd_fail(err, SHERD_ECONFLICT, "changed", "the shard is not the one that was opened");
}

int shd_rows_check_size(const sherd_reader *reader, const sherd_rows_shard *want, sherd_error *err)
{
	uint64_t size = sherd_reader_size(reader);
	if (size < want->bytes)
		return shd_fail_at(err, SHERD_ECORRUPT, "truncated", size,
		                   "the shard had %" PRIu64 " bytes when the set was opened", want->bytes);
	return size == want->bytes ? SHERD_OK : changed(err);
}

/* The set was opened from its heads; the file must still be that one. */
static int rows_shards_check_same(const sherd_rows *rows, const sherd_reader *reader, const sherd_rows_shard *want,
                                  sherd_error *err)
{
	uint8_t raw[SHD_ROWS_HEAD_SIZE];
	shd_rows_head head;
	TRY(shd_rows_check_size(reader, want, err));
	if (!rows->head_bytes)
		return SHERD_OK;
	TRY(sherd_reader_at(reader, 0, raw, sizeof(raw), err));
	TRY(shd_rows_head_decode(raw, want->bytes, &head, err));
	return head.rows == want->rows && head.width == rows->width ? SHERD_OK : changed(err);
}

static int check_lent(rows_open_shard *slot, sherd_error *err)
{
	if (slot->reader && slot->lent)
		TRY(sherd_reader_check(slot->reader, err));
	slot->lent = false;
	return SHERD_OK;
}

int shd_rows_shards_check(rows_shards *s, sherd_error *err)
{
	for (size_t i = 0; i < ROWS_OPEN; i++)
		TRY(check_lent(&s->open[i], err));
	return SHERD_OK;
}

static int open_shard(rows_shards *s, size_t shard, rows_open_shard *slot, sherd_error *err)
{
	const sherd_rows *rows = s->rows;
	const sherd_rows_shard *want = &rows->shards[shard];
	const void *map = NULL;
	TRY(check_lent(slot, err));
	s->closed += slot->reader != NULL;
	sherd_reader_close(TAKE(slot->reader));
	TRY(sherd_store_read(&slot->reader, rows->store, want->key, err));
	int rc = rows_shards_check_same(rows, slot->reader, want, err);
	if (rc == SHERD_OK && s->map && want->rows)
		rc = sherd_reader_map(&map, slot->reader, rows->head_bytes, (size_t)(want->rows * rows->row_bytes),
		                      err);
	if (rc < 0)
		sherd_reader_close(TAKE(slot->reader));
	slot->shard = shard;
	slot->map = map;
	return shd_in_object(err, rc, want->key);
}

int shd_rows_check_residency(size_t cursor_shard, size_t front_shard, sherd_error *err)
{
	if (cursor_shard == front_shard)
		return SHERD_OK;
	return shd_fail(err, SHERD_ECORRUPT, "residency",
	                "the read cursor is at shard %zu but the window has shard %zu", cursor_shard, front_shard);
}

const rows_open_shard *shd_rows_shards_peek(const rows_shards *s, size_t shard)
{
	for (size_t i = 0; i < ROWS_OPEN; i++)
		if (s->open[i].reader && s->open[i].shard == shard)
			return &s->open[i];
	return NULL;
}

static rows_open_shard *oldest(rows_shards *s)
{
	rows_open_shard *found = &s->open[0];
	for (size_t i = 0; i < ROWS_OPEN && found->reader; i++)
		if (!s->open[i].reader || s->open[i].used < found->used)
			found = &s->open[i];
	return found;
}

int shd_rows_shards_find(rows_shards *s, uint64_t row, const rows_open_shard **out, uint64_t *offset, sherd_error *err)
{
	size_t shard = shd_rows_shard_of(s->rows, row);
	rows_open_shard *slot = s->last;
	if (!slot || !slot->reader || slot->shard != shard)
		slot = (rows_open_shard *)(uintptr_t)shd_rows_shards_peek(s, shard);
	if (!slot) {
		slot = oldest(s);
		TRY(open_shard(s, shard, slot, err));
	}
	TRY(shd_rows_check_residency(shard, slot->shard, err));
	slot->used = ++s->looks;
	slot->lent = slot->lent || slot->map;
	s->last = slot;
	*out = slot;
	*offset = (row - s->rows->shards[shard].first) * s->rows->row_bytes;
	return SHERD_OK;
}

void shd_rows_shards_advise(const rows_shards *s, const rows_open_shard *shard, uint64_t from, uint64_t to,
                            sherd_advice advice)
{
	if (from < to)
		sherd_reader_advise(shard->reader, s->rows->head_bytes + from, to - from, advice);
}
