#include "base/doc.h"
#include "rows/npy.h"
#include "rows/stream.h"
#include "base/text.h"
#include "base/value.h"
#include "base/watch.h"

#include <sherd/guard.h>

#include <inttypes.h>
#include <stdlib.h>

/* What was delivered, and with --json the document about it. */
typedef struct delivering {
	cli_state *cli;
	const cli_streaming *s;
	const cli_place *place; /* of the set */
	cli_doc doc;
	uint64_t batches, rows;
	cli_npy_out npy;
	void *room; /* for rows that are gathered */
	size_t gathered;
} delivering;

static uint64_t rows_deliver_id_of(const sherd_rows_batch *b, size_t row)
{
	return b->ids ? b->ids[row] : b->first_id + row;
}

static uint32_t value_bytes(const sherd_rows_batch *b)
{
	return sherd_dtype_element_bytes(b->dtype);
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
	cli_out_bytes(&d->cli->out, b->data, bytes);
}

static void print_text(delivering *d, const sherd_rows_batch *b)
{
	cli_out *out = &d->cli->out;
	const uint8_t *raw = b->data;
	uint32_t size = value_bytes(b);
	for (size_t i = 0; i < b->rows; i++) {
		if (d->s->ids)
			cli_out_printf(out, "%" PRIu64 " ", rows_deliver_id_of(b, i));
		for (uint64_t j = 0; j < b->width; j++, raw += size) {
			char text[CLI_VALUE_TEXT + 1];
			size_t len = cli_value_text(b->dtype, raw, text);
			text[len++] = j + 1 == b->width ? '\n' : ' ';
			cli_out_bytes(out, text, len);
		}
	}
}

static void print_batch(delivering *d, const sherd_rows_batch *b)
{
	cli_out *out = &d->cli->out;
	if (d->s->as == CLI_STREAMING_RAW)
		print_raw(d, b);
	else if (d->s->as == CLI_STREAMING_TEXT)
		print_text(d, b);
	else
		cli_out_printf(out, "%" PRIu64 " %" PRIu64 " %zu%s\n", b->number, rows_deliver_id_of(b, 0), b->rows,
		               b->padding ? " padding" : "");
}

/* ---- documents */

static void put_values(delivering *d, const sherd_rows_batch *b)
{
	uint64_t values = b->rows * b->width;
	cli_doc_put_open(&d->doc, "ids", '[');
	for (size_t i = 0; i < b->rows; i++)
		cli_doc_u64(&d->doc, rows_deliver_id_of(b, i));
	cli_doc_close(&d->doc, ']');
	cli_doc_put_open(&d->doc, "values", '[');
	for (uint64_t i = 0; i < values; i++)
		cli_value_json(b->dtype, (const uint8_t *)b->data + i * value_bytes(b), &d->doc);
	cli_doc_close(&d->doc, ']');
}

static void put_batch(delivering *d, const sherd_rows_batch *b)
{
	cli_doc_open(&d->doc, '{');
	cli_doc_put_u64(&d->doc, "number", b->number);
	cli_doc_put_u64(&d->doc, "first", rows_deliver_id_of(b, 0));
	cli_doc_put_u64(&d->doc, "rows", b->rows);
	cli_doc_put_bool(&d->doc, "padding", b->padding);
	if (d->s->as == CLI_STREAMING_TEXT)
		put_values(d, b);
	cli_doc_close(&d->doc, '}');
}

static void put_counts(delivering *d)
{
	cli_doc_put_u64(&d->doc, "count", d->batches);
	cli_doc_put_u64(&d->doc, "rows", d->rows);
	cli_doc_put_text(&d->doc, "dtype", sherd_dtype_describe(d->s->stream.dtype)->name);
}

/* ---- both */

enum { GATHERED = 1024 }; /* rows at a time */

/* The next rows of those that were asked for. */
static int rows_deliver_gather(delivering *d, sherd_rows_cursor *cursor, sherd_rows_batch *out, sherd_error *err)
{
	const cli_streaming *s = d->s;
	size_t left = s->gather_count - d->gathered, n = left < GATHERED ? left : GATHERED, bytes;
	uint64_t width = d->s->width;
	*out = (sherd_rows_batch){.number = d->batches,
	                          .rows = n,
	                          .width = width,
	                          .dtype = s->stream.dtype,
	                          .ids = s->gather + d->gathered};
	if (!n)
		return 0;
	if (!d->room &&
	    (__builtin_mul_overflow(width, GATHERED * (size_t)value_bytes(out), &bytes) || !(d->room = malloc(bytes))))
		return cli_no_memory(err);
	TRY(sherd_rows_gather(cursor, out->ids, n, d->room, err));
	out->data = d->room;
	d->gathered += n;
	return 1;
}

static int next_batch(delivering *d, sherd_rows_cursor *cursor, sherd_rows_batch *out, sherd_error *err)
{
	TRY(cli_watch_check(err));
	int rc = d->s->gather ? rows_deliver_gather(d, cursor, out, err) : sherd_rows_next(out, cursor, err);
	return cli_place_blame(d->place, rc, err);
}

static int rows_deliver_hand_out(delivering *d, const sherd_rows_batch *batch, sherd_error *err)
{
	if (d->s->as == CLI_STREAMING_NPY)
		TRY(cli_npy_add(&d->npy, batch->data, batch->rows, err));
	else if (d->cli->out.json)
		put_batch(d, batch);
	else
		print_batch(d, batch);
	return cli_place_blame(d->place, sherd_guard_check(batch->data, batch_bytes(batch), err), err);
}

static int rows_deliver(delivering *d, sherd_rows_cursor *cursor, sherd_error *err)
{
	sherd_rows_batch batch;
	int rc = 1;
	while (!cli_out_failed() && (!d->s->limit || d->batches < d->s->limit)) {
		rc = next_batch(d, cursor, &batch, err);
		if (rc <= 0)
			break;
		d->batches++;
		d->rows += batch.rows;
		TRY(rows_deliver_hand_out(d, &batch, err));
	}
	return rc < 0 ? rc : SHERD_OK;
}

static int deliver_batches(delivering *d, sherd_rows_cursor *cursor, sherd_error *err)
{
	cli_doc_put_open(&d->doc, "batches", '[');
	TRY(rows_deliver(d, cursor, err));
	cli_doc_close(&d->doc, ']');
	return SHERD_OK;
}

/* All of them into one file. */
static int deliver_npy(delivering *d, sherd_rows_cursor *cursor, sherd_error *err)
{
	const cli_streaming *s = d->s;
	TRY(cli_npy_begin(&d->npy, s->output, s->replace, s->stream.dtype, d->s->width, err));
	TRY(cli_npy_end(&d->npy, rows_deliver(d, cursor, err), err));
	cli_out_note(&d->cli->out, "%s: %" PRIu64 " row%s of %" PRIu64 " value%s written", s->output, d->rows,
	             cli_text_plural(d->rows), d->npy.width, cli_text_plural(d->npy.width));
	cli_doc_put_text(&d->doc, "path", s->output);
	return SHERD_OK;
}

static int deliver_digest(delivering *d, sherd_rows_cursor *cursor, sherd_error *err)
{
	bool set = d->s->as == CLI_STREAMING_SET_DIGEST;
	sherd_rows_digest digest;
	sherd_rows_digest_options options = {
		.batches = d->s->limit, .pool = d->cli->pool, .progress = &d->cli->progress};
	char text[2 * SHERD_ROWS_DIGEST_BYTES + 1];
	int rc = set ? sherd_rows_digest_set(&digest, cursor, &options, err)
	             : sherd_rows_digest_values(&digest, cursor, &options, err);
	cli_out_clear_bar(&d->cli->out);
	TRY(cli_place_blame(d->place, rc, err));
	for (size_t i = 0; i < SHERD_ROWS_DIGEST_BYTES; i++)
		(void)snprintf(text + 2 * i, 3, "%02x", digest.hash[i]);
	d->batches = digest.batches;
	d->rows = digest.rows;
	cli_doc_put_text(&d->doc, set ? "set_digest" : "digest", text);
	if (!set && d->cli->out.json)
		cli_doc_put_bool(&d->doc, "chain", true); /* one thread made it; set_digest is made by all */
	if (!set && !d->cli->out.json && !d->cli->out.quiet && cli_out_has_terminal())
		cli_out_aside(&d->cli->out, "(a chain, made by one thread; --set-digest is made by all workers)");
	if (!d->cli->out.json)
		cli_out_printf(&d->cli->out, "%s\n", text);
	return SHERD_OK;
}

static int tell_cursor(delivering *d, const sherd_rows_cursor *cursor, sherd_error *err)
{
	char text[SHERD_ROWS_CURSOR_TEXT];
	TRY(sherd_rows_tell(text, cursor, err));
	cli_doc_put_text(&d->doc, "cursor", text);
	if (!d->cli->out.json)
		cli_out_aside(&d->cli->out, text);
	return SHERD_OK;
}

static int deliver_as(delivering *d, sherd_rows_cursor *cursor, sherd_error *err)
{
	switch (d->s->as) {
	case CLI_STREAMING_DIGEST:
	case CLI_STREAMING_SET_DIGEST: return deliver_digest(d, cursor, err);
	case CLI_STREAMING_NPY: return deliver_npy(d, cursor, err);
	default: return deliver_batches(d, cursor, err);
	}
}

int cli_streaming_run(cli_state *cli, const cli_streaming *s, sherd_rows_cursor *cursor, const cli_place *place,
                      sherd_error *err)
{
	delivering d = {.cli = cli, .s = s, .place = place, .doc = cli_doc_begin(&cli->out)};
	int rc = deliver_as(&d, cursor, err);
	if (rc == SHERD_OK)
		put_counts(&d);
	if (rc == SHERD_OK && s->cursor)
		rc = tell_cursor(&d, cursor, err);
	free(d.room);
	return cli_doc_end(&d.doc, rc, err);
}
