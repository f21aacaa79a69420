/* engine/rows/pack_bundle.c - tensors become rows. */
#include "base/arena.h"
#include "base/error.h"
#include "codec/floats.h"

#include <sherd/rows.h>

#include <inttypes.h>
#include <stdlib.h>

typedef struct part {
	size_t index; /* in the bundle */
	sherd_dtype dtype;
	uint64_t first, rows;
} part;

typedef struct source {
	const sherd_bundle *bundle;
	part *parts; /* in stored order, none without rows */
	size_t count, at;
	uint64_t rows, width;
	void *scratch; /* values of another type, before they are converted */
	size_t scratch_bytes;
} source;

static int refuse(const sherd_tensor *t, const char *reason, const char *why, sherd_error *err)
{
	return sherd_fail(err, SHERD_EUNSUPPORTED, reason, "tensor '%.80s' %s", t->name, why);
}

static int add_part(source *s, size_t index, sherd_dtype as, sherd_error *err)
{
	const sherd_tensor *t = sherd_bundle_tensor(s->bundle, index);
	sherd_dtype dtype = t->dtype == SHERD_U16 && as == SHERD_BF16 ? SHERD_BF16 : t->dtype;
	if (t->ndim != 2)
		return refuse(t, "bad-shape", "has not two dimensions", err);
	if (dtype != SHERD_F32 && dtype != SHERD_F64 && dtype != SHERD_F16 && dtype != SHERD_BF16)
		return refuse(t, "bad-dtype",
		              dtype == SHERD_U16 ? "is U16; say that its bits are BF16"
		                                 : "holds no F32, F64, F16, BF16",
		              err);
	if (!t->shape[1])
		return refuse(t, "bad-width", "has rows of width 0", err);
	if (s->width && s->width != t->shape[1])
		return sherd_fail(err, SHERD_EUNSUPPORTED, "width-mismatch",
		                  "tensor '%.80s' has rows of width %" PRIu64 ", those before %" PRIu64, t->name,
		                  t->shape[1], s->width);
	s->width = t->shape[1];
	if (t->shape[0])
		s->parts[s->count++] = (part){index, dtype, s->rows, t->shape[0]};
	if (__builtin_add_overflow(s->rows, t->shape[0], &s->rows))
		return refuse(t, "too-many-rows", "makes more than 2^64 rows", err);
	return SHERD_OK;
}

static int choose(const sherd_bundle *bundle, const char *const *names, size_t count, bool *wanted, sherd_error *err)
{
	for (size_t i = 0; i < sherd_bundle_count(bundle); i++)
		wanted[i] = !names;
	for (size_t i = 0; names && i < count; i++) {
		size_t index = sherd_bundle_find(bundle, names[i]);
		if (index == SHERD_NO_TENSOR)
			return sherd_fail(err, SHERD_ENOTFOUND, "not-found", "there is no tensor '%.80s'", names[i]);
		wanted[index] = true;
	}
	return SHERD_OK;
}

static int reserve(source *s, size_t bytes, sherd_error *err)
{
	if (bytes <= s->scratch_bytes)
		return SHERD_OK;
	void *more = realloc(s->scratch, bytes);
	if (!more)
		return sherd_fail_nomem(err);
	s->scratch = more;
	s->scratch_bytes = bytes;
	return SHERD_OK;
}

static int read_part(source *s, const part *p, uint64_t row, size_t count, float *out, sherd_error *err)
{
	size_t element = sherd_dtype_describe(p->dtype)->block_bytes;
	size_t values = count * (size_t)s->width;
	uint64_t offset = row * s->width * element;
	if (p->dtype == SHERD_F32)
		return sherd_bundle_read(s->bundle, p->index, offset, out, values * element, err);
	TRY(reserve(s, values * element, err));
	TRY(sherd_bundle_read(s->bundle, p->index, offset, s->scratch, values * element, err));
	sherd_floats_convert(p->dtype, s->scratch, SHERD_F32, out, values);
	return SHERD_OK;
}

static int read_rows(void *arg, uint64_t first, size_t count, float *out, sherd_error *err)
{
	source *s = arg;
	while (count) {
		while (first - s->parts[s->at].first >= s->parts[s->at].rows)
			s->at++;
		const part *p = &s->parts[s->at];
		uint64_t row = first - p->first, left = p->rows - row;
		size_t n = left < count ? (size_t)left : count;
		TRY(read_part(s, p, row, n, out, err));
		first += n;
		count -= n;
		out += n * (size_t)s->width;
	}
	return SHERD_OK;
}

static int collect(source *s, sherd_arena *arena, const char *const *names, size_t name_count, sherd_dtype as,
                   sherd_error *err)
{
	size_t count = sherd_bundle_count(s->bundle);
	bool *wanted = sherd_arena_alloc(arena, count, sizeof(*wanted));
	s->parts = sherd_arena_alloc(arena, count, sizeof(*s->parts));
	if (!wanted || !s->parts)
		return sherd_fail_nomem(err);
	TRY(choose(s->bundle, names, name_count, wanted, err));
	for (size_t i = 0; i < count; i++)
		if (wanted[i])
			TRY(add_part(s, i, as, err));
	if (!s->rows)
		return sherd_fail(err, SHERD_ECORRUPT, "empty", "no rows to pack");
	return SHERD_OK;
}

static int prepare(const source *s, sherd_arena *arena, const sherd_rows_pack_options *o, sherd_error *err)
{
	sherd_bundle_options options = {.progress = o ? o->progress : NULL};
	size_t *tensors = sherd_arena_alloc(arena, s->count, sizeof(*tensors));
	if (!tensors)
		return sherd_fail_nomem(err);
	for (size_t i = 0; i < s->count; i++)
		tensors[i] = s->parts[i].index;
	return sherd_bundle_prepare(s->bundle, tensors, s->count, &options, err);
}

int sherd_rows_pack_bundle(sherd_store *store, const char *folder, const sherd_bundle *bundle, const char *const *names,
                           size_t name_count, sherd_dtype as, const sherd_rows_pack_options *options, sherd_error *err)
{
	sherd_arena arena = {0};
	source s = {.bundle = bundle};
	if (as != SHERD_DTYPE_NONE && as != SHERD_BF16)
		return sherd_fail(err, SHERD_EINVAL, "bad-argument", "U16 can be taken as BF16 only");
	int rc = collect(&s, &arena, names, name_count, as, err);
	if (rc == SHERD_OK)
		rc = prepare(&s, &arena, options, err);
	if (rc == SHERD_OK)
		rc = sherd_rows_pack(store, folder, s.rows, s.width, read_rows, &s, options, err);
	free(s.scratch);
	sherd_arena_done(&arena);
	return rc;
}
