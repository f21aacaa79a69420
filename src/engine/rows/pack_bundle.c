/* engine/rows/pack_bundle.c - tensors become rows. */
#include "base/error.h"
#include "engine/rows/writer.h"
#include "format/rows/manifest.h"

#include <inttypes.h>
#include <stdlib.h>

SHD_AUTO_DEFINE(sherd_rows_writer, sherd_rows_writer_abort)

enum { CHUNK = 1 << 20 };

/* One tensor. */
typedef struct part {
	const sherd_bundle *bundle;
	size_t source;
	size_t index; /* in the bundle */
	sherd_dtype dtype;
	uint64_t rows;
} part;

typedef struct packing {
	SHD_VEC(part) parts; /* in the order of the rows, none without */
	uint64_t rows, width;
	sherd_dtype dtype; /* of all parts; F32 when they differ */
} packing;

static int pack_bundle_refuse(const sherd_tensor *t, const char *reason, const char *why, sherd_error *err)
{
	return shd_fail(err, SHERD_EUNSUPPORTED, reason, "tensor '%.80s' %s", t->name, why);
}

/* All dimensions but the last are rows. */
static int count_rows(const sherd_tensor *t, uint64_t *out, sherd_error *err)
{
	uint64_t rows = 1;
	if (t->ndim < 2)
		return pack_bundle_refuse(t, "bad-shape", "has fewer than two dimensions", err);
	for (uint32_t i = 0; i + 1 < t->ndim; i++)
		if (__builtin_mul_overflow(rows, t->shape[i], &rows))
			return pack_bundle_refuse(t, "too-many-rows", "makes more than 2^64 rows", err);
	*out = rows;
	return SHERD_OK;
}

static int pack_bundle_check_width(packing *p, const sherd_tensor *t, sherd_error *err)
{
	uint64_t width = t->shape[t->ndim - 1];
	if (!width)
		return pack_bundle_refuse(t, "bad-width", "has rows of width 0", err);
	if (p->width && p->width != width)
		return shd_fail(err, SHERD_EUNSUPPORTED, "width-mismatch",
		                "tensor '%.80s' has rows of width %" PRIu64 ", those before %" PRIu64, t->name, width,
		                p->width);
	p->width = width;
	return SHERD_OK;
}

static int add_part(packing *p, const sherd_rows_source *s, size_t source, size_t index, sherd_error *err)
{
	const sherd_tensor *t = sherd_bundle_tensor(s->bundle, index);
	sherd_dtype dtype = t->dtype == SHERD_U16 && s->as == SHERD_BF16 ? SHERD_BF16 : t->dtype;
	uint64_t rows = 0;
	TRY(count_rows(t, &rows, err));
	if (dtype != SHERD_F64 && !shd_rows_kind_of(dtype))
		return pack_bundle_refuse(t, "bad-dtype",
		                          dtype == SHERD_U16 ? "is U16, and nobody said that its bits are BF16"
		                                             : "holds no F32, F64, F16, BF16",
		                          err);
	TRY(pack_bundle_check_width(p, t, err));
	if (!rows)
		return SHERD_OK;
	if (__builtin_add_overflow(p->rows, rows, &p->rows))
		return pack_bundle_refuse(t, "too-many-rows", "makes more than 2^64 rows", err);
	if (!p->dtype)
		p->dtype = dtype;
	if (p->dtype != dtype || dtype == SHERD_F64)
		p->dtype = SHERD_F32;
	const part one = {s->bundle, source, index, dtype, rows};
	shd_vec_push(&p->parts, one);
	return shd_vec_check(&p->parts, err);
}

static int pack_bundle_choose(const sherd_rows_source *s, bool *wanted, sherd_error *err)
{
	for (size_t i = 0; i < sherd_bundle_count(s->bundle); i++)
		wanted[i] = !s->names;
	for (size_t i = 0; s->names && i < s->name_count; i++) {
		size_t index = sherd_bundle_find(s->bundle, s->names[i]);
		if (index == SHERD_NO_TENSOR)
			return shd_fail(err, SHERD_ENOTFOUND, "not-found", "there is no tensor '%.80s'", s->names[i]);
		wanted[index] = true;
	}
	return SHERD_OK;
}

/* Collects the tensors of a source, and does what reading them needs first. */
static int add_source(packing *p, const sherd_rows_source *s, size_t source, const sherd_progress *progress,
                      sherd_error *err)
{
	const sherd_bundle_options options = {.progress = progress};
	size_t count = sherd_bundle_count(s->bundle), taken = 0;
	SHD_AUTO_FREE size_t *tensors = calloc(count + 1, sizeof(bool) + sizeof(size_t));
	if (!tensors)
		return shd_fail_nomem(err);
	bool *wanted = (bool *)(tensors + count + 1);
	if (s->as != SHERD_DTYPE_NONE && s->as != SHERD_BF16)
		return shd_fail(err, SHERD_EINVAL, "bad-argument", "U16 can be taken as BF16 only");
	TRY(pack_bundle_choose(s, wanted, err));
	for (size_t i = 0; i < count; i++)
		if (wanted[i]) {
			TRY(add_part(p, s, source, i, err));
			tensors[taken++] = i;
		}
	return sherd_bundle_prepare(s->bundle, tensors, taken, &options, err);
}

/* ---- copying */

static int write_part(sherd_rows_writer *w, const part *p, uint64_t width, sherd_error *err)
{
	uint64_t each, bytes, most;
	if (__builtin_mul_overflow(width, sherd_dtype_element_bytes(p->dtype), &each))
		return shd_fail_nomem(err);
	most = each < CHUNK ? CHUNK / each : 1;
	most = most < p->rows ? most : p->rows;
	bytes = most * each;
	SHD_AUTO_FREE void *chunk = malloc((size_t)bytes);
	if (!chunk)
		return shd_fail_nomem(err);
	for (uint64_t at = 0; at < p->rows; at += most) {
		uint64_t n = p->rows - at < most ? p->rows - at : most;
		TRY(shd_at_index(err, sherd_bundle_read(p->bundle, p->index, at * each, chunk, (size_t)(n * each), err),
		                 p->source));
		TRY(sherd_rows_writer_append(w, p->dtype, chunk, n, err));
	}
	return SHERD_OK;
}

static int write_parts(const packing *p, sherd_store *store, const char *folder, const sherd_rows_pack_options *o,
                       sherd_error *err)
{
	SHD_AUTO(sherd_rows_writer, sherd_rows_writer_abort) w = NULL;
	sherd_rows_pack_options options = *o;
	if (!options.dtype && !options.append && !options.residual)
		options.dtype = p->dtype;
	TRY(shd_rows_pack_open(&w, store, folder, p->rows, p->width, &options, err));
	for (size_t i = 0; i < p->parts.count; i++)
		TRY(write_part(w, &p->parts.items[i], p->width, err));
	return shd_rows_pack_commit(TAKE(w), &options, err);
}

int sherd_rows_pack_sources(sherd_store *store, const char *folder, const sherd_rows_source *sources, size_t count,
                            const sherd_rows_pack_options *options, sherd_error *err)
{
	static const sherd_rows_pack_options defaults = {0};
	int rc = SHERD_OK;
	options = options ? options : &defaults;
	packing p = {0};
	for (size_t i = 0; i < count && rc == SHERD_OK; i++)
		rc = shd_at_index(err, add_source(&p, &sources[i], i, options->progress, err), i);
	if (rc == SHERD_OK && !p.rows)
		rc = shd_fail_of(err, SHERD_ECORRUPT, "empty", count - 1, "no rows to pack");
	if (rc == SHERD_OK)
		rc = write_parts(&p, store, folder, options, err);
	shd_vec_done(&p.parts);
	return rc;
}

int sherd_rows_pack_bundle(sherd_store *store, const char *folder, const sherd_bundle *bundle, const char *const *names,
                           size_t name_count, sherd_dtype as, const sherd_rows_pack_options *options, sherd_error *err)
{
	const sherd_rows_source source = {.bundle = bundle, .names = names, .name_count = name_count, .as = as};
	return shd_at_index(err, sherd_rows_pack_sources(store, folder, &source, 1, options, err), SHERD_NO_INDEX);
}
