/* engine/rows/bundle.c - a set of rows as one tensor. What its manifest has checksums of is verified before it is read:
 * whoever copies rows makes new checksums of them. */
#include "engine/rows/checked.h"
#include "engine/rows/format.h"
#include "engine/tensors/bundle.h"

SHD_AUTO_DEFINE(sherd_reader, sherd_reader_close)

typedef struct rows_bundle {
	sherd_bundle base;
	sherd_rows *rows;
	rows_checked *checked; /* NULL without a manifest */
	sherd_tensor tensor;
	uint64_t shape[2];
} rows_bundle;

/* Bytes of one shard's rows. Readers are opened as they are needed: sets have more shards than files may be open. */
static int read_shard(const rows_bundle *b, size_t shard, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	SHD_AUTO(sherd_reader, sherd_reader_close) reader = NULL;
	const sherd_rows *r = b->rows;
	const sherd_rows_shard *s = &r->shards[shard];
	TRY(sherd_store_read(&reader, r->store, s->key, err));
	TRY(shd_in_object(err, shd_rows_check_size(reader, s, err), s->key));
	const rows_open_shard open = {.reader = reader, .shard = shard};
	if (b->checked)
		TRY(shd_rows_checked_range(b->checked, &open, offset, offset + len, err));
	return sherd_reader_at(reader, r->head_bytes + offset, buf, len, err);
}

static int rows_bundle_read_part(const sherd_bundle *bundle, size_t index, uint64_t offset, void *buf, size_t len,
                                 sherd_error *err)
{
	const rows_bundle *b = (const rows_bundle *)bundle;
	const sherd_rows *r = b->rows;
	uint8_t *out = buf;
	(void)index;
	while (len) {
		size_t shard = shd_rows_shard_of(r, offset / r->row_bytes);
		const sherd_rows_shard *s = &r->shards[shard];
		uint64_t within = offset - s->first * r->row_bytes, left = s->rows * r->row_bytes - within;
		size_t n = left < len ? (size_t)left : len;
		TRY(read_shard(b, shard, within, out, n, err));
		offset += n;
		out += n;
		len -= n;
	}
	return SHERD_OK;
}

static void rows_bundle_done(sherd_bundle *bundle)
{
	rows_bundle *b = (rows_bundle *)bundle;
	shd_rows_checked_close(b->checked);
	sherd_rows_close(b->rows);
}

static const shd_bundle_ops ops = {.read = rows_bundle_read_part, .close = rows_bundle_done};

int shd_bundle_open_rows(sherd_bundle **out, shd_evidence *e, const sherd_bundle_options *options, sherd_error *err)
{
	SHD_AUTO(sherd_bundle, sherd_bundle_close) b = NULL;
	sherd_rows_options rows_options = {.limits = options->limits, .progress = options->progress};
	TRY(shd_bundle_new(&b, sizeof(rows_bundle), &ops, SHERD_FORMAT_ROWS, err));
	rows_bundle *self = (rows_bundle *)b;
	TRY(e->format->open_rows(&self->rows, e, &rows_options, err));
	const sherd_rows *r = self->rows;
	if (r->entries)
		TRY(shd_rows_checked_open(&self->checked, r, err));
	b->format = sherd_rows_format(r);
	self->shape[0] = r->total;
	self->shape[1] = r->width;
	self->tensor = (sherd_tensor){.name = "rows", .dtype = r->dtype, .ndim = 2, .shape = self->shape};
	if (__builtin_mul_overflow(r->total, r->row_bytes, &self->tensor.bytes))
		return shd_fail(err, SHERD_ELIMIT, "too-many-rows", "more bytes than 64 bits count");
	b->count = 1;
	b->tensors = &self->tensor;
	TRY(shd_bundle_finish(b, err));
	*out = TAKE(b);
	return SHERD_OK;
}
