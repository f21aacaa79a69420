#include "engine/tensors/derive.h"

#include "engine/tensors/rename.h"

#include <sherd/name.h>

#include <stdlib.h>

/* While a bundle is put together. */
typedef struct derivation {
	shd_derived *b;
	const sherd_derive_options *o;
	const shd_renames *renames;
	SHD_VEC(sherd_tensor) tensors;
	SHD_VEC(shd_derived_tensor) parts;
	SHD_VEC(size_t) sources; /* of the tensors */
	shd_map names;
	SHD_VEC(shd_cast *) casts; /* one of each type that is cast */
	sherd_derive_result result;
} derivation;

/* ---- reading */

static int derived_read_part(const sherd_bundle *bundle, size_t index, uint64_t offset, void *buf, size_t len,
                             sherd_error *err)
{
	shd_derived *b = (shd_derived *)(uintptr_t)bundle; /* what is counted has a lock of its own */
	const shd_derived_tensor *t = &b->parts[index];
	return t->cast ? shd_derived_read(b, index, offset, buf, len, err)
	               : sherd_bundle_read(t->from, t->index, offset, buf, len, err);
}

static int derived_map(const void **out, const sherd_bundle *bundle, size_t index, sherd_error *err)
{
	const shd_derived_tensor *t = &((const shd_derived *)bundle)->parts[index];
	if (t->cast)
		return shd_fail(err, SHERD_EUNSUPPORTED, "no-map", "%.128s is cast while it is read",
		                bundle->tensors[index].name);
	return sherd_bundle_map(out, t->from, t->index, err);
}

/* Each source its own, in the order in which they first come. */
static int derived_prepare(const sherd_bundle *bundle, const size_t *tensors, size_t count, sherd_pool *pool,
                           shd_meter *meter, sherd_error *err)
{
	const shd_derived_tensor *parts = ((const shd_derived *)bundle)->parts;
	SHD_AUTO_FREE size_t *theirs = calloc(count + 1, sizeof(*theirs));
	SHD_AUTO_FREE bool *done = calloc(count + 1, sizeof(*done));
	if (!theirs || !done)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < count; i++) {
		const sherd_bundle *from = parts[tensors[i]].from;
		size_t n = 0;
		for (size_t k = i; !done[i] && k < count; k++)
			if (parts[tensors[k]].from == from) {
				theirs[n++] = parts[tensors[k]].index;
				done[k] = k > i;
			}
		if (n && from->ops->prepare)
			TRY(from->ops->prepare(from, theirs, n, pool, meter, err));
	}
	return SHERD_OK;
}

static int derived_check(const sherd_bundle *bundle, size_t index, shd_meter *meter, bool *whole, sherd_error *damage,
                         sherd_error *err)
{
	const shd_derived_tensor *t = &((const shd_derived *)bundle)->parts[index];
	*whole = true;
	return t->from->ops->check ? t->from->ops->check(t->from, t->index, meter, whole, damage, err) : SHERD_OK;
}

static void derived_close(sherd_bundle *bundle)
{
	shd_derived *b = (shd_derived *)bundle;
	for (size_t i = 0; i < b->part_count; i++)
		shd_vec_done(&b->parts[i].counted);
	sherd_free(b->pairs);
	for (size_t i = 0; i < b->owned_count; i++)
		sherd_bundle_close(b->owned[i]);
	free(b->owned);
	if (b->locked)
		(void)pthread_mutex_destroy(&b->lock);
}

void shd_derived_own(sherd_bundle *derived, sherd_bundle **sources, size_t count)
{
	shd_derived *b = (shd_derived *)derived;
	b->owned = sources;
	b->owned_count = count;
}

const shd_bundle_ops shd_derived_ops = {.read = derived_read_part,
                                        .map = derived_map,
                                        .prepare = derived_prepare,
                                        .check = derived_check,
                                        .close = derived_close};

/* ---- choosing and naming */

static bool fits_any(const char *name, const char *const *patterns, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (sherd_name_matches(name, patterns[i]))
			return true;
	return false;
}

static bool derive_wants(const sherd_derive_options *o, const char *name)
{
	return (!o->match_count || fits_any(name, o->match, o->match_count)) &&
	       !fits_any(name, o->exclude, o->exclude_count);
}

static int derive_name(derivation *d, const char *name, const char **out, sherd_error *err)
{
	SHD_AUTO_BUF text = {0};
	*out = name;
	if (!d->renames)
		return SHERD_OK;
	TRY(shd_renames_apply(d->renames, name, &text, err));
	if (strcmp((const char *)text.data, name) == 0)
		return SHERD_OK;
	d->result.renamed++;
	*out = shd_arena_str(&d->b->base.arena, (shd_str){(const char *)text.data, text.len - 1});
	return *out ? SHERD_OK : shd_fail_nomem(err);
}

/* ---- casting */

static int cast_of(derivation *d, sherd_dtype from, const shd_cast **out, sherd_error *err)
{
	for (size_t i = 0; i < d->casts.count; i++)
		if (d->casts.items[i]->from == from) {
			*out = d->casts.items[i];
			return SHERD_OK;
		}
	shd_cast *cast = shd_arena_alloc(&d->b->base.arena, 1, sizeof(*cast));
	if (!cast)
		return shd_fail_nomem(err);
	shd_cast_init(cast, from, d->o->dtype);
	shd_vec_push(&d->casts, cast);
	*out = cast;
	return SHERD_OK;
}

/* A tensor whose elements do not fill their last block is one lump of bytes, which nobody casts. */
static int derive_type(derivation *d, sherd_tensor *t, shd_derived_tensor *part, sherd_error *err)
{
	uint64_t bytes;
	bool blocks = (unsigned)t->dtype >= SHERD_DTYPE_BLOCKS;
	if (!d->o->dtype || t->dtype == d->o->dtype)
		return SHERD_OK;
	if (!shd_cast_known(t->dtype) || !sherd_tensor_bytes(&bytes, d->o->dtype, t->ndim, t->shape)) {
		d->result.uncast += blocks || shd_cast_known(t->dtype);
		return SHERD_OK;
	}
	TRY(cast_of(d, t->dtype, &part->cast, err));
	t->dtype = d->o->dtype;
	t->bytes = bytes;
	d->result.cast++;
	return SHERD_OK;
}

/* ---- putting together */

static int refuse_clash(const char *name, size_t before, size_t source, sherd_error *err)
{
	if (before == source)
		return shd_fail_of(err, SHERD_EEXIST, "clash", source, "two of its tensors get the name '%.128s'",
		                   name);
	return shd_fail_of(err, SHERD_EEXIST, "clash", source, "tensor '%.128s' is in source %zu and in source %zu",
	                   name, before + 1, source + 1);
}

static int derive_tensor(derivation *d, const sherd_bundle *from, size_t index, size_t source, sherd_error *err)
{
	sherd_tensor t = from->tensors[index];
	shd_derived_tensor part = {.from = from, .index = index};
	bool ok;
	if (!derive_wants(d->o, t.name)) {
		d->result.left_out++;
		return SHERD_OK;
	}
	TRY(derive_name(d, t.name, &t.name, err));
	size_t at = shd_map_add(&d->names, shd_str_of(t.name), d->tensors.count, &ok);
	if (!ok)
		return shd_fail_nomem(err);
	if (at != SHD_MAP_NONE && (!d->o->prefer || d->sources.items[at] == source))
		return refuse_clash(t.name, d->sources.items[at], source, err);
	if (at != SHD_MAP_NONE) {
		d->result.overridden++;
		if (d->o->prefer == SHERD_PREFER_FIRST)
			return SHERD_OK;
		TRY(derive_type(d, &t, &part, err));
		d->tensors.items[at] = t;
		d->parts.items[at] = part;
		d->sources.items[at] = source;
		return SHERD_OK;
	}
	TRY(derive_type(d, &t, &part, err));
	shd_vec_push(&d->tensors, t);
	shd_vec_push(&d->parts, part);
	shd_vec_push(&d->sources, source);
	return d->tensors.failed || d->parts.failed || d->sources.failed ? shd_fail_nomem(err) : SHERD_OK;
}

/* What is counted of tensors that are there. */
static void count_cast(derivation *d)
{
	d->result.tensors = d->tensors.count;
	d->result.cast = 0;
	for (size_t i = 0; i < d->parts.count; i++)
		d->result.cast += d->parts.items[i].cast != NULL;
}

static int derive_all(derivation *d, const sherd_bundle *const *from, size_t count, sherd_error *err)
{
	sherd_bundle *base = &d->b->base;
	for (size_t i = 0; i < count; i++) {
		if (!d->o->drop_graph)
			TRY(shd_at_index(err, sherd_convert_check(from[i], SHERD_FORMAT_SAFETENSORS, err), i));
		for (size_t k = 0; k < from[i]->count; k++)
			TRY(derive_tensor(d, from[i], k, i, err));
	}
	TRY(shd_vec_check(&d->casts, err));
	d->b->parts = shd_vec_copy(&d->parts, &base->arena);
	base->tensors = shd_vec_copy(&d->tensors, &base->arena);
	if (!d->b->parts || !base->tensors)
		return shd_fail_nomem(err);
	base->count = d->b->part_count = d->tensors.count;
	count_cast(d);
	TRY(shd_derived_take_pairs(d->b, from, count, d->o->prefer, err));
	return shd_bundle_finish(base, err);
}

static int derive_into(shd_derived *b, const sherd_bundle *const *from, size_t count, const sherd_derive_options *o,
                       sherd_derive_result *result, sherd_error *err)
{
	SHD_AUTO(shd_renames, shd_renames_close) renames = NULL;
	if (o->rename_count)
		TRY(shd_renames_open(&renames, o->renames, o->rename_count, err));
	derivation d = {.b = b, .o = o, .renames = renames};
	int rc = derive_all(&d, from, count, err);
	shd_vec_done(&d.tensors);
	shd_vec_done(&d.parts);
	shd_vec_done(&d.sources);
	shd_vec_done(&d.casts);
	shd_map_done(&d.names);
	if (rc == SHERD_OK && result)
		*result = d.result;
	return rc;
}

int sherd_bundle_derive(sherd_bundle **out, const sherd_bundle *const *from, size_t count,
                        const sherd_derive_options *options, sherd_derive_result *result, sherd_error *err)
{
	static const sherd_derive_options defaults;
	const sherd_derive_options *o = options ? options : &defaults;
	SHD_AUTO(sherd_bundle, sherd_bundle_close) base = NULL;
	if (!count)
		return shd_fail(err, SHERD_EINVAL, "bad-argument", "there is no source");
	if (o->dtype && !shd_cast_target(o->dtype))
		return shd_fail(err, SHERD_EINVAL, "bad-argument", "tensors are cast to F16, BF16 or F32");
	TRY(shd_bundle_new(&base, sizeof(shd_derived), &shd_derived_ops, from[0]->format, err));
	shd_derived *b = (shd_derived *)base;
	b->locked = pthread_mutex_init(&b->lock, NULL) == 0;
	if (!b->locked)
		return shd_fail_nomem(err);
	TRY(derive_into(b, from, count, o, result, err));
	*out = TAKE(base);
	return SHERD_OK;
}
