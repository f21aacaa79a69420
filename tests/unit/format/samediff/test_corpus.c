#include "support/corpus.h"
#include "support/test.h"

#include "format/samediff/graph.h"

static int decode(const uint8_t *data, size_t len, sherd_error *err)
{
	shd_arena arena = {0};
	shd_samediff_graph g;
	shd_flatbuf fb;
	shd_flatbuf_over(&fb, data, len);
	int rc = shd_samediff_decode(&fb, SHD_SAMEDIFF_LEGACY, NULL, &arena, &g, err);
	shd_arena_done(&arena);
	return rc;
}

TEST(the_corpus_is_judged_as_its_names_say)
{
	corpus_judge("tests/corpus/samediff_graph", decode, 9, 35, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(the_corpus_is_judged_as_its_names_say)};
	return cmocka_run_group_tests_name("corpus_samediff_graph", tests, NULL, NULL);
}
