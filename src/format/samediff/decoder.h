/* format/samediff/decoder.h - a graph being decoded: what its parts have in common.
 *
 * Failures stick in the FlatBuffers reader, so nothing here is checked until the end. */
#ifndef SHERD_FORMAT_SAMEDIFF_DECODER_H
#define SHERD_FORMAT_SAMEDIFF_DECODER_H

#include "base/buf.h"
#include "format/samediff/graph.h"
#include "format/samediff/tables.h"

typedef struct sherd_samediff_decoder {
	sherd_flatbuf *fb;
	sherd_arena *arena;
	const sherd_limits *limits;
	sherd_samediff_style style;
	bool beta3;       /* tables are those of 1.0.0-beta2 and beta3 */
	uint32_t depth;   /* of graphs inside of graphs */
	sherd_buf arrays; /* of sherd_nd4j_array */
} sherd_samediff_decoder;

/* Room for count structs, zeroed; never NULL unless memory is out, which sticks. */
void *sherd_samediff_room(sherd_samediff_decoder *d, size_t count, size_t size);

/* Lists; absent ones have NULL. */
sherd_model_texts sherd_samediff_texts(sherd_samediff_decoder *d, const sherd_flat_table *t, unsigned field);
sherd_model_bytes sherd_samediff_bytes(sherd_samediff_decoder *d, const sherd_flat_table *t, unsigned field);
sherd_model_ints sherd_samediff_ints(sherd_samediff_decoder *d, const sherd_flat_table *t, unsigned field);
sherd_model_longs sherd_samediff_longs(sherd_samediff_decoder *d, const sherd_flat_table *t, unsigned field);
sherd_model_reals sherd_samediff_reals(sherd_samediff_decoder *d, const sherd_flat_table *t, unsigned field);
sherd_model_ids sherd_samediff_ids(sherd_samediff_decoder *d, const sherd_flat_table *t, unsigned field);

/* The type of that number; those that SameDiff has none for are known inside of containers only. */
sherd_dtype sherd_samediff_dtype(uint8_t number, sherd_samediff_style style);
/* Adds an array to the list and tells its index; SHERD_NO_ARRAY when the table is absent. */
size_t sherd_samediff_array(sherd_samediff_decoder *d, const sherd_flat_table *t);
sherd_model_arrays sherd_samediff_arrays(sherd_samediff_decoder *d, const sherd_flat_table *t, unsigned field);

/* Is the number one that SameDiff has for some type, ours or not? Containers may hold any. */
bool sherd_samediff_knows_type(const sherd_samediff_decoder *d, uint8_t number);
/* Refuses one that is not; the byte and the owner are for the message. */
void sherd_samediff_check_type(sherd_samediff_decoder *d, uint8_t number, uint64_t at, const char *what,
                               const char *owner);

/* Makes a graph of 1.0.0-beta2 or beta3 what later versions would have written; operations are those of the graph. Ids,
 * kinds and outputs of variables are not told there: they follow from the operations, whose results get a variable of
 * their own where the file has none. */
void sherd_samediff_renew(sherd_samediff_decoder *d, sherd_samediff_graph *g, sherd_model_operation *operations);

void sherd_samediff_variable(sherd_samediff_decoder *d, const sherd_flat_table *t, sherd_model_variable *out);
void sherd_samediff_operation(sherd_samediff_decoder *d, const sherd_flat_table *t, sherd_model_operation *out);

#endif
