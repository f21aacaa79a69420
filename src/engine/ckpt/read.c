/* engine/ckpt/read.c - tensors, ranges and slices out of pieces. */
#include "engine/ckpt/ckpt.h"

#include "base/dtype.h"
#include "base/meter.h"
#include "base/pool.h"
#include "engine/tensors/blame.h"
#include "engine/ckpt/load.h"

#include <inttypes.h>
#include <stdlib.h>

/* Parts of a piece that are loaded by different workers. A multiple of the block. */
#define PART_BYTES (64u << 20)

/* A box of elements as a box of bytes: the last dimension counts blocks, and one more their bytes. What cannot be cut
 * is one dimension of bytes. Returns the number of dimensions. */
static uint32_t byte_box(const sherd_tensor *t, const uint64_t *at, const uint64_t *shape, box *out)
{
	if (!shd_dtype_box_fits(t->dtype, t->ndim, t->shape)) {
		out->at[0] = 0;
		out->shape[0] = t->bytes;
		return 1;
	}
	for (uint32_t d = 0; d < t->ndim; d++) {
		out->at[d] = at ? at[d] : 0;
		out->shape[d] = shape[d];
	}
	const sherd_dtype_info *type = sherd_dtype_describe(t->dtype);
	if (t->ndim) {
		out->at[t->ndim - 1] /= type->block_elements;
		out->shape[t->ndim - 1] /= type->block_elements;
	}
	out->at[t->ndim] = 0;
	out->shape[t->ndim] = type->block_bytes;
	return t->ndim + 1;
}

static uint64_t box_bytes(const box *b, uint32_t ndim)
{
	uint64_t n = 1;
	for (uint32_t d = 0; d < ndim; d++)
		n *= b->shape[d];
	return n;
}

static bool share_of(const sherd_tensor *t, const sherd_ckpt_piece *piece, const box *target, uint32_t ndim,
                     uint8_t *dst, part *out)
{
	box from, what;
	(void)byte_box(t, piece->at, piece->shape, &from);
	if (!shd_box_meet(target, &from, ndim, &what))
		return false;
	out->piece = piece;
	out->arrived = false;
	out->bytes = box_bytes(&what, ndim);
	shd_runs_init(&out->runs, ndim, &what, &from, target, dst);
	return true;
}

static int copy_part(const sherd_ckpt *c, part *p, bool checked, uint8_t *scratch, sherd_error *err)
{
	const ckpt_shard *f = &c->files[p->piece->shard];
	uint64_t base = f->data_offset + p->piece->offset;
	const uint32_t *crcs = NULL;
	if (checked)
		TRY(shd_ckpt_piece_crcs(c, p->piece, &crcs, err));
	int rc = crcs ? shd_runs_copy_checked(&p->runs, f->reader, base, p->piece->bytes, crcs, scratch, err)
	              : shd_runs_copy(&p->runs, f->reader, base, scratch, err);
	return p->runs.refused ? rc : shd_in_reader(err, rc, f->reader);
}

/* Room for copying out of a piece (of a tensor) of so many bytes. */
static uint8_t *make_scratch(uint64_t bytes)
{
	return malloc(bytes < RUNS_WINDOW ? (size_t)bytes : RUNS_WINDOW);
}

/* Needs scratch only where runs are short; it is made when first needed. */
static int read_box(const sherd_ckpt *c, size_t tensor, const box *target, uint32_t ndim, bool proven, uint8_t *dst,
                    uint8_t **scratch, sherd_error *err)
{
	const sherd_ckpt_piece *pieces = c->pieces + c->first_piece[tensor];
	size_t count = c->first_piece[tensor + 1] - c->first_piece[tensor];
	for (size_t i = 0; i < count; i++) {
		part p;
		if (!share_of(&c->tensors[tensor], &pieces[i], target, ndim, dst, &p))
			continue;
		if (p.runs.outer && !*scratch && !(*scratch = make_scratch(c->tensors[tensor].bytes)))
			return shd_fail_nomem(err);
		if (proven)
			TRY(shd_ckpt_prove(c, p.piece, p.runs.src, p.runs.end, err));
		TRY(copy_part(c, &p, false, *scratch, err));
	}
	return SHERD_OK;
}

static int no_such_tensor(size_t tensor, sherd_error *err)
{
	return shd_fail(err, SHERD_EINVAL, "bad-argument", "no tensor has number %zu", tensor);
}

static int check_slice(const sherd_tensor *t, const uint64_t *at, const uint64_t *shape, sherd_error *err)
{
	if (!shd_dtype_box_fits(t->dtype, t->ndim, t->shape))
		return shd_fail(err, SHERD_EUNSUPPORTED, "no-elements", "tensor '%.80s' is %s%s and cannot be sliced",
		                t->name, sherd_tensor_type(t),
		                shd_dtype_is_sized(t->dtype) ? ", its rows are no whole blocks," : "");
	for (uint32_t d = 0; d < t->ndim; d++)
		if (at[d] > t->shape[d] || shape[d] > t->shape[d] - at[d])
			return shd_fail(err, SHERD_EINVAL, "bad-argument",
			                "tensor '%.80s': the slice leaves it in dimension %" PRIu32, t->name, d);
	if (!shd_dtype_box_fits(t->dtype, t->ndim, at) || !shd_dtype_box_fits(t->dtype, t->ndim, shape))
		return shd_fail(err, SHERD_EUNSUPPORTED, "inside-block",
		                "tensor '%.80s': the slice cuts a block of %" PRIu32 " elements", t->name,
		                sherd_dtype_describe(t->dtype)->block_elements);
	return SHERD_OK;
}

int sherd_ckpt_read_slice(const sherd_ckpt *ckpt, size_t tensor, const uint64_t *at, const uint64_t *shape, void *buf,
                          sherd_error *err)
{
	if (tensor >= ckpt->count)
		return no_such_tensor(tensor, err);
	const sherd_tensor *t = &ckpt->tensors[tensor];
	SHD_AUTO_FREE uint8_t *scratch = NULL;
	box target;
	TRY(check_slice(t, at, shape, err));
	uint32_t ndim = byte_box(t, at, shape, &target);
	return read_box(ckpt, tensor, &target, ndim, false, buf, &scratch, err);
}

/* A range of a tensor's bytes, as boxes: a part of a row, whole rows, a part of a row, and so inward. */
typedef struct range {
	const sherd_ckpt *ckpt;
	size_t tensor;
	uint32_t ndim;
	bool proven;
	box whole;
	uint8_t *dst;
	uint8_t *scratch;
	sherd_error *err;
} range;

static int read_range(range *r, box *at, uint32_t dim, uint64_t from, uint64_t to)
{
	uint64_t row = 1;
	for (uint32_t d = dim + 1; d < r->ndim; d++)
		row *= r->whole.shape[d];
	while (from < to) {
		uint64_t first = from / row, skip = from % row;
		at->at[dim] = first;
		if (skip || to - from < row) {
			uint64_t end = to < (first + 1) * row ? to : (first + 1) * row;
			at->shape[dim] = 1;
			TRY(read_range(r, at, dim + 1, skip, end - first * row));
			from = end;
			continue;
		}
		at->shape[dim] = to / row - first;
		for (uint32_t d = dim + 1; d < r->ndim; d++) {
			at->at[d] = 0;
			at->shape[d] = r->whole.shape[d];
		}
		TRY(read_box(r->ckpt, r->tensor, at, r->ndim, r->proven, r->dst, &r->scratch, r->err));
		uint64_t bytes = at->shape[dim] * row;
		r->dst += bytes;
		from += bytes;
	}
	return SHERD_OK;
}

static int read_bytes(const sherd_ckpt *ckpt, size_t tensor, uint64_t offset, bool proven, void *buf, size_t len,
                      sherd_error *err)
{
	if (tensor >= ckpt->count)
		return no_such_tensor(tensor, err);
	const sherd_tensor *t = &ckpt->tensors[tensor];
	const sherd_ckpt_piece *piece = &ckpt->pieces[ckpt->first_piece[tensor]];
	if (offset > t->bytes || len > t->bytes - offset)
		return shd_fail(err, SHERD_EINVAL, "bad-argument",
		                "tensor '%.80s': bytes %" PRIu64 " and %zu more leave it", t->name, offset, len);
	if (!len)
		return SHERD_OK;
	if (!piece->at) {
		const ckpt_shard *f = &ckpt->files[piece->shard];
		if (proven)
			TRY(shd_ckpt_prove(ckpt, piece, offset, offset + len, err));
		return sherd_reader_at(f->reader, f->data_offset + piece->offset + offset, buf, len, err);
	}
	range r = {.ckpt = ckpt, .tensor = tensor, .proven = proven, .dst = buf, .err = err};
	box at = {{0}, {0}};
	r.ndim = byte_box(t, NULL, t->shape, &r.whole);
	int rc = read_range(&r, &at, 0, offset, offset + len);
	free(r.scratch);
	return rc;
}

int sherd_ckpt_read(const sherd_ckpt *ckpt, size_t tensor, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	return read_bytes(ckpt, tensor, offset, false, buf, len, err);
}

int shd_ckpt_read_proven(const sherd_ckpt *ckpt, size_t tensor, uint64_t offset, void *buf, size_t len,
                         sherd_error *err)
{
	return read_bytes(ckpt, tensor, offset, true, buf, len, err);
}

int sherd_ckpt_map(const void **out, const sherd_ckpt *ckpt, size_t tensor, sherd_error *err)
{
	if (tensor >= ckpt->count)
		return no_such_tensor(tensor, err);
	const sherd_tensor *t = &ckpt->tensors[tensor];
	const sherd_ckpt_piece *piece = &ckpt->pieces[ckpt->first_piece[tensor]];
	if (!t->bytes || piece->at)
		return shd_fail(err, SHERD_EUNSUPPORTED, "no-map", "tensor '%.80s' is empty or cut", t->name);
	const ckpt_shard *f = &ckpt->files[piece->shard];
	const void *p;
	TRY(sherd_reader_map(&p, f->reader, f->data_offset + piece->offset, t->bytes, err));
	if ((uintptr_t)p % shd_dtype_align(t->dtype))
		return shd_fail(err, SHERD_EUNSUPPORTED, "no-map", "tensor '%.80s' is not aligned in its file",
		                t->name);
	*out = p;
	return SHERD_OK;
}

/* ---- loading many */

/* A piece that arrives in one run is cut at block borders for several workers. */
static void add_part(load *l, const part *p)
{
	if (p->runs.outer || p->bytes <= PART_BYTES) {
		shd_vec_push(&l->parts, *p);
		return;
	}
	uint64_t end = p->runs.src + p->runs.length;
	for (uint64_t at = p->runs.src; at < end;) {
		part cut = *p;
		uint64_t stop = (at / PART_BYTES + 1) * PART_BYTES;
		stop = stop < end ? stop : end;
		cut.runs.src = at;
		cut.runs.dst += at - p->runs.src;
		cut.runs.length = cut.bytes = stop - at;
		cut.runs.end = stop;
		shd_vec_push(&l->parts, cut);
		at = stop;
	}
}

static int add_want(load *l, size_t want, sherd_error *err)
{
	const sherd_ckpt_want *w = &l->wants[want];
	const sherd_ckpt *c = l->ckpt;
	if (w->tensor >= c->count)
		return no_such_tensor(w->tensor, err);
	const sherd_tensor *t = &c->tensors[w->tensor];
	box target;
	bool device = w->memory && w->memory->kind != SHERD_MEMORY_HOST;
	if (device && (w->memory->kind != SHERD_MEMORY_DEVICE || !w->memory->copy_in))
		return shd_fail(err, SHERD_EINVAL, "bad-argument",
		                "a memory that is neither the host's nor copied into");
	if (w->at)
		TRY(check_slice(t, w->at, w->shape, err));
	uint32_t ndim = byte_box(t, w->at, w->at ? w->shape : t->shape, &target);
	const sherd_ckpt_piece *pieces;
	size_t count = sherd_ckpt_pieces(&pieces, c, w->tensor);
	for (size_t i = 0; i < count; i++) {
		part p;
		if (share_of(t, &pieces[i], &target, ndim, w->buf, &p)) {
			l->total += p.bytes;
			p.want = want;
			p.runs.device = device ? w->memory : NULL;
			add_part(l, &p);
		}
	}
	return shd_vec_check(&l->parts, err);
}

static int load_part(void *arg, size_t i, sherd_error *err)
{
	load *l = arg;
	part p = l->parts.items[i];
	uint8_t *scratch = NULL;
	if (p.arrived)
		return SHERD_OK;
	if ((p.runs.outer || l->checked || p.runs.device) && !(scratch = make_scratch(p.piece->bytes)))
		return shd_fail_nomem(err);
	int rc = copy_part(l->ckpt, &p, l->checked, scratch, err);
	free(scratch);
	TRY(shd_at_index(err, rc, p.want));
	return shd_meter_add(&l->meter, p.bytes, err);
}

static int run_load(load *l, size_t count, const sherd_ckpt_load_options *o, sherd_error *err)
{
	for (size_t i = 0; i < count; i++)
		TRY(shd_at_index(err, add_want(l, i, err), i));
	shd_meter_init(&l->meter, o->progress, l->total);
	int rc = o->check == SHERD_CHECK_DIGEST ? shd_ckpt_load_hashed(l, o->pool, err) : SHERD_OK;
	if (rc == SHERD_OK)
		rc = shd_pool_run(o->pool, l->parts.count, load_part, l, err);
	shd_meter_done(&l->meter);
	return rc;
}

int sherd_ckpt_load(const sherd_ckpt *ckpt, const sherd_ckpt_want *wants, size_t count,
                    const sherd_ckpt_load_options *options, sherd_error *err)
{
	sherd_ckpt_load_options o = options ? *options : (sherd_ckpt_load_options){0};
	load l = {.ckpt = ckpt, .wants = wants, .checked = o.check == SHERD_CHECK_CRC};
	int rc = run_load(&l, count, &o, err);
	shd_ckpt_load_hashed_done(&l);
	shd_vec_done(&l.parts);
	return rc;
}
