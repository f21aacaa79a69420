#include "format/samediff/encoder.h"

#include <sherd/limits.h>

/* The dimensions of an array, where SDNB wants them and the variable does not tell. */
static sherd_model_longs shape_of(const shd_samediff_encoder *e, const sherd_model_variable *v,
                                  int64_t dims[SHERD_MAX_DIMS])
{
	if (v->shape.at || e->style != SHD_SAMEDIFF_SDNB || v->array == SHERD_NO_ARRAY)
		return v->shape;
	const sherd_tensor *t = &e->source->arrays[v->array];
	size_t count = t->ndim < SHERD_MAX_DIMS ? t->ndim : SHERD_MAX_DIMS;
	if (shd_samediff_is_hollow(e, v->array))
		count = 0;
	for (size_t i = 0; i < count; i++)
		dims[i] = (int64_t)t->shape[i];
	return (sherd_model_longs){count, dims};
}

static bool is_inside(const shd_samediff_encoder *e, const sherd_model_variable *v)
{
	if (v->array == SHERD_NO_ARRAY)
		return false;
	return e->style != SHD_SAMEDIFF_SDNB || e->depth || e->source->arrays[v->array].bytes < SHD_SAMEDIFF_INLINE;
}

void shd_samediff_put_variable(shd_samediff_encoder *e, size_t from, const sherd_model_variable *v)
{
	int64_t dims[SHERD_MAX_DIMS];
	sherd_model_longs shape = shape_of(e, v, dims);
	uint8_t type = v->dtype == SHERD_DTYPE_NONE ? v->type : shd_samediff_number(e, v->dtype, v->name);
	bool inside = is_inside(e, v);
	const char widths[SHD_FLAT_VARIABLE_FIELDS + 1] = {
		[SHD_FLAT_VARIABLE_ID] = shd_samediff_width(v->has_id, '4'),
		[SHD_FLAT_VARIABLE_NAME] = '4',
		[SHD_FLAT_VARIABLE_DTYPE] = shd_samediff_width(type != 0, '1'),
		[SHD_FLAT_VARIABLE_SHAPE] = shd_samediff_width(shape.at != NULL, '4'),
		[SHD_FLAT_VARIABLE_ARRAY] = shd_samediff_width(inside, '4'),
		[SHD_FLAT_VARIABLE_DEVICE] = shd_samediff_width(v->device != 0, '4'),
		[SHD_FLAT_VARIABLE_KIND] = shd_samediff_width(v->kind != 0, '1'),
		[SHD_FLAT_VARIABLE_CONTROL_DEPS] = shd_samediff_width(v->control_deps.at != NULL, '4'),
		[SHD_FLAT_VARIABLE_FOR_OP] = shd_samediff_width(v->control_deps_for_op.at != NULL, '4'),
		[SHD_FLAT_VARIABLE_FOR_VARIABLE] = shd_samediff_width(v->control_deps_for_variable.at != NULL, '4'),
	};
	size_t t = shd_flatbuf_build_table(&e->build, from, widths);
	if (v->has_id)
		shd_samediff_put_id(e, shd_flatbuf_build_field(&e->build, t, SHD_FLAT_VARIABLE_ID), v->id);
	shd_samediff_put_text(e, t, SHD_FLAT_VARIABLE_NAME, v->name);
	shd_samediff_put_u8(e, t, SHD_FLAT_VARIABLE_DTYPE, type);
	shd_samediff_put_longs(e, t, SHD_FLAT_VARIABLE_SHAPE, shape);
	if (inside)
		shd_samediff_put_array(e, shd_flatbuf_build_field(&e->build, t, SHD_FLAT_VARIABLE_ARRAY), v->array);
	shd_samediff_put_i32(e, t, SHD_FLAT_VARIABLE_DEVICE, v->device);
	shd_samediff_put_u8(e, t, SHD_FLAT_VARIABLE_KIND, (uint8_t)v->kind);
	shd_samediff_put_texts(e, t, SHD_FLAT_VARIABLE_CONTROL_DEPS, v->control_deps);
	shd_samediff_put_texts(e, t, SHD_FLAT_VARIABLE_FOR_OP, v->control_deps_for_op);
	shd_samediff_put_texts(e, t, SHD_FLAT_VARIABLE_FOR_VARIABLE, v->control_deps_for_variable);
}
