/* Whatever is accepted must survive being written and read again. */
#include "base/error.h"
#include "form.h"
#include "format/tensor/safetensors_index.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

const fuzz_form *const fuzz_target_form = &form_sealed;

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void write_again(const shd_safetensors_index *index, shd_arena *arena)
{
	SHD_AUTO_BUF out = {0}, twice = {0};
	shd_safetensors_index again;
	must(shd_safetensors_index_encode(index, &out, NULL) == SHERD_OK);
	must(shd_safetensors_index_decode(out.data, out.len, NULL, arena, &again, NULL) == SHERD_OK);
	must(again.sealed && again.count == index->count && again.pair_count == index->pair_count &&
	     again.file_count == index->file_count);
	must(shd_safetensors_index_encode(&again, &twice, NULL) == SHERD_OK);
	must(twice.len == out.len && memcmp(twice.data, out.data, out.len) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	shd_arena arena = {0};
	shd_safetensors_index index;
	if (shd_safetensors_index_decode(data, len, NULL, &arena, &index, NULL) == SHERD_OK)
		write_again(&index, &arena);
	shd_arena_done(&arena);
	return 0;
}
