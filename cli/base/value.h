/* cli/base/value.h - elements of tensors as text and as JSON. */
#pragma once

#include "base/doc.h"

#include <sherd/dtype.h>

#define CLI_VALUE_TEXT 80

/* The bits of one element of a block of F4 or F6, the first one's being the lowest. */
uint8_t cli_value_unpack(const sherd_dtype_info *type, const uint8_t *block, uint32_t element);

/* Writes one element, little-endian at raw, as the shortest text that reads back the same; any type but UTF8. One that
 * shares its bytes with others has been unpacked into a byte. Returns its length. */
size_t cli_value_text(sherd_dtype dtype, const uint8_t *raw, char out[CLI_VALUE_TEXT]);
/* The same as JSON: true and false, numbers (texts where JSON has none), C64 as [real, imaginary]. */
void cli_value_json(sherd_dtype dtype, const uint8_t *raw, cli_doc *doc);
