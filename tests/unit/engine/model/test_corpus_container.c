#include "support/container_make.h"
#include "support/corpus.h"
#include "support/test.h"

#include "base/error.h"

#include <sherd/store.h>

static sherd_store *store;

static int verify(const uint8_t *data, size_t len, sherd_error *err)
{
	assert_int_equal(sherd_store_put(store, "m.sdc", SHERD_WRITE_REPLACE, data, len, err), SHERD_OK);
	long errors = container_verify(store, "m.sdc", err);
	assert_true(errors >= 0);
	return errors ? err->code : SHERD_OK;
}

TEST(the_corpus_is_judged_as_its_names_say)
{
	assert_ok(sherd_store_open_memory(&store, err));
	corpus_judge("tests/corpus/container", verify, 4, 26, 5);
	sherd_store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(the_corpus_is_judged_as_its_names_say)};
	return cmocka_run_group_tests_name("corpus_container", tests, NULL, NULL);
}
