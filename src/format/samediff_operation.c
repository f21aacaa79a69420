#include "format/samediff_decoder.h"

static void take_property(sherd_samediff_decoder *d, const sherd_flat_table *t, sherd_model_property *out)
{
	out->name = sherd_flat_text(d->fb, t, SHERD_FLAT_PROPERTY_NAME, d->arena);
	out->ints = sherd_samediff_ints(d, t, SHERD_FLAT_PROPERTY_INTS);
	out->longs = sherd_samediff_longs(d, t, SHERD_FLAT_PROPERTY_LONGS);
	out->reals = sherd_samediff_reals(d, t, SHERD_FLAT_PROPERTY_REALS);
	out->arrays = sherd_samediff_arrays(d, t, SHERD_FLAT_PROPERTY_ARRAYS);
	out->bools = sherd_samediff_bytes(d, t, SHERD_FLAT_PROPERTY_BOOLS);
	out->texts = sherd_samediff_texts(d, t, SHERD_FLAT_PROPERTY_TEXTS);
	out->shape = sherd_samediff_ints(d, t, SHERD_FLAT_PROPERTY_SHAPE);
}

static void take_properties(sherd_samediff_decoder *d, const sherd_flat_table *t, sherd_model_operation *out)
{
	sherd_flat_vector v = sherd_flat_list(d->fb, t, SHERD_FLAT_NODE_PROPERTIES, 4);
	sherd_model_property *at = v.at ? sherd_samediff_room(d, v.count, sizeof(*at)) : NULL;
	for (uint32_t i = 0; at && i < v.count && d->fb->rc >= 0; i++) {
		sherd_flat_table property = sherd_flat_element(d->fb, &v, i);
		take_property(d, &property, &at[i]);
	}
	out->property_count = at ? v.count : 0;
	out->properties = at;
}

static void take_lists(sherd_samediff_decoder *d, const sherd_flat_table *t, sherd_model_operation *out)
{
	out->inputs = sherd_samediff_ints(d, t, SHERD_FLAT_NODE_INPUT);
	out->input_ids = sherd_samediff_ids(d, t, SHERD_FLAT_NODE_INPUT_PAIRED);
	out->outputs = sherd_samediff_ints(d, t, SHERD_FLAT_NODE_OUTPUT);
	out->output_names = sherd_samediff_texts(d, t, SHERD_FLAT_NODE_OUTPUT_NAMES);
	out->output_types = sherd_samediff_bytes(d, t, SHERD_FLAT_NODE_OUTPUT_TYPES);
	out->reals = sherd_samediff_reals(d, t, SHERD_FLAT_NODE_REALS);
	out->longs = sherd_samediff_longs(d, t, SHERD_FLAT_NODE_LONGS);
	out->bools = sherd_samediff_bytes(d, t, SHERD_FLAT_NODE_BOOLS);
	out->types = sherd_samediff_bytes(d, t, SHERD_FLAT_NODE_TYPES);
	out->texts = sherd_samediff_texts(d, t, SHERD_FLAT_NODE_TEXTS);
	out->dimensions = sherd_samediff_ints(d, t, SHERD_FLAT_NODE_DIMENSIONS);
	out->control_deps = sherd_samediff_texts(d, t, SHERD_FLAT_NODE_CONTROL_DEPS);
	out->variable_control_deps = sherd_samediff_texts(d, t, SHERD_FLAT_NODE_VARIABLE_CONTROL_DEPS);
	out->control_deps_for = sherd_samediff_texts(d, t, SHERD_FLAT_NODE_CONTROL_DEPS_FOR);
}

void sherd_samediff_operation(sherd_samediff_decoder *d, const sherd_flat_table *t, sherd_model_operation *out)
{
	sherd_flatbuf *fb = d->fb;
	sherd_flat_table scalar = sherd_flat_child(fb, t, SHERD_FLAT_NODE_SCALAR);
	out->id = sherd_flat_i32(fb, t, SHERD_FLAT_NODE_ID, 0);
	out->name = sherd_flat_text(fb, t, SHERD_FLAT_NODE_NAME, d->arena);
	out->op = sherd_flat_text(fb, t, SHERD_FLAT_NODE_OP_NAME, d->arena);
	out->type = sherd_flat_u8(fb, t, SHERD_FLAT_NODE_TYPE, 0);
	out->number = sherd_flat_i64(fb, t, SHERD_FLAT_NODE_NUMBER, 0);
	out->device = sherd_flat_i32(fb, t, SHERD_FLAT_NODE_DEVICE, 0);
	out->scope_id = sherd_flat_i32(fb, t, SHERD_FLAT_NODE_SCOPE_ID, 0);
	out->scope_name = sherd_flat_text(fb, t, SHERD_FLAT_NODE_SCOPE_NAME, d->arena);
	out->scalar = sherd_samediff_array(d, &scalar);
	take_properties(d, t, out);
	take_lists(d, t, out);
}
