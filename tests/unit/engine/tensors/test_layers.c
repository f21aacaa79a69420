/* What a layer is called. */
#include "engine/tensors/layers.h"

#include "support/test.h"

#include "base/error.h"

TEST(a_layer_ends_at_its_number)
{
	static const struct {
		const char *name, *layer;
	} cases[] = {
		{"model.layers.12.mlp.up.weight", "model.layers.12"},
		{"blk.0.attn_k.weight", "blk.0"},
		{"encoder/layer/3/w", "encoder/layer/3"},
		{"lm_head.weight", "lm_head"},
		{"embed", "embed"},
		{"0", "0"},
		{"h1.w", "h1"},
		{"a..b", "a."},
		{"", ""},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		shd_str layer = shd_layer_of(cases[i].name);
		assert_int_equal(layer.len, strlen(cases[i].layer));
		assert_memory_equal(layer.ptr, cases[i].layer, layer.len);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_layer_ends_at_its_number)};
	return cmocka_run_group_tests_name("layers", tests, NULL, NULL);
}
