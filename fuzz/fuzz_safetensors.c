/* Whatever is accepted must survive being written and read again. */
#include "base/error.h"
#include "form.h"
#include "base/dtype.h"
#include "format/tensor/safetensors.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

const fuzz_form *const fuzz_target_form = &form_safetensors;

static void must(bool holds)
{
	if (!holds)
		abort();
}

static int decode(const uint8_t *data, size_t len, uint64_t file_size, shd_arena *arena, shd_safetensors *out)
{
	uint64_t header;
	TRY(shd_safetensors_decode_length(data, len < 8 ? len : 8, file_size, &header, NULL));
	return shd_safetensors_decode(data + 8, (size_t)header, file_size, NULL, arena, out, NULL);
}

static bool same(const sherd_tensor *a, const sherd_tensor *b)
{
	return strcmp(a->name, b->name) == 0 && shd_tensor_same_type(a, b) && a->ndim == b->ndim &&
	       a->bytes == b->bytes && memcmp(a->shape, b->shape, a->ndim * sizeof(uint64_t)) == 0;
}

static void write_again(const shd_safetensors *st, shd_arena *arena)
{
	sherd_tensor *tensors = shd_arena_alloc(arena, st->count, sizeof(*tensors));
	size_t *order = shd_arena_alloc(arena, st->count, sizeof(*order));
	uint64_t total = 0;
	must(tensors && order);
	for (size_t i = 0; i < st->count; i++) {
		tensors[i] = st->entries[i].tensor;
		total += tensors[i].bytes;
	}
	SHD_AUTO_BUF out = {0};
	must(shd_safetensors_encode(tensors, st->count, st->pairs, st->pair_count, &out, order, NULL) == SHERD_OK);
	shd_safetensors again;
	must(decode(out.data, out.len, out.len + total, arena, &again) == SHERD_OK);
	must(again.count == st->count && again.pair_count == st->pair_count);
	for (size_t i = 0; i < st->pair_count; i++)
		must(strcmp(again.pairs[i].key, st->pairs[i].key) == 0 &&
		     strcmp(again.pairs[i].value, st->pairs[i].value) == 0);
	for (size_t i = 0; i < st->count; i++)
		must(same(&again.entries[i].tensor, &tensors[order[i]]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	shd_arena arena = {0};
	shd_safetensors st;
	if (decode(data, len, len, &arena, &st) == SHERD_OK)
		write_again(&st, &arena);
	shd_arena_done(&arena);
	return 0;
}
