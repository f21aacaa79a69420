/* Whatever is accepted fills its file to the end, with as many bytes as its shape says. */
#include "form.h"
#include "format/samediff/nd4j_array.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

const fuzz_form *const fuzz_target_form = &form_plain;

static void must(bool holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	shd_arena arena = {0};
	shd_nd4j_array a;
	uint64_t bytes = 0;
	size_t head = len < SHD_ND4J_HEAD ? len : SHD_ND4J_HEAD;
	if (shd_nd4j_array_decode(data, head, len, NULL, &arena, &a, NULL) == SHERD_OK) {
		must(a.ndim <= SHERD_MAX_DIMS && sherd_tensor_bytes(&bytes, a.dtype, a.ndim, a.shape));
		must(bytes == a.bytes && a.stored == a.bytes && a.data + a.bytes == len);
	}
	shd_arena_done(&arena);
	return 0;
}
