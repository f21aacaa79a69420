/* codec/seal.h - a JSON document that notices its own damage.
 *
 * The last key of a sealed document is "sha256"; its value is the lower-case hex
 * SHA-256 of all bytes before that key's opening quote. Nothing follows the
 * closing brace, not even a newline. */
#pragma once

#include "codec/json.h"

typedef enum shd_seal { SHD_SEAL_ABSENT = 0, SHD_SEAL_GOOD = 1, SHD_SEAL_BROKEN = 2 } shd_seal;

/* Looks at bytes only; the document is parsed by others. GOOD only if the document ends exactly as
 * shd_seal_put() ends it and the hash is right; ABSENT when no such ending is there; BROKEN when the hash is
 * wrong, or the ending is plainly a damaged one (a few bytes off, or white space after it). */
shd_seal shd_seal_check(const void *data, size_t len);

/* Writes the key, its value and the end of the outermost object, which must be the writer's only open one, over
 * several lines, and begin with the first byte of the writer's buffer. The document then ends with a comma (or the
 * opening brace, when nothing else is in the object) and
 *	\n  "sha256": "<64 digits>"\n} */
void shd_seal_put(shd_json_writer *w);

/* Seals a document anew that was GOOD, and of which only bytes before its seal have changed. */
void shd_seal_again(void *data, size_t len);
