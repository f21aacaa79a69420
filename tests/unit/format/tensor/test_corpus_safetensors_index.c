#include "support/corpus.h"
#include "support/test.h"

#include "format/tensor/safetensors_index.h"

static int decode(const uint8_t *data, size_t len, sherd_error *err)
{
	shd_arena arena = {0};
	shd_safetensors_index index;
	int rc = shd_safetensors_index_decode(data, len, NULL, &arena, &index, err);
	shd_arena_done(&arena);
	return rc;
}

TEST(the_corpus_is_judged_as_its_names_say)
{
	corpus_judge("tests/corpus/safetensors_index", decode, 4, 16, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(the_corpus_is_judged_as_its_names_say)};
	return cmocka_run_group_tests_name("corpus_safetensors_index", tests, NULL, NULL);
}
