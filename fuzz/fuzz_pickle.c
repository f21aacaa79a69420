/* Whatever is accepted is a tree that can be walked: tensors lie inside of their storages, values are texts. */
#include "form.h"
#include "format/torch/state.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

const fuzz_form *const fuzz_target_form = &form_plain;

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void check_view(const shd_torch_state *s, size_t i)
{
	const sherd_tensor *t = &s->tensors[i];
	const shd_torch_view *v = &s->views[i];
	must(v->storage < s->storage_count);
	uint64_t last = v->offset;
	for (uint32_t d = 0; d < t->ndim && t->bytes; d++)
		last += (v->shape[d] - 1) * v->strides[d] * v->type->bytes;
	must(!t->bytes || last + v->type->bytes <= s->storages[v->storage].bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	shd_arena arena = {0};
	shd_pickle pickle;
	shd_torch_state state;
	if (shd_pickle_decode(data, len, &arena, &pickle, NULL) == SHERD_OK) {
		must(pickle.bytes <= len);
		if (shd_torch_state_of(&pickle, NULL, &arena, &state, NULL) == SHERD_OK) {
			sherd_pair *pairs = NULL;
			size_t count;
			for (size_t i = 0; i < state.count; i++)
				check_view(&state, i);
			must(sherd_pairs_of_values(&pairs, &count, state.values, state.value_count, NULL) == SHERD_OK);
			free(pairs);
		}
	}
	for (size_t i = 0; i < pickle.global_count; i++)
		(void)shd_pickle_judge(pickle.globals[i].name);
	shd_arena_done(&arena);
	return 0;
}
