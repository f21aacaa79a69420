/* Whatever is accepted lies inside of the model, or has as many bytes as its shape. */
#include "form.h"
#include "format/onnx/model.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

const fuzz_form *const fuzz_target_form = &form_plain;

typedef struct input {
	const uint8_t *data;
	size_t len;
} input;

static void must(bool holds)
{
	if (!holds)
		abort();
}

static int fetch(const void *source, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	const input *in = source;
	(void)err;
	must(offset <= in->len && len <= in->len - offset);
	memcpy(buf, in->data + offset, len);
	return SHERD_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const input in = {data, len};
	const shd_onnx_source source = {.size = len, .fetch = fetch, .source = &in};
	shd_arena arena = {0};
	shd_onnx_model m;
	if (shd_onnx_decode(&source, NULL, &arena, &m, NULL) == SHERD_OK) {
		sherd_pair *pairs = NULL;
		size_t count;
		for (size_t i = 0; i < m.count; i++) {
			const shd_onnx_tensor *t = &m.tensors[i];
			uint64_t bytes;
			if (!t->values && !t->location)
				must(t->offset <= len && t->tensor.bytes <= len - t->offset);
			if (sherd_tensor_bytes(&bytes, t->tensor.dtype, t->tensor.ndim, t->tensor.shape))
				must(bytes == t->tensor.bytes);
		}
		must(sherd_pairs_of_values(&pairs, &count, m.values, m.value_count, NULL) == SHERD_OK);
		free(pairs);
	}
	shd_arena_done(&arena);
	return 0;
}
