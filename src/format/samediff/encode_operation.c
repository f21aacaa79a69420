#include "format/samediff/encoder.h"

static void put_property(shd_samediff_encoder *e, size_t from, const sherd_model_property *p)
{
	const char widths[SHD_FLAT_PROPERTY_FIELDS + 1] = {
		[SHD_FLAT_PROPERTY_NAME] = shd_samediff_width(p->name != NULL, '4'),
		[SHD_FLAT_PROPERTY_INTS] = shd_samediff_width(p->ints.at != NULL, '4'),
		[SHD_FLAT_PROPERTY_LONGS] = shd_samediff_width(p->longs.at != NULL, '4'),
		[SHD_FLAT_PROPERTY_REALS] = shd_samediff_width(p->reals.at != NULL, '4'),
		[SHD_FLAT_PROPERTY_ARRAYS] = shd_samediff_width(p->arrays.at != NULL, '4'),
		[SHD_FLAT_PROPERTY_BOOLS] = shd_samediff_width(p->bools.at != NULL, '4'),
		[SHD_FLAT_PROPERTY_TEXTS] = shd_samediff_width(p->texts.at != NULL, '4'),
		[SHD_FLAT_PROPERTY_SHAPE] = shd_samediff_width(p->shape.at != NULL, '4'),
	};
	size_t t = shd_flatbuf_build_table(&e->build, from, widths);
	shd_samediff_put_text(e, t, SHD_FLAT_PROPERTY_NAME, p->name);
	shd_samediff_put_ints(e, t, SHD_FLAT_PROPERTY_INTS, p->ints);
	shd_samediff_put_longs(e, t, SHD_FLAT_PROPERTY_LONGS, p->longs);
	shd_samediff_put_reals(e, t, SHD_FLAT_PROPERTY_REALS, p->reals);
	shd_samediff_put_arrays(e, t, SHD_FLAT_PROPERTY_ARRAYS, p->arrays);
	shd_samediff_put_bytes(e, t, SHD_FLAT_PROPERTY_BOOLS, p->bools);
	shd_samediff_put_texts(e, t, SHD_FLAT_PROPERTY_TEXTS, p->texts);
	shd_samediff_put_ints(e, t, SHD_FLAT_PROPERTY_SHAPE, p->shape);
}

static void put_properties(shd_samediff_encoder *e, size_t table, const sherd_model_operation *op)
{
	if (!op->properties)
		return;
	size_t from = shd_flatbuf_build_field(&e->build, table, SHD_FLAT_NODE_PROPERTIES);
	size_t at = shd_flatbuf_build_offsets(&e->build, from, op->property_count);
	for (size_t i = 0; i < op->property_count; i++)
		put_property(e, at + 4 * i, &op->properties[i]);
}

static void put_scalars(shd_samediff_encoder *e, size_t t, const sherd_model_operation *op)
{
	shd_samediff_put_i32(e, t, SHD_FLAT_NODE_ID, op->id);
	shd_samediff_put_u8(e, t, SHD_FLAT_NODE_TYPE, op->type);
	shd_samediff_put_i64(e, t, SHD_FLAT_NODE_NUMBER, op->number);
	shd_samediff_put_i32(e, t, SHD_FLAT_NODE_DEVICE, op->device);
	shd_samediff_put_i32(e, t, SHD_FLAT_NODE_SCOPE_ID, op->scope_id);
	shd_samediff_put_text(e, t, SHD_FLAT_NODE_NAME, op->name);
	shd_samediff_put_text(e, t, SHD_FLAT_NODE_SCOPE_NAME, op->scope_name);
	shd_samediff_put_text(e, t, SHD_FLAT_NODE_OP_NAME, op->op);
	if (op->scalar != SHERD_NO_ARRAY)
		shd_samediff_put_array(e, shd_flatbuf_build_field(&e->build, t, SHD_FLAT_NODE_SCALAR), op->scalar);
}

static void put_lists(shd_samediff_encoder *e, size_t t, const sherd_model_operation *op)
{
	shd_samediff_put_ints(e, t, SHD_FLAT_NODE_INPUT, op->inputs);
	shd_samediff_put_ids(e, t, SHD_FLAT_NODE_INPUT_PAIRED, op->input_ids);
	shd_samediff_put_ints(e, t, SHD_FLAT_NODE_OUTPUT, op->outputs);
	shd_samediff_put_reals(e, t, SHD_FLAT_NODE_REALS, op->reals);
	shd_samediff_put_longs(e, t, SHD_FLAT_NODE_LONGS, op->longs);
	shd_samediff_put_bytes(e, t, SHD_FLAT_NODE_BOOLS, op->bools);
	shd_samediff_put_ints(e, t, SHD_FLAT_NODE_DIMENSIONS, op->dimensions);
	shd_samediff_put_texts(e, t, SHD_FLAT_NODE_OUTPUT_NAMES, op->output_names);
	shd_samediff_put_bytes(e, t, SHD_FLAT_NODE_OUTPUT_TYPES, op->output_types);
	shd_samediff_put_texts(e, t, SHD_FLAT_NODE_CONTROL_DEPS, op->control_deps);
	shd_samediff_put_texts(e, t, SHD_FLAT_NODE_VARIABLE_CONTROL_DEPS, op->variable_control_deps);
	shd_samediff_put_texts(e, t, SHD_FLAT_NODE_CONTROL_DEPS_FOR, op->control_deps_for);
	shd_samediff_put_bytes(e, t, SHD_FLAT_NODE_TYPES, op->types);
	shd_samediff_put_texts(e, t, SHD_FLAT_NODE_TEXTS, op->texts);
}

void shd_samediff_put_operation(shd_samediff_encoder *e, size_t from, const sherd_model_operation *op)
{
	if (op->type >= SHERD_OP_BETA3 && op->type <= SHERD_OP_BETA3_LAST && e->style != SHD_SAMEDIFF_CONTAINER)
		shd_samediff_refuse(e, "%.128s, an operation that 1.0.0-beta4 and later do not have: %s",
		                    op->name ? op->name : "#", sherd_op_type_name(op->type));
	const char widths[SHD_FLAT_NODE_FIELDS + 1] = {
		[SHD_FLAT_NODE_ID] = shd_samediff_width(op->id != 0, '4'),
		[SHD_FLAT_NODE_NAME] = shd_samediff_width(op->name != NULL, '4'),
		[SHD_FLAT_NODE_TYPE] = shd_samediff_width(op->type != 0, '1'),
		[SHD_FLAT_NODE_NUMBER] = shd_samediff_width(op->number != 0, '8'),
		[SHD_FLAT_NODE_PROPERTIES] = shd_samediff_width(op->properties != NULL, '4'),
		[SHD_FLAT_NODE_INPUT] = shd_samediff_width(op->inputs.at != NULL, '4'),
		[SHD_FLAT_NODE_INPUT_PAIRED] = shd_samediff_width(op->input_ids.at != NULL, '4'),
		[SHD_FLAT_NODE_OUTPUT] = shd_samediff_width(op->outputs.at != NULL, '4'),
		[SHD_FLAT_NODE_REALS] = shd_samediff_width(op->reals.at != NULL, '4'),
		[SHD_FLAT_NODE_LONGS] = shd_samediff_width(op->longs.at != NULL, '4'),
		[SHD_FLAT_NODE_BOOLS] = shd_samediff_width(op->bools.at != NULL, '4'),
		[SHD_FLAT_NODE_DIMENSIONS] = shd_samediff_width(op->dimensions.at != NULL, '4'),
		[SHD_FLAT_NODE_DEVICE] = shd_samediff_width(op->device != 0, '4'),
		[SHD_FLAT_NODE_SCOPE_ID] = shd_samediff_width(op->scope_id != 0, '4'),
		[SHD_FLAT_NODE_SCOPE_NAME] = shd_samediff_width(op->scope_name != NULL, '4'),
		[SHD_FLAT_NODE_OUTPUT_NAMES] = shd_samediff_width(op->output_names.at != NULL, '4'),
		[SHD_FLAT_NODE_OP_NAME] = shd_samediff_width(op->op != NULL, '4'),
		[SHD_FLAT_NODE_OUTPUT_TYPES] = shd_samediff_width(op->output_types.at != NULL, '4'),
		[SHD_FLAT_NODE_SCALAR] = shd_samediff_width(op->scalar != SHERD_NO_ARRAY, '4'),
		[SHD_FLAT_NODE_CONTROL_DEPS] = shd_samediff_width(op->control_deps.at != NULL, '4'),
		[SHD_FLAT_NODE_VARIABLE_CONTROL_DEPS] = shd_samediff_width(op->variable_control_deps.at != NULL, '4'),
		[SHD_FLAT_NODE_CONTROL_DEPS_FOR] = shd_samediff_width(op->control_deps_for.at != NULL, '4'),
		[SHD_FLAT_NODE_TYPES] = shd_samediff_width(op->types.at != NULL, '4'),
		[SHD_FLAT_NODE_TEXTS] = shd_samediff_width(op->texts.at != NULL, '4'),
	};
	size_t t = shd_flatbuf_build_table(&e->build, from, widths);
	put_scalars(e, t, op);
	put_properties(e, t, op);
	put_lists(e, t, op);
}
