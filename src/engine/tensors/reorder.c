#include "engine/tensors/reorder.h"

#include <sherd/limits.h>

#include <stdlib.h>
#include <string.h>

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

void shd_reorder_turn(void *bytes, size_t len, uint32_t width)
{
	switch (width) {
	case 2: turn_2(bytes, len); break;
	case 4: turn_4(bytes, len); break;
	case 8: turn_8(bytes, len); break;
	default: break;
	}
}

static int reorder_fetch(const shd_reorder *o, uint64_t at, void *buf, size_t len, sherd_error *err)
{
	return o->reader ? sherd_reader_at(o->reader, o->data + at, buf, len, err)
	                 : o->fetch(o->source, o->data + at, buf, len, err);
}

/* Bytes [from, to) of one run of swap bytes. */
static int read_within(const shd_reorder *o, uint64_t run, uint32_t from, uint32_t to, uint8_t *buf, sherd_error *err)
{
	uint8_t raw[8];
	TRY(reorder_fetch(o, run, raw, o->swap, err));
	shd_reorder_turn(raw, o->swap, o->swap);
	memcpy(buf, raw + from, to - from);
	return SHERD_OK;
}

int shd_reorder_bytes(const shd_reorder *order, uint64_t offset, void *buf, size_t len, sherd_error *err)
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
	TRY(reorder_fetch(order, offset, out, whole, err));
	shd_reorder_turn(out, whole, order->swap);
	if (len > whole)
		TRY(read_within(order, offset + whole, 0, (uint32_t)(len - whole), out + whole, err));
	return SHERD_OK;
}

/* A range of the array in C order, being gathered. Dimensions that follow each other in both orders are one here, and
 * what lies side by side in both is a block; places and steps count blocks. The array is dense: sorted by their place,
 * each dimension's step is that of the one before times its length. */
typedef struct gather {
	const shd_reorder *order;
	uint64_t offset, end; /* bytes wanted */
	uint8_t *buf;
	uint64_t block; /* bytes */
	uint32_t ndim;
	uint64_t shape[SHERD_MAX_DIMS];
	uint64_t place[SHERD_MAX_DIMS]; /* how far apart neighbours lie in the file */
	uint64_t step[SHERD_MAX_DIMS];  /* and in C order */
	uint8_t *window;
} gather;

static void add_dimension(gather *g, uint64_t length, uint64_t place)
{
	uint32_t n = g->ndim;
	if (length == 1)
		return;
	if (n && g->place[n - 1] == place * length) {
		g->shape[n - 1] *= length;
		g->place[n - 1] = place;
		return;
	}
	g->shape[n] = length;
	g->place[n] = place;
	g->ndim++;
}

static gather gather_of(const shd_reorder *o, uint64_t offset, void *buf, size_t len)
{
	gather g = {.order = o, .offset = offset, .end = offset + len, .buf = buf, .block = o->element};
	uint64_t place = 1, step = 1;
	for (uint32_t d = 0; d < o->ndim; d++) {
		add_dimension(&g, o->shape[d], o->strides ? o->strides[d] : place);
		place *= o->shape[d];
	}
	if (g.ndim && g.place[g.ndim - 1] == 1) {
		uint64_t length = g.shape[--g.ndim];
		g.block *= length;
		for (uint32_t d = 0; d < g.ndim; d++)
			g.place[d] /= length;
	}
	for (uint32_t d = g.ndim; d-- > 0; step *= g.shape[d])
		g.step[d] = step;
	return g;
}

/* The part of a block that is wanted, which lies there in the file. */
static int fetch_block(const gather *g, uint64_t index, uint64_t place, sherd_error *err)
{
	uint64_t begin = index * g->block, from = begin < g->offset ? g->offset - begin : 0;
	uint64_t to = begin + g->block > g->end ? g->end - begin : g->block;
	return shd_reorder_bytes(g->order, place * g->block + from, g->buf + (begin + from - g->offset),
	                         (size_t)(to - from), err);
}

/* Stores a block that was read, as far as it is wanted. */
static void reorder_store(const gather *g, uint64_t index, const uint8_t *raw)
{
	uint64_t begin = index * g->block;
	uint32_t size = g->order->element;
	if (begin >= g->end || begin + g->block <= g->offset)
		return;
	if (begin >= g->offset && begin + g->block <= g->end) {
		memcpy(g->buf + (begin - g->offset), raw, (size_t)g->block);
		shd_reorder_turn(g->buf + (begin - g->offset), (size_t)g->block, g->order->swap);
		return;
	}
	for (uint64_t last = begin + g->block; begin < last; begin += size, raw += size) {
		uint8_t value[8];
		if (begin >= g->end || begin + size <= g->offset)
			continue;
		memcpy(value, raw, size);
		shd_reorder_turn(value, size, g->order->swap);
		uint32_t from = begin < g->offset ? (uint32_t)(g->offset - begin) : 0;
		uint32_t to = begin + size > g->end ? (uint32_t)(g->end - begin) : size;
		memcpy(g->buf + (begin + from - g->offset), value + from, to - from);
	}
}

/* Blocks first to last of C order, each from its place in the file. */
static int gather_one_by_one(const gather *g, uint64_t first, uint64_t last, sherd_error *err)
{
	for (uint64_t i = first; i <= last; i++) {
		uint64_t place = 0, rest = i;
		for (uint32_t d = 0; d < g->ndim; d++) {
			place += rest / g->step[d] * g->place[d];
			rest %= g->step[d];
		}
		TRY(fetch_block(g, i, place, err));
	}
	return SHERD_OK;
}

/* Some dimensions being counted through, the one that varies fastest in the file first. */
typedef struct counter {
	uint32_t ndim;
	uint64_t shape[SHERD_MAX_DIMS], place[SHERD_MAX_DIMS], step[SHERD_MAX_DIMS], at[SHERD_MAX_DIMS];
	uint64_t now_place, now_step; /* where it stands, in the file and in C order */
} counter;

static void add_counted(counter *c, uint64_t length, uint64_t place, uint64_t step)
{
	uint32_t i = c->ndim++;
	for (; i > 0 && c->place[i - 1] > place; i--) {
		c->shape[i] = c->shape[i - 1];
		c->place[i] = c->place[i - 1];
		c->step[i] = c->step[i - 1];
	}
	c->shape[i] = length;
	c->place[i] = place;
	c->step[i] = step;
}

/* False when it is through, and back at the start. */
static bool count_on(counter *c)
{
	for (uint32_t i = 0; i < c->ndim; i++) {
		c->now_place += c->place[i];
		c->now_step += c->step[i];
		if (++c->at[i] < c->shape[i])
			return true;
		c->now_place -= c->place[i] * c->shape[i];
		c->now_step -= c->step[i] * c->shape[i];
		c->at[i] = 0;
	}
	return false;
}

/* Rows of one dimension, those before it being fixed: place and index are those of the first row. Of the dimensions
 * after it, those that vary faster in the file make a run with it; for each step of the slower ones there is one run.
 * Runs that lie close to each other are read at once, but not across a step of a fixed dimension, which is a long one.
 */
static int gather_rows(gather *g, uint32_t d, uint64_t place, uint64_t index, uint64_t count, sherd_error *err)
{
	counter runs = {0}, within = {0};
	uint64_t run = count * g->place[d] * g->block, barrier = g->order->bytes / g->block;
	add_counted(&within, count, g->place[d], g->step[d]);
	for (uint32_t k = d + 1; k < g->ndim; k++)
		add_counted(g->place[k] < g->place[d] ? &within : &runs, g->shape[k], g->place[k], g->step[k]);
	for (uint32_t k = 0; k < d; k++)
		barrier = g->place[k] < barrier ? g->place[k] : barrier;
	uint64_t pitch = runs.ndim ? runs.place[0] * g->block : run, begin = 0, end = 0;
	bool close = runs.ndim && (pitch == run || pitch <= NARROW_GAP);
	do {
		uint64_t p = place + runs.now_place, at = p * g->block;
		if (at + run > end) {
			uint64_t room = (p - p % barrier + barrier) * g->block - at;
			begin = at;
			end = at + (!close ? run : room < WINDOW ? room : WINDOW);
			TRY(reorder_fetch(g->order, begin, g->window, (size_t)(end - begin), err));
		}
		do
			reorder_store(g, index + runs.now_step + within.now_step,
			              g->window + (at - begin) + within.now_place * g->block);
		while (count_on(&within));
	} while (count_on(&runs));
	return SHERD_OK;
}

/* What is wanted of the part that is left when the dimensions before d are fixed; place and index are those of its
 * first block. A dimension is fixed only when its steps are longer than a window, so what varies within a window is
 * not. */
static int gather_from(gather *g, uint32_t d, uint64_t place, uint64_t index, sherd_error *err)
{
	uint64_t first = g->offset / g->block, last = (g->end - 1) / g->block;
	if (d == g->ndim)
		return fetch_block(g, index, place, err);
	uint64_t end = index + g->step[d] * g->shape[d] - 1;
	first = first < index ? index : first;
	last = last > end ? end : last;
	uint64_t row = (first - index) / g->step[d], last_row = (last - index) / g->step[d];
	uint64_t most = WINDOW / g->block / g->place[d];
	for (; !most && row <= last_row; row++)
		TRY(gather_from(g, d + 1, place + row * g->place[d], index + row * g->step[d], err));
	if (row == last_row && last - first < g->step[d] / SPARSE)
		return gather_one_by_one(g, first, last, err);
	for (; row <= last_row; row += most) {
		uint64_t count = last_row - row + 1 < most ? last_row - row + 1 : most;
		TRY(gather_rows(g, d, place + row * g->place[d], index + row * g->step[d], count, err));
	}
	return SHERD_OK;
}

int shd_reorder_gather(const shd_reorder *order, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	gather g = gather_of(order, offset, buf, len);
	SHD_AUTO_FREE void *window = malloc(WINDOW);
	if (!window)
		return shd_fail_nomem(err);
	g.window = window;
	return gather_from(&g, 0, 0, 0, err);
}
