#include "engine/tensors/bundle.h"

#include "base/dtype.h"
#include "format/value.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

int shd_bundle_new(sherd_bundle **out, size_t size, const shd_bundle_ops *ops, sherd_format format, sherd_error *err)
{
	sherd_bundle *b = calloc(1, size);
	if (!b)
		return shd_fail_nomem(err);
	(void)pthread_mutex_init(&b->values_lock, NULL);
	b->ops = ops;
	b->format = format;
	*out = b;
	return SHERD_OK;
}

int shd_bundle_finish(sherd_bundle *bundle, sherd_error *err)
{
	for (size_t i = 0; i < bundle->count; i++) {
		bool ok;
		const char *name = bundle->tensors[i].name;
		if (shd_map_add(&bundle->names, shd_str_of(name), i, &ok) != SHD_MAP_NONE)
			return shd_fail(err, SHERD_ECORRUPT, "duplicate-name", "%.128s is there twice", name);
		if (!ok)
			return shd_fail_nomem(err);
	}
	return SHERD_OK;
}

int shd_bundle_finish_one(sherd_bundle *bundle, sherd_tensor *tensor, const char *key, const char *ending,
                          sherd_error *err)
{
	shd_str name = shd_str_of(shd_str_leaf(key));
	if (shd_str_ends(name, ending))
		name.len -= strlen(ending);
	tensor->name = shd_arena_str(&bundle->arena, name);
	if (!tensor->name)
		return shd_fail_nomem(err);
	bundle->count = 1;
	bundle->tensors = tensor;
	return shd_bundle_finish(bundle, err);
}

void sherd_bundle_close(sherd_bundle *bundle)
{
	if (!bundle)
		return;
	if (bundle->ops->close)
		bundle->ops->close(bundle);
	sherd_reader_close(bundle->reader);
	shd_map_done(&bundle->names);
	(void)pthread_mutex_destroy(&bundle->values_lock);
	shd_arena_done(&bundle->values_arena);
	shd_arena_done(&bundle->arena);
	free(bundle);
}

sherd_format sherd_bundle_format(const sherd_bundle *bundle)
{
	return bundle->format;
}

size_t sherd_bundle_count(const sherd_bundle *bundle)
{
	return bundle->count;
}

const sherd_tensor *sherd_bundle_tensor(const sherd_bundle *bundle, size_t index)
{
	return index < bundle->count ? &bundle->tensors[index] : NULL;
}

const char *sherd_bundle_file_of(const sherd_bundle *bundle, size_t index)
{
	return bundle->ops->file && index < bundle->count ? bundle->ops->file(bundle, index) : NULL;
}

size_t sherd_bundle_find(const sherd_bundle *bundle, const char *name)
{
	size_t index = shd_map_find(&bundle->names, shd_str_of(name));
	return index == SHD_MAP_NONE ? SHERD_NO_TENSOR : index;
}

size_t sherd_bundle_pairs(const sherd_pair **out, const sherd_bundle *bundle)
{
	*out = bundle->pairs;
	return bundle->pair_count;
}

size_t sherd_bundle_globals(const sherd_global **out, const sherd_bundle *bundle)
{
	*out = bundle->globals;
	return bundle->global_count;
}

int shd_bundle_values(const sherd_bundle *bundle, const sherd_value **out, size_t *count, sherd_error *err)
{
	while (bundle->whole)
		bundle = bundle->whole;
	sherd_bundle *b = (sherd_bundle *)bundle; /* what is asked for first changes nothing that others see */
	int rc = SHERD_OK;
	(void)pthread_mutex_lock(&b->values_lock);
	if (!b->values)
		rc = shd_values_of_pairs(b->pairs, b->pair_count, &b->values_arena, &b->values, &b->value_count, err);
	*out = b->values;
	*count = b->value_count;
	(void)pthread_mutex_unlock(&b->values_lock);
	return rc;
}

size_t sherd_bundle_values(const sherd_value **out, const sherd_bundle *bundle)
{
	size_t count;
	return shd_bundle_values(bundle, out, &count, NULL) == SHERD_OK ? count : 0;
}

static int tensors_bundle_check_index(const sherd_bundle *bundle, size_t index, sherd_error *err)
{
	if (index >= bundle->count)
		return shd_fail(err, SHERD_EINVAL, "out-of-range", "tensor %zu of %zu", index, bundle->count);
	return SHERD_OK;
}

/* A bundle is read while another store is written to: its failures say that they are not that one's. */
static int from_source(const sherd_bundle *bundle, int rc, sherd_error *err)
{
	if (rc < 0 && err && bundle->store)
		err->store = bundle->store;
	return rc;
}

int sherd_bundle_read(const sherd_bundle *bundle, size_t index, uint64_t offset, void *buf, size_t len,
                      sherd_error *err)
{
	TRY(tensors_bundle_check_index(bundle, index, err));
	const sherd_tensor *t = &bundle->tensors[index];
	if (offset > t->bytes || len > t->bytes - offset)
		return shd_fail(err, SHERD_EINVAL, "bad-range", "%zu bytes at %llu of %.128s, which has %llu", len,
		                (unsigned long long)offset, t->name, (unsigned long long)t->bytes);
	return len ? from_source(bundle, bundle->ops->read(bundle, index, offset, buf, len, err), err) : SHERD_OK;
}

int sherd_bundle_prepare(const sherd_bundle *bundle, const size_t *tensors, size_t count,
                         const sherd_bundle_options *options, sherd_error *err)
{
	static const sherd_bundle_options defaults;
	const sherd_bundle_options *o = options ? options : &defaults;
	for (size_t i = 0; tensors && i < count; i++)
		TRY(tensors_bundle_check_index(bundle, tensors[i], err));
	if (!bundle->ops->prepare)
		return SHERD_OK;
	SHD_AUTO_FREE size_t *all = NULL;
	if (!tensors) {
		count = bundle->count;
		all = calloc(count + 1, sizeof(*all));
		if (!all)
			return shd_fail_nomem(err);
		for (size_t i = 0; i < count; i++)
			all[i] = i;
	}
	SHD_DONE(shd_meter_done) shd_meter meter;
	shd_meter_init(&meter, o->progress, 0);
	return from_source(bundle, bundle->ops->prepare(bundle, all ? all : tensors, count, o->pool, &meter, err), err);
}

int sherd_bundle_map(const void **out, const sherd_bundle *bundle, size_t index, sherd_error *err)
{
	static const alignas(16) char nothing[16];
	const void *bytes = nothing;
	TRY(tensors_bundle_check_index(bundle, index, err));
	const sherd_tensor *t = &bundle->tensors[index];
	if (t->bytes) {
		if (!bundle->ops->map)
			return shd_fail(err, SHERD_EUNSUPPORTED, "no-map", "%.128s cannot be mapped", t->name);
		TRY(from_source(bundle, bundle->ops->map(&bytes, bundle, index, err), err));
	}
	uint32_t align = shd_dtype_align(t->dtype);
	if (align && (uintptr_t)bytes % align)
		return shd_fail(err, SHERD_EUNSUPPORTED, "no-map", "%.128s does not lie at a multiple of %u bytes",
		                t->name, align);
	*out = bytes;
	return SHERD_OK;
}
