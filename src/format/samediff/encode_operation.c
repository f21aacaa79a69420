#include "format/samediff/encoder.h"

static void put_property(sherd_samediff_encoder *e, size_t from, const sherd_model_property *p)
{
	const char widths[SHERD_FLAT_PROPERTY_FIELDS + 1] = {
		[SHERD_FLAT_PROPERTY_NAME] = sherd_samediff_width(p->name != NULL, '4'),
		[SHERD_FLAT_PROPERTY_INTS] = sherd_samediff_width(p->ints.at != NULL, '4'),
		[SHERD_FLAT_PROPERTY_LONGS] = sherd_samediff_width(p->longs.at != NULL, '4'),
		[SHERD_FLAT_PROPERTY_REALS] = sherd_samediff_width(p->reals.at != NULL, '4'),
		[SHERD_FLAT_PROPERTY_ARRAYS] = sherd_samediff_width(p->arrays.at != NULL, '4'),
		[SHERD_FLAT_PROPERTY_BOOLS] = sherd_samediff_width(p->bools.at != NULL, '4'),
		[SHERD_FLAT_PROPERTY_TEXTS] = sherd_samediff_width(p->texts.at != NULL, '4'),
		[SHERD_FLAT_PROPERTY_SHAPE] = sherd_samediff_width(p->shape.at != NULL, '4'),
	};
	size_t t = sherd_flatbuf_build_table(&e->build, from, widths);
	sherd_samediff_put_text(e, t, SHERD_FLAT_PROPERTY_NAME, p->name);
	sherd_samediff_put_ints(e, t, SHERD_FLAT_PROPERTY_INTS, p->ints);
	sherd_samediff_put_longs(e, t, SHERD_FLAT_PROPERTY_LONGS, p->longs);
	sherd_samediff_put_reals(e, t, SHERD_FLAT_PROPERTY_REALS, p->reals);
	sherd_samediff_put_arrays(e, t, SHERD_FLAT_PROPERTY_ARRAYS, p->arrays);
	sherd_samediff_put_bytes(e, t, SHERD_FLAT_PROPERTY_BOOLS, p->bools);
	sherd_samediff_put_texts(e, t, SHERD_FLAT_PROPERTY_TEXTS, p->texts);
	sherd_samediff_put_ints(e, t, SHERD_FLAT_PROPERTY_SHAPE, p->shape);
}

static void put_properties(sherd_samediff_encoder *e, size_t table, const sherd_model_operation *op)
{
	if (!op->properties)
		return;
	size_t from = sherd_flatbuf_build_field(&e->build, table, SHERD_FLAT_NODE_PROPERTIES);
	size_t at = sherd_flatbuf_build_offsets(&e->build, from, op->property_count);
	for (size_t i = 0; i < op->property_count; i++)
		put_property(e, at + 4 * i, &op->properties[i]);
}

static void put_scalars(sherd_samediff_encoder *e, size_t t, const sherd_model_operation *op)
{
	sherd_samediff_put_i32(e, t, SHERD_FLAT_NODE_ID, op->id);
	sherd_samediff_put_u8(e, t, SHERD_FLAT_NODE_TYPE, op->type);
	sherd_samediff_put_i64(e, t, SHERD_FLAT_NODE_NUMBER, op->number);
	sherd_samediff_put_i32(e, t, SHERD_FLAT_NODE_DEVICE, op->device);
	sherd_samediff_put_i32(e, t, SHERD_FLAT_NODE_SCOPE_ID, op->scope_id);
	sherd_samediff_put_text(e, t, SHERD_FLAT_NODE_NAME, op->name);
	sherd_samediff_put_text(e, t, SHERD_FLAT_NODE_SCOPE_NAME, op->scope_name);
	sherd_samediff_put_text(e, t, SHERD_FLAT_NODE_OP_NAME, op->op);
	if (op->scalar != SHERD_NO_ARRAY)
		sherd_samediff_put_array(e, sherd_flatbuf_build_field(&e->build, t, SHERD_FLAT_NODE_SCALAR),
		                         op->scalar);
}

static void put_lists(sherd_samediff_encoder *e, size_t t, const sherd_model_operation *op)
{
	sherd_samediff_put_ints(e, t, SHERD_FLAT_NODE_INPUT, op->inputs);
	sherd_samediff_put_ids(e, t, SHERD_FLAT_NODE_INPUT_PAIRED, op->input_ids);
	sherd_samediff_put_ints(e, t, SHERD_FLAT_NODE_OUTPUT, op->outputs);
	sherd_samediff_put_reals(e, t, SHERD_FLAT_NODE_REALS, op->reals);
	sherd_samediff_put_longs(e, t, SHERD_FLAT_NODE_LONGS, op->longs);
	sherd_samediff_put_bytes(e, t, SHERD_FLAT_NODE_BOOLS, op->bools);
	sherd_samediff_put_ints(e, t, SHERD_FLAT_NODE_DIMENSIONS, op->dimensions);
	sherd_samediff_put_texts(e, t, SHERD_FLAT_NODE_OUTPUT_NAMES, op->output_names);
	sherd_samediff_put_bytes(e, t, SHERD_FLAT_NODE_OUTPUT_TYPES, op->output_types);
	sherd_samediff_put_texts(e, t, SHERD_FLAT_NODE_CONTROL_DEPS, op->control_deps);
	sherd_samediff_put_texts(e, t, SHERD_FLAT_NODE_VARIABLE_CONTROL_DEPS, op->variable_control_deps);
	sherd_samediff_put_texts(e, t, SHERD_FLAT_NODE_CONTROL_DEPS_FOR, op->control_deps_for);
	sherd_samediff_put_bytes(e, t, SHERD_FLAT_NODE_TYPES, op->types);
	sherd_samediff_put_texts(e, t, SHERD_FLAT_NODE_TEXTS, op->texts);
}

void sherd_samediff_put_operation(sherd_samediff_encoder *e, size_t from, const sherd_model_operation *op)
{
	if (op->type >= SHERD_OP_BETA3 && op->type <= SHERD_OP_BETA3_LAST && e->style != SHERD_SAMEDIFF_CONTAINER)
		sherd_samediff_refuse(e, "%.128s, an operation that 1.0.0-beta4 and later do not have: %s",
		                      op->name ? op->name : "#", sherd_op_type_name(op->type));
	const char widths[SHERD_FLAT_NODE_FIELDS + 1] = {
		[SHERD_FLAT_NODE_ID] = sherd_samediff_width(op->id != 0, '4'),
		[SHERD_FLAT_NODE_NAME] = sherd_samediff_width(op->name != NULL, '4'),
		[SHERD_FLAT_NODE_TYPE] = sherd_samediff_width(op->type != 0, '1'),
		[SHERD_FLAT_NODE_NUMBER] = sherd_samediff_width(op->number != 0, '8'),
		[SHERD_FLAT_NODE_PROPERTIES] = sherd_samediff_width(op->properties != NULL, '4'),
		[SHERD_FLAT_NODE_INPUT] = sherd_samediff_width(op->inputs.at != NULL, '4'),
		[SHERD_FLAT_NODE_INPUT_PAIRED] = sherd_samediff_width(op->input_ids.at != NULL, '4'),
		[SHERD_FLAT_NODE_OUTPUT] = sherd_samediff_width(op->outputs.at != NULL, '4'),
		[SHERD_FLAT_NODE_REALS] = sherd_samediff_width(op->reals.at != NULL, '4'),
		[SHERD_FLAT_NODE_LONGS] = sherd_samediff_width(op->longs.at != NULL, '4'),
		[SHERD_FLAT_NODE_BOOLS] = sherd_samediff_width(op->bools.at != NULL, '4'),
		[SHERD_FLAT_NODE_DIMENSIONS] = sherd_samediff_width(op->dimensions.at != NULL, '4'),
		[SHERD_FLAT_NODE_DEVICE] = sherd_samediff_width(op->device != 0, '4'),
		[SHERD_FLAT_NODE_SCOPE_ID] = sherd_samediff_width(op->scope_id != 0, '4'),
		[SHERD_FLAT_NODE_SCOPE_NAME] = sherd_samediff_width(op->scope_name != NULL, '4'),
		[SHERD_FLAT_NODE_OUTPUT_NAMES] = sherd_samediff_width(op->output_names.at != NULL, '4'),
		[SHERD_FLAT_NODE_OP_NAME] = sherd_samediff_width(op->op != NULL, '4'),
		[SHERD_FLAT_NODE_OUTPUT_TYPES] = sherd_samediff_width(op->output_types.at != NULL, '4'),
		[SHERD_FLAT_NODE_SCALAR] = sherd_samediff_width(op->scalar != SHERD_NO_ARRAY, '4'),
		[SHERD_FLAT_NODE_CONTROL_DEPS] = sherd_samediff_width(op->control_deps.at != NULL, '4'),
		[SHERD_FLAT_NODE_VARIABLE_CONTROL_DEPS] =
			sherd_samediff_width(op->variable_control_deps.at != NULL, '4'),
		[SHERD_FLAT_NODE_CONTROL_DEPS_FOR] = sherd_samediff_width(op->control_deps_for.at != NULL, '4'),
		[SHERD_FLAT_NODE_TYPES] = sherd_samediff_width(op->types.at != NULL, '4'),
		[SHERD_FLAT_NODE_TEXTS] = sherd_samediff_width(op->texts.at != NULL, '4'),
	};
	size_t t = sherd_flatbuf_build_table(&e->build, from, widths);
	put_scalars(e, t, op);
	put_properties(e, t, op);
	put_lists(e, t, op);
}
