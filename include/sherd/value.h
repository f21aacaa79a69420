/* sherd/value.h - metadata values with types, beside pairs of text.
 *
 * A value is a pair of text for everybody who knows no types; where a format can hold them (SHERD_HOLDS_TYPED) one more
 * pair, SHERD_TYPES_KEY, says which types the others have. docs/formats/values.md fixes both. */
#ifndef SHERD_VALUE_H
#define SHERD_VALUE_H

#include <sherd/dtype.h>
#include <sherd/error.h>
#include <sherd/pair.h>

#include <stdbool.h>

SHERD_BEGIN_DECLS

#define SHERD_TYPES_KEY "sherd.types"

typedef struct sherd_value {
	const char *key;
	/* BOOL, U8 to U64, I8 to I64, F32, F64, UTF8 for text, of the value or of each item; NONE: JSON */
	sherd_dtype type;
	bool is_array;
	size_t count;      /* items of an array; 1 for what is none, 0 for JSON */
	const void *items; /* count of them: bool, uint8_t, ..., double; const char * for UTF8; NULL for JSON */
	const char *text;  /* the value as a pair has it; JSON verbatim. Of what is written, read for JSON only */
} sherd_value;

/* The values as pairs, the types last, in one piece of memory for sherd_free(). SHERD_EINVAL names the key that is
 * there twice, is SHERD_TYPES_KEY, or whose value is of no such type, is no UTF-8 or no JSON. SHERD_ENOMEM. */
SHERD_API int sherd_pairs_of_values(sherd_pair **out, size_t *count, const sherd_value *values, size_t value_count,
                                    sherd_error *err);

SHERD_END_DECLS

#endif
