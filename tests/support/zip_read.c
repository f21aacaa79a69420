#include "support/zip_read.h"

int zip_read(const uint8_t *data, size_t len, shd_arena *arena, zip_read_entry *out, size_t room, size_t *count,
             sherd_error *err)
{
	const shd_zip_limits limits = {.entries = 1000, .inflated = 1ull << 40, .name = 768, .paths = true};
	shd_zip_end end;
	shd_zip_entry *entries;
	size_t tail = len < SHD_ZIP_TAIL ? len : SHD_ZIP_TAIL;
	TRY(shd_zip_find_end(data + len - tail, tail, len, &limits, &end, err));
	TRY(shd_zip_decode_directory(data + end.at, &end, &limits, arena, &entries, count, err));
	for (size_t i = 0; i < *count && i < room; i++) {
		out[i].entry = entries[i];
		TRY(shd_zip_decode_local(data + entries[i].head, &entries[i], &out[i].data, err));
	}
	return SHERD_OK;
}
