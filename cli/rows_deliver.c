#include "doc.h"
#include "rows_stream.h"
#include "value.h"
#include "watch.h"

#include <sherd/guard.h>

#include <inttypes.h>

/* What was delivered, and with --json the document about it. */
typedef struct delivering {
	sherd_cli *cli;
	const sherd_streaming *s;
	sherd_doc doc;
	uint64_t batches, rows;
} delivering;

static uint64_t id_of(const sherd_rows_batch *b, size_t row)
{
	return b->ids ? b->ids[row] : b->first_id + row;
}

static uint32_t value_bytes(const sherd_rows_batch *b)
{
	return sherd_dtype_describe(b->dtype)->block_bytes;
}

static size_t batch_bytes(const sherd_rows_batch *b)
{
	return b->rows * (size_t)b->width * value_bytes(b);
}

/* ---- lines */

/* To write from a map that fails is an error of standard output to the system, and no signal: so it is looked at first,
 * which the guard notices. */
static void print_raw(delivering *d, const sherd_rows_batch *b)
{
	enum { PAGE = 4096 };
	const volatile uint8_t *data = b->data;
	size_t bytes = batch_bytes(b);
	for (size_t i = 0; i < bytes; i += PAGE)
		(void)data[i];
	sherd_out_bytes(&d->cli->out, b->data, bytes);
}

static void print_text(delivering *d, const sherd_rows_batch *b)
{
	sherd_out *out = &d->cli->out;
	const uint8_t *raw = b->data;
	uint32_t size = value_bytes(b);
	for (size_t i = 0; i < b->rows; i++) {
		if (d->s->ids)
			sherd_out_printf(out, "%" PRIu64 " ", id_of(b, i));
		for (uint64_t j = 0; j < b->width; j++, raw += size) {
			char text[SHERD_VALUE_TEXT + 1];
			size_t len = sherd_value_text(b->dtype, raw, text);
			text[len++] = j + 1 == b->width ? '\n' : ' ';
			sherd_out_bytes(out, text, len);
		}
	}
}

static void print_batch(delivering *d, const sherd_rows_batch *b)
{
	sherd_out *out = &d->cli->out;
	if (d->s->as == SHERD_STREAMING_RAW)
		print_raw(d, b);
	else if (d->s->as == SHERD_STREAMING_TEXT)
		print_text(d, b);
	else
		sherd_out_printf(out, "%" PRIu64 " %" PRIu64 " %zu%s\n", b->number, id_of(b, 0), b->rows,
		                 b->padding ? " padding" : "");
}

/* ---- documents */

static void put_values(delivering *d, const sherd_rows_batch *b)
{
	uint64_t values = b->rows * b->width;
	sherd_doc_put_open(&d->doc, "ids", '[');
	for (size_t i = 0; i < b->rows; i++)
		sherd_doc_u64(&d->doc, id_of(b, i));
	sherd_doc_close(&d->doc, ']');
	sherd_doc_put_open(&d->doc, "values", '[');
	for (uint64_t i = 0; i < values; i++)
		sherd_value_json(b->dtype, (const uint8_t *)b->data + i * value_bytes(b), &d->doc);
	sherd_doc_close(&d->doc, ']');
}

static void put_batch(delivering *d, const sherd_rows_batch *b)
{
	sherd_doc_open(&d->doc, '{');
	sherd_doc_put_u64(&d->doc, "number", b->number);
	sherd_doc_put_u64(&d->doc, "first", id_of(b, 0));
	sherd_doc_put_u64(&d->doc, "rows", b->rows);
	sherd_doc_put_bool(&d->doc, "padding", b->padding);
	if (d->s->as == SHERD_STREAMING_TEXT)
		put_values(d, b);
	sherd_doc_close(&d->doc, '}');
}

static void put_counts(delivering *d)
{
	sherd_doc_put_u64(&d->doc, "count", d->batches);
	sherd_doc_put_u64(&d->doc, "rows", d->rows);
	sherd_doc_put_text(&d->doc, "dtype", sherd_dtype_describe(d->s->stream.dtype)->name);
}

/* ---- both */

static int deliver(delivering *d, sherd_rows_cursor *cursor, sherd_error *err)
{
	sherd_rows_batch batch;
	int rc = 1;
	while (!sherd_out_failed() && (!d->s->limit || d->batches < d->s->limit)) {
		TRY(sherd_watch_check(err));
		rc = sherd_rows_next(cursor, &batch, err);
		if (rc <= 0)
			break;
		d->batches++;
		d->rows += batch.rows;
		if (d->cli->out.json)
			put_batch(d, &batch);
		else
			print_batch(d, &batch);
		TRY(sherd_guard_check(batch.data, batch_bytes(&batch), err));
	}
	return rc < 0 ? rc : SHERD_OK;
}

static int deliver_batches(delivering *d, sherd_rows_cursor *cursor, sherd_error *err)
{
	sherd_doc_put_open(&d->doc, "batches", '[');
	TRY(deliver(d, cursor, err));
	sherd_doc_close(&d->doc, ']');
	return SHERD_OK;
}

static int deliver_digest(delivering *d, sherd_rows_cursor *cursor, sherd_error *err)
{
	bool set = d->s->as == SHERD_STREAMING_SET_DIGEST;
	sherd_rows_digest digest;
	sherd_rows_digest_options options = {
		.batches = d->s->limit, .pool = d->cli->pool, .progress = &d->cli->progress};
	char text[2 * SHERD_ROWS_DIGEST_BYTES + 1];
	int rc = set ? sherd_rows_digest_set(cursor, &options, &digest, err)
	             : sherd_rows_digest_values(cursor, &options, &digest, err);
	sherd_out_clear_bar(&d->cli->out);
	TRY(rc);
	for (size_t i = 0; i < SHERD_ROWS_DIGEST_BYTES; i++)
		(void)snprintf(text + 2 * i, 3, "%02x", digest.hash[i]);
	d->batches = digest.batches;
	d->rows = digest.rows;
	sherd_doc_put_text(&d->doc, set ? "set_digest" : "digest", text);
	if (!d->cli->out.json)
		sherd_out_printf(&d->cli->out, "%s\n", text);
	return SHERD_OK;
}

static int tell_cursor(delivering *d, const sherd_rows_cursor *cursor, sherd_error *err)
{
	char text[SHERD_ROWS_CURSOR_TEXT];
	TRY(sherd_rows_tell(cursor, text, err));
	sherd_doc_put_text(&d->doc, "cursor", text);
	if (!d->cli->out.json)
		sherd_out_aside(&d->cli->out, text);
	return SHERD_OK;
}

int sherd_streaming_run(sherd_cli *cli, const sherd_streaming *s, sherd_rows_cursor *cursor, sherd_error *err)
{
	delivering d = {.cli = cli, .s = s, .doc = sherd_doc_begin(&cli->out)};
	bool digest = s->as == SHERD_STREAMING_DIGEST || s->as == SHERD_STREAMING_SET_DIGEST;
	int rc = digest ? deliver_digest(&d, cursor, err) : deliver_batches(&d, cursor, err);
	if (rc == SHERD_OK)
		put_counts(&d);
	if (rc == SHERD_OK && s->cursor)
		rc = tell_cursor(&d, cursor, err);
	return sherd_doc_end(&d.doc, rc, err);
}
