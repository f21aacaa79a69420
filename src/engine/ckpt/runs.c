#include "engine/ckpt/runs.h"

#include "base/copy.h"
#include "codec/crc32.h"

#include <inttypes.h>

enum { DIRECT = 256 << 10, SPARSE = 64 << 10 };
/* SMALL: asking what is in memory costs more than reading it. CACHED: what is summed and then copied, small enough to
 * be in the cache still. */
enum { SMALL = 64 << 10, CACHED = 256 << 10 };

bool shd_box_meet(const box *a, const box *b, uint32_t ndim, box *out)
{
	for (uint32_t d = 0; d < ndim; d++) {
		uint64_t a_end = a->at[d] + a->shape[d], b_end = b->at[d] + b->shape[d];
		uint64_t from = a->at[d] > b->at[d] ? a->at[d] : b->at[d], to = a_end < b_end ? a_end : b_end;
		if (from >= to)
			return false;
		out->at[d] = from;
		out->shape[d] = to - from;
	}
	return true;
}

static void steps_of(const box *b, uint32_t ndim, uint64_t step[RUNS_MAX_DIMS])
{
	uint64_t bytes = 1;
	for (uint32_t d = ndim; d-- > 0;) {
		step[d] = bytes;
		bytes *= b->shape[d];
	}
}

void shd_runs_init(runs *r, uint32_t ndim, const box *what, const box *piece, const box *target, uint8_t *dst)
{
	uint64_t src_step[RUNS_MAX_DIMS], dst_step[RUNS_MAX_DIMS], src = 0, last = 0;
	steps_of(piece, ndim, src_step);
	steps_of(target, ndim, dst_step);
	*r = (runs){.length = 1};
	r->dst = dst;
	for (uint32_t d = 0; d < ndim; d++) {
		src += (what->at[d] - piece->at[d]) * src_step[d];
		last += (what->shape[d] - 1) * src_step[d];
		r->dst += (what->at[d] - target->at[d]) * dst_step[d];
	}
	/* Inner dimensions that lie close together on both sides are one run. */
	uint32_t d = ndim;
	while (d > 0 && (what->shape[d - 1] == 1 || (src_step[d - 1] == r->length && dst_step[d - 1] == r->length)))
		r->length *= what->shape[--d];
	for (uint32_t i = 0; i < d; i++) {
		if (what->shape[i] == 1)
			continue;
		r->count[r->outer] = what->shape[i];
		r->src_step[r->outer] = src_step[i];
		r->dst_step[r->outer] = dst_step[i];
		r->outer++;
	}
	r->src = src;
	r->end = src + last + 1;
}

void shd_runs_next(runs *r)
{
	for (uint32_t d = r->outer; d-- > 0;) {
		r->src += r->src_step[d];
		r->dst += r->dst_step[d];
		if (++r->index[d] < r->count[d])
			return;
		r->src -= r->src_step[d] * r->count[d];
		r->dst -= r->dst_step[d] * r->count[d];
		r->index[d] = 0;
	}
	r->done = true;
}

int shd_runs_fetch(const sherd_reader *reader, uint64_t at, size_t len, uint8_t *scratch, const uint8_t **bytes,
                   sherd_error *err)
{
	const void *held;
	if (len > SMALL && sherd_reader_peek(&held, reader, at, len)) {
		*bytes = held;
		return SHERD_OK;
	}
	*bytes = scratch;
	return sherd_reader_at(reader, at, scratch, len, err);
}

int shd_runs_release(const sherd_reader *reader, uint64_t at, size_t len, const uint8_t *scratch, const uint8_t *bytes,
                     sherd_error *err)
{
	if (bytes == scratch)
		return SHERD_OK;
	sherd_reader_advise(reader, at, len, SHERD_ADVICE_DONE);
	return sherd_reader_check(reader, err);
}

/* Copies len bytes to an address of where the runs go. */
static int put_bytes(const runs *r, uint8_t *dst, const uint8_t *src, size_t len, sherd_error *err)
{
	if (r->device)
		return r->device->copy_in(r->device->arg, dst, src, len, err);
	shd_copy_past(dst, src, len);
	return SHERD_OK;
}

static int runs_put(runs *r, uint8_t *dst, const uint8_t *src, size_t len, sherd_error *err)
{
	int rc = put_bytes(r, dst, src, len, err);
	r->refused = rc < 0;
	return rc;
}

/* What is not in memory is read to its place, or on its way to a device into scratch. */
static int read_straight(runs *r, const sherd_reader *reader, uint64_t at, uint8_t *scratch, sherd_error *err)
{
	for (uint64_t done = 0; done < r->length; done += RUNS_WINDOW) {
		size_t n = r->length - done < RUNS_WINDOW ? (size_t)(r->length - done) : RUNS_WINDOW;
		uint8_t *to = r->device ? scratch : r->dst + done;
		const uint8_t *bytes;
		TRY(shd_runs_fetch(reader, at + done, n, to, &bytes, err));
		if (bytes != r->dst + done)
			TRY(runs_put(r, r->dst + done, bytes, n, err));
		TRY(shd_runs_release(reader, at + done, n, to, bytes, err));
	}
	return SHERD_OK;
}

/* Hands out the runs' parts that lie in window [start, start+len) of the piece; runs that end there are done. */
static int scatter(runs *r, const uint8_t *window, uint64_t start, uint64_t len, sherd_error *err)
{
	uint64_t stop = start + len;
	while (!r->done && r->src < stop) {
		uint64_t from = r->src > start ? r->src : start;
		uint64_t to = r->src + r->length < stop ? r->src + r->length : stop;
		TRY(runs_put(r, r->dst + (from - r->src), window + (from - start), (size_t)(to - from), err));
		if (r->src + r->length > stop)
			break;
		shd_runs_next(r);
	}
	return SHERD_OK;
}

/* Goes from the first run to the first that does not end before this place. */
static void runs_seek(runs *r, uint64_t place)
{
	uint64_t left = place > r->src ? place - r->src : 0;
	for (uint32_t d = 0; d < r->outer; d++) {
		uint64_t steps = left / r->src_step[d];
		r->index[d] = steps < r->count[d] ? steps : r->count[d] - 1;
		left -= r->index[d] * r->src_step[d];
		r->src += r->index[d] * r->src_step[d];
		r->dst += r->index[d] * r->dst_step[d];
	}
	if (left >= r->length)
		shd_runs_next(r);
}

int shd_runs_take(const runs *all, const uint8_t *bytes, uint64_t start, uint64_t len, sherd_error *err)
{
	if (!all->outer) {
		uint64_t left = all->src + all->length - start;
		return put_bytes(all, all->dst + (start - all->src), bytes, (size_t)(left < len ? left : len), err);
	}
	runs r = *all;
	runs_seek(&r, start);
	return scatter(&r, bytes, start, len, err);
}

/* Are the runs so far apart that what lies between them is better not read? */
static bool sparse(const runs *r)
{
	uint64_t step = r->outer ? r->src_step[r->outer - 1] : 0;
	return step > SPARSE && step / 16 > r->length;
}

int shd_runs_copy(runs *r, const sherd_reader *reader, uint64_t base, uint8_t *scratch, sherd_error *err)
{
	bool straight = !r->outer || r->length >= DIRECT || sparse(r);
	while (!r->done) {
		if (straight) {
			TRY(read_straight(r, reader, base + r->src, scratch, err));
			shd_runs_next(r);
			continue;
		}
		uint64_t start = r->src, left = r->end - start;
		size_t n = left < RUNS_WINDOW ? (size_t)left : RUNS_WINDOW;
		TRY(sherd_reader_at(reader, base + start, scratch, n, err));
		/* A run that the window cuts is copied again from its start by the next one. */
		uint64_t whole = start + n;
		while (!r->done && r->src + r->length <= whole) {
			if (r->device)
				TRY(runs_put(r, r->dst, scratch + (r->src - start), (size_t)r->length, err));
			else
				memcpy(r->dst, scratch + (r->src - start), (size_t)r->length);
			shd_runs_next(r);
		}
	}
	return SHERD_OK;
}

static int copy_block(runs *r, const sherd_reader *reader, uint64_t base, uint64_t start, uint64_t end, uint32_t want,
                      uint8_t *scratch, sherd_error *err)
{
	uint32_t crc = 0;
	for (uint64_t at = start; at < end; at += RUNS_WINDOW) {
		size_t n = end - at < RUNS_WINDOW ? (size_t)(end - at) : RUNS_WINDOW;
		const uint8_t *bytes;
		TRY(shd_runs_fetch(reader, base + at, n, scratch, &bytes, err));
		for (size_t done = 0; done < n; done += CACHED) {
			size_t part = n - done < CACHED ? n - done : CACHED;
			crc = shd_crc32(crc, bytes + done, part);
			TRY(scatter(r, bytes + done, at + done, part, err));
		}
		TRY(shd_runs_release(reader, base + at, n, scratch, bytes, err));
	}
	if (crc != want)
		return shd_fail_at(err, SHERD_ECORRUPT, "bad-crc", base + start,
		                   "%" PRIu64 " bytes have CRC-32 %08" PRIx32 ", not %08" PRIx32, end - start, crc,
		                   want);
	return SHERD_OK;
}

int shd_runs_copy_checked(runs *r, const sherd_reader *reader, uint64_t base, uint64_t bytes, const uint32_t *crcs,
                          uint8_t *scratch, sherd_error *err)
{
	uint64_t next = 0; /* block; a run over a border continues in the next one */
	while (!r->done) {
		uint64_t block = r->src / SHD_CKPT_BLOCK;
		if (block < next)
			block = next;
		uint64_t start = block * SHD_CKPT_BLOCK;
		uint64_t end = bytes - start < SHD_CKPT_BLOCK ? bytes : start + SHD_CKPT_BLOCK;
		TRY(copy_block(r, reader, base, start, end, crcs[block], scratch, err));
		next = block + 1;
	}
	return SHERD_OK;
}
