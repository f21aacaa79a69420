#include "engine/tensors/strided.h"

#include <sherd/limits.h>

#include <stdlib.h>
#include <string.h>

enum {
	WINDOW = SHD_STRIDED_WINDOW, /* bytes read at once */
	MOST_GAP = 16 << 10,         /* what is not wanted between runs is read with them when it is shorter */
	LONG_RUN = 64 << 10          /* runs that are read straight to where they belong */
};

/* Some dimensions of the view, the one whose steps are longest in the object first; steps are bytes. */
typedef struct box {
	uint32_t ndim;
	uint64_t len[SHERD_MAX_DIMS + 1], from[SHERD_MAX_DIMS + 1], to[SHERD_MAX_DIMS + 1];
	uint64_t end; /* in the object, of the last element */
} box;

typedef struct reading {
	const sherd_reader *reader;
	uint32_t element;
	const shd_strided *s;                /* NULL: a box alone */
	uint64_t suffix[SHERD_MAX_DIMS + 1]; /* elements below each dimension */
	uint8_t *window;
	uint64_t begin, filled; /* what of the object is in it */
} reading;

static void add_sorted(box *b, uint64_t len, uint64_t from, uint64_t to)
{
	uint32_t i = b->ndim;
	if (len == 1)
		return;
	for (; i > 0 && b->from[i - 1] < from; i--) {
		b->len[i] = b->len[i - 1];
		b->from[i] = b->from[i - 1];
		b->to[i] = b->to[i - 1];
	}
	b->len[i] = len;
	b->from[i] = from;
	b->to[i] = to;
	b->ndim++;
}

/* Dimensions that follow each other on both sides become one. */
static void join_dimensions(box *b)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < b->ndim; i++) {
		if (n && b->from[n - 1] == b->len[i] * b->from[i] && b->to[n - 1] == b->len[i] * b->to[i]) {
			b->len[n - 1] *= b->len[i];
		} else {
			b->len[n] = b->len[i];
			n++;
		}
		b->from[n - 1] = b->from[i];
		b->to[n - 1] = b->to[i];
	}
	b->ndim = n;
}

static box box_of(const reading *r, uint32_t d, uint64_t rows, uint64_t place)
{
	const shd_strided *s = r->s;
	box b = {.end = place + s->element};
	for (uint32_t k = d; k < s->ndim; k++)
		add_sorted(&b, k == d ? rows : s->shape[k], s->strides[k] * s->element, r->suffix[k] * s->element);
	for (uint32_t i = 0; i < b.ndim; i++)
		b.end += (b.len[i] - 1) * b.from[i];
	join_dimensions(&b);
	return b;
}

/* Bytes of the object, at most WINDOW; with those behind them when they will be wanted. */
static int look(reading *r, uint64_t at, uint64_t len, uint64_t ahead, const uint8_t **out, sherd_error *err)
{
	if (at < r->begin || at + len > r->begin + r->filled) {
		uint64_t n = ahead > len ? ahead : len;
		n = n < WINDOW ? n : WINDOW;
		r->filled = 0;
		TRY(sherd_reader_at(r->reader, at, r->window, (size_t)n, err));
		r->begin = at;
		r->filled = n;
	}
	*out = r->window + (at - r->begin);
	return SHERD_OK;
}

static void strided_scatter(uint8_t *out, uint64_t to, const uint8_t *in, uint64_t from, uint64_t count,
                            uint32_t element)
{
	switch (element) {
	case 1:
		for (; count; count--, out += to, in += from)
			*out = *in;
		break;
	case 2:
		for (; count; count--, out += to, in += from)
			memcpy(out, in, 2);
		break;
	case 4:
		for (; count; count--, out += to, in += from)
			memcpy(out, in, 4);
		break;
	case 8:
		for (; count; count--, out += to, in += from)
			memcpy(out, in, 8);
		break;
	default:
		for (; count; count--, out += to, in += from)
			memcpy(out, in, element);
	}
}

/* One run of the innermost dimension. ahead: bytes from its begin to where the runs that lie close to it end. */
static int copy_run(reading *r, const box *b, uint64_t at, uint8_t *out, uint64_t ahead, sherd_error *err)
{
	uint32_t element = r->element, last = b->ndim - 1;
	uint64_t left = b->ndim ? b->len[last] : 1, from = b->ndim ? b->from[last] : element;
	uint64_t to = b->ndim ? b->to[last] : element;
	const uint8_t *in;
	if (from == element && to == element && left * element >= LONG_RUN)
		return sherd_reader_at(r->reader, at, out, (size_t)(left * element), err);
	while (left) {
		uint64_t n = from > MOST_GAP ? 1 : from ? (WINDOW - element) / from + 1 : left;
		n = n < left ? n : left;
		uint64_t span = (n - 1) * from + element;
		TRY(look(r, at, span, ahead, &in, err));
		strided_scatter(out, to, in, from, n, element);
		left -= n;
		at += n * from;
		out += n * to;
		ahead = ahead > n * from ? ahead - n * from : 0;
	}
	return SHERD_OK;
}

static int strided_copy(reading *r, const box *whole, uint64_t place, uint8_t *out, sherd_error *err)
{
	const box b = *whole;
	uint64_t index[SHERD_MAX_DIMS + 1] = {0}, from = 0, to = 0;
	uint32_t outer = b.ndim > 1 ? b.ndim - 1 : 0;
	uint64_t span = b.ndim ? (b.len[b.ndim - 1] - 1) * b.from[b.ndim - 1] + r->element : r->element;
	bool close = outer && b.from[outer - 1] <= span + MOST_GAP;
	for (;;) {
		TRY(copy_run(r, &b, place + from, out + to, close ? b.end - place - from : 0, err));
		uint32_t k = outer;
		while (k > 0 && ++index[k - 1] == b.len[k - 1]) {
			k--;
			index[k] = 0;
			from -= (b.len[k] - 1) * b.from[k];
			to -= (b.len[k] - 1) * b.to[k];
		}
		if (!k)
			return SHERD_OK;
		from += b.from[k - 1];
		to += b.to[k - 1];
	}
}

int shd_strided_read_box(const shd_strided_box *view, const uint64_t *len, const uint64_t *from, const uint64_t *to,
                         void *window, void *buf, sherd_error *err)
{
	reading r = {.reader = view->reader, .element = view->element, .window = window};
	box b = {.end = view->at + view->element};
	for (uint32_t d = 0; d < view->ndim; d++) {
		add_sorted(&b, len[d], from[d], to[d]);
		b.end += (len[d] - 1) * from[d];
	}
	join_dimensions(&b);
	return strided_copy(&r, &b, view->at, buf, err);
}

static int strided_read_box(reading *r, uint32_t d, uint64_t rows, uint64_t place, uint8_t *out, sherd_error *err)
{
	const box b = box_of(r, d, rows, place);
	return strided_copy(r, &b, place, out, err);
}

/* Elements of the part that is left when the dimensions before d are fixed; place is where it begins. */
static int read_part(reading *r, uint32_t d, uint64_t place, uint64_t first, uint64_t count, uint8_t *out,
                     sherd_error *err)
{
	const shd_strided *s = r->s;
	if (d == s->ndim)
		return sherd_reader_at(s->reader, place, out, s->element, err);
	uint64_t step = s->strides[d] * s->element, below = r->suffix[d], row = first / below, skip = first % below;
	if (skip || count < below) {
		uint64_t n = count < below - skip ? count : below - skip;
		TRY(read_part(r, d + 1, place + row++ * step, skip, n, out, err));
		out += n * s->element;
		count -= n;
	}
	uint64_t rows = count / below, rest = count % below;
	if (rows)
		TRY(strided_read_box(r, d, rows, place + row * step, out, err));
	if (!rest)
		return SHERD_OK;
	return read_part(r, d + 1, place + (row + rows) * step, 0, rest, out + rows * below * s->element, err);
}

int shd_strided_read(const shd_strided *s, uint64_t first, uint64_t count, void *buf, sherd_error *err)
{
	SHD_AUTO_FREE uint8_t *window = malloc(WINDOW);
	reading r = {.reader = s->reader, .element = s->element, .s = s, .window = window};
	uint64_t below = 1;
	if (!window)
		return shd_fail_nomem(err);
	for (uint32_t d = s->ndim; d-- > 0; below *= s->shape[d])
		r.suffix[d] = below;
	return count ? read_part(&r, 0, s->at, first, count, buf, err) : SHERD_OK;
}
