/* engine/rows/cursor.c - one thread's way through a set. */
#include "engine/rows/cursor.h"

#include "engine/rows/cursor_text.h"

#include <stdlib.h>

SHD_AUTO_DEFINE(sherd_rows_cursor, sherd_rows_cursor_close)

int sherd_rows_cursor_open(sherd_rows_cursor **out, const sherd_rows *rows, const sherd_rows_stream_options *options,
                           sherd_error *err)
{
	static const sherd_rows_stream_options defaults = {0};
	const sherd_rows_stream_options *o = options ? options : &defaults;
	SHD_AUTO(sherd_rows_cursor, sherd_rows_cursor_close) c = calloc(1, sizeof(*c));
	if (!c)
		return shd_fail_nomem(err);
	TRY(shd_rows_sequence_init(&c->sequence, rows, o, err));
	if (o->verify)
		TRY(shd_rows_checked_open(&c->checked, rows, err));
	TRY(shd_rows_fetch_init(&c->fetch, rows, o, err));
	shd_rows_fetch_verify(&c->fetch, c->checked);
	shd_rows_scout_init(&c->scout, &c->sequence, c->fetch.window);
	*out = TAKE(c);
	return SHERD_OK;
}

void sherd_rows_cursor_close(sherd_rows_cursor *c)
{
	if (!c)
		return;
	shd_rows_fetch_done(&c->fetch);
	shd_rows_checked_close(c->checked);
	shd_rows_scout_done(&c->scout);
	shd_vec_done(&c->hints.list);
	shd_vec_done(&c->pick.ids);
	free(c);
}

int sherd_rows_next(sherd_rows_batch *out, sherd_rows_cursor *c, sherd_error *err)
{
	rows_sequence before = c->sequence;
	int rc = shd_rows_sequence_next(&c->sequence, &c->pick, err);
	if (rc > 0) {
		/* First what follows, so that it is fetched while this batch is converted. */
		shd_rows_fetch_follow(&c->fetch, &c->pick, &before, &c->scout, &c->hints);
		rc = shd_rows_fetch_pick(&c->fetch, &c->pick, &c->scout, out, err);
		rc = rc < 0 ? rc : 1;
	} else if (rc == 0) {
		rc = shd_rows_fetch_settle(&c->fetch, err);
	}
	if (rc < 0)
		c->sequence = before; /* a failed batch may be asked for again */
	return rc;
}

/* The sequence stands elsewhere. again: at its beginning. */
static void restart(sherd_rows_cursor *c, bool again)
{
	shd_rows_fetch_restart(&c->fetch, again);
	shd_rows_scout_init(&c->scout, &c->sequence, c->fetch.window);
}

void sherd_rows_reset(sherd_rows_cursor *c)
{
	shd_rows_sequence_reset(&c->sequence);
	restart(c, true);
}

void sherd_rows_begin_epoch(sherd_rows_cursor *c, uint64_t epoch)
{
	shd_rows_sequence_begin(&c->sequence, epoch);
	restart(c, true);
}

uint64_t sherd_rows_epoch(const sherd_rows_cursor *c)
{
	return c->sequence.order.epoch;
}

int sherd_rows_seek(sherd_rows_cursor *c, uint64_t row, sherd_error *err)
{
	TRY(shd_rows_sequence_seek(&c->sequence, row, err));
	restart(c, false);
	return SHERD_OK;
}

int sherd_rows_skip(sherd_rows_cursor *c, uint64_t batches, uint64_t *passed, sherd_error *err)
{
	uint64_t had = 0;
	int rc = 1;
	while (had < batches && (rc = shd_rows_sequence_next(&c->sequence, &c->pick, err)) > 0)
		had++;
	if (batches)
		restart(c, false);
	if (rc < 0)
		return rc;
	if (passed)
		*passed = had;
	return SHERD_OK;
}

uint64_t sherd_rows_batch_rows(const sherd_rows_cursor *c)
{
	return c->sequence.batch_rows;
}

int sherd_rows_tell(char out[SHERD_ROWS_CURSOR_TEXT], const sherd_rows_cursor *c, sherd_error *err)
{
	(void)err;
	shd_rows_text_write(&c->sequence, &c->sequence.now, out);
	return SHERD_OK;
}

int sherd_rows_gather(sherd_rows_cursor *c, const uint64_t *ids, size_t count, void *buf, sherd_error *err)
{
	return shd_rows_fetch_ids(&c->fetch, ids, count, buf, err);
}
