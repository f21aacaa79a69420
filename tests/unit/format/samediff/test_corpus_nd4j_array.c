#include "support/corpus.h"
#include "support/test.h"

#include "format/samediff/nd4j_array.h"

static int decode(const uint8_t *data, size_t len, sherd_error *err)
{
	shd_arena arena = {0};
	shd_nd4j_array a;
	size_t head = len < SHD_ND4J_HEAD ? len : SHD_ND4J_HEAD;
	int rc = shd_nd4j_array_decode(data, head, len, NULL, &arena, &a, err);
	shd_arena_done(&arena);
	return rc;
}

TEST(the_corpus_is_judged_as_its_names_say)
{
	corpus_judge("tests/corpus/nd4j_array", decode, 11, 15, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(the_corpus_is_judged_as_its_names_say)};
	return cmocka_run_group_tests_name("corpus_nd4j_array", tests, NULL, NULL);
}
