/* engine/rows/lineage.c - is this the set that it was, or one that grew from it? */
#include "engine/rows/rows.h"

#include "codec/sha256.h"

#include <inttypes.h>
#include <stdio.h>

static void add_line(shd_sha256 *h, const shd_rows_entry *e)
{
	char hex[SHD_SHA256_HEX + 1], line[SHD_SHA256_HEX + 32];
	shd_hex(e->sha256, sizeof(e->sha256), hex);
	int len = snprintf(line, sizeof(line), "%" PRIu64 " %s\n", e->rows, hex);
	shd_sha256_add(h, line, (size_t)len);
}

bool shd_rows_lineage(const sherd_rows *rows, uint64_t total, uint8_t out[SHD_SHA256_BYTES])
{
	shd_sha256 h;
	char head[64];
	uint64_t sum = 0;
	if (!rows->entries)
		return false;
	shd_sha256_init(&h);
	int len =
		snprintf(head, sizeof(head), "%s %" PRIu64 "\n", sherd_dtype_describe(rows->dtype)->name, rows->width);
	shd_sha256_add(&h, head, (size_t)len);
	for (size_t i = 0; i < rows->count && sum < total; i++) {
		sum += rows->entries[i].rows;
		if (rows->entries[i].rows)
			add_line(&h, &rows->entries[i]);
	}
	if (sum != total)
		return false;
	shd_sha256_finish(&h, out);
	return true;
}
