/* Whatever is accepted must survive being written and read again. */
#include "base/error.h"
#include "form.h"
#include "format/tensor/npy.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

const fuzz_form *const fuzz_target_form = &form_npy;

static void must(bool holds)
{
	if (!holds)
		abort();
}

static int decode(const uint8_t *data, size_t len, uint64_t file_size, shd_npy *out)
{
	uint64_t head;
	TRY(shd_npy_decode_length(data, len < SHD_NPY_FIRST ? len : SHD_NPY_FIRST, file_size, &head, NULL));
	return shd_npy_decode(data, (size_t)head, file_size, NULL, out, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	shd_npy npy, again;
	if (decode(data, len, len, &npy) < 0)
		return 0;
	const sherd_tensor tensor = {"a", npy.dtype, npy.ndim, npy.shape, npy.bytes};
	SHD_AUTO_BUF out = {0};
	must(shd_npy_encode(&tensor, &out, NULL) == SHERD_OK);
	must(decode(out.data, out.len, out.len + npy.bytes, &again) == SHERD_OK);
	must(again.dtype == npy.dtype && again.ndim == npy.ndim && again.bytes == npy.bytes);
	must(memcmp(again.shape, npy.shape, npy.ndim * sizeof(npy.shape[0])) == 0);
	return 0;
}
