#include "support/source_file.h"
#include "support/test.h"

#include "format/samediff_graph.h"

/* The first letter of its name says what must become of a file: y accepted, n refused, i either. */
static void check(const char *name, const uint8_t *data, size_t len)
{
	sherd_arena arena = {0};
	sherd_samediff_graph g;
	sherd_flatbuf fb;
	sherd_error e = {0};
	sherd_flatbuf_over(&fb, data, len);
	int rc = sherd_samediff_decode(&fb, SHERD_SAMEDIFF_LEGACY, NULL, &arena, &g, &e);
	sherd_arena_done(&arena);
	if (name[0] == 'y' && rc < 0)
		fail_msg("%s is refused at byte %lld: %s", name, (long long)e.offset, e.message);
	if (name[0] == 'n' && rc >= 0)
		fail_msg("%s is accepted", name);
	if (rc < 0 && (!e.reason || !e.message[0] || (e.offset != SHERD_NO_OFFSET && e.offset > len)))
		fail_msg("%s: the error says nothing useful", name);
}

TEST(the_corpus_is_judged_as_its_names_say)
{
	assert_true(source_folder_each("tests/corpus/samediff_graph", check) > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(the_corpus_is_judged_as_its_names_say)};
	return cmocka_run_group_tests_name("corpus_samediff_graph", tests, NULL, NULL);
}
