#include "support/corpus.h"
#include "support/test.h"

#include "codec/json.h"

static int decode(const uint8_t *data, size_t len, sherd_error *err)
{
	return shd_json_check(data, len, NULL, err);
}

TEST(the_corpus_is_judged_as_its_names_say)
{
	corpus_judge("tests/corpus/json", decode, 36, 93, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(the_corpus_is_judged_as_its_names_say)};
	return cmocka_run_group_tests_name("json_corpus", tests, NULL, NULL);
}
