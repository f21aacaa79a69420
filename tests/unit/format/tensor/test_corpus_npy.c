#include "support/corpus.h"
#include "support/test.h"

#include "base/error.h"
#include "format/tensor/npy.h"

static int decode(const uint8_t *data, size_t len, sherd_error *err)
{
	uint64_t head;
	shd_npy npy;
	TRY(shd_npy_decode_length(data, len < SHD_NPY_FIRST ? len : SHD_NPY_FIRST, len, &head, err));
	return shd_npy_decode(data, (size_t)head, len, NULL, &npy, err);
}

TEST(the_corpus_is_judged_as_its_names_say)
{
	corpus_judge("tests/corpus/npy", decode, 26, 38, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(the_corpus_is_judged_as_its_names_say)};
	return cmocka_run_group_tests_name("corpus_npy", tests, NULL, NULL);
}
