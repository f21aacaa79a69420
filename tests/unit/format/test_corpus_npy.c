#include "support/source_file.h"
#include "support/test.h"

#include "base/error.h"
#include "format/npy.h"

static int decode(const uint8_t *data, size_t len, sherd_npy *out, sherd_error *err)
{
	uint64_t head;
	TRY(sherd_npy_decode_length(data, len < SHERD_NPY_FIRST ? len : SHERD_NPY_FIRST, len, &head, err));
	return sherd_npy_decode(data, (size_t)head, len, NULL, out, err);
}

/* The first letter of its name says what must become of a file: y accepted, n refused, i either. */
static void check(const char *name, const uint8_t *data, size_t len)
{
	sherd_npy npy;
	sherd_error e = {0};
	int rc = decode(data, len, &npy, &e);
	if (name[0] == 'y' && rc < 0)
		fail_msg("%s is refused at byte %lld: %s", name, (long long)e.offset, e.message);
	if (name[0] == 'n' && rc >= 0)
		fail_msg("%s is accepted", name);
	if (rc < 0 && (!e.reason || !e.message[0] || (e.offset != SHERD_NO_OFFSET && e.offset > len)))
		fail_msg("%s: the error says nothing useful", name);
}

TEST(the_corpus_is_judged_as_its_names_say)
{
	assert_true(source_folder_each("tests/corpus/npy", check) > 60);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(the_corpus_is_judged_as_its_names_say)};
	return cmocka_run_group_tests_name("corpus_npy", tests, NULL, NULL);
}
