#include "format/samediff_decoder.h"

enum {
	PROPERTY_NAME = 0,
	PROPERTY_INTS = 1,
	PROPERTY_LONGS = 2,
	PROPERTY_REALS = 3,
	PROPERTY_ARRAYS = 4,
	PROPERTY_BOOLS = 5,
	PROPERTY_TEXTS = 6,
	PROPERTY_SHAPE = 7
};

enum {
	NODE_ID = 0,
	NODE_NAME = 1,
	NODE_TYPE = 2,
	NODE_NUMBER = 3,
	NODE_PROPERTIES = 4,
	NODE_INPUT = 5,
	NODE_INPUT_PAIRED = 6,
	NODE_OUTPUT = 7,
	NODE_REALS = 8,
	NODE_LONGS = 9,
	NODE_BOOLS = 10,
	NODE_DIMENSIONS = 11,
	NODE_DEVICE = 12,
	NODE_SCOPE_ID = 13,
	NODE_SCOPE_NAME = 14,
	NODE_OUTPUT_NAMES = 15,
	NODE_OP_NAME = 16,
	NODE_OUTPUT_TYPES = 17,
	NODE_SCALAR = 18,
	NODE_CONTROL_DEPS = 19,
	NODE_VARIABLE_CONTROL_DEPS = 20,
	NODE_CONTROL_DEPS_FOR = 21,
	NODE_TYPES = 22,
	NODE_TEXTS = 23
};

static void take_property(sherd_samediff_decoder *d, const sherd_flat_table *t, sherd_model_property *out)
{
	out->name = sherd_flat_text(d->fb, t, PROPERTY_NAME, d->arena);
	out->ints = sherd_samediff_ints(d, t, PROPERTY_INTS);
	out->longs = sherd_samediff_longs(d, t, PROPERTY_LONGS);
	out->reals = sherd_samediff_reals(d, t, PROPERTY_REALS);
	out->arrays = sherd_samediff_arrays(d, t, PROPERTY_ARRAYS);
	out->bools = sherd_samediff_bytes(d, t, PROPERTY_BOOLS);
	out->texts = sherd_samediff_texts(d, t, PROPERTY_TEXTS);
	out->shape = sherd_samediff_ints(d, t, PROPERTY_SHAPE);
}

static void take_properties(sherd_samediff_decoder *d, const sherd_flat_table *t, sherd_model_operation *out)
{
	sherd_flat_vector v = sherd_flat_list(d->fb, t, NODE_PROPERTIES, 4);
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
	out->inputs = sherd_samediff_ints(d, t, NODE_INPUT);
	out->input_ids = sherd_samediff_ids(d, t, NODE_INPUT_PAIRED);
	out->outputs = sherd_samediff_ints(d, t, NODE_OUTPUT);
	out->output_names = sherd_samediff_texts(d, t, NODE_OUTPUT_NAMES);
	out->output_types = sherd_samediff_bytes(d, t, NODE_OUTPUT_TYPES);
	out->reals = sherd_samediff_reals(d, t, NODE_REALS);
	out->longs = sherd_samediff_longs(d, t, NODE_LONGS);
	out->bools = sherd_samediff_bytes(d, t, NODE_BOOLS);
	out->types = sherd_samediff_bytes(d, t, NODE_TYPES);
	out->texts = sherd_samediff_texts(d, t, NODE_TEXTS);
	out->dimensions = sherd_samediff_ints(d, t, NODE_DIMENSIONS);
	out->control_deps = sherd_samediff_texts(d, t, NODE_CONTROL_DEPS);
	out->variable_control_deps = sherd_samediff_texts(d, t, NODE_VARIABLE_CONTROL_DEPS);
	out->control_deps_for = sherd_samediff_texts(d, t, NODE_CONTROL_DEPS_FOR);
}

void sherd_samediff_operation(sherd_samediff_decoder *d, const sherd_flat_table *t, sherd_model_operation *out)
{
	sherd_flatbuf *fb = d->fb;
	sherd_flat_table scalar = sherd_flat_child(fb, t, NODE_SCALAR);
	out->id = sherd_flat_i32(fb, t, NODE_ID, 0);
	out->name = sherd_flat_text(fb, t, NODE_NAME, d->arena);
	out->op = sherd_flat_text(fb, t, NODE_OP_NAME, d->arena);
	out->type = sherd_flat_u8(fb, t, NODE_TYPE, 0);
	out->number = sherd_flat_i64(fb, t, NODE_NUMBER, 0);
	out->device = sherd_flat_i32(fb, t, NODE_DEVICE, 0);
	out->scope_id = sherd_flat_i32(fb, t, NODE_SCOPE_ID, 0);
	out->scope_name = sherd_flat_text(fb, t, NODE_SCOPE_NAME, d->arena);
	out->scalar = sherd_samediff_array(d, &scalar);
	take_properties(d, t, out);
	take_lists(d, t, out);
}
