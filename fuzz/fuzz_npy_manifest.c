/* Whatever manifest is accepted survives being written and read again. */
#include "base/error.h"
#include "form.h"
#include "format/tensor/npy_manifest.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

const fuzz_form *const fuzz_target_form = &form_sealed;

static void must(bool holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	shd_arena arena = {0};
	shd_npy_manifest m, again;
	SHD_AUTO_BUF out = {0}, twice = {0};
	if (shd_npy_manifest_decode(data, len, NULL, &arena, &m, NULL) == SHERD_OK) {
		must(shd_npy_manifest_encode(&m, &out, NULL) == SHERD_OK);
		must(shd_npy_manifest_decode(out.data, out.len, NULL, &arena, &again, NULL) == SHERD_OK);
		must(again.count == m.count && again.pair_count == m.pair_count);
		must(shd_npy_manifest_encode(&again, &twice, NULL) == SHERD_OK);
		must(twice.len == out.len && memcmp(twice.data, out.data, out.len) == 0);
	}
	shd_arena_done(&arena);
	return 0;
}
