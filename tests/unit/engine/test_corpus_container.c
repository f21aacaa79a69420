#include "support/container_make.h"
#include "support/source_file.h"
#include "support/test.h"

#include "base/error.h"

#include <sherd/store.h>

static sherd_store *store;

/* The first letter of its name says what must become of a file: y accepted, n refused, i either. */
static void check(const char *name, const uint8_t *data, size_t len)
{
	sherd_error e = {.reason = "", .message = ""};
	assert_ok(sherd_store_put(store, "m.sdc", SHERD_WRITE_REPLACE, data, len, err));
	long errors = container_verify(store, "m.sdc", &e);
	assert_true(errors >= 0);
	if (name[0] == 'y' && errors)
		fail_msg("%s is refused at byte %lld: %s", name, (long long)e.offset, e.message);
	if (name[0] == 'n' && !errors)
		fail_msg("%s is accepted", name);
	if (errors && (!e.reason[0] || !e.message[0] || (e.offset != SHERD_NO_OFFSET && e.offset > len)))
		fail_msg("%s: the error says nothing useful", name);
}

TEST(the_corpus_is_judged_as_its_names_say)
{
	assert_ok(sherd_store_open_memory(&store, err));
	assert_true(source_folder_each("tests/corpus/container", check) > 15);
	sherd_store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(the_corpus_is_judged_as_its_names_say)};
	return cmocka_run_group_tests_name("corpus_container", tests, NULL, NULL);
}
