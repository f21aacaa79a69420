#include "engine/model/elements.h"

#include "engine/tensors/reorder.h"

#include <sherd/limits.h>

#include <stdlib.h>

enum {
	CHUNK = 4 << 20,
	WHOLE = 64 << 20 /* an array up to this size is in memory while its order is changed; so much of a larger one */
};

static int fetch_from_model(const void *source, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	const shd_model_elements *e = source;
	return e->model->ops->read(e->model, e->array, offset, buf, len, err);
}

static int fetch_from_memory(const void *source, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	(void)err;
	memcpy(buf, (const uint8_t *)source + offset, len);
	return SHERD_OK;
}

static int elements_append(const shd_model_elements *e, sherd_writer *writer, uint8_t *buf, size_t len,
                           shd_meter *meter, sherd_error *err)
{
	if (e->swap)
		shd_reorder_turn(buf, len, sherd_dtype_element_bytes(e->model->arrays[e->array].dtype));
	TRY(sherd_writer_append(writer, buf, len, err));
	return shd_meter_add(meter, len, err);
}

/* As the model has them: by read() or read_fortran(). */
static int elements_copy(const shd_model_elements *e, sherd_writer *writer, shd_meter *meter, sherd_error *err)
{
	uint64_t bytes = e->model->arrays[e->array].bytes;
	SHD_AUTO_FREE void *buf = malloc(bytes < CHUNK ? (size_t)bytes : CHUNK);
	if (!buf)
		return shd_fail_nomem(err);
	for (uint64_t at = 0; at < bytes;) {
		size_t n = (size_t)(bytes - at < CHUNK ? bytes - at : CHUNK);
		TRY(e->fortran ? e->model->ops->read_fortran(e->model, e->array, at, buf, n, err)
		               : e->model->ops->read(e->model, e->array, at, buf, n, err));
		TRY(elements_append(e, writer, buf, n, meter, err));
		at += n;
	}
	return SHERD_OK;
}

/* What lies in C order is in Fortran order when its dimensions are taken the other way round; so reading that as if it
 * were in C order gives Fortran order of the array. */
static int transpose(const shd_model_elements *e, sherd_writer *writer, shd_meter *meter, sherd_error *err)
{
	const sherd_tensor *t = &e->model->arrays[e->array];
	uint64_t shape[SHERD_MAX_DIMS];
	size_t most = (size_t)(t->bytes < WHOLE ? t->bytes : WHOLE);
	SHD_AUTO_FREE void *whole = malloc(most);
	SHD_AUTO_FREE void *chunk = t->bytes <= WHOLE ? malloc(CHUNK) : NULL;
	shd_reorder order = {.bytes = t->bytes, .swap = 1, .ndim = t->ndim, .shape = shape};
	order.element = sherd_dtype_element_bytes(t->dtype);
	for (uint32_t d = 0; d < t->ndim; d++)
		shape[d] = t->shape[t->ndim - 1 - d];
	if (!whole || (t->bytes <= WHOLE && !chunk))
		return shd_fail_nomem(err);
	uint8_t *buf = chunk ? chunk : whole;
	size_t size = chunk ? CHUNK : WHOLE;
	order.fetch = chunk ? fetch_from_memory : fetch_from_model;
	order.source = chunk ? whole : (const void *)e;
	if (chunk)
		TRY(e->model->ops->read(e->model, e->array, 0, whole, most, err));
	for (uint64_t at = 0; at < t->bytes;) {
		size_t n = (size_t)(t->bytes - at < size ? t->bytes - at : size);
		TRY(shd_reorder_gather(&order, at, buf, n, err));
		TRY(elements_append(e, writer, buf, n, meter, err));
		at += n;
	}
	return SHERD_OK;
}

/* SHERD_OK when the model holds them in Fortran order, so that they need not be turned about; SHERD_EUNSUPPORTED when
 * not. */
static int try_fortran(const shd_model_elements *e, sherd_error *err)
{
	uint8_t first;
	return e->model->ops->read_fortran ? e->model->ops->read_fortran(e->model, e->array, 0, &first, 1, err)
	                                   : SHERD_EUNSUPPORTED;
}

int shd_model_elements_write(const shd_model_elements *e, sherd_writer *writer, shd_meter *meter, sherd_error *err)
{
	if (!e->model->arrays[e->array].bytes)
		return SHERD_OK;
	int rc = e->fortran ? try_fortran(e, err) : SHERD_OK;
	if (rc == SHERD_EUNSUPPORTED)
		return transpose(e, writer, meter, err);
	return rc < 0 ? rc : elements_copy(e, writer, meter, err);
}
