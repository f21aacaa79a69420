#include "support/corpus.h"
#include "support/test.h"

#include "base/error.h"
#include "format/tensor/safetensors.h"

static int decode(const uint8_t *data, size_t len, sherd_error *err)
{
	shd_arena arena = {0};
	shd_safetensors st;
	uint64_t header;
	TRY(shd_safetensors_decode_length(data, len < 8 ? len : 8, len, &header, err));
	int rc = shd_safetensors_decode(data + 8, (size_t)header, len, NULL, &arena, &st, err);
	shd_arena_done(&arena);
	return rc;
}

TEST(the_corpus_is_judged_as_its_names_say)
{
	corpus_judge("tests/corpus/safetensors", decode, 14, 48, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(the_corpus_is_judged_as_its_names_say)};
	return cmocka_run_group_tests_name("corpus_safetensors", tests, NULL, NULL);
}
