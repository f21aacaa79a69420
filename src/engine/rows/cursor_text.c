#include "engine/rows/cursor_text.h"

#include "codec/crc32.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { WHAT = 64 };

/* Everything that must be the same for the text to make sense. */
static void describe(const rows_sequence *s, char out[WHAT])
{
	char order[36] = "-", sample[20] = "-";
	if (s->order.shuffle)
		(void)snprintf(order, sizeof(order), "%" PRIx64 "/%" PRIx64, s->order.seed, s->order.window);
	if (s->order.sample && s->order.all)
		(void)snprintf(sample, sizeof(sample), "all");
	else if (s->order.sample)
		(void)snprintf(sample, sizeof(sample), "%" PRIx64, s->order.threshold);
	(void)snprintf(out, WHAT, "%s:%s", order, sample);
}

void sherd_rows_text_write(const rows_sequence *s, char out[SHERD_ROWS_CURSOR_TEXT])
{
	char what[WHAT];
	describe(s, what);
	int n = snprintf(out, SHERD_ROWS_CURSOR_TEXT - 10,
	                 "rows1:%" PRIu64 ":%" PRIu64 ":%" PRIu64 ":%" PRIu64 ":%" PRIu64 ":%s", s->now.position,
	                 s->now.number, s->batch_rows, s->rows->total, s->rows->width, what);
	(void)snprintf(out + n, (size_t)(SHERD_ROWS_CURSOR_TEXT - n), ":%08" PRIx32, sherd_crc32(0, out, (size_t)n));
}

static int bad_text(const char *why, sherd_error *err)
{
	return sherd_fail(err, SHERD_EINVAL, "bad-cursor", "the cursor %s", why);
}

/* Decimal digits up to a colon; false for anything else. */
static bool take_number(const char **at, uint64_t *out)
{
	uint64_t v = 0;
	const char *p = *at;
	for (; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
			return false;
	if (p == *at || *p != ':')
		return false;
	*at = p + 1;
	*out = v;
	return true;
}

/* Checks the sum and gives the text without it. */
static int check_sum(const char *text, char body[SHERD_ROWS_CURSOR_TEXT], sherd_error *err)
{
	const char *last = strrchr(text, ':');
	char sum[9];
	if (!last || strlen(text) >= SHERD_ROWS_CURSOR_TEXT || strncmp(text, "rows1:", 6) != 0)
		return bad_text("is no cursor of rows, or of a later version", err);
	size_t len = (size_t)(last - text);
	memcpy(body, text, len);
	body[len] = 0;
	(void)snprintf(sum, sizeof(sum), "%08" PRIx32, sherd_crc32(0, body, len));
	return strcmp(last + 1, sum) == 0 ? SHERD_OK : bad_text("is damaged", err);
}

int sherd_rows_text_resume(rows_sequence *s, const char *text, bool same_batch, sherd_error *err)
{
	char body[SHERD_ROWS_CURSOR_TEXT], what[WHAT];
	uint64_t position, number, batch, total, width;
	TRY(check_sum(text, body, err));
	const char *at = body + 6;
	if (!take_number(&at, &position) || !take_number(&at, &number) || !take_number(&at, &batch) ||
	    !take_number(&at, &total) || !take_number(&at, &width))
		return bad_text("is damaged", err);
	if (total != s->rows->total || width != s->rows->width)
		return bad_text("is of another set: rows or width differ", err);
	describe(s, what);
	if (strcmp(at, what) != 0)
		return bad_text("is of another shuffle or sample", err);
	if (!batch || position > total || (same_batch && batch != s->batch_rows))
		return bad_text("is of another batch size", err);
	s->batch_rows = batch;
	s->start = (rows_state){.position = position, .number = number};
	return SHERD_OK;
}
