#include "format/samediff/decoder.h"

#include <string.h>

static void take_property(shd_samediff_decoder *d, const shd_flat_table *t, sherd_model_property *out)
{
	out->name = shd_flat_text(d->fb, t, SHD_FLAT_PROPERTY_NAME, d->arena);
	out->ints = shd_samediff_ints(d, t, SHD_FLAT_PROPERTY_INTS);
	out->longs = shd_samediff_longs(d, t, SHD_FLAT_PROPERTY_LONGS);
	out->reals = shd_samediff_reals(d, t, SHD_FLAT_PROPERTY_REALS);
	out->arrays = shd_samediff_arrays(d, t, SHD_FLAT_PROPERTY_ARRAYS);
	out->bools = shd_samediff_bytes(d, t, SHD_FLAT_PROPERTY_BOOLS);
	out->texts = shd_samediff_texts(d, t, SHD_FLAT_PROPERTY_TEXTS);
	out->shape = shd_samediff_ints(d, t, SHD_FLAT_PROPERTY_SHAPE);
}

/* The number that beta2 and beta3 kept in the operation itself, where later ones have an array. */
static float take_old_scalar(shd_flatbuf *fb, const shd_flat_table *t)
{
	int32_t bits = shd_flat_i32(fb, t, SHD_FLAT_BETA3_NODE_SCALAR, 0);
	float scalar;
	memcpy(&scalar, &bits, sizeof(scalar));
	return scalar;
}

static void tell_old_scalar(shd_samediff_decoder *d, float scalar, sherd_model_property *out)
{
	double *real = shd_samediff_room(d, 1, sizeof(*real));
	if (!real)
		return;
	*real = (double)scalar;
	out->name = "scalar";
	out->reals = (sherd_model_reals){1, real};
}

static void take_properties(shd_samediff_decoder *d, const shd_flat_table *t, sherd_model_operation *out)
{
	shd_flat_vector v = shd_flat_list(d->fb, t, SHD_FLAT_NODE_PROPERTIES, 4);
	float scalar = d->beta3 ? take_old_scalar(d->fb, t) : 0;
	bool more = scalar != 0;
	sherd_model_property *at = v.at || more ? shd_samediff_room(d, v.count + more, sizeof(*at)) : NULL;
	for (uint32_t i = 0; at && i < v.count && d->fb->rc >= 0; i++) {
		shd_flat_table property = shd_flat_element(d->fb, &v, i);
		take_property(d, &property, &at[i]);
	}
	if (at && more)
		tell_old_scalar(d, scalar, &at[v.count]);
	out->property_count = at ? v.count + more : 0;
	out->properties = at;
}

/* Fields up to inputPaired are the same in all versions. */
static unsigned operation_field_of(const shd_samediff_decoder *d, unsigned field)
{
	if (!d->beta3 || field <= SHD_FLAT_NODE_INPUT_PAIRED)
		return field;
	switch (field) {
	case SHD_FLAT_NODE_OUTPUT: return SHD_FLAT_BETA3_NODE_OUTPUT;
	case SHD_FLAT_NODE_REALS: return SHD_FLAT_BETA3_NODE_REALS;
	case SHD_FLAT_NODE_LONGS: return SHD_FLAT_BETA3_NODE_LONGS;
	case SHD_FLAT_NODE_DIMENSIONS:
	case SHD_FLAT_NODE_DEVICE: return field;
	case SHD_FLAT_NODE_SCOPE_ID: return SHD_FLAT_BETA3_NODE_SCOPE_ID;
	case SHD_FLAT_NODE_SCOPE_NAME: return SHD_FLAT_BETA3_NODE_SCOPE_NAME;
	case SHD_FLAT_NODE_OUTPUT_NAMES: return SHD_FLAT_BETA3_NODE_OUTPUT_NAMES;
	case SHD_FLAT_NODE_OP_NAME: return SHD_FLAT_BETA3_NODE_OP_NAME;
	default: return SHD_FLAT_NO_FIELD;
	}
}

static void take_lists(shd_samediff_decoder *d, const shd_flat_table *t, sherd_model_operation *out)
{
	out->inputs = shd_samediff_ints(d, t, operation_field_of(d, SHD_FLAT_NODE_INPUT));
	out->input_ids = shd_samediff_ids(d, t, operation_field_of(d, SHD_FLAT_NODE_INPUT_PAIRED));
	out->outputs = shd_samediff_ints(d, t, operation_field_of(d, SHD_FLAT_NODE_OUTPUT));
	out->output_names = shd_samediff_texts(d, t, operation_field_of(d, SHD_FLAT_NODE_OUTPUT_NAMES));
	out->output_types = shd_samediff_bytes(d, t, operation_field_of(d, SHD_FLAT_NODE_OUTPUT_TYPES));
	out->reals = shd_samediff_reals(d, t, operation_field_of(d, SHD_FLAT_NODE_REALS));
	out->longs = shd_samediff_longs(d, t, operation_field_of(d, SHD_FLAT_NODE_LONGS));
	out->bools = shd_samediff_bytes(d, t, operation_field_of(d, SHD_FLAT_NODE_BOOLS));
	out->types = shd_samediff_bytes(d, t, operation_field_of(d, SHD_FLAT_NODE_TYPES));
	out->texts = shd_samediff_texts(d, t, operation_field_of(d, SHD_FLAT_NODE_TEXTS));
	out->dimensions = shd_samediff_ints(d, t, operation_field_of(d, SHD_FLAT_NODE_DIMENSIONS));
	out->control_deps = shd_samediff_texts(d, t, operation_field_of(d, SHD_FLAT_NODE_CONTROL_DEPS));
	out->variable_control_deps =
		shd_samediff_texts(d, t, operation_field_of(d, SHD_FLAT_NODE_VARIABLE_CONTROL_DEPS));
	out->control_deps_for = shd_samediff_texts(d, t, operation_field_of(d, SHD_FLAT_NODE_CONTROL_DEPS_FOR));
}

/* Types that later versions have are told by their numbers; the others, whose op numbers mean something else there, by
 * numbers of their own. */
static uint8_t renewed_type(shd_samediff_decoder *d, const shd_flat_table *t, uint8_t type, const char *name)
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
		shd_flatbuf_fail(d->fb, SHERD_EUNSUPPORTED, "unknown-op", shd_flat_place(d->fb, t, SHD_FLAT_NODE_TYPE),
		                 "the operation %.128s is of type number %u, which 1.0.0-beta3 does not have",
		                 name ? name : "without a name", type);
	return (uint8_t)(SHERD_OP_BETA3 + type);
}

static void check_types(shd_samediff_decoder *d, const shd_flat_table *t, unsigned field, const char *what,
                        const sherd_model_operation *op)
{
	sherd_model_bytes types = field == SHD_FLAT_NODE_TYPES ? op->types : op->output_types;
	for (size_t i = 0; i < types.count; i++) {
		if (shd_samediff_knows_type(d, types.at[i]))
			continue;
		shd_flat_vector v = shd_flat_list(d->fb, t, operation_field_of(d, field), 1);
		shd_samediff_check_type(d, types.at[i], v.at + i, what, op->name);
	}
}

/* The type that beta2 and beta3 could tell of an operation's result, and hardly ever did. */
static void take_old_type(shd_samediff_decoder *d, const shd_flat_table *t, sherd_model_operation *out)
{
	uint8_t number = shd_flat_u8(d->fb, t, SHD_FLAT_BETA3_NODE_TYPE, 0);
	uint8_t *type = number ? shd_samediff_room(d, 1, 1) : NULL;
	if (!type)
		return;
	*type = number;
	out->output_types = (sherd_model_bytes){1, type};
	shd_samediff_check_type(d, number, shd_flat_place(d->fb, t, SHD_FLAT_BETA3_NODE_TYPE),
	                        "an output of the operation", out->name);
}

/* Numbers that nobody knows are a sign that the file is not what it was taken for. */
static void check_numbers(shd_samediff_decoder *d, const shd_flat_table *t, const sherd_model_operation *op)
{
	if (d->style == SHD_SAMEDIFF_CONTAINER)
		return;
	if (strcmp(sherd_op_type_name(op->type), "UNKNOWN") == 0 ||
	    (!d->beta3 && op->type >= SHERD_OP_BETA3 && op->type <= SHERD_OP_BETA3_LAST))
		shd_flatbuf_fail(d->fb, SHERD_EUNSUPPORTED, "unknown-op", shd_flat_place(d->fb, t, SHD_FLAT_NODE_TYPE),
		                 "the operation %.128s is of type number %u, which SameDiff does not have",
		                 op->name ? op->name : "without a name", op->type);
	check_types(d, t, SHD_FLAT_NODE_OUTPUT_TYPES, "an output of the operation", op);
	check_types(d, t, SHD_FLAT_NODE_TYPES, "an argument of the operation", op);
}

void shd_samediff_operation(shd_samediff_decoder *d, const shd_flat_table *t, sherd_model_operation *out)
{
	shd_flatbuf *fb = d->fb;
	shd_flat_table scalar = shd_flat_child(fb, t, operation_field_of(d, SHD_FLAT_NODE_SCALAR));
	out->id = shd_flat_i32(fb, t, operation_field_of(d, SHD_FLAT_NODE_ID), 0);
	out->name = shd_flat_text(fb, t, operation_field_of(d, SHD_FLAT_NODE_NAME), d->arena);
	out->op = shd_flat_text(fb, t, operation_field_of(d, SHD_FLAT_NODE_OP_NAME), d->arena);
	out->type = shd_flat_u8(fb, t, operation_field_of(d, SHD_FLAT_NODE_TYPE), 0);
	out->number = shd_flat_i64(fb, t, operation_field_of(d, SHD_FLAT_NODE_NUMBER), 0);
	out->device = shd_flat_i32(fb, t, operation_field_of(d, SHD_FLAT_NODE_DEVICE), 0);
	out->scope_id = shd_flat_i32(fb, t, operation_field_of(d, SHD_FLAT_NODE_SCOPE_ID), 0);
	out->scope_name = shd_flat_text(fb, t, operation_field_of(d, SHD_FLAT_NODE_SCOPE_NAME), d->arena);
	out->scalar = shd_samediff_array(d, &scalar);
	take_properties(d, t, out);
	take_lists(d, t, out);
	if (d->beta3) {
		out->type = renewed_type(d, t, out->type, out->name);
		take_old_type(d, t, out);
	}
	check_numbers(d, t, out);
}
