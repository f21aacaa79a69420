/* Whatever head is accepted lies within its file, and survives being written and read again. */
#include "base/error.h"
#include "form.h"
#include "format/rows/shard.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

const fuzz_form *const fuzz_target_form = &form_rows_shard;

static void must(bool holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	shd_rows_head head, again;
	uint8_t raw[SHD_ROWS_HEAD_SIZE];
	if (shd_rows_head_decode(data, len, &head, NULL) < 0)
		return 0;
	must(head.width && head.row_bytes / 4 == head.width);
	must(head.file_bytes >= SHD_ROWS_HEAD_SIZE && head.file_bytes <= len);
	must((head.file_bytes - SHD_ROWS_HEAD_SIZE) / head.row_bytes == head.rows);
	shd_rows_head_encode(head.rows, head.width, raw);
	must(shd_rows_head_decode(raw, head.file_bytes, &again, NULL) == SHERD_OK);
	must(again.rows == head.rows && again.width == head.width && !again.reserved);
	return 0;
}
