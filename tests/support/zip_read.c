#include "support/zip_read.h"

int zip_read(const uint8_t *data, size_t len, sherd_arena *arena, zip_read_entry *out, size_t room, size_t *count,
             sherd_error *err)
{
	sherd_zip_end end;
	sherd_zip_entry *entries;
	size_t tail = len < SHERD_ZIP_TAIL ? len : SHERD_ZIP_TAIL;
	TRY(sherd_zip_find_end(data + len - tail, tail, len, &end, err));
	TRY(sherd_zip_decode_directory(data + end.at, &end, arena, &entries, count, err));
	for (size_t i = 0; i < *count && i < room; i++) {
		out[i].entry = entries[i];
		TRY(sherd_zip_decode_local(data + entries[i].head, &entries[i], &out[i].data, err));
	}
	return SHERD_OK;
}
