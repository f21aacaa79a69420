#include "format/samediff/era.h"

#include "format/samediff/tables.h"

enum { LOOKED_AT = 16 /* variables, and operations */ };

/* The numbers of a shape, when they have so many bytes each: do they begin with a rank that fits their count, and end
 * with the letter of an order? */
static bool is_shape(shd_flatbuf *fb, shd_flat_vector v, uint32_t size)
{
	uint32_t last = v.count - 1;
	if (v.count < 4 || v.count % 2 || (uint64_t)v.count * size > fb->size - v.at)
		return false;
	int64_t rank = size == 8 ? shd_flat_element_i64(fb, &v, 0) : shd_flat_element_i32(fb, &v, 0);
	int64_t letter = size == 8 ? shd_flat_element_i64(fb, &v, last) : shd_flat_element_i32(fb, &v, last);
	return fb->rc >= 0 && rank == (v.count - 4) / 2 && (letter == 'c' || letter == 'f');
}

/* Before dtype and kind came into it, a variable ended with its device, where later ones have the offset of an array.
 */
static bool is_old_variable(shd_flatbuf *fb, const shd_flat_table *t)
{
	uint64_t at = shd_flat_place(fb, t, SHD_FLAT_BETA3_VARIABLE_DEVICE);
	uint32_t value = (uint32_t)shd_flat_i32(fb, t, SHD_FLAT_BETA3_VARIABLE_DEVICE, 0);
	return at && t->slots <= SHD_FLAT_BETA3_VARIABLE_FIELDS && (value < 4 || value > fb->size - at);
}

static bool has_short_shape(shd_flatbuf *fb, const shd_flat_table *variable)
{
	shd_flat_table array = shd_flat_child(fb, variable, SHD_FLAT_BETA3_VARIABLE_ARRAY);
	shd_flat_vector shape = shd_flat_list(fb, &array, SHD_FLAT_ARRAY_SHAPE, 4);
	return is_shape(fb, shape, 4) && !is_shape(fb, shape, 8);
}

/* Its outputs stand where beta3 had them, after a dataType of 0. */
static bool is_old_operation(shd_flatbuf *fb, const shd_flat_table *t)
{
	return t->slots > SHD_FLAT_BETA3_NODE_SCOPE_NAME && !shd_flat_has(fb, t, SHD_FLAT_BETA3_NODE_TYPE) &&
	       shd_flat_has(fb, t, SHD_FLAT_BETA3_NODE_OUTPUT);
}

static bool is_letter(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* For some days dataType was gone and scalar was not, so that everything after it stood one field later: the op's name
 * is where the types of outputs came to be. */
static bool is_shifted_operation(shd_flatbuf *fb, const shd_flat_table *t)
{
	if (t->slots != SHD_FLAT_NODE_OUTPUT_TYPES + 1 || shd_flat_has(fb, t, SHD_FLAT_NODE_SCOPE_NAME) ||
	    !shd_flat_has(fb, t, SHD_FLAT_NODE_OUTPUT_NAMES) || !shd_flat_has(fb, t, SHD_FLAT_NODE_OP_NAME))
		return false;
	shd_flat_vector name = shd_flat_list(fb, t, SHD_FLAT_NODE_OUTPUT_TYPES, 1);
	for (uint32_t i = 0; i < name.count; i++) {
		uint8_t c = shd_flat_element_u8(fb, &name, i);
		if (!is_letter(c) && !(c >= '0' && c <= '9') && c != '_')
			return false;
	}
	return fb->rc >= 0 && name.count && is_letter(shd_flat_element_u8(fb, &name, 0));
}

/* In the oldest files a graph's id has 4 bytes, and the next field begins after them. */
static bool has_short_id(shd_flatbuf *fb, const shd_flat_table *root)
{
	uint64_t id = shd_flat_place(fb, root, SHD_FLAT_GRAPH_ID);
	uint64_t next = shd_flat_place(fb, root, SHD_FLAT_GRAPH_VARIABLES);
	return id && next == id + 4;
}

static shd_samediff_era by_operations(shd_flatbuf *fb, const shd_flat_table *root, bool no_variables)
{
	shd_flat_vector v = shd_flat_list(fb, root, SHD_FLAT_GRAPH_NODES, 4);
	for (uint32_t i = 0; i < v.count && i < LOOKED_AT && fb->rc >= 0; i++) {
		shd_flat_table t = shd_flat_element(fb, &v, i);
		bool old = is_old_operation(fb, &t);
		if (fb->rc >= 0 && old && no_variables)
			return SHD_SAMEDIFF_ERA_BETA3;
		if (fb->rc >= 0 && (old || is_shifted_operation(fb, &t)))
			return SHD_SAMEDIFF_ERA_SNAPSHOT;
	}
	return SHD_SAMEDIFF_ERA_NOW;
}

static shd_samediff_era era_look(shd_flatbuf *fb, const shd_flat_table *root)
{
	if (has_short_id(fb, root))
		return SHD_SAMEDIFF_ERA_BEFORE;
	if (root->slots > SHD_FLAT_GRAPH_CONFIGURATION + 1) /* placeholders came with beta4 */
		return SHD_SAMEDIFF_ERA_NOW;
	shd_flat_vector v = shd_flat_list(fb, root, SHD_FLAT_GRAPH_VARIABLES, 4);
	bool old = false;
	for (uint32_t i = 0; i < v.count && i < LOOKED_AT && fb->rc >= 0; i++) {
		shd_flat_table t = shd_flat_element(fb, &v, i);
		if (t.slots > SHD_FLAT_VARIABLE_KIND)
			return SHD_SAMEDIFF_ERA_NOW;
		old |= is_old_variable(fb, &t);
		if (old && has_short_shape(fb, &t))
			return SHD_SAMEDIFF_ERA_BEFORE;
	}
	return fb->rc < 0 ? SHD_SAMEDIFF_ERA_NOW : old ? SHD_SAMEDIFF_ERA_BETA3 : by_operations(fb, root, !v.count);
}

shd_samediff_era shd_samediff_era_of(shd_flatbuf *fb, const shd_flat_table *root)
{
	uint64_t budget = fb->budget, room = fb->room, misses = fb->misses;
	shd_samediff_era era = era_look(fb, root);
	fb->budget = budget;
	fb->room = room;
	fb->misses = misses;
	fb->rc = SHERD_OK;
	return era;
}
