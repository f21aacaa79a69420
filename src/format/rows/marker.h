/* format/rows/marker.h - rows.packing, which says that somebody writes into a set. docs/formats/rows.md, "Marker". */
#pragma once

#include "base/buf.h"

#define SHD_ROWS_MARKER "rows.packing"

typedef struct shd_rows_marker {
	int64_t time_ns;
	uint64_t process;
	bool has_first; /* markers of before have none */
	uint32_t first; /* number of the first part that may be its writer's */
	char host[65];  /* valid UTF-8 */
} shd_rows_marker;

void shd_rows_marker_encode(const shd_rows_marker *marker, shd_buf *out); /* into an empty buffer */
int shd_rows_marker_decode(const void *data, size_t len, shd_rows_marker *out, sherd_error *err);
