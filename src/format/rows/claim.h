/* format/rows/claim.h - rows.packing, which says that somebody writes into a set. docs/formats/rows.md, "Claim". */
#pragma once

#include "base/buf.h"

#define SHD_ROWS_CLAIM "rows.packing"

typedef struct shd_rows_claim {
	int64_t time_ns;
	uint64_t process;
	bool has_first; /* claims of before have none */
	uint32_t first; /* number of the first part that may be its writer's */
	char host[65];  /* valid UTF-8 */
} shd_rows_claim;

void shd_rows_claim_encode(const shd_rows_claim *claim, shd_buf *out); /* into an empty buffer */
int shd_rows_claim_decode(const void *data, size_t len, shd_rows_claim *out, sherd_error *err);
