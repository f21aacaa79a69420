#include "engine/bundle/reorder.h"

#include <sherd/limits.h>

#include <stdlib.h>
#include <string.h>

SHERD_AUTO_DEFINE(void, free)

enum {
	WINDOW = 1 << 20,      /* bytes read at once */
	NARROW_GAP = 16 << 10, /* a column this short is read with the rows that are not wanted */
	SPARSE = 64            /* one element wanted of so many: they are read one by one */
};

#define TURN_DEFINE(turn, type, swap)                            \
	static void turn(uint8_t *p, size_t len)                 \
	{                                                        \
		for (size_t i = 0; i < len; i += sizeof(type)) { \
			type v;                                  \
			memcpy(&v, p + i, sizeof(v));            \
			v = swap(v);                             \
			memcpy(p + i, &v, sizeof(v));            \
		}                                                \
	}

TURN_DEFINE(turn_2, uint16_t, __builtin_bswap16)
TURN_DEFINE(turn_4, uint32_t, __builtin_bswap32)
TURN_DEFINE(turn_8, uint64_t, __builtin_bswap64)

void sherd_reorder_turn(void *bytes, size_t len, uint32_t width)
{
	switch (width) {
	case 2: turn_2(bytes, len); break;
	case 4: turn_4(bytes, len); break;
	case 8: turn_8(bytes, len); break;
	default: break;
	}
}

static int fetch(const sherd_reorder *o, uint64_t at, void *buf, size_t len, sherd_error *err)
{
	return o->reader ? sherd_reader_at(o->reader, o->data + at, buf, len, err)
	                 : o->fetch(o->source, o->data + at, buf, len, err);
}

/* Bytes [from, to) of one run of swap bytes. */
static int read_within(const sherd_reorder *o, uint64_t run, uint32_t from, uint32_t to, uint8_t *buf, sherd_error *err)
{
	uint8_t raw[8];
	TRY(fetch(o, run, raw, o->swap, err));
	sherd_reorder_turn(raw, o->swap, o->swap);
	memcpy(buf, raw + from, to - from);
	return SHERD_OK;
}

int sherd_reorder_bytes(const sherd_reorder *order, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	uint8_t *out = buf;
	uint32_t skip = (uint32_t)(offset % order->swap);
	if (skip) {
		uint32_t n = order->swap - skip < len ? order->swap - skip : (uint32_t)len;
		TRY(read_within(order, offset - skip, skip, skip + n, out, err));
		offset += n;
		out += n;
		len -= n;
	}
	size_t whole = len - len % order->swap;
	TRY(fetch(order, offset, out, whole, err));
	sherd_reorder_turn(out, whole, order->swap);
	if (len > whole)
		TRY(read_within(order, offset + whole, 0, (uint32_t)(len - whole), out + whole, err));
	return SHERD_OK;
}

/* A range of the array in C order, being gathered. A column is the run of elements that differ in the first dimension
 * only: its elements lie side by side in the file, and inner elements apart in C order. */
typedef struct gather {
	const sherd_reorder *order;
	uint64_t offset, end; /* bytes wanted */
	uint8_t *buf;
	uint64_t rows;                 /* the first dimension */
	uint64_t inner;                /* elements of one row: the number of columns */
	uint64_t step[SHERD_MAX_DIMS]; /* in C order, of each dimension within a row */
	uint64_t at[SHERD_MAX_DIMS];   /* of the current column */
	uint64_t place;                /* of the current column in a row, in C order */
} gather;

static gather gather_of(const sherd_reorder *o, uint64_t offset, void *buf, size_t len)
{
	gather g = {.order = o, .offset = offset, .end = offset + len, .buf = buf, .rows = o->shape[0], .inner = 1};
	for (uint32_t d = o->ndim; d-- > 1;) {
		g.step[d] = g.inner;
		g.inner *= o->shape[d];
	}
	return g;
}

static void first_column(gather *g)
{
	memset(g->at, 0, sizeof(g->at));
	g->place = 0;
}

/* Columns follow each other in the file with the second dimension varying fastest. */
static void next_column(gather *g)
{
	for (uint32_t d = 1; d < g->order->ndim; d++) {
		g->place += g->step[d];
		if (++g->at[d] < g->order->shape[d])
			return;
		g->place -= g->step[d] * g->order->shape[d];
		g->at[d] = 0;
	}
}

/* Stores one element of the array, as far as it is wanted. */
static void store(const gather *g, uint64_t index, const uint8_t *raw)
{
	uint8_t value[8];
	uint32_t size = g->order->element;
	uint64_t begin = index * size;
	if (begin >= g->end || begin + size <= g->offset)
		return;
	memcpy(value, raw, size);
	sherd_reorder_turn(value, size, g->order->swap);
	uint32_t from = begin < g->offset ? (uint32_t)(g->offset - begin) : 0;
	uint32_t to = begin + size > g->end ? (uint32_t)(g->end - begin) : size;
	memcpy(g->buf + (begin + from - g->offset), value + from, to - from);
}

/* Elements first to last of C order, each from its place in the file. */
static int gather_one_by_one(const gather *g, uint64_t first, uint64_t last, sherd_error *err)
{
	const sherd_reorder *o = g->order;
	for (uint64_t i = first; i <= last; i++) {
		uint64_t place = 0, weight = 1, rest = i;
		for (uint32_t d = 0; d < o->ndim; d++) {
			uint64_t step = d ? g->step[d] : g->inner;
			place += rest / step * weight;
			rest %= step;
			weight *= o->shape[d];
		}
		uint8_t raw[8];
		TRY(fetch(o, place * o->element, raw, o->element, err));
		store(g, i, raw);
	}
	return SHERD_OK;
}

/* Rows [row, row+count) of all columns, as many columns at a time as the window holds. */
static int gather_rows(gather *g, uint64_t row, uint64_t count, uint8_t *window, sherd_error *err)
{
	const sherd_reorder *o = g->order;
	uint64_t stride = g->rows * o->element, run = count * o->element, batch = 1;
	if (count == g->rows || stride <= NARROW_GAP)
		batch = (WINDOW - run) / stride + 1;
	first_column(g);
	for (uint64_t column = 0; column < g->inner; column += batch) {
		uint64_t n = g->inner - column < batch ? g->inner - column : batch;
		TRY(fetch(o, column * stride + row * o->element, window, (size_t)((n - 1) * stride + run), err));
		for (uint64_t c = 0; c < n; c++, next_column(g))
			for (uint64_t r = 0; r < count; r++)
				store(g, (row + r) * g->inner + g->place, window + c * stride + r * o->element);
	}
	return SHERD_OK;
}

int sherd_reorder_fortran(const sherd_reorder *order, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	gather g = gather_of(order, offset, buf, len);
	uint64_t first = offset / order->element, last = (offset + len - 1) / order->element;
	uint64_t row = first / g.inner, last_row = last / g.inner;
	if (row == last_row && last - first < g.inner / SPARSE)
		return gather_one_by_one(&g, first, last, err);
	SHERD_AUTO(void, free) window = malloc(WINDOW);
	if (!window)
		return sherd_fail_nomem(err);
	uint64_t most = WINDOW / order->element;
	for (; row <= last_row; row += most)
		TRY(gather_rows(&g, row, last_row - row + 1 < most ? last_row - row + 1 : most, window, err));
	return SHERD_OK;
}
