#include "base/limits.h"
#include "format/samediff/decoder.h"

static void check(sherd_samediff_decoder *d, const sherd_flat_table *t, const sherd_model_variable *v)
{
	sherd_limits limits = sherd_limits_or_default(d->limits);
	if (!v->name || !*v->name)
		sherd_flatbuf_fail(d->fb, SHERD_ECORRUPT, "bad-name", t->pos, "a variable without a name");
	else if (strlen(v->name) > limits.name_bytes)
		sherd_flatbuf_fail(d->fb, SHERD_ELIMIT, "name-too-long", t->pos, "a name of %zu bytes",
		                   strlen(v->name));
	if (v->kind > SHERD_VARIABLE_SEQUENCE)
		sherd_flatbuf_fail(d->fb, SHERD_ECORRUPT, "bad-type", t->pos, "a variable of kind %u",
		                   (unsigned)v->kind);
	if (v->shape.count > limits.dims)
		sherd_flatbuf_fail(d->fb, SHERD_ELIMIT, "too-many-dims", t->pos, "%zu dimensions", v->shape.count);
	for (size_t i = 0; i < v->shape.count; i++)
		if (v->shape.at[i] < -1)
			sherd_flatbuf_fail(d->fb, SHERD_ECORRUPT, "bad-shape", t->pos, "dimension %zu is %lld", i,
			                   (long long)v->shape.at[i]);
}

static unsigned field_of(const sherd_samediff_decoder *d, unsigned field)
{
	if (!d->beta3 || field <= SHERD_FLAT_VARIABLE_NAME)
		return field;
	switch (field) {
	case SHERD_FLAT_VARIABLE_SHAPE: return SHERD_FLAT_BETA3_VARIABLE_SHAPE;
	case SHERD_FLAT_VARIABLE_ARRAY: return SHERD_FLAT_BETA3_VARIABLE_ARRAY;
	case SHERD_FLAT_VARIABLE_DEVICE: return SHERD_FLAT_BETA3_VARIABLE_DEVICE;
	default: return SHERD_FLAT_NO_FIELD;
	}
}

void sherd_samediff_variable(sherd_samediff_decoder *d, const sherd_flat_table *t, sherd_model_variable *out)
{
	sherd_flatbuf *fb = d->fb;
	sherd_flat_table id = sherd_flat_child(fb, t, SHERD_FLAT_VARIABLE_ID),
			 array = sherd_flat_child(fb, t, field_of(d, SHERD_FLAT_VARIABLE_ARRAY));
	out->name = sherd_flat_text(fb, t, SHERD_FLAT_VARIABLE_NAME, d->arena);
	out->kind = (sherd_variable_kind)sherd_flat_u8(fb, t, field_of(d, SHERD_FLAT_VARIABLE_KIND), 0);
	out->type = sherd_flat_u8(fb, t, field_of(d, SHERD_FLAT_VARIABLE_DTYPE), 0);
	out->has_id = id.pos != 0;
	out->id.node = sherd_flat_i32(fb, &id, 0, 0);
	out->id.output = sherd_flat_i32(fb, &id, 1, 0);
	out->shape = sherd_samediff_longs(d, t, field_of(d, SHERD_FLAT_VARIABLE_SHAPE));
	out->device = sherd_flat_i32(fb, t, field_of(d, SHERD_FLAT_VARIABLE_DEVICE), 0);
	out->control_deps = sherd_samediff_texts(d, t, field_of(d, SHERD_FLAT_VARIABLE_CONTROL_DEPS));
	out->control_deps_for_op = sherd_samediff_texts(d, t, field_of(d, SHERD_FLAT_VARIABLE_FOR_OP));
	out->control_deps_for_variable = sherd_samediff_texts(d, t, field_of(d, SHERD_FLAT_VARIABLE_FOR_VARIABLE));
	out->array = sherd_samediff_array(d, &array);
	out->dtype = sherd_samediff_dtype(out->type, d->style);
	if (fb->rc >= 0)
		check(d, t, out);
	sherd_samediff_check_type(d, out->type, sherd_flat_place(fb, t, SHERD_FLAT_VARIABLE_DTYPE), "the variable",
	                          out->name);
}
