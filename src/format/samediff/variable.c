#include "base/limits.h"
#include "format/samediff/decoder.h"

static void variable_check(shd_samediff_decoder *d, const shd_flat_table *t, const sherd_model_variable *v)
{
	sherd_limits limits = shd_limits_or_default(d->limits);
	if (!v->name || !*v->name)
		shd_flatbuf_fail(d->fb, SHERD_ECORRUPT, "bad-name", t->pos, "a variable without a name");
	else if (strlen(v->name) > limits.name_bytes)
		shd_flatbuf_fail(d->fb, SHERD_ELIMIT, "name-too-long", t->pos, "a name of %zu bytes", strlen(v->name));
	if (v->kind > SHERD_VARIABLE_SEQUENCE)
		shd_flatbuf_fail(d->fb, SHERD_ECORRUPT, "bad-type", t->pos, "a variable of kind %u", (unsigned)v->kind);
	if (v->shape.count > limits.dims)
		shd_flatbuf_fail(d->fb, SHERD_ELIMIT, "too-many-dims", t->pos, "%zu dimensions", v->shape.count);
	for (size_t i = 0; i < v->shape.count; i++)
		if (v->shape.at[i] < -1)
			shd_flatbuf_fail(d->fb, SHERD_ECORRUPT, "bad-shape", t->pos, "dimension %zu is %lld", i,
			                 (long long)v->shape.at[i]);
}

static unsigned variable_field_of(const shd_samediff_decoder *d, unsigned field)
{
	if (!d->beta3 || field <= SHD_FLAT_VARIABLE_NAME)
		return field;
	switch (field) {
	case SHD_FLAT_VARIABLE_SHAPE: return SHD_FLAT_BETA3_VARIABLE_SHAPE;
	case SHD_FLAT_VARIABLE_ARRAY: return SHD_FLAT_BETA3_VARIABLE_ARRAY;
	case SHD_FLAT_VARIABLE_DEVICE: return SHD_FLAT_BETA3_VARIABLE_DEVICE;
	default: return SHD_FLAT_NO_FIELD;
	}
}

void shd_samediff_variable(shd_samediff_decoder *d, const shd_flat_table *t, sherd_model_variable *out)
{
	shd_flatbuf *fb = d->fb;
	shd_flat_table id = shd_flat_child(fb, t, SHD_FLAT_VARIABLE_ID),
		       array = shd_flat_child(fb, t, variable_field_of(d, SHD_FLAT_VARIABLE_ARRAY));
	out->name = shd_flat_text(fb, t, SHD_FLAT_VARIABLE_NAME, d->arena);
	out->kind = (sherd_variable_kind)shd_flat_u8(fb, t, variable_field_of(d, SHD_FLAT_VARIABLE_KIND), 0);
	out->type = shd_flat_u8(fb, t, variable_field_of(d, SHD_FLAT_VARIABLE_DTYPE), 0);
	out->has_id = id.pos != 0;
	out->id.node = shd_flat_i32(fb, &id, 0, 0);
	out->id.output = shd_flat_i32(fb, &id, 1, 0);
	out->shape = shd_samediff_longs(d, t, variable_field_of(d, SHD_FLAT_VARIABLE_SHAPE));
	out->device = shd_flat_i32(fb, t, variable_field_of(d, SHD_FLAT_VARIABLE_DEVICE), 0);
	out->control_deps = shd_samediff_texts(d, t, variable_field_of(d, SHD_FLAT_VARIABLE_CONTROL_DEPS));
	out->control_deps_for_op = shd_samediff_texts(d, t, variable_field_of(d, SHD_FLAT_VARIABLE_FOR_OP));
	out->control_deps_for_variable = shd_samediff_texts(d, t, variable_field_of(d, SHD_FLAT_VARIABLE_FOR_VARIABLE));
	out->array = shd_samediff_array(d, &array);
	out->dtype = shd_samediff_dtype(out->type, d->style);
	if (fb->rc >= 0)
		variable_check(d, t, out);
	shd_samediff_check_type(d, out->type, shd_flat_place(fb, t, SHD_FLAT_VARIABLE_DTYPE), "the variable",
	                        out->name);
}
