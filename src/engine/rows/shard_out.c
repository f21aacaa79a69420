#include "engine/rows/shard_out.h"

#include "base/error.h"
#include "format/rows/shard.h"

SHD_AUTO_DEFINE(sherd_reader, sherd_reader_close)

static int shard_out_put_head(rows_shard_out *s, sherd_error *err)
{
	uint8_t head[SHD_ROWS_HEAD_SIZE];
	if (!s->kind->head)
		return SHERD_OK;
	shd_rows_head_encode(s->expected, s->width, head);
	shd_rows_sums_add(&s->sums, head, sizeof(head));
	return sherd_writer_append(s->writer, head, sizeof(head), err);
}

int shd_rows_shard_begin(rows_shard_out *out, sherd_store *store, const char *key, sherd_dtype dtype, uint64_t width,
                         uint64_t expected, const char *like,
                         char *identity, // NOLINT(readability-non-const-parameter): the store fills it in
                         sherd_error *err)
{
	rows_shard_out s = {
		.store = store, .key = key, .kind = shd_rows_kind_of(dtype), .width = width, .expected = expected};
	s.row_bytes = width * s.kind->element;
	sherd_write_options options = {
		.mode = SHERD_WRITE_NEW,
		.like = like,
		.head = (uint32_t)s.kind->head,
		.size_hint = s.kind->head + expected * s.row_bytes,
		.identity = identity,
	};
	TRY(sherd_store_write(&s.writer, store, key, &options, err));
	shd_rows_sums_init(&s.sums, s.kind->head);
	int rc = shard_out_put_head(&s, err);
	if (rc < 0)
		sherd_writer_abort(s.writer);
	else
		*out = s;
	return rc;
}

int shd_rows_shard_put(rows_shard_out *out, const void *values, size_t rows, sherd_error *err)
{
	size_t len = rows * (size_t)out->row_bytes;
	shd_rows_sums_add(&out->sums, values, len);
	out->rows += rows;
	return sherd_writer_append(out->writer, values, len, err);
}

/* The file as it is now: the number of rows in its head has changed since it was hashed. */
static int hash_again(const rows_shard_out *s, shd_rows_entry *e, sherd_error *err)
{
	SHD_AUTO(sherd_reader, sherd_reader_close) reader = NULL;
	rows_sums again;
	TRY(sherd_store_read(&reader, s->store, s->key, err));
	TRY(shd_rows_sums_read(&again, reader, s->kind->head, e->bytes, NULL, err));
	bool same = shd_rows_sums_differ(&again, e) == SIZE_MAX;
	memcpy(e->sha256, again.sha256, sizeof(e->sha256));
	shd_rows_sums_done(&again);
	return same ? SHERD_OK
	            : shd_in_object(err, shd_fail(err, SHERD_EIO, "io", "what was written is not what is read"),
	                            s->key);
}

static int fill_head(const rows_shard_out *s, sherd_error *err)
{
	uint8_t head[SHD_ROWS_HEAD_SIZE];
	shd_rows_head_encode(s->rows, s->width, head);
	return sherd_writer_fill(s->writer, 0, head, sizeof(head), err);
}

static int shard_out_commit(rows_shard_out *s, shd_arena *arena, shd_rows_entry *e, sherd_error *err)
{
	bool shorter = s->kind->head && s->rows != s->expected;
	TRY(shd_rows_sums_finish(&s->sums, err));
	const uint32_t *crcs = shd_vec_copy(&s->sums.crcs, arena);
	if (!crcs)
		return shd_fail_nomem(err);
	if (shorter)
		TRY(fill_head(s, err));
	TRY(sherd_writer_commit(TAKE(s->writer), err));
	e->rows = s->rows;
	e->bytes = s->kind->head + s->rows * s->row_bytes;
	e->crcs = crcs;
	e->crc_count = s->sums.crcs.count;
	memcpy(e->sha256, s->sums.sha256, sizeof(e->sha256));
	return shorter ? hash_again(s, e, err) : SHERD_OK;
}

int shd_rows_shard_commit(rows_shard_out *out, shd_arena *arena, shd_rows_entry *entry, sherd_error *err)
{
	int rc = shard_out_commit(out, arena, entry, err);
	shd_rows_shard_abort(out);
	return rc;
}

void shd_rows_shard_abort(rows_shard_out *out)
{
	sherd_writer_abort(TAKE(out->writer));
	shd_rows_sums_done(&out->sums);
	*out = (rows_shard_out){0};
}
