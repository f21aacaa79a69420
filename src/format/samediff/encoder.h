/* format/samediff/encoder.h - a graph being encoded: what its parts have in common.
 *
 * Failures stick, so nothing here is checked until the end. What is absent in the graph (a NULL list or text, a number
 * that is 0) is absent in the table: shd_samediff_width() asks for room, and the puts leave it out alike. */
#pragma once

#include "codec/flatbuf_build.h"
#include "format/samediff/encode.h"
#include "format/samediff/tables.h"

/* What follows where a span of the builder stands: the elements of an array, or another graph. */
typedef struct shd_samediff_payload {
	size_t array;                       /* or SHERD_NO_ARRAY */
	struct shd_samediff_encoder *graph; /* or NULL */
} shd_samediff_payload;

typedef struct shd_samediff_encoder {
	shd_flatbuf_builder build;
	SHD_VEC(shd_samediff_payload) payloads; /* one for each span */
	uint64_t size;                          /* once it is finished */
	const shd_samediff_source *source;
	shd_samediff_style style;
	shd_arena *arena;
	uint32_t depth; /* 0: the outermost graph */
	int rc;
	sherd_error error;
} shd_samediff_encoder;

void shd_samediff_encoder_init(shd_samediff_encoder *e, const shd_samediff_source *source, shd_samediff_style style,
                               shd_arena *arena, uint32_t depth);
/* With the graphs inside. */
void shd_samediff_encoder_done(shd_samediff_encoder *e);
/* Makes all of it, but for the payloads, and places them. */
int shd_samediff_encode_graph(shd_samediff_encoder *e, const sherd_model_graph *graph, sherd_error *err);

/* For the widths of a table: room for a field that is there. */
static inline char shd_samediff_width(bool there, char width)
{
	return (char)(there ? width : '0');
}

void shd_samediff_put_u8(shd_samediff_encoder *e, size_t table, unsigned field, uint8_t v);
void shd_samediff_put_i32(shd_samediff_encoder *e, size_t table, unsigned field, int32_t v);
void shd_samediff_put_i64(shd_samediff_encoder *e, size_t table, unsigned field, int64_t v);
void shd_samediff_put_text(shd_samediff_encoder *e, size_t table, unsigned field, const char *text);
void shd_samediff_put_texts(shd_samediff_encoder *e, size_t table, unsigned field, sherd_model_texts list);
void shd_samediff_put_bytes(shd_samediff_encoder *e, size_t table, unsigned field, sherd_model_bytes list);
void shd_samediff_put_ints(shd_samediff_encoder *e, size_t table, unsigned field, sherd_model_ints list);
void shd_samediff_put_longs(shd_samediff_encoder *e, size_t table, unsigned field, sherd_model_longs list);
void shd_samediff_put_reals(shd_samediff_encoder *e, size_t table, unsigned field, sherd_model_reals list);
void shd_samediff_put_ids(shd_samediff_encoder *e, size_t table, unsigned field, sherd_model_ids list);
void shd_samediff_put_arrays(shd_samediff_encoder *e, size_t table, unsigned field, sherd_model_arrays list);

/* `from` is where an offset stands that is to lead to the new table. */
void shd_samediff_put_id(shd_samediff_encoder *e, size_t from, sherd_model_id id);
void shd_samediff_put_array(shd_samediff_encoder *e, size_t from, size_t array);
void shd_samediff_put_variable(shd_samediff_encoder *e, size_t from, const sherd_model_variable *v);
void shd_samediff_put_operation(shd_samediff_encoder *e, size_t from, const sherd_model_operation *op);

/* Is the array written with its first dimension varying fastest? */
bool shd_samediff_is_fortran(const shd_samediff_encoder *e, size_t array);
/* Is it written without dimensions, though it has no elements? */
bool shd_samediff_is_hollow(const shd_samediff_encoder *e, size_t array);
/* SameDiff's number of a type, or that of the container; what has none is refused in the name of its owner. */
uint8_t shd_samediff_number(shd_samediff_encoder *e, sherd_dtype dtype, const char *owner);
/* Keeps the first failure, "cannot-hold". */
__attribute__((format(printf, 2, 3))) void shd_samediff_refuse(shd_samediff_encoder *e, const char *fmt, ...);
