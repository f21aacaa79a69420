#include "format/samediff/decoder.h"

#include <string.h>

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

/* The number that beta2 and beta3 kept in the operation itself, where later ones have an array. */
static float take_old_scalar(sherd_flatbuf *fb, const sherd_flat_table *t)
{
	int32_t bits = sherd_flat_i32(fb, t, SHERD_FLAT_BETA3_NODE_SCALAR, 0);
	float scalar;
	memcpy(&scalar, &bits, sizeof(scalar));
	return scalar;
}

static void tell_old_scalar(sherd_samediff_decoder *d, float scalar, sherd_model_property *out)
{
	double *real = sherd_samediff_room(d, 1, sizeof(*real));
	if (!real)
		return;
	*real = (double)scalar;
	out->name = "scalar";
	out->reals = (sherd_model_reals){1, real};
}

static void take_properties(sherd_samediff_decoder *d, const sherd_flat_table *t, sherd_model_operation *out)
{
	sherd_flat_vector v = sherd_flat_list(d->fb, t, SHERD_FLAT_NODE_PROPERTIES, 4);
	float scalar = d->beta3 ? take_old_scalar(d->fb, t) : 0;
	bool more = scalar != 0;
	sherd_model_property *at = v.at || more ? sherd_samediff_room(d, v.count + more, sizeof(*at)) : NULL;
	for (uint32_t i = 0; at && i < v.count && d->fb->rc >= 0; i++) {
		sherd_flat_table property = sherd_flat_element(d->fb, &v, i);
		take_property(d, &property, &at[i]);
	}
	if (at && more)
		tell_old_scalar(d, scalar, &at[v.count]);
	out->property_count = at ? v.count + more : 0;
	out->properties = at;
}

/* Fields up to inputPaired are the same in all versions. */
static unsigned field_of(const sherd_samediff_decoder *d, unsigned field)
{
	if (!d->beta3 || field <= SHERD_FLAT_NODE_INPUT_PAIRED)
		return field;
	switch (field) {
	case SHERD_FLAT_NODE_OUTPUT: return SHERD_FLAT_BETA3_NODE_OUTPUT;
	case SHERD_FLAT_NODE_REALS: return SHERD_FLAT_BETA3_NODE_REALS;
	case SHERD_FLAT_NODE_LONGS: return SHERD_FLAT_BETA3_NODE_LONGS;
	case SHERD_FLAT_NODE_DIMENSIONS:
	case SHERD_FLAT_NODE_DEVICE: return field;
	case SHERD_FLAT_NODE_SCOPE_ID: return SHERD_FLAT_BETA3_NODE_SCOPE_ID;
	case SHERD_FLAT_NODE_SCOPE_NAME: return SHERD_FLAT_BETA3_NODE_SCOPE_NAME;
	case SHERD_FLAT_NODE_OUTPUT_NAMES: return SHERD_FLAT_BETA3_NODE_OUTPUT_NAMES;
	case SHERD_FLAT_NODE_OP_NAME: return SHERD_FLAT_BETA3_NODE_OP_NAME;
	default: return SHERD_FLAT_NO_FIELD;
	}
}

static void take_lists(sherd_samediff_decoder *d, const sherd_flat_table *t, sherd_model_operation *out)
{
	out->inputs = sherd_samediff_ints(d, t, field_of(d, SHERD_FLAT_NODE_INPUT));
	out->input_ids = sherd_samediff_ids(d, t, field_of(d, SHERD_FLAT_NODE_INPUT_PAIRED));
	out->outputs = sherd_samediff_ints(d, t, field_of(d, SHERD_FLAT_NODE_OUTPUT));
	out->output_names = sherd_samediff_texts(d, t, field_of(d, SHERD_FLAT_NODE_OUTPUT_NAMES));
	out->output_types = sherd_samediff_bytes(d, t, field_of(d, SHERD_FLAT_NODE_OUTPUT_TYPES));
	out->reals = sherd_samediff_reals(d, t, field_of(d, SHERD_FLAT_NODE_REALS));
	out->longs = sherd_samediff_longs(d, t, field_of(d, SHERD_FLAT_NODE_LONGS));
	out->bools = sherd_samediff_bytes(d, t, field_of(d, SHERD_FLAT_NODE_BOOLS));
	out->types = sherd_samediff_bytes(d, t, field_of(d, SHERD_FLAT_NODE_TYPES));
	out->texts = sherd_samediff_texts(d, t, field_of(d, SHERD_FLAT_NODE_TEXTS));
	out->dimensions = sherd_samediff_ints(d, t, field_of(d, SHERD_FLAT_NODE_DIMENSIONS));
	out->control_deps = sherd_samediff_texts(d, t, field_of(d, SHERD_FLAT_NODE_CONTROL_DEPS));
	out->variable_control_deps = sherd_samediff_texts(d, t, field_of(d, SHERD_FLAT_NODE_VARIABLE_CONTROL_DEPS));
	out->control_deps_for = sherd_samediff_texts(d, t, field_of(d, SHERD_FLAT_NODE_CONTROL_DEPS_FOR));
}

/* Types that later versions have are told by their numbers; the others, whose op numbers mean something else there, by
 * numbers of their own. */
static uint8_t renewed_type(sherd_samediff_decoder *d, const sherd_flat_table *t, uint8_t type, const char *name)
{
	switch (type) {
	case 11: return SHERD_OP_CUSTOM;
	case 12: return 22;
	case 30: return 40;
	case 40: return 60;
	case 119: return 119;
	default: break;
	}
	if (type > SHERD_OP_BETA3_LAST - SHERD_OP_BETA3)
		sherd_flatbuf_fail(d->fb, SHERD_EUNSUPPORTED, "unknown-op",
		                   sherd_flat_place(d->fb, t, SHERD_FLAT_NODE_TYPE),
		                   "the operation %.128s is of type number %u, which 1.0.0-beta3 does not have",
		                   name ? name : "without a name", type);
	return (uint8_t)(SHERD_OP_BETA3 + type);
}

static void check_types(sherd_samediff_decoder *d, const sherd_flat_table *t, unsigned field, const char *what,
                        const sherd_model_operation *op)
{
	sherd_model_bytes types = field == SHERD_FLAT_NODE_TYPES ? op->types : op->output_types;
	for (size_t i = 0; i < types.count; i++) {
		if (sherd_samediff_knows_type(d, types.at[i]))
			continue;
		sherd_flat_vector v = sherd_flat_list(d->fb, t, field_of(d, field), 1);
		sherd_samediff_check_type(d, types.at[i], v.at + i, what, op->name);
	}
}

/* The type that beta2 and beta3 could tell of an operation's result, and hardly ever did. */
static void take_old_type(sherd_samediff_decoder *d, const sherd_flat_table *t, sherd_model_operation *out)
{
	uint8_t number = sherd_flat_u8(d->fb, t, SHERD_FLAT_BETA3_NODE_TYPE, 0);
	uint8_t *type = number ? sherd_samediff_room(d, 1, 1) : NULL;
	if (!type)
		return;
	*type = number;
	out->output_types = (sherd_model_bytes){1, type};
	sherd_samediff_check_type(d, number, sherd_flat_place(d->fb, t, SHERD_FLAT_BETA3_NODE_TYPE),
	                          "an output of the operation", out->name);
}

/* Numbers that nobody knows are a sign that the file is not what it was taken for. */
static void check_numbers(sherd_samediff_decoder *d, const sherd_flat_table *t, const sherd_model_operation *op)
{
	if (d->style == SHERD_SAMEDIFF_CONTAINER)
		return;
	if (strcmp(sherd_op_type_name(op->type), "UNKNOWN") == 0 ||
	    (!d->beta3 && op->type >= SHERD_OP_BETA3 && op->type <= SHERD_OP_BETA3_LAST))
		sherd_flatbuf_fail(d->fb, SHERD_EUNSUPPORTED, "unknown-op",
		                   sherd_flat_place(d->fb, t, SHERD_FLAT_NODE_TYPE),
		                   "the operation %.128s is of type number %u, which SameDiff does not have",
		                   op->name ? op->name : "without a name", op->type);
	check_types(d, t, SHERD_FLAT_NODE_OUTPUT_TYPES, "an output of the operation", op);
	check_types(d, t, SHERD_FLAT_NODE_TYPES, "an argument of the operation", op);
}

void sherd_samediff_operation(sherd_samediff_decoder *d, const sherd_flat_table *t, sherd_model_operation *out)
{
	sherd_flatbuf *fb = d->fb;
	sherd_flat_table scalar = sherd_flat_child(fb, t, field_of(d, SHERD_FLAT_NODE_SCALAR));
	out->id = sherd_flat_i32(fb, t, field_of(d, SHERD_FLAT_NODE_ID), 0);
	out->name = sherd_flat_text(fb, t, field_of(d, SHERD_FLAT_NODE_NAME), d->arena);
	out->op = sherd_flat_text(fb, t, field_of(d, SHERD_FLAT_NODE_OP_NAME), d->arena);
	out->type = sherd_flat_u8(fb, t, field_of(d, SHERD_FLAT_NODE_TYPE), 0);
	out->number = sherd_flat_i64(fb, t, field_of(d, SHERD_FLAT_NODE_NUMBER), 0);
	out->device = sherd_flat_i32(fb, t, field_of(d, SHERD_FLAT_NODE_DEVICE), 0);
	out->scope_id = sherd_flat_i32(fb, t, field_of(d, SHERD_FLAT_NODE_SCOPE_ID), 0);
	out->scope_name = sherd_flat_text(fb, t, field_of(d, SHERD_FLAT_NODE_SCOPE_NAME), d->arena);
	out->scalar = sherd_samediff_array(d, &scalar);
	take_properties(d, t, out);
	take_lists(d, t, out);
	if (d->beta3) {
		out->type = renewed_type(d, t, out->type, out->name);
		take_old_type(d, t, out);
	}
	check_numbers(d, t, out);
}
