#include "engine/rows/cursor_text.h"

#include "codec/crc32.h"
#include "codec/sha256.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { WHAT = 64, SET_TEXT = SHD_SHA256_HEX + 1 };

/* What a text says, but for the order. */
typedef struct rows_told {
	uint64_t epoch, from, position, number, batch, total, width;
	char set[SET_TEXT]; /* "-": unknown */
} rows_told;

/* The order and the sample, which must be the same for the text to make sense. */
static void cursor_text_describe(const rows_sequence *s, char out[WHAT])
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

/* The lineage of the set as far as its first rows, or "-". */
static void describe_set(const sherd_rows *rows, uint64_t total, char out[SET_TEXT])
{
	uint8_t digest[SHD_SHA256_BYTES];
	if (shd_rows_lineage(rows, total, digest))
		shd_hex(digest, sizeof(digest), out);
	else
		memcpy(out, "-", 2);
}

void shd_rows_text_write(const rows_sequence *s, const rows_state *at, char out[SHERD_ROWS_CURSOR_TEXT])
{
	char what[WHAT], set[SET_TEXT];
	describe_set(s->rows, s->order.total, set);
	cursor_text_describe(s, what);
	int n = snprintf(out, SHERD_ROWS_CURSOR_TEXT - 10,
	                 "rows2:%" PRIu64 ":%" PRIu64 ":%" PRIu64 ":%" PRIu64 ":%" PRIu64 ":%" PRIu64 ":%" PRIu64
	                 ":%s:%s",
	                 s->order.epoch, s->from, at->position, at->number, s->batch_rows, s->order.total,
	                 s->rows->width, set, what);
	(void)snprintf(out + n, (size_t)(SHERD_ROWS_CURSOR_TEXT - n), ":%08" PRIx32, shd_crc32(0, out, (size_t)n));
}

static int bad_text(const char *why, sherd_error *err)
{
	return shd_fail(err, SHERD_EINVAL, "bad-cursor", "the cursor %s", why);
}

/* Decimal digits up to a colon; false for anything else. */
static bool cursor_text_take_number(const char **at, uint64_t *out)
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

static bool take_set(const char **at, char out[SET_TEXT])
{
	size_t len = strcspn(*at, ":");
	if (len >= SET_TEXT || (*at)[len] != ':')
		return false;
	memcpy(out, *at, len);
	out[len] = 0;
	*at += len + 1;
	return true;
}

/* Checks the sum and gives the text without it. */
static int check_sum(const char *text, char body[SHERD_ROWS_CURSOR_TEXT], sherd_error *err)
{
	const char *last = strrchr(text, ':');
	char sum[9];
	if (!last || strlen(text) >= SHERD_ROWS_CURSOR_TEXT ||
	    (strncmp(text, "rows1:", 6) != 0 && strncmp(text, "rows2:", 6) != 0))
		return bad_text("is no cursor of rows, or of a later version", err);
	size_t len = (size_t)(last - text);
	memcpy(body, text, len);
	body[len] = 0;
	(void)snprintf(sum, sizeof(sum), "%08" PRIx32, shd_crc32(0, body, len));
	return strcmp(last + 1, sum) == 0 ? SHERD_OK : bad_text("is damaged", err);
}

/* Leaves the order and the sample. */
static bool take_told(const char **at, rows_told *t)
{
	bool first = (*at)[4] == '1';
	*t = (rows_told){.set = "-"};
	*at += 6;
	return (first || (cursor_text_take_number(at, &t->epoch) && cursor_text_take_number(at, &t->from))) &&
	       cursor_text_take_number(at, &t->position) && cursor_text_take_number(at, &t->number) &&
	       cursor_text_take_number(at, &t->batch) && cursor_text_take_number(at, &t->total) &&
	       cursor_text_take_number(at, &t->width) && (first || take_set(at, t->set));
}

/* A set that has grown still begins with the one that the text is of. Where nothing tells, it may not have grown. */
static int cursor_text_check_set(const sherd_rows *rows, const rows_told *t, sherd_error *err)
{
	char set[SET_TEXT];
	bool known = strcmp(t->set, "-") != 0;
	if (t->width != rows->width || t->total > rows->total || (!known && t->total != rows->total))
		return bad_text("is of another set: rows or width differ", err);
	if (!known)
		return SHERD_OK;
	if (!rows->entries)
		return bad_text("knows its set by a manifest, and there is none to compare with", err);
	describe_set(rows, t->total, set);
	return strcmp(set, t->set) == 0 ? SHERD_OK
	                                : bad_text("is of another set: it does not begin with the same shards", err);
}

int shd_rows_text_resume(rows_sequence *s, const char *text, bool same_batch, sherd_error *err)
{
	char body[SHERD_ROWS_CURSOR_TEXT] = {0}, what[WHAT];
	rows_told t;
	TRY(check_sum(text, body, err));
	const char *at = body;
	if (!take_told(&at, &t))
		return bad_text("is damaged", err);
	TRY(cursor_text_check_set(s->rows, &t, err));
	cursor_text_describe(s, what);
	if (strcmp(at, what) != 0)
		return bad_text("is of another shuffle or sample", err);
	if (t.position > t.total || t.from > t.total)
		return bad_text("is damaged", err);
	/* No batch has more rows than the set had then. */
	uint64_t asked = s->batch_rows < t.total ? s->batch_rows : t.total;
	if (!t.batch || (same_batch && t.batch != asked))
		return bad_text("is of another batch size", err);
	s->batch_rows = t.batch;
	s->order.epoch = t.epoch;
	s->order.total = t.total;
	s->from = t.from;
	s->now = (rows_state){.position = t.position, .number = t.number};
	return SHERD_OK;
}
