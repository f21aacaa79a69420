#include "engine/ckpt/verify_strings.h"

#include "codec/json.h"
#include "codec/utf8.h"

#include <inttypes.h>

#define HALF (STRINGS_BUFFER / 2)

typedef struct strings {
	const ckpt_shard *shard;
	const shd_ckpt_entry *entry;
	shd_meter *meter;
	uint8_t *buf;
	uint64_t count;      /* of strings */
	uint64_t base, text; /* where offsets and text begin in the file */
	uint64_t room;       /* bytes of text */
	/* The part of the text that lies in the second half of buf. */
	uint64_t window;
	size_t window_len;
} strings;

/* Reads as many of the offsets from the ith on as fit into half of buf. */
static int read_offsets(const strings *s, uint64_t i, uint64_t *n, sherd_error *err)
{
	uint64_t left = s->count + 1 - i;
	*n = left < HALF / 8 ? left : HALF / 8;
	TRY(shd_meter_ask(s->meter, err));
	return sherd_reader_at(s->shard->reader, s->base + 8 * i, s->buf, (size_t)(8 * *n), err);
}

static uint64_t offset_at(const strings *s, uint64_t k)
{
	uint64_t offset;
	memcpy(&offset, s->buf + 8 * k, sizeof(offset));
	return offset;
}

static int check_offsets(const strings *s, sherd_error *err)
{
	uint64_t before = 0, n;
	for (uint64_t i = 0; i <= s->count;) {
		TRY(read_offsets(s, i, &n, err));
		for (uint64_t k = 0; k < n; k++, i++) {
			uint64_t offset = offset_at(s, k);
			if ((!i && offset) || offset < before || offset > s->room ||
			    (i == s->count && offset != s->room))
				return shd_fail_at(err, SHERD_ECORRUPT, "bad-offsets", s->base + 8 * i,
				                   "tensor '%.80s': string offset %" PRIu64 " after %" PRIu64
				                   " of %" PRIu64,
				                   s->entry->tensor.name, offset, before, s->room);
			before = offset;
		}
	}
	return SHERD_OK;
}

/* A character that a chunk's end cuts is looked at again with the next chunk. */
static size_t cut_tail(const uint8_t *buf, size_t n)
{
	size_t back = 0;
	while (back < 3 && back < n && utf8_tail(buf[n - 1 - back]))
		back++;
	return back < n && buf[n - 1 - back] >= 0xc0 ? back + 1 : 0;
}

static int verify_strings_check_text(const strings *s, sherd_error *err)
{
	for (uint64_t at = 0; at < s->room;) {
		uint64_t left = s->room - at;
		size_t n = left < STRINGS_BUFFER ? (size_t)left : STRINGS_BUFFER, bad;
		TRY(shd_meter_ask(s->meter, err));
		TRY(sherd_reader_at(s->shard->reader, s->text + at, s->buf, n, err));
		size_t use = n == left ? n : n - cut_tail(s->buf, n);
		if (!shd_utf8_valid(s->buf, use, &bad))
			return shd_fail_at(err, SHERD_ECORRUPT, "bad-utf8", s->text + at + bad,
			                   "tensor '%.80s': text is not UTF-8", s->entry->tensor.name);
		at += use ? use : n;
	}
	return SHERD_OK;
}

static int verify_strings_text_at(strings *s, uint64_t at, uint8_t *out, sherd_error *err)
{
	if (at < s->window || at - s->window >= s->window_len) {
		uint64_t left = s->room - at;
		s->window = at;
		s->window_len = left < HALF ? (size_t)left : HALF;
		TRY(sherd_reader_at(s->shard->reader, s->text + at, s->buf + HALF, s->window_len, err));
	}
	*out = s->buf[HALF + (at - s->window)];
	return SHERD_OK;
}

/* Of text that is valid as a whole, each string is when none begins within a character. */
static int check_borders(strings *s, sherd_error *err)
{
	uint64_t n;
	for (uint64_t i = 1; i < s->count;) {
		TRY(read_offsets(s, i, &n, err));
		for (uint64_t k = 0; k < n && i < s->count; k++, i++) {
			uint64_t offset = offset_at(s, k);
			uint8_t first;
			if (offset == s->room)
				return SHERD_OK;
			TRY(verify_strings_text_at(s, offset, &first, err));
			if (utf8_tail(first))
				return shd_fail_at(err, SHERD_ECORRUPT, "bad-utf8", s->text + offset,
				                   "tensor '%.80s': string %" PRIu64 " begins within a character",
				                   s->entry->tensor.name, i);
		}
	}
	return SHERD_OK;
}

int shd_ckpt_check_strings(const ckpt_shard *shard, const shd_ckpt_entry *e, shd_meter *meter, uint8_t *buf,
                           sherd_error *err)
{
	strings s = {.shard = shard, .entry = e, .meter = meter, .count = 1};
	s.buf = buf;
	for (uint32_t d = 0; d < e->tensor.ndim; d++)
		s.count *= e->tensor.shape[d];
	s.base = shard->data_offset + e->offset;
	s.text = s.base + 8 * (s.count + 1);
	s.room = e->tensor.bytes - 8 * (s.count + 1);
	TRY(check_offsets(&s, err));
	TRY(verify_strings_check_text(&s, err));
	return check_borders(&s, err);
}
