/* engine/tensors/load.c - many tensors, or boxes of them, into memory at once.
 *
 * A want is cut into parts of about PART bytes of the tensor, between which workers choose. A box is runs of equal
 * length; runs that are long are read to their place, short ones with what lies between them. */
#include "base/dtype.h"
#include "base/meter.h"
#include "base/pool.h"
#include "base/vec.h"
#include "engine/tensors/bundle.h"

#include <inttypes.h>

/* A multiple of the blocks that checkpoints check by. */
#define PART (UINT64_C(32) << 20)
#define WINDOW (UINT64_C(4) << 20)
enum { LONG_RUN = 64 << 10 };

/* Runs of a box, numbered in the order of the destination. */
typedef struct box_runs {
	uint64_t length, count; /* bytes of a run; how many there are */
	uint64_t first;         /* offset of the first in the tensor */
	uint32_t outer;
	uint64_t size[SHERD_MAX_DIMS], step[SHERD_MAX_DIMS];
} box_runs;

typedef struct load_part {
	size_t want;
	uint64_t from, to; /* bytes of the tensor, or runs of the box */
} load_part;

typedef struct load {
	const sherd_bundle *bundle;
	const sherd_bundle_want *wants;
	box_runs *boxes; /* one a want; length 0: it is whole, or empty */
	SHD_VEC(load_part) parts;
	shd_meter meter;
} load;

static int check_box(const sherd_tensor *t, const sherd_bundle_want *w, sherd_error *err)
{
	if (!w->at || !w->shape)
		return shd_fail(err, SHERD_EINVAL, "bad-range", "tensor '%.80s': a box has a place and a shape",
		                t->name);
	if (!shd_dtype_box_fits(t->dtype, t->ndim, t->shape))
		return shd_fail(err, SHERD_EUNSUPPORTED, "no-elements", "tensor '%.80s' is %s and cannot be sliced",
		                t->name, sherd_tensor_type(t));
	for (uint32_t d = 0; d < t->ndim; d++)
		if (w->at[d] > t->shape[d] || w->shape[d] > t->shape[d] - w->at[d])
			return shd_fail(err, SHERD_EINVAL, "bad-range",
			                "tensor '%.80s': the slice leaves it in dimension %" PRIu32, t->name, d);
	if (!shd_dtype_box_fits(t->dtype, t->ndim, w->at) || !shd_dtype_box_fits(t->dtype, t->ndim, w->shape))
		return shd_fail(err, SHERD_EUNSUPPORTED, "inside-block",
		                "tensor '%.80s': the slice cuts a block of %" PRIu32 " elements", t->name,
		                sherd_dtype_describe(t->dtype)->block_elements);
	return SHERD_OK;
}

/* Dimensions that are taken whole join the run. */
static void runs_of_box(const sherd_tensor *t, const sherd_bundle_want *w, box_runs *r)
{
	const sherd_dtype_info *type = sherd_dtype_describe(t->dtype);
	uint64_t step = type->block_bytes;
	bool joined = true;
	*r = (box_runs){.length = type->block_bytes, .count = 1};
	for (uint32_t d = t->ndim; d-- > 0;) {
		uint64_t per = d + 1 == t->ndim ? type->block_elements : 1;
		uint64_t at = w->at[d] / per, size = w->shape[d] / per, whole = t->shape[d] / per;
		r->first += at * step;
		if (joined) {
			r->length *= size;
			joined = size == whole;
		} else {
			r->size[r->outer] = size;
			r->step[r->outer++] = step;
			r->count *= size;
		}
		step *= whole;
	}
	if (!r->length || !r->count)
		*r = (box_runs){0};
}

static uint64_t run_offset(const box_runs *r, uint64_t run)
{
	uint64_t at = r->first;
	for (uint32_t d = 0; d < r->outer; d++) {
		at += run % r->size[d] * r->step[d];
		run /= r->size[d];
	}
	return at;
}

static void add_parts(load *l, size_t want, uint64_t count, uint64_t unit)
{
	uint64_t each = PART / unit ? PART / unit : 1;
	for (uint64_t from = 0; from < count; from += each)
		shd_vec_push(&l->parts, (load_part){want, from, count - from < each ? count : from + each});
}

static int plan_want(load *l, size_t i, sherd_error *err)
{
	const sherd_bundle_want *w = &l->wants[i];
	if (w->tensor >= l->bundle->count)
		return shd_fail(err, SHERD_EINVAL, "out-of-range", "tensor %zu of %zu", w->tensor, l->bundle->count);
	const sherd_tensor *t = &l->bundle->tensors[w->tensor];
	if (!w->at && !w->shape) {
		add_parts(l, i, t->bytes, 1);
		l->meter.total += t->bytes;
		return SHERD_OK;
	}
	TRY(check_box(t, w, err));
	if (!w->at || !w->shape) /* refused above, which the analyser does not see */
		return SHERD_OK;
	box_runs *r = &l->boxes[i];
	runs_of_box(t, w, r);
	if (!r->length)
		return SHERD_OK;
	/* Short runs cost what lies between them, too. */
	uint64_t unit = r->outer && r->length < LONG_RUN && r->step[0] < WINDOW ? r->step[0] : r->length;
	add_parts(l, i, r->count, unit);
	l->meter.total += r->count * r->length;
	return SHERD_OK;
}

static int load_range(load *l, const load_part *p, sherd_error *err)
{
	const sherd_bundle_want *w = &l->wants[p->want];
	for (uint64_t at = p->from; at < p->to;) {
		uint64_t left = p->to - at;
		size_t n = (size_t)(left < 4 * WINDOW ? left : 4 * WINDOW);
		TRY(sherd_bundle_read(l->bundle, w->tensor, at, (uint8_t *)w->buf + at, n, err));
		TRY(shd_meter_add(&l->meter, n, err));
		at += n;
	}
	return SHERD_OK;
}

/* The runs from `run` on whose bytes lie within one window; returns how many. *len: bytes to their end. */
static uint64_t runs_in_window(const box_runs *r, uint64_t run, uint64_t end, uint64_t *len)
{
	uint64_t start = run_offset(r, run), n = 0;
	for (*len = 0; run + n < end; n++) {
		uint64_t stop = run_offset(r, run + n) + r->length - start;
		if (n && stop > WINDOW)
			break;
		*len = stop;
	}
	return n;
}

static int load_short_runs(load *l, const load_part *p, uint8_t *window, sherd_error *err)
{
	const sherd_bundle_want *w = &l->wants[p->want];
	const box_runs *r = &l->boxes[p->want];
	for (uint64_t run = p->from; run < p->to;) {
		uint64_t len, start = run_offset(r, run), n = runs_in_window(r, run, p->to, &len);
		TRY(sherd_bundle_read(l->bundle, w->tensor, start, window, (size_t)len, err));
		for (uint64_t i = 0; i < n; i++)
			memcpy((uint8_t *)w->buf + (run + i) * r->length, window + (run_offset(r, run + i) - start),
			       (size_t)r->length);
		TRY(shd_meter_add(&l->meter, n * r->length, err));
		run += n;
	}
	return SHERD_OK;
}

static int load_long_runs(load *l, const load_part *p, sherd_error *err)
{
	const sherd_bundle_want *w = &l->wants[p->want];
	const box_runs *r = &l->boxes[p->want];
	for (uint64_t run = p->from; run < p->to; run++) {
		TRY(sherd_bundle_read(l->bundle, w->tensor, run_offset(r, run), (uint8_t *)w->buf + run * r->length,
		                      (size_t)r->length, err));
		TRY(shd_meter_add(&l->meter, r->length, err));
	}
	return SHERD_OK;
}

static int load_one(void *arg, size_t index, sherd_error *err)
{
	load *l = arg;
	const load_part *p = &l->parts.items[index];
	const box_runs *r = &l->boxes[p->want];
	int rc;
	if (!r->length) {
		rc = load_range(l, p, err);
	} else if (r->outer && r->length < LONG_RUN && r->step[0] < WINDOW) {
		SHD_AUTO_FREE uint8_t *window = malloc(WINDOW);
		rc = window ? load_short_runs(l, p, window, err) : shd_fail_nomem(err);
	} else {
		rc = load_long_runs(l, p, err);
	}
	return shd_at_index(err, rc, p->want);
}

int sherd_bundle_load(const sherd_bundle *bundle, const sherd_bundle_want *wants, size_t count,
                      const sherd_bundle_options *options, sherd_error *err)
{
	static const sherd_bundle_options defaults;
	const sherd_bundle_options *o = options ? options : &defaults;
	SHD_AUTO_FREE box_runs *boxes = calloc(count + 1, sizeof(*boxes));
	if (!boxes)
		return shd_fail_nomem(err);
	load l = {.bundle = bundle, .wants = wants, .boxes = boxes};
	int rc = SHERD_OK;
	shd_meter_init(&l.meter, o->progress, 0);
	for (size_t i = 0; rc == SHERD_OK && i < count; i++)
		rc = shd_at_index(err, plan_want(&l, i, err), i);
	if (rc == SHERD_OK)
		rc = shd_vec_check(&l.parts, err);
	if (rc == SHERD_OK)
		rc = shd_pool_run(o->pool, l.parts.count, load_one, &l, err);
	free(l.parts.items);
	shd_meter_done(&l.meter);
	return rc;
}
