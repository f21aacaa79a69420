/* format/samediff/encoder.h - a graph being encoded: what its parts have in common.
 *
 * Failures stick, so nothing here is checked until the end. What is absent in the graph (a NULL list or text, a number
 * that is 0) is absent in the table: sherd_samediff_width() asks for room, and the puts leave it out alike. */
#ifndef SHERD_FORMAT_SAMEDIFF_ENCODER_H
#define SHERD_FORMAT_SAMEDIFF_ENCODER_H

#include "codec/flatbuf_build.h"
#include "format/samediff/encode.h"
#include "format/samediff/tables.h"

/* What follows where a span of the builder stands: the elements of an array, or another graph. */
typedef struct sherd_samediff_payload {
	size_t array;                         /* or SHERD_NO_ARRAY */
	struct sherd_samediff_encoder *graph; /* or NULL */
} sherd_samediff_payload;

typedef struct sherd_samediff_encoder {
	sherd_flatbuf_builder build;
	sherd_buf payloads; /* of sherd_samediff_payload, one for each span */
	uint64_t size;      /* once it is finished */
	const sherd_samediff_source *source;
	sherd_samediff_style style;
	sherd_arena *arena;
	uint32_t depth; /* 0: the outermost graph */
	int rc;
	sherd_error error;
} sherd_samediff_encoder;

void sherd_samediff_encoder_init(sherd_samediff_encoder *e, const sherd_samediff_source *source,
                                 sherd_samediff_style style, sherd_arena *arena, uint32_t depth);
/* With the graphs inside. */
void sherd_samediff_encoder_done(sherd_samediff_encoder *e);
/* Makes all of it, but for the payloads, and places them. */
int sherd_samediff_encode_graph(sherd_samediff_encoder *e, const sherd_model_graph *graph, sherd_error *err);

/* For the widths of a table: room for a field that is there. */
static inline char sherd_samediff_width(bool there, char width)
{
	return (char)(there ? width : '0');
}

void sherd_samediff_put_u8(sherd_samediff_encoder *e, size_t table, unsigned field, uint8_t v);
void sherd_samediff_put_i32(sherd_samediff_encoder *e, size_t table, unsigned field, int32_t v);
void sherd_samediff_put_i64(sherd_samediff_encoder *e, size_t table, unsigned field, int64_t v);
void sherd_samediff_put_text(sherd_samediff_encoder *e, size_t table, unsigned field, const char *text);
void sherd_samediff_put_texts(sherd_samediff_encoder *e, size_t table, unsigned field, sherd_model_texts list);
void sherd_samediff_put_bytes(sherd_samediff_encoder *e, size_t table, unsigned field, sherd_model_bytes list);
void sherd_samediff_put_ints(sherd_samediff_encoder *e, size_t table, unsigned field, sherd_model_ints list);
void sherd_samediff_put_longs(sherd_samediff_encoder *e, size_t table, unsigned field, sherd_model_longs list);
void sherd_samediff_put_reals(sherd_samediff_encoder *e, size_t table, unsigned field, sherd_model_reals list);
void sherd_samediff_put_ids(sherd_samediff_encoder *e, size_t table, unsigned field, sherd_model_ids list);
void sherd_samediff_put_arrays(sherd_samediff_encoder *e, size_t table, unsigned field, sherd_model_arrays list);

/* `from` is where an offset stands that is to lead to the new table. */
void sherd_samediff_put_id(sherd_samediff_encoder *e, size_t from, sherd_model_id id);
void sherd_samediff_put_array(sherd_samediff_encoder *e, size_t from, size_t array);
void sherd_samediff_put_variable(sherd_samediff_encoder *e, size_t from, const sherd_model_variable *v);
void sherd_samediff_put_operation(sherd_samediff_encoder *e, size_t from, const sherd_model_operation *op);

/* Is the array written with its first dimension varying fastest? */
bool sherd_samediff_is_fortran(const sherd_samediff_encoder *e, size_t array);
/* Is it written without dimensions, though it has no elements? */
bool sherd_samediff_is_hollow(const sherd_samediff_encoder *e, size_t array);
/* SameDiff's number of a type, or that of the container; what has none is refused in the name of its owner. */
uint8_t sherd_samediff_number(sherd_samediff_encoder *e, sherd_dtype dtype, const char *owner);
/* Keeps the first failure, "cannot-hold". */
__attribute__((format(printf, 2, 3))) void sherd_samediff_refuse(sherd_samediff_encoder *e, const char *fmt, ...);

#endif
