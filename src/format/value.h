/* format/value.h - typed values among pairs of text. docs/formats/values.md. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"

#include <sherd/value.h>

/* Those of the pairs that SHERD_TYPES_KEY gives a type, in the order of the pairs; in the arena. Texts that are not of
 * their type, and types that nobody knows, are left out: such pairs are texts and no more. */
int shd_values_of_pairs(const sherd_pair *pairs, size_t pair_count, shd_arena *arena, const sherd_value **out,
                        size_t *count, sherd_error *err);

/* BOOL, integers, F32, F64 and UTF8. */
bool shd_value_is_scalar(sherd_dtype type);

/* What the text of SHERD_TYPES_KEY calls the type of a JSON value; NULL for a string, which needs none. */
const char *shd_value_type_of_json(shd_str json);
