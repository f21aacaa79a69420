#include "support/corpus.h"
#include "support/test.h"

#include "format/tensor/npy_manifest.h"

static int decode(const uint8_t *data, size_t len, sherd_error *err)
{
	shd_arena arena = {0};
	shd_npy_manifest manifest;
	int rc = shd_npy_manifest_decode(data, len, NULL, &arena, &manifest, err);
	shd_arena_done(&arena);
	return rc;
}

TEST(the_corpus_is_judged_as_its_names_say)
{
	corpus_judge("tests/corpus/npy_manifest", decode, 4, 19, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(the_corpus_is_judged_as_its_names_say)};
	return cmocka_run_group_tests_name("corpus_npy_manifest", tests, NULL, NULL);
}
