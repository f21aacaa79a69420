/* cli/base/value.h - elements of tensors as text and as JSON. */
#ifndef CLI_BASE_VALUE_H
#define CLI_BASE_VALUE_H

#include "base/doc.h"

#include <sherd/dtype.h>

#define CLI_VALUE_TEXT 80

/* Writes one element, little-endian at raw, as the shortest text that reads back the same; any type but UTF8. Returns
 * its length. */
size_t cli_value_text(sherd_dtype dtype, const uint8_t *raw, char out[CLI_VALUE_TEXT]);
/* The same as JSON: true and false, numbers (texts where JSON has none), C64 as [real, imaginary]. */
void cli_value_json(sherd_dtype dtype, const uint8_t *raw, cli_doc *doc);

#endif
