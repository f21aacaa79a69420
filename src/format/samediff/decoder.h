/* format/samediff/decoder.h - a graph being decoded: what its parts have in common.
 *
 * Failures stick in the FlatBuffers reader, so nothing here is checked until the end. */
#pragma once

#include "base/buf.h"
#include "format/samediff/graph.h"
#include "format/samediff/tables.h"

typedef struct shd_samediff_decoder {
	shd_flatbuf *fb;
	shd_arena *arena;
	const sherd_limits *limits;
	shd_samediff_style style;
	bool beta3;     /* tables are those of 1.0.0-beta2 and beta3 */
	uint32_t depth; /* of graphs inside of graphs */
	SHD_VEC(shd_nd4j_array) arrays;
} shd_samediff_decoder;

/* Room for count structs, zeroed; never NULL unless memory is out, which sticks. */
void *shd_samediff_room(shd_samediff_decoder *d, size_t count, size_t size);

/* Lists; absent ones have NULL. */
sherd_model_texts shd_samediff_texts(shd_samediff_decoder *d, const shd_flat_table *t, unsigned field);
sherd_model_bytes shd_samediff_bytes(shd_samediff_decoder *d, const shd_flat_table *t, unsigned field);
sherd_model_ints shd_samediff_ints(shd_samediff_decoder *d, const shd_flat_table *t, unsigned field);
sherd_model_longs shd_samediff_longs(shd_samediff_decoder *d, const shd_flat_table *t, unsigned field);
sherd_model_reals shd_samediff_reals(shd_samediff_decoder *d, const shd_flat_table *t, unsigned field);
sherd_model_ids shd_samediff_ids(shd_samediff_decoder *d, const shd_flat_table *t, unsigned field);

/* The type of that number; those that SameDiff has none for are known inside of containers only. */
sherd_dtype shd_samediff_dtype(uint8_t number, shd_samediff_style style);
/* Adds an array to the list and tells its index; SHERD_NO_ARRAY when the table is absent. */
size_t shd_samediff_array(shd_samediff_decoder *d, const shd_flat_table *t);
sherd_model_arrays shd_samediff_arrays(shd_samediff_decoder *d, const shd_flat_table *t, unsigned field);

/* Is the number one that SameDiff has for some type, ours or not? Containers may hold any. */
bool shd_samediff_knows_type(const shd_samediff_decoder *d, uint8_t number);
/* Refuses one that is not; the byte and the owner are for the message. */
void shd_samediff_check_type(shd_samediff_decoder *d, uint8_t number, uint64_t at, const char *what, const char *owner);

/* Makes a graph of 1.0.0-beta2 or beta3 what later versions would have written; operations are those of the graph. Ids,
 * kinds and outputs of variables are not told there: they follow from the operations, whose results get a variable of
 * their own where the file has none. */
void shd_samediff_renew(shd_samediff_decoder *d, shd_samediff_graph *g, sherd_model_operation *operations);

void shd_samediff_variable(shd_samediff_decoder *d, const shd_flat_table *t, sherd_model_variable *out);
void shd_samediff_operation(shd_samediff_decoder *d, const shd_flat_table *t, sherd_model_operation *out);
