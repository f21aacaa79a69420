/* s3/xml.h - what servers list. */
#pragma once

#include "text.h"

#include <stdint.h>

/* What stands in the first element of a name between two points; false when there is none. */
bool shd_s3_xml_element(const char *from, const char *to, const char *name, const char **text, size_t *len);
/* Decodes the text of an element, and then, where names are encoded as in a URL, that. */
void shd_s3_xml_decode(shd_s3_text *out, const char *text, size_t len, bool encoded);
/* "2026-01-09T10:11:12.000Z" in nanoseconds since 1970; 0 when it is none. */
int64_t shd_s3_xml_time(const char *text, size_t len);
