#include "format/samediff/encoder.h"

#include <sherd/limits.h>

/* The dimensions of an array, where SDNB wants them and the variable does not tell. */
static sherd_model_longs shape_of(const sherd_samediff_encoder *e, const sherd_model_variable *v,
                                  int64_t dims[SHERD_MAX_DIMS])
{
	if (v->shape.at || e->style != SHERD_SAMEDIFF_SDNB || v->array == SHERD_NO_ARRAY)
		return v->shape;
	const sherd_tensor *t = &e->source->arrays[v->array];
	size_t count = t->ndim < SHERD_MAX_DIMS ? t->ndim : SHERD_MAX_DIMS;
	if (sherd_samediff_is_hollow(e, v->array))
		count = 0;
	for (size_t i = 0; i < count; i++)
		dims[i] = (int64_t)t->shape[i];
	return (sherd_model_longs){count, dims};
}

static bool is_inside(const sherd_samediff_encoder *e, const sherd_model_variable *v)
{
	if (v->array == SHERD_NO_ARRAY)
		return false;
	return e->style != SHERD_SAMEDIFF_SDNB || e->depth || e->source->arrays[v->array].bytes < SHERD_SAMEDIFF_INLINE;
}

void sherd_samediff_put_variable(sherd_samediff_encoder *e, size_t from, const sherd_model_variable *v)
{
	int64_t dims[SHERD_MAX_DIMS];
	sherd_model_longs shape = shape_of(e, v, dims);
	uint8_t type = v->dtype == SHERD_DTYPE_NONE ? v->type : sherd_samediff_number(e, v->dtype, v->name);
	bool inside = is_inside(e, v);
	const char widths[SHERD_FLAT_VARIABLE_FIELDS + 1] = {
		[SHERD_FLAT_VARIABLE_ID] = sherd_samediff_width(v->has_id, '4'),
		[SHERD_FLAT_VARIABLE_NAME] = '4',
		[SHERD_FLAT_VARIABLE_DTYPE] = sherd_samediff_width(type != 0, '1'),
		[SHERD_FLAT_VARIABLE_SHAPE] = sherd_samediff_width(shape.at != NULL, '4'),
		[SHERD_FLAT_VARIABLE_ARRAY] = sherd_samediff_width(inside, '4'),
		[SHERD_FLAT_VARIABLE_DEVICE] = sherd_samediff_width(v->device != 0, '4'),
		[SHERD_FLAT_VARIABLE_KIND] = sherd_samediff_width(v->kind != 0, '1'),
		[SHERD_FLAT_VARIABLE_CONTROL_DEPS] = sherd_samediff_width(v->control_deps.at != NULL, '4'),
		[SHERD_FLAT_VARIABLE_FOR_OP] = sherd_samediff_width(v->control_deps_for_op.at != NULL, '4'),
		[SHERD_FLAT_VARIABLE_FOR_VARIABLE] = sherd_samediff_width(v->control_deps_for_variable.at != NULL, '4'),
	};
	size_t t = sherd_flatbuf_build_table(&e->build, from, widths);
	if (v->has_id)
		sherd_samediff_put_id(e, sherd_flatbuf_build_field(&e->build, t, SHERD_FLAT_VARIABLE_ID), v->id);
	sherd_samediff_put_text(e, t, SHERD_FLAT_VARIABLE_NAME, v->name);
	sherd_samediff_put_u8(e, t, SHERD_FLAT_VARIABLE_DTYPE, type);
	sherd_samediff_put_longs(e, t, SHERD_FLAT_VARIABLE_SHAPE, shape);
	if (inside)
		sherd_samediff_put_array(e, sherd_flatbuf_build_field(&e->build, t, SHERD_FLAT_VARIABLE_ARRAY),
		                         v->array);
	sherd_samediff_put_i32(e, t, SHERD_FLAT_VARIABLE_DEVICE, v->device);
	sherd_samediff_put_u8(e, t, SHERD_FLAT_VARIABLE_KIND, (uint8_t)v->kind);
	sherd_samediff_put_texts(e, t, SHERD_FLAT_VARIABLE_CONTROL_DEPS, v->control_deps);
	sherd_samediff_put_texts(e, t, SHERD_FLAT_VARIABLE_FOR_OP, v->control_deps_for_op);
	sherd_samediff_put_texts(e, t, SHERD_FLAT_VARIABLE_FOR_VARIABLE, v->control_deps_for_variable);
}
